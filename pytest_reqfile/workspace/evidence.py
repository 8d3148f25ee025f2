"""Evidence files that only their owner can read, and nobody sees half of."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Final

from pytest_reqfile.errors import UsageError
from pytest_reqfile.workspace.files import write_atomic

_PRIVATE_FOLDER: Final = 0o700
_PRIVATE_FILE: Final = 0o600


def make_private_folder(folder: Path) -> None:
    """Make ``folder`` with its parents, mode 0700; one that is there already, such as ``/tmp``, keeps its mode.

    Raises ``UsageError`` where it cannot be made or written to.
    """
    try:
        folder.parent.mkdir(parents=True, exist_ok=True)
        _make(folder)
    except OSError as error:
        raise UsageError(f"cannot use {folder} for evidence: {error.strerror}") from error
    if not folder.is_dir():
        raise UsageError(f"cannot use {folder} for evidence: it is no folder")
    if not os.access(folder, os.W_OK | os.X_OK):
        raise UsageError(f"cannot use {folder} for evidence: it is not writable")


def make_once(folder: Path) -> bool:
    """Make ``folder``, mode 0700; False where something is there already, so that of several makers one succeeds.

    Raises ``UsageError`` where it cannot be made.
    """
    try:
        return _make(folder)
    except OSError as error:
        raise UsageError(f"cannot use {folder.parent} for evidence: {error.strerror}") from error


def _make(folder: Path) -> bool:
    try:
        folder.mkdir(mode=_PRIVATE_FOLDER)
    except FileExistsError:
        return False
    folder.chmod(_PRIVATE_FOLDER)  # whatever the umask
    return True


def holds_any(folder: Path, names: tuple[str, ...]) -> bool:
    """Whether one of ``names`` is in ``folder``, whatever it is."""
    return any(os.path.lexists(folder / name) for name in names)


def write_private(path: Path, data: bytes) -> None:
    """Write ``data`` atomically with mode 0600, and folders on the way with 0700. Raises ``FileError``."""
    if not path.parent.exists():
        make_private_folder(path.parent)
    previous = os.umask(0o077)
    try:
        write_atomic(path, data)
    finally:
        os.umask(previous)
    path.chmod(_PRIVATE_FILE)


def read_evidence(path: Path) -> bytes:
    """The bytes of a file that is ours. Raises ``OSError``."""
    return path.read_bytes()
