"""One entry of a working tree as git would record it."""

from __future__ import annotations

import os
import stat
from dataclasses import dataclass
from pathlib import Path

from pytest_reqfile.errors import FileError


@dataclass(frozen=True, slots=True, kw_only=True)
class TreeEntry:
    """``mode`` in git's spelling; ``data`` is the content, the target of a link, empty for a submodule's folder."""

    path: str
    mode: str
    data: bytes


def read_entry(root: Path, path: str) -> TreeEntry | None:
    """What is at ``path`` now; None for what is missing, and for FIFOs and the like, which git does not record.

    Raises ``FileError`` for a file that cannot be read.
    """
    place = os.path.join(root, path)
    try:
        facts = os.lstat(place)
        if stat.S_ISLNK(facts.st_mode):
            return TreeEntry(path=path, mode="120000", data=os.fsencode(os.readlink(place)))
        if stat.S_ISDIR(facts.st_mode):
            return TreeEntry(path=path, mode="160000", data=b"")
        if not stat.S_ISREG(facts.st_mode):
            return None
        mode = "100755" if facts.st_mode & stat.S_IXUSR else "100644"
        with open(place, "rb") as stream:
            return TreeEntry(path=path, mode=mode, data=stream.read())
    except (FileNotFoundError, NotADirectoryError):
        return None
    except OSError as error:
        raise FileError(f"{path}: cannot read: {error.strerror}") from error
