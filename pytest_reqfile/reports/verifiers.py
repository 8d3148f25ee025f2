"""One run of verifiers as a value: what every form of its report is made of (seed 000; spec/verifiers.md 9)."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from functools import cached_property
from typing import Final, Literal

from pytest_reqfile.outcome import Finding, Outcome, Severity
from pytest_reqfile.reports.llm_usage import ModelUse, is_estimate, model_use
from pytest_reqfile.syntax.printable import visible

FailOn = Literal["error", "warning", "info", "none"]
ALWAYS_COUNTED: Final = ("pass", "fail", "error", "not_applicable")
PASSED: Final = 0
COULD_NOT_RUN: Final = 1
FAILED: Final = 2


@dataclass(frozen=True, slots=True, kw_only=True)
class Row:
    """One outcome of a verifier in the words of its report; texts are on one line and fit for a terminal."""

    outcome: Outcome

    @property
    def name(self) -> str:
        return one_line(self.outcome.owner)

    @property
    def status(self) -> str:
        """``fail`` whatever the lowest failing severity is; an outcome that was lost has only its own."""
        return self.text("status") or self.outcome.status

    @property
    def severity(self) -> Severity:
        return self.outcome.severity

    @property
    def message(self) -> str:
        return one_line(self.text("message"))

    @property
    def code(self) -> str:
        return self.text("code")

    @property
    def findings(self) -> tuple[Finding, ...]:
        """What was found; nothing where the failure has no place of its own."""
        return () if self.outcome.details.get("bare") else self.outcome.findings

    @property
    def notes(self) -> tuple[str, ...]:
        notes = self.text("notes")
        return tuple(notes.split("\n")) if notes else ()

    @property
    def target(self) -> str:
        """``rule "store"``; empty for flat verifiers and invalid declarations."""
        kind = self.text("target_kind")
        return f'{kind} "{self.text("target_id")}"' if kind else ""

    @property
    def target_line(self) -> int | None:
        line = self.outcome.details.get("target_line")
        return line if isinstance(line, int) else None

    @property
    def is_shown(self) -> bool:
        """Whether the report goes into its details: failures, and errors that have a code."""
        return self.status == "fail" or (self.status == "error" and self.code != "")

    @property
    def manifest(self) -> tuple[str, ...]:
        """Of an estimate: each file that would be sent, with its bytes, and what would be withheld."""
        return self.notes if is_estimate(self.outcome) else ()

    def text(self, key: str) -> str:
        """A detail that is text."""
        value = self.outcome.details.get(key)
        return value if isinstance(value, str) else ""


@dataclass(frozen=True, kw_only=True)
class VerifierReport:
    """Outcomes in run order. ``mode`` is what the run was narrowed to, None where only flat verifiers ran.

    ``run_error`` is set where the run as a whole could not start; there are no outcomes then.
    """

    outcomes: tuple[Outcome, ...] = ()
    root: str = ""
    mode: str | None = None
    fail_on: FailOn = "error"
    run_error: str | None = None

    @cached_property
    def rows(self) -> tuple[Row, ...]:
        return tuple(Row(outcome=outcome) for outcome in self.outcomes)

    @cached_property
    def counts(self) -> Counter[str]:
        """How many rows have each status."""
        return Counter(row.status for row in self.rows)

    @cached_property
    def llm(self) -> ModelUse | None:
        """What was used of models; None where none was reached, nor an estimate made."""
        return model_use(self.outcomes)

    @property
    def exit_code(self) -> int:
        """2 on a failure that gates, else 1 if anything could not run, else 0: an error never hides a failure."""
        if any(outcome.status == "fail" for outcome in self.outcomes):
            return FAILED
        return COULD_NOT_RUN if self.run_error is not None or self.counts["error"] else PASSED


def one_line(text: str) -> str:
    """``text`` with everything in it shown that does not print, line ends too."""
    return visible(text, kept=frozenset())


def finding_line(finding: Finding) -> str:
    """``FILE:LINE  MESSAGE  [MATCH]``, as far as they are known."""
    place = ""
    if finding.file is not None:
        place = one_line(finding.file) + (f":{finding.line}" if finding.line else "") + "  "
    match = f"  [{one_line(finding.match)}]" if finding.match else ""
    return f"{place}{one_line(finding.message)}{match}"
