"""Writing files so that nobody ever sees half of one, and never through a symlink (design 4)."""

from __future__ import annotations

import errno
import fcntl
import os
import stat
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import BinaryIO, Final

from pytest_reqfile.errors import FileError

_NEW_FILE: Final = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC | os.O_NOFOLLOW
_APPEND: Final = os.O_RDWR | os.O_CREAT | os.O_APPEND | os.O_CLOEXEC | os.O_NOFOLLOW | os.O_NONBLOCK
_DEFAULT_MODE: Final = 0o666
_MACHINE: Final = (("dev",), ("proc",))
_LOCK_POLL_SECONDS: Final = 0.02


def write_atomic(path: Path, data: bytes, *, parents: bool = False) -> None:
    """Put ``data`` at ``path``: complete or not at all, through a temporary file in the same folder and a rename.

    A symlink at ``path`` is replaced by a regular file, its target is not touched. The mode of a file that is replaced
    is kept. ``parents`` makes missing folders. A device, pipe or socket, also behind a symlink, is refused: replacing
    ``/dev/null`` would break the machine. Raises ``FileError`` ``cannot write {path}: {reason}``.
    """
    try:
        _refuse_special(path)
        if parents:
            path.parent.mkdir(parents=True, exist_ok=True)
        temporary = path.parent / f".reqfile-{os.urandom(8).hex()}.tmp"
        try:
            _write_new(temporary, data, _mode_of(path))
            temporary.rename(path)
        except BaseException:
            temporary.unlink(missing_ok=True)
            raise
    except (OSError, ValueError) as error:
        raise FileError(f"cannot write {path}: {_reason(error)}") from error


def create_new(path: Path, data: bytes) -> None:
    """Put ``data`` at ``path``, where nothing may be yet, also no symlink; folders on the way are made.

    Raises ``FileError`` ``cannot write {path}: {reason}``; nothing is left behind then.
    """
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        descriptor = os.open(path, _NEW_FILE, _DEFAULT_MODE)  # the umask applies
    except OSError as error:
        raise FileError(f"cannot write {path}: {_reason(error)}") from error
    try:
        with open(descriptor, "wb") as stream:
            stream.write(data)
    except BaseException as error:
        path.unlink(missing_ok=True)
        if isinstance(error, OSError):
            raise FileError(f"cannot write {path}: {_reason(error)}") from error
        raise


@contextmanager
def replaced_file(path: Path, data: bytes) -> Iterator[None]:
    """``data`` at ``path`` for good if the block succeeds; else the very file that was there is back.

    It is kept beside its place meanwhile, so that putting it back needs no room on the disk. Raises ``FileError``.
    """
    kept = path.parent / f".reqfile-{os.urandom(8).hex()}.before"
    try:
        _keep(path, kept)
        write_atomic(path, data)
        yield
    except BaseException:
        with suppress(FileNotFoundError):
            kept.replace(path)
        raise
    finally:
        kept.unlink(missing_ok=True)  # two names of one file: a rename from one to the other does nothing


def _keep(path: Path, kept: Path) -> None:
    try:
        try:
            kept.hardlink_to(path)
        except OSError:  # a file system without hard links
            _write_new(kept, path.read_bytes(), _mode_of(path))
    except OSError as error:
        raise FileError(f"cannot write {kept}: {_reason(error)}") from error


def _refuse_special(path: Path) -> None:
    try:
        mode = path.stat().st_mode
    except OSError:
        return  # nothing is there, or writing will say what is wrong
    if _is_of_the_machine(path) or not (stat.S_ISREG(mode) or stat.S_ISDIR(mode)):
        raise ValueError("not a regular file")


def _is_of_the_machine(path: Path) -> bool:
    """Whether it is a link like ``/dev/stdout``: that leads to a regular file where output is redirected to one."""
    return path.is_symlink() and Path(os.path.realpath(path.parent)).parts[1:2] in _MACHINE


def _write_new(path: Path, data: bytes, mode: int | None) -> None:
    descriptor = os.open(path, _NEW_FILE, _DEFAULT_MODE)  # the umask applies
    with open(descriptor, "wb") as stream:
        stream.write(data)
        stream.flush()
        if mode is not None:
            os.fchmod(descriptor, mode)
        os.fsync(descriptor)


def _mode_of(path: Path) -> int | None:
    try:
        facts = path.lstat()
    except FileNotFoundError:
        return None
    return stat.S_IMODE(facts.st_mode) if stat.S_ISREG(facts.st_mode) else None


def append_lines(path: Path, data: bytes, *, parents: bool = False, seconds: float = 60.0) -> None:
    """Add whole lines to ``path``; several processes may do so at once, and no line is ever torn.

    Another process may hold the file for ``seconds`` at most.

    ``data`` ends with a newline; empty, it only makes the file. A last line that an older crash left unfinished is
    closed first; what a full disk accepted only in part is taken back. A symlink or anything that is no regular file
    is refused with ``FileError``.
    """
    if data and not data.endswith(b"\n"):
        raise ValueError("append_lines takes whole lines")
    try:
        if parents:
            path.parent.mkdir(parents=True, exist_ok=True)
        descriptor = os.open(path, _APPEND, _DEFAULT_MODE)
        try:
            _append_locked(descriptor, data, seconds)
        finally:
            os.close(descriptor)  # releases the lock
    except (OSError, ValueError) as error:
        raise FileError(f"cannot write {path}: {_reason(error)}") from error


def _append_locked(descriptor: int, data: bytes, seconds: float) -> None:
    if not stat.S_ISREG(os.fstat(descriptor).st_mode):
        raise ValueError("not a regular file")
    if not _lock_within(descriptor, seconds):
        raise ValueError(_held(seconds))
    size = os.fstat(descriptor).st_size
    torn = bool(data) and size > 0 and os.pread(descriptor, 1, size - 1) != b"\n"
    try:
        _write_all(descriptor, b"\n" + data if torn else data)
    except OSError:
        os.ftruncate(descriptor, size)
        raise


def _write_all(descriptor: int, data: bytes) -> None:
    rest = memoryview(data)
    while rest:
        rest = rest[os.write(descriptor, rest) :]


@contextmanager
def exclusive_lock(path: Path, seconds: float = 60.0) -> Iterator[None]:
    """Hold the lock file at ``path`` (its folder is made): one process at a time, released however the process ends.

    Raises ``FileError`` when another process holds it for ``seconds``, or when it cannot be made.
    """
    descriptor = _open_lock(path)
    try:
        if not _lock_within(descriptor, seconds):
            raise FileError(f"cannot lock {path}: {_held(seconds)}")
        yield
    finally:
        os.close(descriptor)  # releases the lock


def _open_lock(path: Path) -> int:
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        return os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC | os.O_NOFOLLOW | os.O_NONBLOCK, _DEFAULT_MODE)
    except OSError as error:
        raise FileError(f"cannot write {path}: {_reason(error)}") from error


def _held(seconds: float) -> str:
    return f"another process has held it for {seconds:g} seconds"


def _lock_within(descriptor: int, seconds: float) -> bool:
    deadline = time.monotonic() + seconds
    while not _try_lock(descriptor):
        if time.monotonic() > deadline:
            return False
        time.sleep(_LOCK_POLL_SECONDS)
    return True


def _try_lock(descriptor: int) -> bool:
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    return True


@contextmanager
def readable_file(data: bytes) -> Iterator[BinaryIO]:
    """``data`` as a nameless file that a process can have as its stdin: nobody needs to feed it while it runs."""
    import tempfile

    with tempfile.TemporaryFile() as stream:
        stream.write(data)
        stream.seek(0)
        yield stream


@contextmanager
def temporary_folder(prefix: str) -> Iterator[Path]:
    """A private folder (mode 0700, canonical path) that is gone afterwards, read-only folders inside it included."""
    import tempfile

    folder = Path(os.path.realpath(tempfile.mkdtemp(prefix=prefix)))
    try:
        yield folder
    finally:
        remove_folder(folder)


def remove_folder(folder: Path) -> None:
    """Remove a folder that is ours with all it holds; folders without write permission get it first."""
    import shutil

    with suppress(OSError):
        shutil.rmtree(folder)
        return
    _make_writable(folder)
    try:
        shutil.rmtree(folder)
    except FileNotFoundError:
        pass
    except OSError as error:
        raise FileError(f"cannot remove {folder}: {_reason(error)}") from error


def _make_writable(folder: Path) -> None:
    """Top down, so that each folder can be entered before it is listed; symlinks are not followed."""
    with suppress(OSError):
        folder.chmod(stat.S_IRWXU)
    for parent, names, _ in os.walk(folder):
        for name in names:
            below = Path(parent, name)
            if not below.is_symlink():
                with suppress(OSError):
                    below.chmod(stat.S_IRWXU)


def _reason(error: OSError | ValueError) -> str:
    if isinstance(error, OSError) and error.errno == errno.ELOOP:
        return "a symbolic link"
    return (isinstance(error, OSError) and error.strerror) or str(error)
