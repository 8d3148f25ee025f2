"""Projects that mean harm or lie broken on the disk: located errors, nothing lost, nothing outside read."""

from __future__ import annotations

import os
import shutil
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from pytest_reqfile.errors import FormatError
from pytest_reqfile.project.load import MAX_CONFIG_BYTES
from pytest_reqfile.project.places import find_project, project_at
from pytest_reqfile.project.resources import list_resources
from pytest_reqfile.project.selection import select
from tests.support.projects import HEAD, ProjectFolder, names, texts

NOBODY = 65534
CONFIG = ".ai-rulez/config.toml"


@pytest.mark.parametrize(
    "config",
    [
        "x = " + "[" * 100_000,
        "x = " + "{a=" * 100_000,
        "[" + "a." * 50_000 + "a]",
        "a." * 50_000 + "a = 1",
        "x = " + "9" * 100_000,
        "x = '\0'",
        "\ufeff",
        'source = "agents"\0',
    ],
    ids=["lists", "tables", "header", "dotted", "digits", "nul", "bom", "nul-behind"],
)
def test_toml_bombs(tmp_path: Path, config: str) -> None:
    """A configuration made to hang or to exhaust is refused with a place, in time."""
    project = ProjectFolder(tmp_path, config)
    before = time.process_time()
    with pytest.raises(FormatError) as caught:
        project.load()
    assert {(problem.path, problem.line) for problem in caught.value.problems} <= {(CONFIG, 1), (CONFIG, 3)}
    assert time.process_time() - before < 5


def test_a_huge_configuration(tmp_path: Path) -> None:
    """A sparse terabyte is refused without reading it."""
    project = ProjectFolder(tmp_path)
    with (tmp_path / CONFIG).open("ab") as stream:
        stream.truncate(1 << 40)
    with pytest.raises(FormatError, match=rf"^{CONFIG}: cannot read: larger than {MAX_CONFIG_BYTES} bytes$"):
        project.load()


def test_huge_content_and_verifiers(tmp_path: Path) -> None:
    """Each is a problem of its own; the rest is there."""
    project = ProjectFolder(tmp_path)
    for path in ("rules/huge.md", "verifiers/huge.toml", "rules/ok.md"):
        project.write(f".ai-rulez/{path}", "# x\n")
    for path in ("rules/huge.md", "verifiers/huge.toml"):
        with (tmp_path / ".ai-rulez" / path).open("ab") as stream:
            stream.truncate(1 << 40)
    loaded = project.load()
    assert names(loaded) == ["rule huge", "rule ok"]
    assert loaded.items[0].document.unread
    assert texts(loaded.problems) == [".ai-rulez/rules/huge.md: cannot read: larger than 5242880 bytes"]
    assert texts(loaded.declarations[0].problems) == [".ai-rulez/verifiers/huge.toml: file is larger than 1024 KiB"]


@pytest.mark.parametrize(
    "block",
    [
        "{a: &a [x], b: &b [*a, *a, *a], c: [*b, *b, *b]}\n",
        "[" * 10_000 + "\n",
        "{" * 10_000 + "\n",
        "- " * 5_000 + "\n",
    ],
    ids=["aliases", "lists", "maps", "dashes"],
)
def test_yaml_bombs(tmp_path: Path, block: str) -> None:
    """A frontmatter made to explode is malformed; the rule is still there."""
    project = ProjectFolder(tmp_path)
    project.write(".ai-rulez/rules/bomb.md", f"---\n{block}---\n# Rule\n")
    before = time.process_time()
    loaded = project.load()
    assert time.process_time() - before < 5
    assert names(loaded) == ["rule bomb"]
    assert loaded.problems[0].line == 2
    assert loaded.items[0].document.line_of("# Rule") == 4


def test_a_frontmatter_runs_nothing(tmp_path: Path) -> None:
    """A tag that names a function is text to us."""
    project = ProjectFolder(tmp_path)
    mark = tmp_path / "pwned"
    project.write(".ai-rulez/rules/x.md", f"---\nowner: !!python/object/apply:os.system ['touch {mark}']\n---\n")
    (rule,) = project.load().items
    assert rule.document.owner == ""
    assert not mark.exists()


@pytest.fixture
def closed_to_us() -> Iterator[Path]:
    """A folder of a user who is not allowed everything: root steps down for the test."""
    folder = Path(tempfile.mkdtemp())
    root = os.geteuid() == 0
    if root:
        os.chown(folder, NOBODY, NOBODY)
        os.seteuid(NOBODY)
    try:
        yield folder
    finally:
        if root:
            os.seteuid(0)
        for path in folder.rglob("*"):
            path.chmod(0o700)
        shutil.rmtree(folder)


def test_unreadable_files_and_folders(closed_to_us: Path) -> None:
    """What cannot be read is told where it lies, and hides nothing else."""
    project = ProjectFolder(closed_to_us)
    for path in ("rules/a.md", "rules/closed.md", "agents/b.md", "verifiers/v.toml", "skills/s/SKILL.md"):
        project.write(f".ai-rulez/{path}")
    for path in ("rules/closed.md", "agents", "verifiers/v.toml", "skills/s"):
        (closed_to_us / ".ai-rulez" / path).chmod(0)
    loaded = project.load()
    assert names(loaded) == ["rule a", "rule closed"]
    assert loaded.items[1].document.unread
    assert texts(loaded.problems) == [
        ".ai-rulez/rules/closed.md: cannot read: Permission denied",
        ".ai-rulez/skills/s/SKILL.md: cannot read: Permission denied",
        ".ai-rulez/agents: cannot read: Permission denied",
    ]
    assert texts(loaded.declarations[0].problems) == [".ai-rulez/verifiers/v.toml: cannot read: Permission denied"]


def test_an_unreadable_configuration(closed_to_us: Path) -> None:
    """A project that cannot be read is an error, never no project."""
    project = ProjectFolder(closed_to_us)
    (closed_to_us / CONFIG).chmod(0)
    with pytest.raises(FormatError, match=rf"^{CONFIG}: cannot read: Permission denied$"):
        project.load()
    (closed_to_us / ".ai-rulez").chmod(0)
    with pytest.raises(FormatError, match=r"^\.ai-rulez: cannot read: Permission denied$"):
        project_at(closed_to_us)


def test_closed_rubrics_and_includes(closed_to_us: Path) -> None:
    """A folder that nobody may enter is told, wherever it stands."""
    project = ProjectFolder(closed_to_us, '[[includes]]\nname = "i"\nsource = "vendor"\n')
    for path in (".ai-rulez/rubrics/open/a", ".ai-rulez/rubrics/shut/b", "vendor/rules/c.md"):
        project.write(path)
    for path in (".ai-rulez/rubrics/shut", "vendor"):
        (closed_to_us / path).chmod(0)
    loaded = project.load()
    assert [rubric.id for rubric in loaded.rubrics] == ["open"]
    assert [missing.source.name for missing in loaded.unavailable] == ["i"]
    assert texts(loaded.problems)[1:] == [".ai-rulez/rubrics/shut: cannot read: Permission denied"]
    (closed_to_us / ".ai-rulez/rubrics").chmod(0)
    assert texts(project.load().problems)[1:] == [".ai-rulez/rubrics: cannot read: Permission denied"]


def test_a_closed_project_folder(closed_to_us: Path) -> None:
    """Where nothing can be seen, "no project" would be a guess."""
    root = closed_to_us / "repo"
    ProjectFolder(root)
    root.chmod(0)
    with pytest.raises(FormatError, match="cannot read: Permission denied"):
        project_at(root)


def test_a_configuration_that_is_a_link_to_a_secret(tmp_path: Path) -> None:
    """Links of a configuration are judged as those of content."""
    project = ProjectFolder(tmp_path)
    project.write("server.pem", HEAD)
    (tmp_path / CONFIG).unlink()
    project.link(CONFIG, "../server.pem")
    with pytest.raises(FormatError, match=rf"^{CONFIG}: a symbolic link to server\.pem, which may hold credentials"):
        project.load()


def test_verifiers_that_are_elsewhere(tmp_path: Path) -> None:
    """A declaration folder that leads out is a problem, not an empty one."""
    project = ProjectFolder(tmp_path / "repo")
    (tmp_path / "out").mkdir()
    (tmp_path / "out/v.toml").write_text("")
    project.link(".ai-rulez/verifiers", tmp_path / "out")
    (file,) = project.load().declarations
    assert texts(file.problems) == [
        ".ai-rulez/verifiers: cannot read directory: a symbolic link that leads out of the repository"
    ]


def test_files_that_block(tmp_path: Path) -> None:
    """A FIFO in the place of anything is never opened."""
    project = ProjectFolder(tmp_path)
    for folder in ("rules", "verifiers", "skills/s", "rubrics/r", "skills/t/scripts"):
        (tmp_path / ".ai-rulez" / folder).mkdir(parents=True)
    project.write(".ai-rulez/skills/t/SKILL.md")
    for path in ("rules/a.md", "verifiers/v.toml", "skills/s/SKILL.md", "rubrics/r/x", "skills/t/scripts/x"):
        os.mkfifo(tmp_path / ".ai-rulez" / path)
    loaded = project.load()
    assert texts(loaded.problems) == [
        ".ai-rulez/rules/a.md: not a regular file",
        ".ai-rulez/skills/s/SKILL.md: not a regular file",
    ]
    assert loaded.rubrics[0].refused == (".ai-rulez/rubrics/r/x",)
    assert texts(loaded.declarations[0].problems) == [
        ".ai-rulez/verifiers/v.toml: not a regular file (symlinks are not followed)"
    ]
    assert list_resources(loaded, loaded.items) == {}


def test_a_configuration_that_blocks(tmp_path: Path) -> None:
    """A FIFO as config.toml is an error, not a hang and not "no project"."""
    (tmp_path / ".ai-rulez").mkdir()
    os.mkfifo(tmp_path / CONFIG)
    with pytest.raises(FormatError, match=r"expected a regular file$"):
        project_at(tmp_path)


@pytest.mark.parametrize("target", ["/etc", "../../..", "."])
def test_links_that_lead_away_or_around(tmp_path: Path, target: str) -> None:
    """A configuration folder or domain that is a link out is told; one that loops does not hang."""
    project = ProjectFolder(tmp_path / "a/b/repo")
    project.link(".ai-rulez/domains/loop", target)
    loaded = project.load()
    assert loaded.items == ()
    assert len(loaded.problems) == (0 if target == "." else 1)


def test_a_configuration_folder_elsewhere(tmp_path: Path) -> None:
    """``.ai-rulez`` as a link out of the repository is an error that says so."""
    ProjectFolder(tmp_path / "other")
    (tmp_path / "repo").mkdir()
    (tmp_path / "repo/.ai-rulez").symlink_to("../other/.ai-rulez")
    with pytest.raises(FormatError, match="a symbolic link that leads out of the repository"):
        find_project(tmp_path / "repo", top=tmp_path / "repo")
    place = project_at(tmp_path / "repo", top=tmp_path)
    assert place is not None


def test_names_with_escapes_and_bad_bytes(tmp_path: Path) -> None:
    """Any name the disk holds becomes an item."""
    project = ProjectFolder(tmp_path)
    for name in (b"caf\xe9.md", b"\x1b[31mred\n.md", "e\u0301.md".encode(), b"..md", b".md"):
        (tmp_path / ".ai-rulez/rules").mkdir(exist_ok=True)
        (tmp_path / ".ai-rulez/rules" / os.fsdecode(name)).write_text("x")
    loaded = project.load()
    assert [item.id for item in loaded.items] == ["", "\x1b[31mred\n", ".", "caf\udce9", "e\u0301"]
    assert loaded.problems == ()


@pytest.mark.parametrize("source", ["\\u0000", "a\\u0000b", "../../../../../../etc", "/etc", "~/x", "a" * 5000])
def test_hostile_sources(tmp_path: Path, source: str) -> None:
    """No path of an include reads what it should not, or ends in a traceback."""
    entries = "".join(f'[[{table}]]\nname = "x"\nsource = "{source}"\n' for table in ("includes", "installed_skills"))
    loaded = ProjectFolder(tmp_path, entries).load()
    assert loaded.items == ()
    assert len(loaded.unavailable) == len(loaded.problems) == 2


def test_a_path_that_climbs_out_of_an_include(tmp_path: Path) -> None:
    """``path`` stays inside of its source."""
    config = '[[includes]]\nname = "x"\nsource = "v"\npath = "../.ai-rulez"\n'
    project = ProjectFolder(tmp_path, config + config.replace("includes", "installed_skills"))
    project.write("v/rules/a.md")
    project.write(".ai-rulez/SKILL.md")
    loaded = project.load()
    assert loaded.items == ()
    assert len(loaded.unavailable) == 2


def test_a_role_of_many_stars(tmp_path: Path) -> None:
    """A pattern made to backtrack costs no time."""
    project = ProjectFolder(tmp_path, f'[[roles]]\nname = "r"\nrules = {{ include = ["{"*a" * 100}b"] }}\n')
    project.write(f".ai-rulez/rules/{'a' * 200}.md")
    before = time.process_time()
    assert select(project.load(), role="r").items == ()
    assert time.process_time() - before < 5


def test_ten_thousand_items(tmp_path: Path) -> None:
    """Cost grows with the number of files, not faster."""
    folder = tmp_path / ".ai-rulez/rules"
    folder.mkdir(parents=True)
    (tmp_path / CONFIG).write_text(HEAD)
    for number in range(10_000):
        (folder / f"r{number}.md").write_text("# Rule\n")
    place = project_at(tmp_path)
    assert place is not None
    before = time.process_time()
    loaded = ProjectFolder(tmp_path).load()
    assert len(loaded.items) == 10_000
    assert time.process_time() - before < 20
