"""Environment variables as a value: read once, handed down, never looked up again."""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from types import MappingProxyType
from typing import Final

from pytest_reqfile.errors import WorkspaceError
from pytest_reqfile.workspace.git_ahead import variables_for_git

GIT_OF_A_HOOK: Final = frozenset(
    {
        # ``git rev-parse --local-env-vars``: git's own list of what must not leak into another repository; without
        # GIT_CONFIG_COUNT, which users set themselves.
        "GIT_ALTERNATE_OBJECT_DIRECTORIES",
        "GIT_COMMON_DIR",
        "GIT_CONFIG",
        "GIT_CONFIG_PARAMETERS",
        "GIT_DIR",
        "GIT_GRAFT_FILE",
        "GIT_IMPLICIT_WORK_TREE",
        "GIT_INDEX_FILE",
        "GIT_INTERNAL_SUPER_PREFIX",
        "GIT_NO_REPLACE_OBJECTS",
        "GIT_OBJECT_DIRECTORY",
        "GIT_PREFIX",
        "GIT_REPLACE_REF_BASE",
        "GIT_SHALLOW_FILE",
        "GIT_WORK_TREE",
        # Set for hooks only: receive's quarantine, the reason of a reflog entry, and ``GIT_EDITOR=:``.
        "GIT_QUARANTINE_PATH",
        "GIT_REFLOG_ACTION",
        "GIT_EDITOR",
        "GIT_LITERAL_PATHSPECS",
        "GIT_GLOB_PATHSPECS",
        "GIT_NOGLOB_PATHSPECS",
        "GIT_ICASE_PATHSPECS",
    }
)
"""What a surrounding git hook sets and a command check must not see."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Environment:
    """Environment variables; values that are not UTF-8 are surrogate-escaped, as in ``os.environ``.

    ``repr`` shows no values: they hold keys, and pytest shows local variables of failures.
    """

    variables: Mapping[str, str]

    def __post_init__(self) -> None:
        object.__setattr__(self, "variables", MappingProxyType(dict(self.variables)))

    @classmethod
    def current(cls) -> Environment:
        """The variables of this process now; a front reads them once and hands them down."""
        return cls(variables=os.environ)

    def get(self, name: str) -> str | None:
        return self.variables.get(name)

    def without(self, names: Iterable[str]) -> Environment:
        dropped = frozenset(names)
        return Environment(variables={name: value for name, value in self.variables.items() if name not in dropped})

    def updated(self, mapping: Mapping[str, str]) -> Environment:
        return Environment(variables={**self.variables, **mapping})

    def __repr__(self) -> str:
        return f"<Environment of {len(self.variables)} variables>"


def for_git(env: Environment) -> Environment:
    """What our own git calls see: nothing of a surrounding hook, English messages, no prompt, no lock on the index."""
    return Environment(variables=variables_for_git(env.variables))


def for_command(env: Environment, secrets: tuple[str, ...]) -> Environment:
    """What a command that we start sees: no variables of a surrounding hook, no named secrets (design 2.6)."""
    return env.without(GIT_OF_A_HOOK.union(secrets))


def cache_folder(environment: Environment) -> Path:
    """The folder of everything cached for the user. Raises WorkspaceError when no variable says where that is."""
    for variable, below in (("REQFILE_CACHE", ""), ("XDG_CACHE_HOME", "reqfile"), ("HOME", ".cache/reqfile")):
        if value := environment.get(variable):
            return Path(value, below).absolute()
    raise WorkspaceError("cannot find a cache folder: set REQFILE_CACHE or HOME")
