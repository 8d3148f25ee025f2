"""A small file that several processes read and replace (spec reqfile.md 4.5)."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Final

from pytest_reqfile.errors import FileError
from pytest_reqfile.workspace.files import exclusive_lock, write_atomic
from pytest_reqfile.workspace.snapshot import read_regular, reason_of

_LOCK_ENDING: Final = ".lock"


def read_shared(path: Path) -> bytes:
    """The bytes of the file, none where it is missing. Raises ``FileError`` ``cannot read {path}: {reason}``."""
    try:
        return read_regular(path, str(path), None)
    except FileNotFoundError:
        return b""
    except OSError as error:
        raise FileError(f"cannot read {path}: {reason_of(error)}") from error
    except FileError as error:
        raise FileError(f"cannot read {str(error).replace(': cannot read', '')}") from error


def update_shared(path: Path, change: Callable[[bytes], bytes]) -> None:
    """Replace the file by what ``change`` makes of it, one process at a time; untouched if that is the same."""
    with exclusive_lock(path.with_name(path.name + _LOCK_ENDING)):
        before = read_shared(path)
        after = change(before)
        if after != before:
            write_atomic(path, after, parents=True)
