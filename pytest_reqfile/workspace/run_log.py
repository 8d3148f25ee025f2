"""Adding the lines of a run to its log (seed 004 RUN_LOG)."""

from __future__ import annotations

from pathlib import Path

from pytest_reqfile.errors import FileError
from pytest_reqfile.workspace.files import append_lines


def append_run_log(path: Path, lines: bytes, shown: str) -> None:
    """Append all lines of a run at once, making the file and its folders, also for a run without lines.

    ``shown`` is the path as it was given. Raises FileError ``cannot write the run log {shown}: {reason}``.
    """
    try:
        append_lines(path, lines, parents=True)
    except FileError as error:
        reason = str(error).removeprefix(f"cannot write {path}: ")
        raise FileError(f"cannot write the run log {shown}: {reason}") from error
