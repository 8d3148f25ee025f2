"""Scratch folders that are gone afterwards, and at the next use even after a kill."""

from __future__ import annotations

import fcntl
import os
import stat
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Final

from pytest_reqfile.errors import FileError, WorkspaceError
from pytest_reqfile.workspace.files import remove_folder

_LOCK: Final = "lock"


@contextmanager
def locked_folder(prefix: str, base: Path) -> Iterator[Path]:
    """A private folder (mode 0700, canonical path) below ``base``.

    It is locked while in use: folders of the same prefix that a killed process left behind are removed first.
    """
    parent = Path(os.path.realpath(base))
    _remove_abandoned(parent, prefix)
    try:
        folder = Path(tempfile.mkdtemp(prefix=prefix, dir=parent))
        descriptor = os.open(folder / _LOCK, os.O_CREAT | os.O_RDWR | os.O_CLOEXEC, 0o600)
    except OSError as error:
        raise FileError(f"cannot make a folder in {parent}: {error.strerror}") from error
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX)
        yield folder
    finally:
        try:
            remove_folder(folder)
        finally:
            os.close(descriptor)


def _remove_abandoned(parent: Path, prefix: str) -> None:
    with os.scandir(parent) as entries:
        found = [entry.path for entry in entries if entry.name.startswith(prefix)]
    for path in found:
        if _is_abandoned(path):
            with suppress(WorkspaceError):
                remove_folder(Path(path))


def _is_abandoned(path: str) -> bool:
    """Ours, and its lock is free; one without a lock is just being made."""
    try:
        facts = os.lstat(path)
        if facts.st_uid != os.geteuid() or not stat.S_ISDIR(facts.st_mode):
            return False
        descriptor = os.open(os.path.join(path, _LOCK), os.O_RDWR | os.O_CLOEXEC | os.O_NOFOLLOW)
    except OSError:
        return False
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError:
        return False
    finally:
        os.close(descriptor)
    return True
