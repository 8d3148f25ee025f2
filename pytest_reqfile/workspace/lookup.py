"""Where a program is that a command names (seed 000 "Command predicate")."""

from __future__ import annotations

import os
import stat
from pathlib import Path

from pytest_reqfile.errors import ProcessError
from pytest_reqfile.workspace.environment import Environment


def find_program(name: str, folder: Path, env: Environment) -> Path:
    """The absolute path of the program ``name``: looked up on PATH, or, with a ``/`` in it, below ``folder``.

    A relative entry of PATH is not looked into: what a repository holds must not pass for an installed tool. Raises
    ProcessError with the reason.
    """
    if "/" in name or "\\" in name:
        return _below(name, folder)
    for entry in (env.get("PATH") or "").split(os.pathsep):
        if os.path.isabs(entry) and _reason(Path(entry, name)) is None:
            return Path(entry, name)
    raise ProcessError("executable file not found in PATH")


def _below(name: str, folder: Path) -> Path:
    place = Path(os.path.realpath(folder / name))
    if not place.is_relative_to(os.path.realpath(folder)):
        raise ProcessError("the program is outside the project")
    reason = _reason(place)
    if reason is not None:
        raise ProcessError(reason)
    # The name as written: a script may look at how it was called.
    return folder / name


def _reason(place: Path) -> str | None:
    """Why this is no program; None for one."""
    try:
        mode = place.stat().st_mode
    except (OSError, ValueError):
        return "no such file"
    if not stat.S_ISREG(mode):
        return "not a regular file"
    return None if os.access(place, os.X_OK) else "permission denied"
