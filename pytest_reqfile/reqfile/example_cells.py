"""What a run on a labeled example came to: caught, missed, false alarm and so on (spec reqfile.md 6.3, 6.4)."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Final, Literal

from pytest_reqfile.outcome import NOT_LOOKED_AT, Finding, Outcome
from pytest_reqfile.reqfile.labels import Known, Label

Cell = Literal[
    "caught", "missed", "wrong_file", "not_selected", "uncertain", "passed", "false_alarm", "error"
]  # fmt: skip

_TEXTS: Final[dict[Cell, str]] = {
    "caught": "caught",
    "missed": "missed",
    "wrong_file": "missed",
    "not_selected": "not selected",
    "uncertain": "uncertain",
    "passed": "passed",
    "false_alarm": "false alarm",
    "error": "error",
}
AS_LABELED: Final[frozenset[Cell]] = frozenset({"caught", "passed"})
_KNOWN_CELLS: Final[dict[Known, frozenset[Cell]]] = {
    "miss": frozenset({"missed", "wrong_file", "not_selected", "uncertain"}),
    "false_alarm": frozenset({"false_alarm", "uncertain"}),
}


@dataclass(frozen=True, slots=True, kw_only=True)
class CaseRun:
    """One run. ``text`` says what it came to; ``probabilistic`` that a command, no model, gave a probability."""

    cell: Cell
    text: str
    probabilistic: bool = False
    seconds: float = 0.0


@dataclass(frozen=True, slots=True, kw_only=True)
class CaseResult:
    """What all runs of a case came to together."""

    label: Label
    runs: tuple[CaseRun, ...]

    def __post_init__(self) -> None:
        if not self.runs:
            raise ValueError("a case needs a run")

    @property
    def errors(self) -> tuple[CaseRun, ...]:
        """The runs that could not be judged."""
        return tuple(run for run in self.runs if run.cell == "error")

    @property
    def representative(self) -> CaseRun:
        """The run a case with several counts by: of the most frequent outcome, a tie going against the label."""
        counts = Counter(run.cell for run in self.runs)
        most = max(counts.values())
        first = [run for run in self.runs if counts[run.cell] == most]
        return next((run for run in first if run.cell not in AS_LABELED), first[0])

    @property
    def is_stable(self) -> bool:
        """Whether all runs came to the same."""
        return len({run.cell for run in self.runs}) == 1

    @property
    def as_labeled(self) -> bool:
        """Whether every run agrees with the label."""
        return all(run.cell in AS_LABELED for run in self.runs)

    @property
    def accepted(self) -> bool:
        """Whether every run agrees with the label or fails in the way that is known."""
        known = _KNOWN_CELLS[self.label.known] if self.label.known else frozenset[Cell]()
        return all(run.cell in AS_LABELED or run.cell in known for run in self.runs)

    @property
    def text(self) -> str:
        """The outcome in words; of runs that differ, how often each came (most frequent first)."""
        if self.is_stable:
            return self.runs[0].text
        counts = Counter(_TEXTS[run.cell] for run in self.runs).most_common()
        return f"unstable over {len(self.runs)} runs: {', '.join(f'{text} {number}' for text, number in counts)}"


def failed_run(message: str) -> CaseRun:
    """A run that could not be judged."""
    return CaseRun(cell="error", text=f"error: {message}")


def judge_case(label: Label, outcomes: Sequence[Outcome]) -> CaseRun:
    """Compare what the checks said with the label (spec 6.3)."""
    seconds = sum(outcome.seconds for outcome in outcomes)
    reasons = [o.reason for o in sorted(outcomes, key=lambda o: o.check == "decision") if o.status == "error"]
    if reasons:
        return CaseRun(cell="error", text=f"error: {reasons[0]}", seconds=seconds)
    findings = tuple(finding for outcome in outcomes for finding in outcome.findings)
    cell = _cell(label, outcomes, findings)
    text = _wrong_file_text(findings) if cell == "wrong_file" else _TEXTS[cell]
    probabilistic = any(f.probability is not None and f.model is None for f in findings)
    return CaseRun(cell=cell, text=text, probabilistic=probabilistic, seconds=seconds)


def _cell(label: Label, outcomes: Iterable[Outcome], findings: Sequence[Finding]) -> Cell:
    flagged = any(finding.kind != "uncertain" for finding in findings)
    if label.expected == "ok":
        if flagged:
            return "false_alarm"
        return "uncertain" if findings else "passed"
    if flagged:
        return "caught" if set(label.findings) <= set(_flagged_files(findings)) else "wrong_file"
    if findings:
        return "uncertain"
    looked = any(outcome.status not in NOT_LOOKED_AT for outcome in outcomes)
    return "missed" if looked else "not_selected"


def _flagged_files(findings: Sequence[Finding]) -> tuple[str, ...]:
    return tuple(sorted({f.file for f in findings if f.kind != "uncertain" and f.file is not None}))


def _wrong_file_text(findings: Sequence[Finding]) -> str:
    files = _flagged_files(findings)
    if not files:
        return "missed: flagged without a file, so its expected findings cannot be confirmed"
    return f"missed: flagged {', '.join(files)} instead of its expected findings"
