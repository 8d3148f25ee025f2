"""Verifier files: which are read, in which order, and the words for those that cannot be (spec/verifiers.md 2.1)."""

from __future__ import annotations

from pathlib import Path

import pytest

from pytest_reqfile.project.declarations import MAX_FILE_BYTES
from tests.support.projects import ProjectFolder, texts

FOLDER = ".ai-rulez/verifiers"


def test_own_files_then_includes_then_skills(tmp_path: Path) -> None:
    """Name order in each folder; other names and folders are not read."""
    project = ProjectFolder(
        tmp_path,
        '[[installed_skills]]\nname = "s"\nsource = "vendor/s"\n[[includes]]\nname = "i"\nsource = "vendor/i"\n',
    )
    for path in ("b.toml", "a.toml", "Z.toml", "note.md", "x.TOML", "calibration/a.json", "dir.toml/x"):
        project.write(f"{FOLDER}/{path}", "verifiers = []\n")
    project.write("vendor/s/SKILL.md")
    project.write("vendor/s/verifiers/s.toml")
    project.write("vendor/i/verifiers/i.toml")
    loaded = project.load()
    assert [file.source for file in loaded.declarations] == [
        f"{FOLDER}/Z.toml",
        f"{FOLDER}/a.toml",
        f"{FOLDER}/b.toml",
        "include:i/verifiers/i.toml",
        "skill:s/verifiers/s.toml",
    ]
    assert all(file.node is not None for file in loaded.declarations)


def test_nodes_have_their_lines(tmp_path: Path) -> None:
    """What a verifier says can be reported where it is written."""
    project = ProjectFolder(tmp_path)
    project.write(f"{FOLDER}/t.toml", '# two\n\n[[verifiers]]\nid = "x"\n')
    (file,) = project.load().declarations
    assert file.node is not None
    tables = file.node.get("verifiers")
    assert tables is not None
    assert (tables.items[0].line, tables.items[0].entries[0].value.line) == (3, 4)


@pytest.mark.case("verifiers:A5.23")
def test_links_are_not_followed(tmp_path: Path) -> None:
    """A symlinked declaration file is a problem, wherever it leads."""
    project = ProjectFolder(tmp_path)
    project.write(f"{FOLDER}/real.toml")
    project.link(f"{FOLDER}/link.toml", "real.toml")
    link = project.load().declarations[0]
    assert link.node is None
    assert texts(link.problems) == [f"{FOLDER}/link.toml: not a regular file (symlinks are not followed)"]


@pytest.mark.case("lock:F20")
def test_bad_files_hide_nothing(tmp_path: Path) -> None:
    """Too large, no UTF-8, no TOML: each keeps its place among the others."""
    project = ProjectFolder(tmp_path)
    project.write(f"{FOLDER}/a.toml", "#" * (MAX_FILE_BYTES + 1))
    project.write(f"{FOLDER}/b.toml", b'a = 1\nb = "\xff"\n')
    project.write(f"{FOLDER}/c.toml", "a = 1\na = 2\n")
    project.write(f"{FOLDER}/d.toml", "a = " + "[" * 200 + "]" * 200)
    project.write(f"{FOLDER}/e.toml", "#" * MAX_FILE_BYTES)
    files = project.load().declarations
    assert [text for file in files for text in texts(file.problems)] == [
        f"{FOLDER}/a.toml: file is larger than 1024 KiB",
        f"{FOLDER}/b.toml:2: invalid TOML: not valid UTF-8",
        f"{FOLDER}/c.toml:2: invalid TOML: Cannot overwrite a value",
        f"{FOLDER}/d.toml:1: invalid TOML: TOML nested deeper than 64 levels is not read",
    ]
    assert files[4].node is not None


def test_a_folder_that_is_a_file(tmp_path: Path) -> None:
    """A declaration folder that cannot be read is a problem whose file is the folder."""
    project = ProjectFolder(tmp_path)
    project.write(FOLDER, "not a folder")
    (file,) = project.load().declarations
    assert texts(file.problems) == [f"{FOLDER}: cannot read directory: Not a directory"]
