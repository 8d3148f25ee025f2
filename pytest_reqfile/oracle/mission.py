"""A mission as values, after its keys were found and checked (seed 003; spec oracle.md 3)."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal

from pytest_reqfile.errors import Problem
from pytest_reqfile.outcome import Location

Command = str | tuple[str, ...]
"""A shell command as written, or the words of a program and its arguments."""
GuardKind = Literal["check", "command", "paths", "prose"]

DEFAULT_RETURN_BUDGET = 1000
"""Tokens of the claims where the brief sets none (seed 003 "Condensed return contract")."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Criterion:
    """An acceptance criterion; ``evidence`` are the file:line or URL references the brief gives for it."""

    id: str
    text: str
    location: Location
    check_id: str | None = None
    evidence: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class OracleCommand:
    """One entry of ``verificationOracle``, kept exactly as specified.

    ``named`` tells a ``checkId`` of the brief from ours (``oracle-2``), ``defaulted`` an expected exit code of 0 that
    the brief left out. ``cwd`` is relative to the workspace, ``timeout_ms`` None for the default.
    """

    command: Command
    expected: int
    check_id: str
    location: Location
    named: bool = True
    defaulted: bool = False
    cwd: str = ""
    timeout_ms: int | None = None
    environment: tuple[tuple[str, str], ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Guard:
    """One entry of ``mustNotRegress``: a check by id, a command of its own, paths that may not change, or prose."""

    id: str
    kind: GuardKind
    location: Location
    check_id: str = ""
    command: Command = ""
    expected: int = 0
    defaulted: bool = False
    paths: tuple[str, ...] = ()
    baseline: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Mission:
    """What a conductor asks to have verified. ``digest`` is of the file's bytes, so that the conductor can compare it.

    ``problems`` are everything wrong with it: with any, nothing is run and all of it is blocked. ``binding`` (head,
    base, lineage, review) is opaque and goes through unchanged.
    """

    path: str
    digest: str
    commands: tuple[OracleCommand, ...] = ()
    guards: tuple[Guard, ...] = ()
    criteria: tuple[Criterion, ...] = ()
    return_budget: int | None = None
    token_limit: int | None = None
    binding: Mapping[str, object] = field(default_factory=dict)
    problems: tuple[Problem, ...] = ()

    @property
    def budget(self) -> int:
        """Tokens the claims may take: the smaller of both limits (seed 003; spec 6)."""
        budget = DEFAULT_RETURN_BUDGET if self.return_budget is None else self.return_budget
        return budget if self.token_limit is None else min(budget, self.token_limit)

    @property
    def start(self) -> Location:
        """The file as a whole."""
        return Location(path=self.path, line=1)
