"""One run of ``reqfile eval`` as a value: what its reports count (seed 004 EXAMPLES; spec reqfile.md 6.4)."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Final, Literal

from pytest_reqfile.outcome import Outcome

Evidence = Literal["asserted", "measured", "no evidence"]

_MISSED: Final = ("missed", "wrong_file")


@dataclass(frozen=True, slots=True, kw_only=True)
class Rates:
    """How often violations were caught and correct examples flagged."""

    violations: int
    caught: int
    missed: int
    not_selected: int
    uncertain: int
    correct: int
    flagged: int
    correct_uncertain: int


@dataclass(frozen=True, kw_only=True)
class RequirementExamples:
    """A requirement with the outcomes of its examples, in order. ``judged`` says that a model judges it.

    ``label`` is its id, with its Reqfile where several selected blocks share the id.
    """

    label: str
    judged: bool
    outcomes: tuple[Outcome, ...]

    @property
    def evidence(self) -> Evidence:
        """Measured with a decision check, or as soon as a run of a command gave a probability; else asserted."""
        if not self.outcomes:
            return "no evidence"
        measured = self.judged or any(outcome.details["measured"] for outcome in self.outcomes)
        return "measured" if measured else "asserted"

    @property
    def as_labeled(self) -> int:
        """How many examples came out as labeled in every run."""
        return sum(bool(outcome.details["as_labeled"]) for outcome in self.outcomes)

    @property
    def fails(self) -> bool:
        """Whether an asserted requirement has an example that is neither as labeled nor known to fail."""
        return self.evidence == "asserted" and not all(outcome.details["accepted"] for outcome in self.outcomes)

    @property
    def has_holdout(self) -> bool:
        """Whether some examples were not looked at while the checks were tuned."""
        return any(outcome.details["held_out"] for outcome in self.outcomes)

    def rates(self, *, held_out: bool | None = None) -> Rates:
        """What was caught and flagged, of all examples or of one side of the split."""
        outcomes = [o for o in self.outcomes if held_out is None or o.details["held_out"] == held_out]
        violations, correct = _cells(outcomes, "violation"), _cells(outcomes, "ok")
        return Rates(
            violations=sum(violations.values()),
            caught=violations.get("caught", 0),
            missed=sum(violations.get(cell, 0) for cell in _MISSED),
            not_selected=violations.get("not_selected", 0),
            uncertain=violations.get("uncertain", 0),
            correct=sum(correct.values()),
            flagged=correct.get("false_alarm", 0),
            correct_uncertain=correct.get("uncertain", 0),
        )

    @property
    def gaps(self) -> tuple[str, ...]:
        """What cannot be measured because a class of examples is missing."""
        rates = self.rates()
        found = []
        if not rates.correct:
            found.append("no correct examples: false alarms are not measured")
        if not rates.violations:
            found.append("no violation examples: catches are not measured")
        return tuple(found) if self.evidence == "measured" else ()


@dataclass(frozen=True, kw_only=True)
class ExamplesReport:
    """Every selected requirement in Reqfile order; ``repeat`` is how often each example ran."""

    requirements: tuple[RequirementExamples, ...]
    repeat: int = 1

    @cached_property
    def outcomes(self) -> tuple[Outcome, ...]:
        """Every example."""
        return tuple(outcome for requirement in self.requirements for outcome in requirement.outcomes)

    @property
    def failing(self) -> int:
        """Requirements that fail their labels."""
        return sum(requirement.fails for requirement in self.requirements)

    @property
    def unstable(self) -> int:
        """Examples whose runs differ."""
        return sum(not outcome.details["stable"] for outcome in self.outcomes)

    def count(self, evidence: Evidence) -> int:
        """Requirements with this kind of evidence."""
        return sum(requirement.evidence == evidence for requirement in self.requirements)

    @property
    def exit_code(self) -> int:
        """3 if an example could not run, else 1 if a requirement fails its labels, else 0."""
        if any(outcome.status == "error" for outcome in self.outcomes):
            return 3
        return int(self.failing > 0)


def case_text(outcome: Outcome, *, repeat: int) -> str | None:
    """What a report says of an example; None of one that is as labeled and was expected to be.

    The name comes first, ``(held out)`` beside it where the checks were tuned without it.
    """
    details = outcome.details
    name = f"{details['example']}{' (held out)' if details['held_out'] else ''}"
    if outcome.status == "error" or not details["as_labeled"]:
        known = " (known)" if details["accepted"] else ""
        return f"{name}: {details['text']}{known}"
    if details["known"]:
        return f"{name}: {details['text']}, as labeled now: remove `known`"
    return None if details["stable"] or repeat == 1 else f"{name}: {details['text']}"


def _cells(outcomes: Iterable[Outcome], label: str) -> Mapping[str, int]:
    found: dict[str, int] = {}
    for outcome in outcomes:
        if outcome.details["label"] == label:
            cell = str(outcome.details["cell"])
            found[cell] = found.get(cell, 0) + 1
    return found
