"""Files and folders as something to digest: streamed in bounded memory, never through a symlink (spec/lock.md 2)."""

from __future__ import annotations

import os
import stat
from array import array
from collections.abc import Container, Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from types import TracebackType
from typing import Final

from pytest_reqfile.errors import FileError
from pytest_reqfile.workspace.paths import byte_order
from pytest_reqfile.workspace.snapshot import reason_of
from pytest_reqfile.workspace.walk import EntryKind

_FLAGS: Final = os.O_RDONLY | os.O_CLOEXEC | os.O_NOFOLLOW | os.O_NONBLOCK  # a FIFO must not block the open
_CHUNK: Final = 1 << 18
NOTHING: Final[frozenset[str]] = frozenset()


class OpenFile:
    """One regular file while it is hashed. ``size`` is in bytes, ``path`` what messages call it.

    Raises ``FileError`` ``{path}: cannot read: {reason}`` for anything that is no regular file.
    """

    __slots__ = ("_descriptor", "executable", "path", "size")

    def __init__(self, place: str, path: str) -> None:
        self.path = path
        try:
            self._descriptor = os.open(place, _FLAGS)
        except (OSError, ValueError) as error:
            raise _refused(path, error) from error
        facts = os.fstat(self._descriptor)
        if not stat.S_ISREG(facts.st_mode):
            os.close(self._descriptor)
            raise FileError(f"{path}: cannot read: not a regular file")
        self.size = facts.st_size
        self.executable = bool(facts.st_mode & stat.S_IXUSR)

    def __enter__(self) -> OpenFile:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        os.close(self._descriptor)

    def whole(self) -> bytes:
        """All bytes at once, and one more if the file has grown meanwhile."""
        wanted = self.size + 1
        try:
            data = os.read(self._descriptor, wanted)
            while 0 < len(data) < self.size:  # a read may stop early, on a network mount for one
                more = os.read(self._descriptor, wanted - len(data))
                if not more:
                    break
                data += more
        except OSError as error:
            raise _refused(self.path, error) from error
        return data

    def chunks(self) -> Iterator[bytes]:
        """The bytes from the start, piece by piece; may be asked for again."""
        try:
            os.lseek(self._descriptor, 0, os.SEEK_SET)
            while chunk := os.read(self._descriptor, _CHUNK):
                yield chunk
        except OSError as error:
            raise _refused(self.path, error) from error


def list_tree(
    root: Path, *, skipped: Container[str] = NOTHING, top: Container[str] | None = None
) -> list[tuple[str, EntryKind]]:
    """Everything below the real folder ``root`` but folders, with its kind, in byte order of paths.

    Folders named in ``skipped`` are not entered; ``top`` limits the entries of ``root`` itself. Symlinks are listed,
    not followed. Raises ``FileError`` for a folder that cannot be read.
    """
    found: list[tuple[str, EntryKind]] = []
    folders = [""]
    while folders:
        folder = folders.pop()
        try:
            with os.scandir(f"{root}/{folder}") as entries:
                for entry in entries:
                    name = entry.name
                    if not folder and top is not None and name not in top:
                        continue
                    if entry.is_file(follow_symlinks=False):
                        found.append((folder + name, "file"))
                    elif not entry.is_dir(follow_symlinks=False):
                        found.append((folder + name, "link" if entry.is_symlink() else "other"))
                    elif name not in skipped:
                        folders.append(f"{folder}{name}/")
        except OSError as error:
            raise _refused(folder.rstrip("/") or str(root), error) from error
    # Code points sort as UTF-8 does, but for the stand-ins of undecodable bytes.
    found.sort(key=None if all(path.isascii() for path, _ in found) else lambda entry: byte_order(entry[0]))
    return found


def is_real_folder(place: Path) -> bool:
    """Whether ``place`` itself is a folder and no symlink to one."""
    try:
        return stat.S_ISDIR(os.lstat(place).st_mode)
    except (OSError, ValueError):
        return False


def link_target(place: str, path: str) -> str:
    """What a symlink says, unresolved."""
    try:
        return os.readlink(place)
    except OSError as error:
        raise _refused(path, error) from error


@dataclass(frozen=True, slots=True, kw_only=True)
class FolderFacts:
    """What the file system says of some files of one folder: any write to one of them changes ``signature``.

    ``newest`` is the latest time among them in nanoseconds since 1970.
    """

    signature: bytes
    newest: int


def folder_facts(folder: str, names: Iterable[str]) -> FolderFacts | None:
    """The facts of the regular files ``names`` in ``folder``; None where one of them is no such file.

    Mode, size, inode, time of change and of the inode's change: a program can set all of them back but the last.
    """
    numbers: list[int] = []
    try:
        descriptor = os.open(folder, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
        try:
            for name in names:
                facts = os.stat(name, dir_fd=descriptor, follow_symlinks=False)
                if not stat.S_ISREG(facts.st_mode):
                    return None
                numbers += (facts.st_mtime_ns, facts.st_ctime_ns, facts.st_mode, facts.st_size, facts.st_ino & _MAX)
        finally:
            os.close(descriptor)
    except (OSError, ValueError):
        return None
    signature = "\0".join(names).encode("utf-8", "surrogateescape") + array("q", numbers).tobytes()
    newest = max(max(numbers[0::_FACTS], default=0), max(numbers[1::_FACTS], default=0))
    return FolderFacts(signature=signature, newest=newest)


_FACTS: Final = 5
_MAX: Final = (1 << 63) - 1


def _refused(path: str, error: OSError | ValueError) -> FileError:
    reason = reason_of(error) if isinstance(error, OSError) else str(error)
    return FileError(f"{path}: cannot read: {reason}")
