"""Outcomes as pytest failures: located, without frames of ours, and the same after crossing xdist (design 5).

The only module that needs pytest's private representation classes: a failure survives the wire only as an
``ExceptionChainRepr`` with a crash location (anchors.md L2).
"""

from __future__ import annotations

import pytest
from _pytest._code import code
from _pytest._code.code import ExceptionChainRepr, ReprEntryNative, ReprFileLocation, ReprTraceback
from _pytest._io import TerminalWriter
from _pytest.outcomes import Failed


class _OwnWordsError(Failed):
    """An end that our own words replace: pytest must not read source files to show where it was raised.

    That took 70 ms for each item.
    """

    def __init__(self, message: str | None) -> None:
        super().__init__(message, pytrace=False)


class EvaluationError(_OwnWordsError):
    """Raised in an item's setup when its outcome is an error, so that pytest counts it as one."""


class RequirementNotMetError(_OwnWordsError):
    """Raised in an item's call when its outcome is a failure."""


def located_failure(lines: list[str], path: str, line: int, message: str) -> ExceptionChainRepr:
    """A failure that shows ``lines`` and crashes at ``path:line`` with ``message`` (its summary line)."""
    traceback = ReprTraceback(
        reprentries=[ReprEntryNative([text + "\n" for text in lines])], extraline=None, style="native"
    )
    return ExceptionChainRepr([(traceback, ReprFileLocation(path, line, message), None)])


class ReprEntry(code.ReprEntry):
    """Lines shown as they are, with a place that only programs see; named as its base, which pytest can serialise."""

    def toterminal(self, tw: TerminalWriter) -> None:
        """Without the place, which the lines say themselves."""
        tw.write("".join(self.lines))


def point_at_finding(report: pytest.TestReport) -> None:
    """Tell annotators where the first finding is: they look at the place of the first entry (user-asks 42).

    Done where the report is shown, as xdist would turn the entry into its base, which prints its place.
    """
    failure = report.longrepr
    if isinstance(failure, ExceptionChainRepr) and failure.reprcrash is not None:
        lines = [line for entry in failure.reprtraceback.reprentries for line in entry.lines]
        failure.reprtraceback.reprentries = [ReprEntry(lines, None, None, failure.reprcrash, "short")]


def crash_message(report: pytest.TestReport) -> str:
    """The last word of a report that is none of ours: the exception, else the last line."""
    crash = getattr(report.longrepr, "reprcrash", None)
    text: str = crash.message if crash is not None else report.longreprtext.strip().rpartition("\n")[2]
    return text.strip().split("\n", 1)[0]


def skip_message(report: pytest.TestReport) -> str:
    """Why an item of ours was skipped, or not run as it is expected to fail, by somebody else."""
    if isinstance(report.longrepr, tuple):
        return report.longrepr[2].removeprefix("Skipped: ")
    return f"expected to fail: {getattr(report, 'wasxfail', '')}".rstrip(": ")
