"""The decision checks of one run, read, judged together, and remembered for reports and the run log."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

from pytest_reqfile.errors import FormatError
from pytest_reqfile.outcome import Outcome
from pytest_reqfile.reqfile.asking import Asking
from pytest_reqfile.reqfile.catalog import Catalog
from pytest_reqfile.reqfile.decision_reading import DecidedCheck, read_decision, read_decisions
from pytest_reqfile.reqfile.discovery import Tree
from pytest_reqfile.reqfile.judging import (
    AdvisoryErrors,
    Judged,
    UnsetKey,
    default_advisory_errors,
    judge,
    outcome_of,
    unit_lines,
    unset_keys,
)
from pytest_reqfile.reqfile.outcomes import check_outcome
from pytest_reqfile.reqfile.plan import PlannedCheck
from pytest_reqfile.reqfile.values import Edition

_Key = tuple[str, str]


@dataclass(frozen=True, slots=True, kw_only=True)
class Verdict:
    """The outcome of a planned decision check; ``judged`` is None where its decision.yaml could not be used."""

    planned: PlannedCheck
    outcome: Outcome
    judged: Judged | None = None


class Jury:
    """Judges the decision checks of a catalog. One run asks through one ``Asking``."""

    def __init__(
        self, *, catalog: Catalog, edition: Edition, asking: Asking, advisory_errors: AdvisoryErrors | None = None
    ) -> None:
        self._catalog = catalog
        self._edition = edition
        self._asking = asking
        self._advisory_errors = advisory_errors or default_advisory_errors(edition)
        self._read: dict[_Key, DecidedCheck] = {}
        self.verdicts: tuple[Verdict, ...] = ()

    def read(self, planned: Sequence[PlannedCheck]) -> None:
        """Read every decision.yaml of a plan before anything runs. Raises FormatError with all problems."""
        self._read = {_key(check.planned): check for check in read_decisions(planned, self._catalog, self._edition)}

    def judge(self, planned: Sequence[PlannedCheck]) -> tuple[Outcome, ...]:
        """The outcomes in the order of ``planned``; a decision.yaml that cannot be used is the error of its check."""
        decided: dict[_Key, DecidedCheck] = {}
        broken: dict[_Key, Outcome] = {}
        for check in planned:
            try:
                decided[_key(check)] = self._decided(check)
            except FormatError as error:
                broken[_key(check)] = check_outcome(check, "error", reason=str(error), blocking=True)
        judged = dict(zip(decided, judge(tuple(decided.values()), self._tree, self._asking), strict=True))
        self.verdicts += tuple(
            Verdict(planned=check, outcome=broken[key])
            if (key := _key(check)) in broken
            else Verdict(planned=check, outcome=outcome_of(judged[key], self._advisory_errors), judged=judged[key])
            for check in planned
        )
        return tuple(verdict.outcome for verdict in self.verdicts[-len(planned) :]) if planned else ()

    @property
    def gates(self) -> bool:
        """Whether a check was judged whose errors end a run."""
        return any(v.planned.check.mode == "blocking" for v in self.verdicts) or (
            self._advisory_errors == "fail" and bool(self.verdicts)
        )

    @property
    def saw_everything(self) -> bool:
        """Whether the units of every check are known: answers to those that are not may be needed again."""
        return all(v.judged is not None and v.judged.error is None for v in self.verdicts)

    @property
    def unset(self) -> tuple[UnsetKey, ...]:
        """The variables without which code was not judged."""
        return unset_keys(verdict.judged for verdict in self.verdicts if verdict.judged is not None)

    def log_lines(self) -> Iterator[dict[str, object]]:
        """A line of the run log for each unit, in plan order."""
        for verdict in self.verdicts:
            if verdict.judged is not None:
                yield from unit_lines(verdict.judged)

    def _decided(self, check: PlannedCheck) -> DecidedCheck:
        found = self._read.get(_key(check))
        if found is None:
            return read_decision(check, self._catalog, self._edition)
        return replace(found, planned=check)

    @property
    def _tree(self) -> Tree:
        return self._catalog.discovery.tree


def _key(planned: PlannedCheck) -> _Key:
    return planned.requirement.location.path, planned.requirement.id
