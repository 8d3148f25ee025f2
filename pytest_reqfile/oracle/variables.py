"""Which variables and which shell a command gets (spec oracle.md 5.5)."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Final

from pytest_reqfile.workspace.environment import Environment
from pytest_reqfile.workspace.machine import DEFAULT_PATH, find_program, first_line_of
from pytest_reqfile.workspace.paths import canonical

_PASSED: Final = frozenset({"PATH", "LANG", "LANGUAGE", "TZ", "VIRTUAL_ENV", "CI"})
"""Nothing else of ours goes through: no keys, and nothing of a pytest, a coverage or a hook we may run in."""
_SHELLS: Final = ("/bin/bash", "/usr/bin/bash")


@dataclass(frozen=True, slots=True, kw_only=True)
class Shell:
    """The shell of string commands. ``version`` is its own first line."""

    path: str
    version: str


def command_variables(
    env: Environment, *, home: str, temporary: str, ceiling: str, passed: tuple[str, ...] = ()
) -> dict[str, str]:
    """The allow-listed variables of ``env``, those in ``passed``, and a home and temporary folder of their own."""
    kept = {n: v for n, v in env.variables.items() if n in _PASSED or n.startswith("LC_") or n in passed}
    kept.setdefault("PATH", DEFAULT_PATH)
    return {
        **kept,
        "HOME": home,
        "TMPDIR": temporary,
        "GIT_CEILING_DIRECTORIES": ceiling,
        "GIT_TERMINAL_PROMPT": "0",
    }


def own_environment(env: Environment, root: Path) -> Environment:
    """What our own git calls see: as ``env``, but no program that the reviewed workspace brings along (spec 9.12).

    Nor does it say by ``git replace`` which content a commit has.
    """
    folders = (env.get("PATH") or DEFAULT_PATH).split(":")
    path = ":".join(folder for folder in folders if _is_outside(folder, root)) or DEFAULT_PATH
    given = env.get("GIT_CONFIG_COUNT") or "0"
    number = int(given) if given.isdecimal() else 0
    return env.updated(
        {
            "PATH": path,
            "GIT_CONFIG_COUNT": str(number + 1),
            f"GIT_CONFIG_KEY_{number}": "core.useReplaceRefs",
            f"GIT_CONFIG_VALUE_{number}": "false",
        }
    )


def find_shell(env: Environment) -> Shell:
    """bash where there is one, else sh."""
    search = env.get("PATH") or DEFAULT_PATH
    for name in (*_SHELLS, "bash"):
        path = find_program(name, search)
        if path is not None:
            return Shell(path=path, version=first_line_of(path, "--version"))
    return Shell(path=find_program("sh", search) or "/bin/sh", version="")


def _is_outside(folder: str, root: Path) -> bool:
    return folder.startswith("/") and not canonical(Path(folder)).is_relative_to(root)
