"""workspace/walk.py on real folders."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from pytest_reqfile.errors import FileError
from pytest_reqfile.workspace.walk import FolderEntry, Walk


def _tree(root: Path) -> Path:
    (root / "tree/sub").mkdir(parents=True)
    (root / "tree/b").write_text("b")
    (root / "tree/sub/a.sh").write_text("a")
    (root / "tree/sub/a.sh").chmod(0o744)
    (root / "tree/link").symlink_to("b")
    (root / "tree/out").symlink_to("../secret")
    (root / "tree/folder").symlink_to("sub")
    os.mkfifo(root / "tree/pipe")
    (root / "secret").write_text("s")
    return root / "tree"


def test_entries_are_sorted_and_have_kinds(tmp_path: Path) -> None:
    """A link is a link wherever it leads; a FIFO is not opened."""
    walk = Walk(_tree(tmp_path))
    found = {entry.name: entry.kind for entry in walk.entries("")}
    assert found == {"b": "file", "folder": "link", "link": "link", "out": "link", "pipe": "other", "sub": "folder"}
    assert list(found) == sorted(found)
    assert walk.entries("sub") == (FolderEntry(name="a.sh", kind="file"),)


def test_kinds(tmp_path: Path) -> None:
    """Nothing is None, also below a file."""
    walk = Walk(_tree(tmp_path))
    assert [walk.kind(path) for path in ("", "b", "link", "pipe", "none", "b/x", "none/x")] == [
        *("folder", "file", "link", "other"),
        *(None, None, None),
    ]


def test_below(tmp_path: Path) -> None:
    """Everything but folders, links not entered."""
    walk = Walk(_tree(tmp_path))
    assert walk.below("") == (
        *(("b", "file"), ("folder", "link"), ("link", "link")),
        *(("out", "link"), ("pipe", "other"), ("sub/a.sh", "file")),
    )


@pytest.mark.parametrize(
    ("path", "message"),
    [
        ("link", "link: cannot read: a symbolic link"),
        ("folder/a.sh", "folder/a.sh: cannot read: a symbolic link"),
        ("none", "none: cannot read: No such file or directory"),
        ("sub", "sub: cannot read: not a regular file"),
        ("pipe", "pipe: cannot read: not a regular file"),
        ("../secret", "../secret: cannot read: not a path inside of its folder"),
        ("/etc/passwd", "/etc/passwd: cannot read: not a path inside of its folder"),
        ("sub//a.sh", "sub//a.sh: cannot read: not a path inside of its folder"),
    ],
)
def test_what_is_not_read(tmp_path: Path, path: str, message: str) -> None:
    """Without a border no link is followed, and nothing outside is ever named."""
    with pytest.raises(FileError) as caught:
        Walk(_tree(tmp_path)).read(path)
    assert str(caught.value) == message


def test_a_nul_in_a_path_is_refused(tmp_path: Path) -> None:
    """Paths come from files of strangers."""
    walk = Walk(_tree(tmp_path))
    for look in (walk.kind, walk.read, walk.entries, walk.real):
        with pytest.raises(FileError, match=r"^'b\\x00': cannot read: "):
            look("b\0")


def test_a_border_lets_links_lead_inside(tmp_path: Path) -> None:
    """Links are followed up to the border and no further."""
    tree = _tree(tmp_path)
    near, far = Walk(tree, border=tree), Walk(tree, border=tmp_path)
    assert near.read("link") == b"b"
    assert near.read("folder/a.sh") == b"a"
    assert near.followed("folder") == "folder"
    assert near.followed("none") is None
    assert far.read("out") == b"s"
    with pytest.raises(FileError, match=r"^out: cannot read: a symbolic link that leads out of the repository$"):
        near.read("out")


def test_sizes_modes_and_targets(tmp_path: Path) -> None:
    """The owner's bit decides; a link says what is written in it."""
    walk = Walk(_tree(tmp_path))
    assert walk.size("b") == 1
    assert [walk.is_executable(path) for path in ("b", "sub/a.sh")] == [False, True]
    assert walk.link_target("out") == "../secret"
    assert walk.real("sub/a.sh") == tmp_path / "tree/sub/a.sh"


def test_a_huge_file_is_refused_before_it_is_read(tmp_path: Path) -> None:
    """A sparse file of a terabyte costs no memory."""
    with (tmp_path / "huge").open("wb") as stream:
        stream.truncate(1 << 40)
    with pytest.raises(FileError, match=r"^huge: cannot read: larger than 10 bytes$"):
        Walk(tmp_path).read("huge", 10)


def test_names_that_are_no_utf8(tmp_path: Path) -> None:
    """They are kept, surrogate-escaped, and can be read."""
    (tmp_path / os.fsdecode(b"caf\xe9")).write_text("x")
    walk = Walk(tmp_path)
    (entry,) = walk.entries("")
    assert entry.name == "caf\udce9"
    assert walk.read(entry.name) == b"x"
