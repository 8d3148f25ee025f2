"""A pytest run as one value: what every report of the plugin is made from, the same whatever order items ran in."""

from __future__ import annotations

import posixpath
from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass, replace
from typing import Literal

from pytest_reqfile.outcome import STATUSES, Location, Outcome, Status
from pytest_reqfile.syntax.printable import visible

TestResult = Literal["passed", "failed", "error", "skipped", "xfailed", "xpassed"]


@dataclass(frozen=True, slots=True, kw_only=True)
class ItemResult:
    """An item of ours: ``file`` is the repository path it was collected from; paths of ``outcome`` are such paths too.

    A path outside of the repository is absolute.
    """

    nodeid: str
    file: str
    outcome: Outcome


@dataclass(frozen=True, slots=True, kw_only=True)
class LinkedTest:
    """A Python test that is linked to requirements (design 2.2), and what it came to."""

    nodeid: str
    requirements: tuple[str, ...]
    result: TestResult


@dataclass(frozen=True, slots=True, kw_only=True)
class KnownRequirement:
    """A requirement of the repository, whether or not this run looked at it."""

    id: str
    kind: str
    declared: Location
    must: str


@dataclass(frozen=True, slots=True, kw_only=True)
class RunReport:
    """What a run knows at its end. ``stopped`` says why it ended early: the report is then not that of a whole run.

    ``started`` counts seconds from 1970 and ``seconds`` is how long tests took; both are 0 where nothing ran.
    """

    version: str
    items: tuple[ItemResult, ...] = ()
    tests: tuple[LinkedTest, ...] = ()
    requirements: tuple[KnownRequirement, ...] = ()
    stopped: str | None = None
    started: float = 0.0
    seconds: float = 0.0

    @property
    def outcomes(self) -> tuple[Outcome, ...]:
        """The outcomes of the items, in order."""
        return tuple(item.outcome for item in self.items)

    def counts(self) -> dict[Status, int]:
        """How many items have each status; every status is there."""
        found = Counter(outcome.status for outcome in self.outcomes)
        return {status: found[status] for status in STATUSES}


def run_report(
    version: str,
    items: Iterable[ItemResult],
    *,
    tests: Iterable[LinkedTest] = (),
    requirements: Iterable[KnownRequirement] = (),
    stopped: str | None = None,
    started: float = 0.0,
    seconds: float = 0.0,
) -> RunReport:
    """The report with everything in an order of its own: by file and place of declaration, whatever ran first."""
    return RunReport(
        version=version,
        items=tuple(sorted(items, key=_item_order)),
        tests=tuple(sorted(tests, key=lambda test: test.nodeid)),
        requirements=tuple(sorted(requirements, key=lambda r: (r.declared.path, r.declared.line, r.id))),
        stopped=stopped,
        started=started,
        seconds=seconds,
    )


def _item_order(item: ItemResult) -> tuple[str, int, str, str]:
    return item.file, item.outcome.declared.line, item.outcome.name, item.nodeid


def moved(outcome: Outcome, folder: str, root: str = "/") -> Outcome:
    """The outcome with its relative paths seen from above ``folder``: for a repository inside the one reported on.

    A path that leads out of the folder is seen from ``root`` or, where it leads out of that too, absolute: nothing is
    found below a root under a name like ``../x``.
    """
    if not folder and not any(f.file is not None and f.file.startswith("..") for f in outcome.findings):
        return outcome

    def path(found: str) -> str:
        below = found if found.startswith("/") or not folder else f"{folder}/{found}"
        if ".." not in below.split("/"):
            return below
        below = posixpath.normpath(below)
        return posixpath.normpath(f"{root}/{below}") if below.startswith("../") else below

    findings = tuple(replace(f, file=None if f.file is None else path(f.file)) for f in outcome.findings)
    return replace(outcome, declared=replace(outcome.declared, path=path(outcome.declared.path)), findings=findings)


def place_text(path: str, line: int | None) -> str:
    """``path:line`` as people read it, on one line."""
    shown = visible(path, kept=frozenset())
    return shown if line is None else f"{shown}:{line}"
