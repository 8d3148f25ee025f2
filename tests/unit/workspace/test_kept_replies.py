"""Small files by key, bounded in number and private (issue 9; spec/verifiers.md 5.6)."""

from __future__ import annotations

import os
from hashlib import sha256
from pathlib import Path

import pytest

from pytest_reqfile.errors import FileError
from pytest_reqfile.workspace.kept_replies import KeptReplies

KEYS = [sha256(str(number).encode()).hexdigest() for number in range(12)]


def test_kept(tmp_path: Path) -> None:
    """What was written is read again; what was not, a link or a folder is nothing."""
    folder = tmp_path / "a/b"
    kept = KeptReplies(folder)
    assert kept.read(KEYS[0]) is None
    kept.write(KEYS[0], b"x")
    assert kept.read(KEYS[0]) == b"x"
    assert folder.stat().st_mode & 0o077 == 0
    (folder / KEYS[1]).symlink_to(folder / KEYS[0])
    (folder / KEYS[2]).mkdir()
    assert [kept.read(key) for key in KEYS[1:3]] == [None, None]


def test_bounded(tmp_path: Path) -> None:
    """The oldest go when there are too many; files that are not ours stay."""
    kept = KeptReplies(tmp_path, most=10)
    (tmp_path / "README").write_text("not ours")
    for age, key in enumerate(KEYS[:10]):
        kept.write(key, b"x")
        os.utime(tmp_path / key, (1000 + age, 1000 + age))
    assert len(list(tmp_path.iterdir())) == 11
    kept.write(KEYS[10], b"x")
    assert {path.name for path in tmp_path.iterdir()} == {"README", *KEYS[6:11]}


def test_cannot_be_written(tmp_path: Path) -> None:
    """A folder that cannot be made is said."""
    (tmp_path / "file").write_text("")
    with pytest.raises(FileError, match="cannot write"):
        KeptReplies(tmp_path / "file/folder").write(KEYS[0], b"x")
