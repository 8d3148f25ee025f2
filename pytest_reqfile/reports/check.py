"""One run of ``reqfile check`` as a value: what its reports count (seed 004 OUTPUT, NO_FALSE_GREEN; spec 8)."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Final

from pytest_reqfile.outcome import NOT_LOOKED_AT, Finding, FindingKind, Location, Outcome

if TYPE_CHECKING:
    from pytest_reqfile.reports.decisions import Conflict, Setup, ToDecide

_KIND_ORDER: Final[tuple[FindingKind, ...]] = ("violation", "advisory", "uncertain")


@dataclass(frozen=True, slots=True, kw_only=True)
class RunError:
    """Something that could not be done: in a requirement's check, or (``requirement`` is None) in the run."""

    message: str
    requirement: str | None = None
    blocking: bool = True


@dataclass(frozen=True, slots=True, kw_only=True)
class ResolvedSource:
    """A source whose tag was resolved in this run (spec 8.2 ``source`` lines)."""

    location: str
    commit: str
    offline: bool


@dataclass(frozen=True, kw_only=True)
class CheckReport:
    """Outcomes in plan order, and errors that belong to no check.

    ``judges`` says that a selected requirement has a decision check, so units are counted even when there are none.
    ``conflicts_not_checked`` says why nobody asked whether a fix breaks another requirement.
    """

    outcomes: tuple[Outcome, ...] = ()
    run_errors: tuple[RunError, ...] = ()
    sources: tuple[ResolvedSource, ...] = ()
    judges: bool = False
    setup: tuple[Setup, ...] = ()
    conflicts: tuple[Conflict, ...] = ()
    conflicts_not_checked: str | None = None

    @cached_property
    def findings(self) -> tuple[tuple[Outcome, Finding], ...]:
        """Every finding with its outcome: violations, then advisory, then uncertain ones, each in plan order."""
        pairs = [(outcome, finding) for outcome in self._commands_first() for finding in outcome.findings]
        return tuple(sorted(pairs, key=lambda pair: _KIND_ORDER.index(pair[1].kind)))

    @cached_property
    def errors(self) -> tuple[RunError, ...]:
        """Errors of checks in plan order, then those of the run."""
        of_checks = (
            RunError(message=o.reason or "", requirement=o.owner, blocking=o.blocking)
            for o in self._commands_first()
            if o.status == "error"
        )
        return (*of_checks, *self.run_errors)

    @property
    def checks_run(self) -> int:
        """Checks that were started, those that ended in an error included; a file that could not be read is none."""
        return sum(o.status not in NOT_LOOKED_AT and o.subject != "load" for o in self.outcomes)

    @property
    def nothing_to_check(self) -> int:
        """Checks without a matching file or code unit."""
        return sum(outcome.status == "nothing_to_check" for outcome in self.outcomes)

    @property
    def deferred(self) -> int:
        """Checks a fast run left for a full run."""
        return sum(outcome.status == "deferred" for outcome in self.outcomes)

    @property
    def units_judged(self) -> int:
        """(Decision check, unit) pairs that were answered."""
        return sum(int(outcome.details.get("units") or 0) for outcome in self.outcomes)

    @property
    def violations(self) -> int:
        """Findings that gate."""
        return sum(finding.kind == "violation" for _, finding in self.findings)

    @property
    def advisory_findings(self) -> int:
        """Findings that do not gate, uncertain ones included."""
        return len(self.findings) - self.violations

    @property
    def advisory_errors(self) -> int:
        """Errors that do not gate."""
        return sum(not error.blocking for error in self.errors)

    @property
    def exit_code(self) -> int:
        """3 on any blocking error, else 1 on a violation, else 0 (seed 004 NO_FALSE_GREEN)."""
        if any(error.blocking for error in self.errors):
            return 3
        return 1 if self.violations else 0

    @cached_property
    def decisions(self) -> tuple[ToDecide, ...]:
        """What people have to decide, pair by pair of requirements."""
        if not self.conflicts:
            return ()
        from pytest_reqfile.reports.decisions import to_decide

        return to_decide(self.conflicts)

    def breaks(self, outcome: Outcome, finding: Finding) -> tuple[Conflict, ...]:
        """What fixing a finding would break, most probable first."""
        return self._breaks.get((outcome.declared, finding), ())

    @cached_property
    def _breaks(self) -> dict[tuple[Location, Finding], tuple[Conflict, ...]]:
        found: dict[tuple[Location, Finding], tuple[Conflict, ...]] = {}
        for conflict in sorted(self.conflicts, key=lambda conflict: -conflict.probability):
            key = (conflict.declared, conflict.finding)
            found[key] = (*found.get(key, ()), conflict)
        return found

    def _commands_first(self) -> Iterator[Outcome]:
        return iter(sorted(self.outcomes, key=lambda outcome: outcome.check == "decision"))
