"""A folder in which the processes of one run share what is worked out once (design 4, "Under xdist")."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Final

from pytest_reqfile.errors import FileError
from pytest_reqfile.workspace.files import exclusive_lock, remove_folder, write_atomic
from pytest_reqfile.workspace.snapshot import read_regular, reason_of

_PREFIX: Final = "reqfile-run-"
_PATIENCE_SECONDS: Final = 86_400.0


def new_run_folder() -> Path:
    """Where the folder of a new run would be; nothing is made before something is shared, and nobody can guess it."""
    return Path(tempfile.gettempdir(), f"{_PREFIX}{os.urandom(16).hex()}")


def shared_once(folder: Path, name: str, compute: Callable[[], bytes]) -> bytes:
    """What the first process of a run to come here computes; the others wait for it and read it.

    When that process dies, or ``compute`` raises, the next one computes. Raises FileError if the folder is of no use.
    """
    try:
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        private = folder.lstat()
    except OSError as error:
        raise FileError(f"cannot use {folder}: {reason_of(error)}") from error
    if private.st_uid != os.geteuid() or private.st_mode & 0o077:
        raise FileError(f"cannot use {folder}: others may write to it")
    result = folder / name
    with exclusive_lock(folder / f"{name}.lock", _PATIENCE_SECONDS):
        if result.exists():
            return read_regular(result, str(result), None)
        data = compute()
        write_atomic(result, data)
        return data


def remove_run_folder(folder: Path) -> None:
    """Remove what was shared, if anything was."""
    if folder.exists():
        remove_folder(folder)
