"""One entry of a working tree as git would record it."""

from __future__ import annotations

import hashlib
import os
import stat
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from pytest_reqfile.errors import FileError
from pytest_reqfile.workspace.snapshot import read_regular

_CHUNK: Final = 1024 * 1024
_LARGEST_TEXT: Final = 16 * 1024 * 1024


@dataclass(frozen=True, slots=True, kw_only=True)
class TreeEntry:
    """``mode`` in git's spelling; ``blob`` is the id git gives the content, ``sha256`` its plain digest in hex.

    The content of a link is its target, in ``target`` too; a submodule's folder has neither content nor ids.
    """

    path: str
    mode: str
    blob: str = ""
    sha256: str = ""
    target: str = ""


def read_entry(root: Path, path: str, algorithm: str) -> TreeEntry | None:
    """What is at ``path`` now; None for what is missing, and for FIFOs and the like, which git does not record.

    ``algorithm`` is that of the repository's ids, ``sha1`` or ``sha256``. Files are read in pieces, never whole. Raises
    ``FileError`` for a file that cannot be read.
    """
    place = os.path.join(root, path)
    try:
        facts = os.lstat(place)
        if stat.S_ISLNK(facts.st_mode):
            return _link(path, os.readlink(place), algorithm)
        if stat.S_ISDIR(facts.st_mode):
            return TreeEntry(path=path, mode="160000")
        if not stat.S_ISREG(facts.st_mode):
            return None
        return _file(path, place, algorithm)
    except (FileNotFoundError, NotADirectoryError):
        return None
    except OSError as error:
        raise FileError(f"{path}: cannot read: {error.strerror}") from error


def blob_with_unix_lines(root: Path, path: str, algorithm: str) -> str | None:
    """The id git would give the text at ``path`` with CRLF turned into LF; None for what is too large to be a text."""
    try:
        data = read_regular(root / path, path, _LARGEST_TEXT)
    except (OSError, FileError):
        return None
    return object_id(algorithm, b"blob", data.replace(b"\r\n", b"\n"))


def object_id(algorithm: str, kind: bytes, data: bytes) -> str:
    """The id git gives an object."""
    return _started(algorithm, kind, len(data), data).hexdigest()


def _started(algorithm: str, kind: bytes, size: int, data: bytes = b"") -> hashlib._Hash:
    return hashlib.new(algorithm, kind + b" %d\0" % size + data, usedforsecurity=False)


def _link(path: str, target: str, algorithm: str) -> TreeEntry:
    data = os.fsencode(target)
    blob, digest = object_id(algorithm, b"blob", data), hashlib.sha256(data).hexdigest()
    return TreeEntry(path=path, mode="120000", blob=blob, sha256=digest, target=target)


def _file(path: str, place: str, algorithm: str) -> TreeEntry:
    descriptor = os.open(place, os.O_RDONLY | os.O_CLOEXEC | os.O_NOFOLLOW | os.O_NONBLOCK)
    with open(descriptor, "rb", buffering=0) as stream:
        facts = os.fstat(descriptor)
        blob, digest = _started(algorithm, b"blob", facts.st_size), hashlib.sha256()
        while chunk := stream.read(_CHUNK):
            blob.update(chunk)
            digest.update(chunk)
    mode = "100755" if facts.st_mode & stat.S_IXUSR else "100644"
    return TreeEntry(path=path, mode=mode, blob=blob.hexdigest(), sha256=digest.hexdigest())
