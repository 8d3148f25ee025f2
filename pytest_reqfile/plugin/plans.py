"""What an item is before it runs."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Protocol, runtime_checkable

import pytest

from pytest_reqfile.errors import Problem
from pytest_reqfile.outcome import Location, Outcome
from pytest_reqfile.plugin.marks import BLOCKING, FAST

LOAD = "load"


@runtime_checkable
class Expecting(Protocol):
    """A source whose items are done together: it is told which of them are left before the first one runs."""

    def expect(self) -> None:
        """The item is going to run, here or in another worker."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ItemPlan:
    """An item's name below its file, where it is declared, its markers, and how it is evaluated.

    ``line`` is 1-based. ``base`` is the absolute folder that the outcome's paths are relative to. ``source`` is the
    declaration behind it, where several are planned together; ``log`` gives what the run log says besides, as the JSON
    text of a list of lines. ``label`` is what a labeled example expects, known before it runs.
    """

    name: str
    line: int
    markers: tuple[pytest.MarkDecorator, ...]
    evaluate: Callable[[], Outcome]
    base: str
    source: object = None
    log: Callable[[], str | None] | None = None
    label: str | None = None


def load_plan(path: str, problems: tuple[Problem, ...], base: str) -> ItemPlan:
    """``FILE::load``: the error of a file that could not be read or is invalid, with all its problems."""
    line = next((problem.line for problem in problems if problem.line is not None), 1)
    reason = "\n".join(str(problem) for problem in problems)
    declared = Location(path=path, line=line)
    outcome = Outcome(subject="load", owner=path, check=LOAD, status="error", declared=declared, reason=reason)
    return ItemPlan(name=LOAD, line=line, markers=(BLOCKING, FAST), evaluate=lambda: outcome, base=base)


def skipped_plan(path: str, reason: str, base: str) -> ItemPlan:
    """``FILE::load`` of a file that was asked for by path and is none of ours, saying why."""
    declared = Location(path=path, line=1)
    outcome = Outcome(subject="load", owner=path, check=LOAD, status="not_applicable", declared=declared, reason=reason)
    return ItemPlan(name=LOAD, line=1, markers=(), evaluate=lambda: outcome, base=base)
