"""The repository as one run sees it: listed once, each file looked at and read at most once (design 4)."""

from __future__ import annotations

import errno
import os
import stat
import threading
from collections.abc import Iterable
from functools import cached_property
from pathlib import Path
from typing import Final, Protocol, runtime_checkable

from pytest_reqfile.errors import FileError
from pytest_reqfile.workspace.paths import byte_order, folder_of, normalised

MEMORY_BOUND: Final = 64 * 1024 * 1024
_LARGEST_SHARE: Final = 8
_CHUNK: Final = 4096
_ABSENT: Final = frozenset({errno.ENOENT, errno.ENOTDIR, errno.ELOOP, errno.ENAMETOOLONG})
_OPEN_FLAGS: Final = os.O_RDONLY | os.O_CLOEXEC | os.O_NOFOLLOW | os.O_NONBLOCK  # a FIFO must not block the open


class Listing(Protocol):
    """Where the paths of a snapshot come from: ``Git``, a ``FolderWalk``, or whatever else names files below a root.

    ``list_files`` gives each path once, in byte order.
    """

    @property
    def root(self) -> Path: ...

    def list_files(self) -> tuple[str, ...]: ...


@runtime_checkable
class Searchable(Protocol):
    """A listing or tree that finds a few of its paths without making text of all of them."""

    def with_ending(self, endings: Iterable[str]) -> tuple[str, ...]:
        """The paths whose lower-cased text ends with one of the ASCII ``endings``, in byte order."""


@runtime_checkable
class Incomplete(Protocol):
    """A listing that may not have seen all there is."""

    def unreadable(self) -> tuple[tuple[str, str], ...]:
        """Folders that could not be looked into, each with the reason."""


class Snapshot:
    """One listing of a tree and its files, for one run.

    Paths are repository paths. Nothing is looked at before it is asked for: the listing at first use of ``listed``, a
    file's kind at ``is_regular``, its bytes at ``read``. Contents are kept until ``memory_bound`` bytes are held.
    Safe to use from several threads.
    """

    def __init__(self, source: Listing, memory_bound: int = MEMORY_BOUND) -> None:
        self.root = Path(os.path.realpath(source.root))
        self._source = source
        self._room = memory_bound
        self._largest = memory_bound // _LARGEST_SHARE
        self._lock = threading.RLock()
        self._modes: dict[str, int | None] = {}
        self._contents: dict[str, bytes] = {}

    @property
    def listed(self) -> tuple[str, ...]:
        """Every listed path once, in byte order; some may be symlinks, folders (submodules) or missing on disk.

        Names that are not UTF-8 are kept, surrogate-escaped: leaving them out would pass what was not looked at.
        """
        with self._lock:
            return self._listed

    @cached_property
    def _listed(self) -> tuple[str, ...]:
        return self._source.list_files()

    def with_ending(self, endings: Iterable[str]) -> tuple[str, ...]:
        """The listed paths whose lower-cased text ends with one of the ASCII ``endings``, in byte order."""
        with self._lock:
            if isinstance(self._source, Searchable):
                return self._source.with_ending(endings)
            wanted = tuple(endings)
            return tuple(path for path in self._listed if path.lower().endswith(wanted))

    def unreadable(self) -> tuple[tuple[str, str], ...]:
        """Folders that could not be looked into, each with the reason; what they hold is not listed."""
        return self._source.unreadable() if isinstance(self._source, Incomplete) else ()

    @cached_property
    def _listed_set(self) -> frozenset[str]:
        return frozenset(self.listed)

    def is_listed(self, path: str) -> bool:
        with self._lock:
            return path in self._listed_set

    def is_regular(self, path: str) -> bool:
        """Whether ``path`` is a regular file reached without following a symlink, at the first time it was asked.

        Raises ``FileError`` where nobody may know: a folder above it cannot be entered.
        """
        if normalised(path) != path or not path:
            return False
        with self._lock:
            return self._is_kind(path, stat.S_IFREG) and self._in_real_folders(path)

    def is_folder(self, path: str) -> bool:
        """Whether ``path`` is a folder now, listed or not; the root is one."""
        return not path or (normalised(path) == path and _kind(f"{self.root}/{path}", path) == stat.S_IFDIR)

    def regular(self, paths: Iterable[str]) -> tuple[str, ...]:
        """Those of ``paths`` that are regular files, in the order given."""
        return tuple(filter(self.is_regular, paths))

    def read(self, path: str, limit: int | None = None) -> bytes:
        """The bytes of a regular file; a symlink is not followed.

        Raises ``FileError`` ``{path}: cannot read: {reason}``, also for a file of more than ``limit`` bytes.
        """
        with self._lock:
            data = self._contents.get(path)
        if data is None:
            data = self._keep(path, self._load(path, limit))
        _refuse_large(path, len(data), limit)
        return data

    def read_text(self, path: str, limit: int | None = None) -> str:
        """The text of a regular file, strictly UTF-8; a byte order mark is left for the caller to judge."""
        try:
            return self.read(path, limit).decode("utf-8")
        except UnicodeDecodeError:
            raise FileError(f"{path}: not valid UTF-8") from None

    def _load(self, path: str, limit: int | None) -> bytes:
        try:
            self._refuse_detours(path)
            return read_regular(self.root / path, path, limit)
        except OSError as error:
            raise FileError(f"{path}: cannot read: {reason_of(error)}") from error
        except ValueError as error:  # a NUL in the name
            raise FileError(f"{path!r}: cannot read: {error}") from error

    def _refuse_detours(self, path: str) -> None:
        if normalised(path) != path or not path:
            raise FileError(f"{path}: cannot read: not a path inside the repository")
        with self._lock:
            if not self._in_real_folders(path):
                raise FileError(f"{path}: cannot read: a folder above it is missing or a symbolic link")

    def _keep(self, path: str, data: bytes) -> bytes:
        with self._lock:
            if len(data) <= min(self._room, self._largest) and path not in self._contents:
                self._contents[path] = data
                self._room -= len(data)
        return data

    def _in_real_folders(self, path: str) -> bool:
        folder = folder_of(path)
        return not folder or (self._is_kind(folder, stat.S_IFDIR) and self._in_real_folders(folder))

    def _is_kind(self, path: str, kind: int) -> bool:
        if path not in self._modes:
            self._modes[path] = _mode(f"{self.root}/{path}", path)
        mode = self._modes[path]
        return mode is not None and stat.S_IFMT(mode) == kind


class FolderWalk:
    """The files and symlinks below a folder, for trees outside git; ``skipped`` names folders that are not entered."""

    def __init__(self, root: Path, skipped: frozenset[str] = frozenset({".git"})) -> None:
        self.root = root
        self._skipped = skipped

    def list_files(self) -> tuple[str, ...]:
        """Repository paths in byte order; raises ``FileError`` for a folder that cannot be read."""
        found: list[str] = []
        folders = [""]
        while folders:
            folder = folders.pop()
            for entry in self._entries(folder):
                path = f"{folder}/{entry.name}" if folder else entry.name
                if not entry.is_dir(follow_symlinks=False):
                    found.append(path)
                elif entry.name not in self._skipped:
                    folders.append(path)
        return tuple(sorted(found, key=byte_order))

    def _entries(self, folder: str) -> tuple[os.DirEntry[str], ...]:
        try:
            with os.scandir(self.root / folder) as entries:
                return tuple(entries)
        except OSError as error:
            raise FileError(f"{folder or '.'}: cannot read: {reason_of(error)}") from error


def read_regular(file: Path, path: str, limit: int | None) -> bytes:
    """The bytes of ``file``, shown as ``path``.

    Raises OSError if it is missing or a symlink, ``FileError`` if it is no regular file or exceeds ``limit`` bytes.
    """
    descriptor = os.open(file, _OPEN_FLAGS)
    try:
        return _content(descriptor, path, limit)
    finally:
        os.close(descriptor)


def _content(descriptor: int, path: str, limit: int | None) -> bytes:
    facts = os.fstat(descriptor)
    if not stat.S_ISREG(facts.st_mode):
        raise FileError(f"{path}: cannot read: not a regular file")
    _refuse_large(path, facts.st_size, limit)  # before memory is asked for
    chunks: list[bytes] = []
    total = 0
    while chunk := os.read(descriptor, max(_CHUNK, facts.st_size - total + 1)):
        chunks.append(chunk)
        total += len(chunk)
        _refuse_large(path, total, limit)
    return b"".join(chunks)


def _refuse_large(path: str, size: int, limit: int | None) -> None:
    if limit is not None and size > limit:
        raise FileError(f"{path}: cannot read: larger than {limit} bytes")


def _kind(place: str, path: str) -> int | None:
    mode = _mode(place, path)
    return None if mode is None else stat.S_IFMT(mode)


def _mode(place: str, path: str) -> int | None:
    """The mode of what is at ``place``, shown as ``path``; None if there is nothing."""
    try:
        return os.lstat(place).st_mode
    except OSError as error:
        if error.errno in _ABSENT:
            return None
        raise FileError(f"{path}: cannot read: {reason_of(error)}") from error
    except ValueError:  # a NUL in the name
        return None


def reason_of(error: OSError) -> str:
    """Why the system refused, in its own words."""
    if error.errno == errno.ELOOP:
        return "a symbolic link"
    return error.strerror or str(error)
