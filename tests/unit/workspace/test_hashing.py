"""Files and folders for digests: order, kinds, facts (spec/lock.md 2)."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from pytest_reqfile.errors import FileError
from pytest_reqfile.workspace.hashing import OpenFile, folder_facts, is_real_folder, link_target, list_tree


def test_everything_below_in_byte_order(tmp_path: Path) -> None:
    """Links and FIFOs with their kind, folders entered but not listed, names that are no text too."""
    names = ["Z.md", "a.md", "a/b", "a-b", "é", "\U0001f600", "\uffff"]
    try:
        (tmp_path / os.fsdecode(b"\xff")).touch()
        names.append(os.fsdecode(b"\xff"))
    except OSError:
        pass  # a file system of text names
    for name in names:
        place = tmp_path / name
        place.parent.mkdir(exist_ok=True)
        place.touch()
    (tmp_path / "link").symlink_to("a")
    os.mkfifo(tmp_path / "fifo")
    (tmp_path / "empty").mkdir()
    found = list_tree(tmp_path)
    assert [path for path, _ in found] == sorted([*names, "link", "fifo"], key=os.fsencode)
    assert {kind: path for path, kind in found if kind != "file"} == {"link": "link", "other": "fifo"}


def test_skipped_and_limited(tmp_path: Path) -> None:
    """Folders by name at any depth, entries of the root alone."""
    for name in ("a/.git/x", "a/y", ".git/z", "b/y"):
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).touch()
    assert list_tree(tmp_path, skipped={".git"}, top={"a", ".git"}) == [("a/y", "file")]


@pytest.mark.parametrize("make", [Path.mkdir, os.mkfifo, lambda path: path.symlink_to("x"), lambda path: None])
def test_only_regular_files_are_opened(tmp_path: Path, make: object) -> None:
    """Anything else is refused at once, by its shown name."""
    assert callable(make)
    make(tmp_path / "x")
    with pytest.raises(FileError, match=r"^shown: cannot read: "):
        OpenFile(str(tmp_path / "x"), "shown")
    assert folder_facts(str(tmp_path), ["x"]) is None


def test_facts_follow_every_write(tmp_path: Path) -> None:
    """Text, mode and name each change the signature; another look does not."""
    place = tmp_path / "x"
    place.write_text("1")
    seen = []
    for act in (lambda: None, lambda: place.write_text("22"), lambda: place.chmod(0o755)):
        act()
        facts = folder_facts(str(tmp_path), ["x"])
        assert facts is not None
        assert facts.newest >= place.stat().st_mtime_ns
        seen.append(facts.signature)
        assert folder_facts(str(tmp_path), ["x"]) == facts
    assert len(set(seen)) == 3
    assert folder_facts(str(tmp_path / "nowhere"), ["x"]) is None


def test_links(tmp_path: Path) -> None:
    """A link to a folder is no folder, and says what it says."""
    (tmp_path / "link").symlink_to("../x y")
    (tmp_path / "here").symlink_to(tmp_path)
    assert link_target(str(tmp_path / "link"), "link") == "../x y"
    assert (is_real_folder(tmp_path), is_real_folder(tmp_path / "here"), is_real_folder(tmp_path / "no")) == (
        True,
        False,
        False,
    )
    with pytest.raises(FileError, match=r"^shown: cannot read: "):
        link_target(str(tmp_path / "no"), "shown")
