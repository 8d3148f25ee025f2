"""Where a project is found, and layouts that are told instead of passed over (spec/airulez-project.md 1.1)."""

from __future__ import annotations

from pathlib import Path

import pytest

from pytest_reqfile.errors import FormatError, UsageError
from pytest_reqfile.project.places import find_project, project_at, project_folders, project_of, user_config_folder
from pytest_reqfile.workspace.environment import Environment
from tests.support.projects import HEAD, ProjectFolder

OLD = "it is a layout of ai-rulez 4 or older, which is not read: run `ai-rulez migrate v5`"


OLD_STEMS = ("ai-rulez", ".ai-rulez", "ai_rulez", ".ai_rulez")
OLD_FILES = (
    *(f"{stem}.{end}" for stem in ("config", "config.local") for end in ("yaml", "yml", "json")),
    *("mcp.toml", "mcp.yaml", "mcp.json"),
)


def test_found_from_a_folder_below(tmp_path: Path) -> None:
    """Discovery walks up from the working folder."""
    ProjectFolder(tmp_path / "repo").write("src/deep/a.py")
    place = find_project(tmp_path / "repo/src/deep", top=tmp_path / "repo")
    assert place is not None
    assert (place.root, place.folder, place.config) == (tmp_path / "repo", ".ai-rulez", ".ai-rulez/config.toml")


def test_found_from_inside_the_configuration_folder(tmp_path: Path) -> None:
    """A declaration file named by path belongs to the project around it."""
    ProjectFolder(tmp_path / "repo").write(".ai-rulez/verifiers/db.toml")
    place = find_project(tmp_path / "repo/.ai-rulez/verifiers")
    assert place is not None
    assert place.root == tmp_path / "repo"


def test_the_nearest_project_wins(tmp_path: Path) -> None:
    """In a monorepo each package may have its own."""
    ProjectFolder(tmp_path)
    ProjectFolder(tmp_path / "packages/web")
    place = find_project(tmp_path / "packages/web", top=tmp_path)
    assert place is not None
    assert place.root == tmp_path / "packages/web"
    assert place.top == tmp_path


def test_nothing_above_the_repository_is_looked_at(tmp_path: Path) -> None:
    """A project around the repository is somebody else's."""
    ProjectFolder(tmp_path)
    (tmp_path / "repo/src").mkdir(parents=True)
    assert find_project(tmp_path / "repo/src", top=tmp_path / "repo") is None


def test_the_second_place_of_a_level(tmp_path: Path) -> None:
    """``.config/ai-rulez`` is the fallback; the project is the folder above ``.config``."""
    ProjectFolder(tmp_path / "x").write("y")
    config = tmp_path / "repo/.config/ai-rulez/config.toml"
    config.parent.mkdir(parents=True)
    config.write_text(HEAD)
    place = project_at(tmp_path / "repo")
    assert place is not None
    assert (place.root, place.folder) == (tmp_path / "repo", ".config/ai-rulez")
    ProjectFolder(tmp_path / "repo")
    first = project_at(tmp_path / "repo")
    assert first is not None
    assert first.folder == ".ai-rulez"


def test_the_users_own_configuration_is_no_project(tmp_path: Path) -> None:
    """``~/.config/ai-rulez`` looks like the fallback of the home folder."""
    config = tmp_path / "home/.config/ai-rulez/config.toml"
    config.parent.mkdir(parents=True)
    config.write_text("")
    (tmp_path / "home/code").mkdir()
    assert find_project(tmp_path / "home/code", user_config=config.parent) is None


@pytest.mark.parametrize(
    ("variables", "folder"),
    [
        ({"XDG_CONFIG_HOME": "/x", "HOME": "/h"}, Path("/x/ai-rulez")),
        ({"XDG_CONFIG_HOME": "", "HOME": "/h"}, Path("/h/.config/ai-rulez")),
        ({"XDG_CONFIG_HOME": "relative", "HOME": "/h"}, Path("/h/.config/ai-rulez")),
        ({}, None),
    ],
)
def test_where_the_users_configuration_is(variables: dict[str, str], folder: Path | None) -> None:
    """The XDG folder, which must be absolute, else the one in the home."""
    assert user_config_folder(Environment(variables=variables)) == folder


def test_a_folder_without_configuration_is_no_project(tmp_path: Path) -> None:
    """A bare ``.ai-rulez`` may be the tree of an include."""
    (tmp_path / ".ai-rulez/rules").mkdir(parents=True)
    assert project_at(tmp_path) is None


@pytest.mark.parametrize(
    ("path", "message"),
    [
        (
            "ai-rulez.toml",
            "the single-file layout is not read: move the configuration to .ai-rulez/config.toml, "
            "its verifiers and rules would not be looked at",
        ),
        *((f"{stem}.{end}", OLD) for stem in OLD_STEMS for end in ("yaml", "yml")),
        *((f"{place}/{name}", OLD) for place in (".ai-rulez", ".config/ai-rulez") for name in OLD_FILES),
    ],
)
@pytest.mark.parametrize("beside", [False, True])
def test_layouts_that_are_not_read(tmp_path: Path, path: str, message: str, beside: bool) -> None:
    """An unread layout is an error that says so, never "no verifiers, pass"; also beside a good configuration."""
    root = tmp_path / "repo"
    if beside:
        ProjectFolder(root)
    file = root / path
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text("")
    with pytest.raises(FormatError) as caught:
        project_at(root)
    assert str(caught.value) == f"{path}:1: {message}"
    assert project_folders([f"repo/{path}", "repo/README.md"]) == ("repo",)


def test_every_unread_layout_is_told(tmp_path: Path) -> None:
    """All problems of a level, not the first."""
    for name in ("ai-rulez.toml", "ai-rulez.yaml"):
        (tmp_path / name).write_text("")
    with pytest.raises(FormatError) as caught:
        project_at(tmp_path)
    assert [problem.path for problem in caught.value.problems] == ["ai-rulez.toml", "ai-rulez.yaml"]


def test_folders_of_such_names_are_none(tmp_path: Path) -> None:
    """A folder called like an old file says nothing."""
    (tmp_path / "ai-rulez.toml").mkdir()
    assert project_at(tmp_path) is None


@pytest.mark.parametrize(
    "mark", [".git", "go.mod", "package.json", "Cargo.toml", "pyproject.toml", "Taskfile.yml", "Taskfile.yaml"]
)
def test_a_configuration_in_a_project_root_is_refused(tmp_path: Path, mark: str) -> None:
    """Its outputs would be rooted one level too high."""
    ProjectFolder(tmp_path).write(f".ai-rulez/{mark}")
    with pytest.raises(FormatError) as caught:
        project_at(tmp_path)
    assert str(caught.value) == (
        f".ai-rulez/config.toml: its folder holds {mark}, so it is a project root itself: "
        "move config.toml to .ai-rulez/"
    )


def test_a_configuration_that_is_no_file(tmp_path: Path) -> None:
    """A folder of that name is told, not passed over."""
    (tmp_path / ".ai-rulez/config.toml").mkdir(parents=True)
    with pytest.raises(FormatError, match=r"^\.ai-rulez/config\.toml: expected a regular file$"):
        project_at(tmp_path)


def test_a_linked_configuration_inside_the_repository(tmp_path: Path) -> None:
    """A symlinked config.toml is followed if it stays inside of the repository."""
    project = ProjectFolder(tmp_path / "repo/sub")
    (tmp_path / "repo/shared.toml").write_text(HEAD)
    (project.root / ".ai-rulez/config.toml").unlink()
    project.link(".ai-rulez/config.toml", "../../shared.toml")
    assert project.load(top=tmp_path / "repo").config.name == "demo"
    with pytest.raises(FormatError, match="a symbolic link that leads out of the repository"):
        project_at(project.root)


def test_folders_of_a_listing() -> None:
    """The fronts find projects from the one git listing."""
    listed = [
        ".ai-rulez/config.toml",
        "a/.config/ai-rulez/config.toml",
        "b/.ai-rulez/rules/x.md",
        "c/my.ai-rulez/config.toml",
        "d/x/.ai-rulez/config.toml",
    ]
    assert project_folders(listed) == ("", "a", "d/x")


def test_a_configuration_named_by_path(tmp_path: Path) -> None:
    """``--config FILE`` is the exact choice."""
    project = ProjectFolder(tmp_path / "repo")
    assert project_of(project.root / ".ai-rulez/config.toml").root == project.root
    other = tmp_path / "repo/.config/ai-rulez/config.toml"
    other.parent.mkdir(parents=True)
    other.write_text(HEAD)
    assert (project_of(other).root, project_of(other).folder) == (project.root, ".config/ai-rulez")
    with pytest.raises(UsageError, match=r"expected a file named config\.toml"):
        project_of(project.root / ".ai-rulez/config.local.toml")
    with pytest.raises(UsageError, match="no such file"):
        project_of(tmp_path / "none/config.toml")
