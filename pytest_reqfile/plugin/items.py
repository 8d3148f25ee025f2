"""The one kind of item: evaluates in its setup, judges in its call (design 2.3)."""

from __future__ import annotations

from dataclasses import replace
from functools import lru_cache
from pathlib import Path
from typing import Any

import pytest

from pytest_reqfile.errors import ReqfileError
from pytest_reqfile.outcome import NOT_LOOKED_AT, Outcome, to_wire
from pytest_reqfile.plugin import options
from pytest_reqfile.plugin.failure import EvaluationError, RequirementNotMetError, located_failure
from pytest_reqfile.plugin.plans import ItemPlan
from pytest_reqfile.plugin.recorder import ADVISORY, LOG, ORIGIN, WIRE
from pytest_reqfile.reports.item_text import advisory_reason, crash_place, failure_lines, first_message, skip_reason
from pytest_reqfile.reports.junit import properties
from pytest_reqfile.syntax.printable import visible
from pytest_reqfile.workspace.paths import relative_to_root


class ReqfileItem(pytest.Item):
    """A requirement's check, a verifier, an example, or a file that could not be loaded."""

    def __init__(self, *, plan: ItemPlan, **kwargs: Any) -> None:
        super().__init__(**kwargs)
        self.plan = plan
        self.outcome: Outcome | None = None
        for marker in plan.markers:
            self.add_marker(marker)

    def reportinfo(self) -> tuple[Path, int, str]:
        """Where the item is declared; the title differs from the node id, which pytest would rewrite (anchors L9)."""
        return self.path, self.plan.line - 1, f"[reqfile] {self.name}"

    def setup(self) -> None:
        """Evaluate; an error shows as pytest's error, never as passed or skipped."""
        self.outcome, refused = None, ""
        if self.config.getoption("setupplan", False):  # an option of a plugin that may be off
            return  # shows what would run and runs nothing
        try:
            self.outcome = self.plan.evaluate()
        except ReqfileError as error:
            refused = str(error)
        outcome = self.outcome
        if outcome is None:  # said here, as an exception would be shown with the one it follows
            pytest.fail(visible(refused), pytrace=False)
        self.user_properties[:] = properties(outcome)  # a rerun evaluates again
        if outcome.status == "error" and outcome.blocking:
            raise EvaluationError(outcome.reason)

    def runtest(self) -> None:
        """Judge the evaluated outcome."""
        if self.outcome is not None and self.outcome.status == "fail":
            raise RequirementNotMetError(first_message(self.outcome))

    def describe_in_report(self, report: pytest.TestReport, call: pytest.CallInfo[None]) -> None:
        """Put the outcome on the report that decides, and say failures, skips and advisories in our own words."""
        if report.when == "teardown":
            self.outcome = None  # ten thousand of them would be kept for nothing: the report has it
        if self.outcome is not None and not (report.when == "setup" and report.passed):
            self._describe(self.outcome, report, call)

    def _describe(self, outcome: Outcome, report: pytest.TestReport, call: pytest.CallInfo[None]) -> None:
        if call.excinfo is not None and not call.excinfo.errisinstance(
            (EvaluationError, RequirementNotMetError, pytest.skip.Exception)
        ):
            return  # a bug, a timeout or an interrupt keeps its own words
        if report.failed and not _gates(outcome):
            return  # somebody else's verdict: the item was strictly expected to fail
        expected = report.skipped and hasattr(report, "wasxfail")
        if expected:
            outcome = _expected_to_fail(outcome)
        setattr(report, WIRE, to_wire(outcome))
        if self.plan.log is not None and options.path(self.config, "log") is not None:
            setattr(report, LOG, self.plan.log())
        setattr(report, ORIGIN, _origin(self.plan.base, self.path) or (self.plan.base, outcome.declared.path))
        if report.failed:
            report.longrepr = self._failure(outcome)
        elif expected:
            return  # keeps the words of the mark
        elif outcome.status in NOT_LOOKED_AT:
            # Said here rather than with an exception: at 10,000 items building and reading those is what costs.
            report.outcome = "skipped"
            report.longrepr = (str(self.path), self.plan.line, f"Skipped: {skip_reason(outcome)}")
        elif outcome.status != "pass":
            report.outcome = "skipped"
            report.wasxfail = f"advisory: {advisory_reason(outcome)}"
            setattr(report, ADVISORY, True)

    def _failure(self, outcome: Outcome) -> Any:
        place = crash_place(outcome)
        path = Path(self.plan.base, place.path)
        shown = failure_lines(outcome, self._shown_path)
        return located_failure(shown, visible(str(path)), place.line, first_message(outcome))

    def _shown_path(self, path: str) -> str:
        """A path of the outcome as seen from where pytest was started, so that editors and people can follow it."""
        absolute = Path(self.plan.base, path)
        start = self.config.invocation_params.dir
        return str(absolute.relative_to(start)) if absolute.is_relative_to(start) else str(absolute)


def _gates(outcome: Outcome) -> bool:
    return outcome.status == "fail" or (outcome.status == "error" and outcome.blocking)


def _expected_to_fail(outcome: Outcome) -> Outcome:
    """What a mark of the user keeps from failing the run does not gate, and no report says it did."""
    if outcome.status != "fail":
        return replace(outcome, blocking=False)
    findings = tuple(replace(f, kind="advisory") if f.kind == "violation" else f for f in outcome.findings)
    return replace(outcome, status="advisory", blocking=False, findings=findings)


@lru_cache(maxsize=64)
def _origin(base: str, path: Path) -> tuple[str, str] | None:
    """What an item's file is below ``base``; one value for all items of it."""
    below = relative_to_root(Path(base), path)
    return (base, below) if below else None
