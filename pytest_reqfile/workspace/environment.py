"""Environment variables as a value: read once, handed down, never looked up again."""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from types import MappingProxyType
from typing import Final

from pytest_reqfile.errors import WorkspaceError

GIT_KEPT: Final = frozenset(
    {
        # Where git and its configuration come from: chosen by the user or CI, true for every repository.
        "GIT_EXEC_PATH",
        "GIT_CONFIG_GLOBAL",
        "GIT_CONFIG_SYSTEM",
        "GIT_CONFIG_NOSYSTEM",
        # ``GIT_CONFIG_COUNT`` (with KEY_n, VALUE_n) is how containers set ``safe.directory``; what ``git -c`` gives
        # a hook travels in GIT_CONFIG_PARAMETERS instead, which belongs to that one git call and is dropped.
        "GIT_CONFIG_COUNT",
        # How far up a repository is looked for, and whether across mounts.
        "GIT_CEILING_DIRECTORIES",
        "GIT_DISCOVERY_ACROSS_FILESYSTEM",
        # How remotes are reached.
        "GIT_ASKPASS",
        "GIT_SSH",
        "GIT_SSH_COMMAND",
        "GIT_SSH_VARIANT",
        "GIT_SSL_CAINFO",
        "GIT_SSL_CAPATH",
        "GIT_SSL_CERT",
        "GIT_SSL_KEY",
        "GIT_SSL_NO_VERIFY",
        "GIT_SSL_VERSION",
        "GIT_HTTP_PROXY_AUTHMETHOD",
        "GIT_PROXY_SSL_CAINFO",
        "GIT_ALLOW_PROTOCOL",
    }
)
"""``GIT_*`` variables our own git calls keep; pre-commit's list and the ones that name configuration.

All others name a repository, an index, objects, pathspec rules or output of the hook we may run in, and would make git
answer about something else than the folder it is asked about (spec/reqfile.md 9).
"""

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
    kept = {name: value for name, value in env.variables.items() if _is_for_git(name)}
    return Environment(variables={**kept, "LC_ALL": "C", "GIT_TERMINAL_PROMPT": "0", "GIT_OPTIONAL_LOCKS": "0"})


def _is_for_git(name: str) -> bool:
    return not name.startswith("GIT_") or name in GIT_KEPT or name.startswith(("GIT_CONFIG_KEY_", "GIT_CONFIG_VALUE_"))


def for_command(env: Environment, secrets: tuple[str, ...]) -> Environment:
    """What a command that we start sees: no variables of a surrounding hook, no named secrets (design 2.6)."""
    return env.without(GIT_OF_A_HOOK.union(secrets))


def cache_folder(environment: Environment) -> Path:
    """The folder of everything cached for the user. Raises WorkspaceError when no variable says where that is."""
    for variable, below in (("REQFILE_CACHE", ""), ("XDG_CACHE_HOME", "reqfile"), ("HOME", ".cache/reqfile")):
        if value := environment.get(variable):
            return Path(value, below).absolute()
    raise WorkspaceError("cannot find a cache folder: set REQFILE_CACHE or HOME")
