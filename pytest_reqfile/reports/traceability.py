"""Which requirements a run verified, and by what: checks, labeled examples and linked Python tests (issue 5 item 6)."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Final

from pytest_reqfile.outcome import NOT_LOOKED_AT
from pytest_reqfile.reports.run_report import ItemResult, KnownRequirement, LinkedTest, RunReport
from pytest_reqfile.reports.words import counted

_LISTED: Final = 10
_LOOKED: Final = frozenset({"passed", "failed", "xfailed", "xpassed"})


@dataclass(frozen=True, slots=True, kw_only=True)
class Trace:
    """One requirement and everything in this run that belongs to it."""

    requirement: KnownRequirement
    checks: tuple[ItemResult, ...]
    examples: tuple[ItemResult, ...]
    tests: tuple[LinkedTest, ...]

    @property
    def is_verified(self) -> bool:
        """Whether a check or a linked test looked at the repository; examples look at the checks and do not count."""
        checked = any(check.outcome.status not in NOT_LOOKED_AT | {"error"} for check in self.checks)
        return checked or any(test.result in _LOOKED for test in self.tests)


def traces(report: RunReport) -> tuple[Trace, ...]:
    """A trace for each known requirement, in the report's order."""
    items: dict[tuple[str, str], list[ItemResult]] = {}
    for item in report.items:
        items.setdefault((item.file, item.outcome.owner), []).append(item)
    tests: dict[str, list[LinkedTest]] = {}
    for test in report.tests:
        for identifier in test.requirements:
            tests.setdefault(identifier, []).append(test)
    return tuple(
        _trace(requirement, items.get((requirement.declared.path, requirement.id), ()), tests.get(requirement.id, ()))
        for requirement in report.requirements
    )


def _trace(requirement: KnownRequirement, items: Iterable[ItemResult], tests: Iterable[LinkedTest]) -> Trace:
    found = tuple(items)
    return Trace(
        requirement=requirement,
        checks=tuple(item for item in found if item.outcome.subject == "requirement"),
        examples=tuple(item for item in found if item.outcome.subject == "example"),
        tests=tuple(tests),
    )


def trace_lines(found: Iterable[Trace]) -> Iterator[str]:
    """``ID  2 checks (1 pass, 1 fail), 1 example (1 pass), 3 tests (3 passed)`` for each requirement."""
    for trace in found:
        parts = (
            _part([item.outcome.status for item in trace.checks], "check"),
            _part([item.outcome.status for item in trace.examples], "example"),
            _part([test.result for test in trace.tests], "test"),
        )
        yield f"{trace.requirement.id}  {', '.join(part for part in parts if part) or 'nothing in this run'}"


def _part(words: Iterable[str], noun: str) -> str:
    counts = Counter(word.replace("_", " ") for word in words)
    told = ", ".join(f"{number} {word}" for word, number in counts.items())
    return f"{counted(counts.total(), noun)} ({told})" if counts else ""


def unverified_line(found: Iterable[Trace]) -> str | None:
    """Which requirements nothing verified in this run, at most ten by name; None where there is none."""
    known = tuple(found)
    ids = [trace.requirement.id for trace in known if not trace.is_verified]
    if not ids:
        return None
    more = f" and {len(ids) - _LISTED} more" if len(ids) > _LISTED else ""
    return (
        f"{len(ids)} of {counted(len(known), 'requirement')} not verified in this run: {', '.join(ids[:_LISTED])}{more}"
    )
