"""A folder on disk as it is, ignored and untracked files included (spec/airulez-project.md 2)."""

from __future__ import annotations

import errno
import os
import stat
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Final, Literal

from pytest_reqfile.errors import FileError
from pytest_reqfile.workspace.paths import byte_order, folder_of, name_of, normalised
from pytest_reqfile.workspace.snapshot import read_regular, reason_of

EntryKind = Literal["file", "folder", "link", "other"]

_KINDS: Final[dict[int, EntryKind]] = {stat.S_IFREG: "file", stat.S_IFDIR: "folder", stat.S_IFLNK: "link"}
_NOTHING_THERE: Final = frozenset({errno.ENOENT, errno.ENOTDIR})


@dataclass(frozen=True, slots=True, kw_only=True)
class FolderEntry:
    """One name in a folder; ``link`` is a symlink wherever it points, ``other`` a FIFO, socket or device."""

    name: str
    kind: EntryKind


class Walk:
    """Looks at the files below ``root``, one at a time, without git.

    Paths are ``/``-separated and relative to ``root``, which the empty path names. Symlinks are not followed, unless
    a ``border`` is given: then they may lead anywhere inside of that folder, which holds ``root``.
    """

    __slots__ = ("border", "root")

    def __init__(self, root: Path, *, border: Path | None = None) -> None:
        self.root = Path(os.path.realpath(root))
        self.border = Path(os.path.realpath(border)) if border is not None else None

    def kind(self, path: str) -> EntryKind | None:
        """What is at ``path``, its last component not followed; None where there is nothing."""
        with _told(path):
            try:
                place = self._real(folder_of(path)) / name_of(path) if path else self.root
                return _kind(os.lstat(place).st_mode)
            except OSError as error:
                if error.errno in _NOTHING_THERE:
                    return None
                raise

    def followed(self, path: str) -> EntryKind | None:
        """What is at ``path``, symlinks followed as far as this walk may; None where there is nothing."""
        if self.kind(path) is None:
            return None
        with _told(path):
            return _kind(os.lstat(self._real(path)).st_mode)

    def reached(self, path: str) -> EntryKind | None:
        """As ``followed``; None also for a symlink to nothing.

        Raises ``FileError`` where a symlink leads out, or the system does not let us look.
        """
        with _told(path):
            try:
                return _kind(os.stat(self._real(path)).st_mode)
            except OSError as error:
                if error.errno in _NOTHING_THERE:
                    return None
                raise

    def entries(self, folder: str) -> tuple[FolderEntry, ...]:
        """What is in ``folder``, in byte order of names. Raises ``FileError`` ``{folder}: cannot read: {reason}``."""
        with _told(folder), os.scandir(self._real(folder)) as found:
            entries = [FolderEntry(name=entry.name, kind=_entry_kind(entry)) for entry in found]
        return tuple(sorted(entries, key=lambda entry: byte_order(entry.name)))

    def below(self, folder: str) -> tuple[tuple[str, EntryKind], ...]:
        """Everything below ``folder`` but folders, with its kind, in byte order of paths; links are not entered."""
        found: list[tuple[str, EntryKind]] = []
        folders = [folder]
        while folders:
            parent = folders.pop()
            for entry in self.entries(parent):
                path = f"{parent}/{entry.name}" if parent else entry.name
                if entry.kind == "folder":
                    folders.append(path)
                else:
                    found.append((path, entry.kind))
        return tuple(sorted(found, key=lambda entry: byte_order(entry[0])))

    def real(self, path: str) -> Path:
        """Where ``path`` leads. Raises ``FileError`` if it leads nowhere, over the border, or over any symlink."""
        with _told(path):
            return self._real(path)

    def read(self, path: str, limit: int | None = None) -> bytes:
        """The bytes of a regular file. Raises ``FileError`` ``{path}: cannot read: {reason}``."""
        with _told(path):
            return read_regular(self._real(path), path, limit)

    def size(self, path: str) -> int:
        """The size of the file in bytes."""
        with _told(path):
            return self._real(path).stat().st_size

    def is_executable(self, path: str) -> bool:
        """Whether the owner may execute the file (spec/lock.md 2.1)."""
        with _told(path):
            return bool(self._real(path).stat().st_mode & stat.S_IXUSR)

    def link_target(self, path: str) -> str:
        """What a symlink says, unresolved."""
        with _told(path):
            return os.readlink(self._real(folder_of(path)) / name_of(path))

    def _real(self, path: str) -> Path:
        if normalised(path) != path:
            raise FileError(f"{path}: cannot read: not a path inside of its folder")
        place = self.root / path
        if not self._has_link(path):
            return place
        real = Path(os.path.realpath(place, strict=True))
        if real != place and self.border is None:
            raise FileError(f"{path}: cannot read: a symbolic link")
        if self.border is not None and not real.is_relative_to(self.border):
            raise FileError(f"{path}: cannot read: a symbolic link that leads out of the repository")
        return real

    def _has_link(self, path: str) -> bool:
        """Whether a symlink is on the way; the root has none. Raises OSError where the way ends."""
        place = str(self.root).rstrip("/")
        for part in path.split("/") if path else ():
            place = f"{place}/{part}"
            if stat.S_ISLNK(os.lstat(place).st_mode):
                return True
        return False


@contextmanager
def _told(path: str) -> Iterator[None]:
    """Refusals of the system as ``FileError`` that names ``path``."""
    try:
        yield
    except OSError as error:
        raise FileError(f"{path or '.'}: cannot read: {reason_of(error)}") from error
    except ValueError as error:  # a NUL in the name
        raise FileError(f"{path!r}: cannot read: {error}") from error


def _kind(mode: int) -> EntryKind:
    return _KINDS.get(stat.S_IFMT(mode), "other")


def _entry_kind(entry: os.DirEntry[str]) -> EntryKind:
    if entry.is_symlink():
        return "link"
    if entry.is_dir(follow_symlinks=False):
        return "folder"
    return "file" if entry.is_file(follow_symlinks=False) else "other"
