"""Many files at once: walked, filtered and read as fast as the system allows (performance.md 1)."""

from __future__ import annotations

import os
import stat
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from pytest_reqfile.errors import FileError
from pytest_reqfile.workspace.paths import byte_order, is_below

_FLAGS: Final = os.O_RDONLY | os.O_CLOEXEC | os.O_NOFOLLOW | os.O_NONBLOCK
_FIRST_BUFFER: Final = 1 << 20


@dataclass(frozen=True, slots=True, kw_only=True)
class FolderListing:
    """The regular files below a folder, in byte order, and the folders below it that could not be read."""

    files: tuple[str, ...]
    unreadable: tuple[str, ...]


def list_folder(root: Path, skipped: frozenset[str]) -> FolderListing:
    """Walk ``root``; folders named in ``skipped`` are not entered, symlinks neither listed nor followed.

    Raises FileError where ``root`` itself cannot be read.
    """
    files: list[str] = []
    unreadable: list[str] = []
    folders = [""]
    while folders:
        folder = folders.pop()
        try:
            with os.scandir(f"{root}/{folder}") as entries:
                for name, is_folder in _kinds(entries):
                    path = f"{folder}/{name}" if folder else name
                    if not is_folder:
                        files.append(path)
                    elif name not in skipped:
                        folders.append(path)
        except OSError as error:
            if not folder:
                raise FileError(f"{root}: cannot read: {error.strerror or error}") from error
            unreadable.append(folder)
    kept = [path for path in files if not _is_inside(path, unreadable)] if unreadable else files
    return FolderListing(
        files=tuple(sorted(kept, key=byte_order)), unreadable=tuple(sorted(unreadable, key=byte_order))
    )


def _kinds(entries: Iterable[os.DirEntry[str]]) -> Iterator[tuple[str, bool]]:
    """Regular files and folders by name, with whether each is a folder."""
    for entry in entries:
        if entry.is_file(follow_symlinks=False):
            yield entry.name, False
        elif entry.is_dir(follow_symlinks=False):
            yield entry.name, True


def _is_inside(path: str, folders: Iterable[str]) -> bool:
    return any(is_below(path, folder) for folder in folders)


def regular_files(root: Path, paths: Iterable[str]) -> tuple[str, ...]:
    """Those of ``paths`` that are regular files and no symlinks, in the order given.

    One of which that cannot be known stays: reading it says why.
    """
    return tuple(path for path in paths if _is_regular(f"{root}/{path}"))


def _is_regular(place: str) -> bool:
    try:
        return stat.S_ISREG(os.lstat(place).st_mode)
    except PermissionError:
        return True
    except (OSError, ValueError):
        return False


class BulkReader:
    """Reads the first ``limit`` bytes of one file after the other, through one buffer."""

    __slots__ = ("_buffer", "_limit", "_root")

    def __init__(self, root: Path, limit: int) -> None:
        self._root = str(root)
        self._limit = limit
        self._buffer = bytearray(min(limit + 1, _FIRST_BUFFER))

    def read(self, path: str) -> tuple[bytes, bool]:
        """The bytes of a regular file up to the limit, and whether there are more. A symlink is not followed.

        Raises FileError ``read {path}: {reason}``.
        """
        try:
            descriptor = os.open(f"{self._root}/{path}", _FLAGS)
            try:
                size = self._fill(descriptor)
            finally:
                os.close(descriptor)
        except FileNotFoundError:
            raise FileError(f"read {path}: no such file") from None
        except OSError as error:
            raise FileError(f"read {path}: {(error.strerror or str(error)).lower()}") from error
        return bytes(memoryview(self._buffer)[: min(size, self._limit)]), size > self._limit

    def _fill(self, descriptor: int) -> int:
        """How much was read into the buffer: up to one byte beyond the limit."""
        size = 0
        while True:
            read = os.readv(descriptor, [memoryview(self._buffer)[size:]] if size else [self._buffer])
            size += read
            # A regular file gives less than asked for only at its end.
            if size < len(self._buffer) or size > self._limit:
                return size
            larger = bytearray(min(self._limit + 1, 4 * size))
            larger[:size] = self._buffer
            self._buffer = larger
