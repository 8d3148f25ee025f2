"""What a skill carries: folders, bundle patterns and the view of git (spec/lock.md 3.1)."""

from __future__ import annotations

from pathlib import Path

import pytest

from pytest_reqfile.project.load import load_project
from pytest_reqfile.project.places import project_at
from pytest_reqfile.project.resources import DEFAULT_EXCLUDES, Excluder, GitView, list_resources, loose_folders
from pytest_reqfile.project.values import Project
from tests.support import Repo
from tests.support.projects import HEAD, ProjectFolder, texts

SKILL = ".ai-rulez/skills/pack"


def _names(project: Project, view: GitView | None = None) -> dict[str, list[str]]:
    found = list_resources(project, project.items, view)
    return {path: [resource.name for resource in resources] for path, resources in found.items()}


def test_only_the_bundled_folders(tmp_path: Path) -> None:
    """Regular files below references, scripts and assets; no links, no other folders, no single-file items."""
    project = ProjectFolder(tmp_path)
    for path in ("SKILL.md", "readme.md", "docs/a.md", "scripts/go.sh", "assets/deep/x.bin", "references/r.md"):
        project.write(f"{SKILL}/{path}")
    project.write(".ai-rulez/commands/ship/COMMAND.md")
    project.write(".ai-rulez/commands/ship/scripts/a.sh")
    project.write(".ai-rulez/commands/plain.md")
    project.link(f"{SKILL}/scripts/link.sh", "go.sh")
    project.write(".ai-rulez/skills/other/SKILL.md")
    project.link(".ai-rulez/skills/other/scripts", "../pack/scripts")
    loaded = project.load()
    assert _names(loaded) == {
        f"{SKILL}/SKILL.md": ["assets/deep/x.bin", "references/r.md", "scripts/go.sh"],
        ".ai-rulez/commands/ship/COMMAND.md": ["scripts/a.sh"],
    }


@pytest.mark.parametrize(
    ("patterns", "name", "excluded"),
    [
        ((), "scripts/node_modules/x/y.js", True),
        ((), "scripts/.venv-3/x", True),
        ((), "scripts/a.pyc", True),
        ((), "scripts/a.py", False),
        (("*.log",), "assets/deep/a.log", True),
        (("assets/deep",), "assets/deep/a.bin", True),
        (("assets/dee",), "assets/deep/a.bin", False),
        (("assets/*.bin",), "assets/deep/a.bin", False),
        (("assets/*/a.bin",), "assets/deep/a.bin", True),
        (("*.log", "!keep.log"), "assets/keep.log", False),
        (("!keep.log", "*.log"), "assets/keep.log", True),
        (("!*.pyc",), "scripts/a.pyc", False),
        (("[",), "[", False),
    ],
)
def test_bundle_patterns(patterns: tuple[str, ...], name: str, excluded: bool) -> None:
    """Slash-less ones match any segment, others the path or a leading folder; the last match decides."""
    assert Excluder((*DEFAULT_EXCLUDES, *patterns)).drops(name) is excluded


def test_bundle_exclude_is_for_own_content(tmp_path: Path) -> None:
    """Included skills get the built-in patterns only (spec/airulez-project.md 2.5)."""
    project = ProjectFolder(tmp_path, 'bundle_exclude = ["*.log"]\n[[includes]]\nname = "i"\nsource = "v"\n')
    for base in (SKILL, "v/skills/theirs"):
        for path in ("SKILL.md", "assets/a.log", "assets/b"):
            project.write(f"{base}/{path}")
    assert _names(project.load()) == {
        f"{SKILL}/SKILL.md": ["assets/b"],
        "v/skills/theirs/SKILL.md": ["assets/a.log", "assets/b"],
    }


def _loaded(repo: Repo, folder: str) -> Project:
    place = project_at(repo.path(folder), top=repo.root)
    assert place is not None
    return load_project(place)


def _view(repo: Repo) -> GitView:
    return GitView(git=repo.workspace_git(), listed=frozenset(repo.snapshot().listed))


@pytest.mark.case("lock:E18")
@pytest.mark.parametrize("folder", ["", "packages/web"])
def test_ignored_files_are_not_bundled(repo: Repo, folder: str) -> None:
    """Tracked and untracked files are; ignored ones only where git has no say."""
    base = f"{folder}/" if folder else ""
    repo.write(f"{base}.ai-rulez/config.toml", HEAD)
    for name in ("SKILL.md", "assets/tracked", "assets/new", "assets/ignored.tmp"):
        repo.write(f"{base}{SKILL}/{name}")
    repo.write(".gitignore", "*.tmp\n")
    repo.git("add", f"{base}{SKILL}/assets/tracked")
    loaded = _loaded(repo, folder)
    marker = f"{SKILL}/SKILL.md"
    assert _names(loaded, _view(repo)) == {marker: ["assets/new", "assets/tracked"]}
    assert _names(loaded) == {marker: ["assets/ignored.tmp", "assets/new", "assets/tracked"]}


@pytest.mark.parametrize("tracked", [False, True])
def test_an_ignored_skill_is_bundled_whole(repo: Repo, tracked: bool) -> None:
    """Where git ignores the skill itself (tracked or not), it has no say about its files."""
    repo.write(".ai-rulez/config.toml", HEAD)
    repo.write(f"{SKILL}/SKILL.md")
    repo.write(f"{SKILL}/assets/a")
    repo.write(".gitignore", "pack/\n")
    if tracked:
        repo.git("add", "-f", f"{SKILL}/SKILL.md")
    assert _names(_loaded(repo, ""), _view(repo)) == {f"{SKILL}/SKILL.md": ["assets/a"]}


def test_a_linked_skill_is_seen_where_it_is(repo: Repo) -> None:
    """git is asked about the real files of a symlinked skill folder."""
    repo.write(".ai-rulez/config.toml", HEAD)
    for name in ("SKILL.md", "assets/a", "assets/b.tmp"):
        repo.write(f"shared/pack/{name}")
    repo.write(".gitignore", "*.tmp\n")
    repo.symlink(SKILL, "../../shared/pack")
    loaded = _loaded(repo, "")
    assert _names(loaded, _view(repo)) == {f"{SKILL}/SKILL.md": ["assets/a"]}


def test_folders_that_are_not_bundled_are_told(tmp_path: Path) -> None:
    """Their files are not pinned; ``evals`` is known and silent."""
    project = ProjectFolder(tmp_path)
    for path in ("SKILL.md", "docs/a", "evals/b", "scripts/c"):
        project.write(f"{SKILL}/{path}")
    project.write(".ai-rulez/rules/a.md")
    rule, skill = project.load().items
    assert loose_folders(rule) == ()
    assert texts(loose_folders(skill)) == [
        f"{SKILL}/docs: files in it are neither used nor pinned (expected one of: references, scripts, assets)"
    ]
