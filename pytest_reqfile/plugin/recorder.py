"""Folds the reports of a run into outcomes, in the process that shows them, and ends the terminal with our section.

Under xdist that is the controller alone; results arrive as plain dicts on the reports (design 4).
"""

from __future__ import annotations

from collections.abc import Generator, Sequence
from typing import Any, Final

import pytest

from pytest_reqfile.plugin import options
from pytest_reqfile.plugin.names import is_ours_node

WIRE: Final = "reqfile_outcome"
"""The attribute of a report that carries the outcome in its wire form."""
ORIGIN: Final = "reqfile_origin"
"""Beside it: the absolute folder that the outcome's paths are relative to, and the item's file below it."""
LOG: Final = "reqfile_log"
"""Beside them: further lines of the run log, as JSON text."""
ADVISORY: Final = "reqfile_advisory"
"""The attribute of a report whose outcome was looked at but does not gate."""
LINKS: Final = "reqfile_links"
"""The attribute of a Python test's report: the ids of the requirements it is linked to."""


class Recorder:
    """What a run came to, by node id and in wire form until somebody asks for it.

    ``expected`` are the items of ours that were to run, ``span`` is when the first phase began and the last ended,
    ``lost_workers`` the errors that workers of xdist ended with.
    """

    def __init__(self, config: pytest.Config) -> None:
        self._config = config
        self._is_worker = hasattr(config, "workerinput")
        self.wires: dict[str, dict[str, Any]] = {}
        self.origins: dict[str, tuple[str, str]] = {}
        self.log_lines: dict[str, str] = {}
        self.links: dict[str, tuple[str, ...]] = {}
        self.results: dict[str, str] = {}
        self.expected: tuple[str, ...] = ()
        self.span: tuple[float, float] | None = None
        self.exit_status = 0
        self.problems: tuple[str, ...] = ()
        self.notes: tuple[str, ...] = ()
        self.cuts: tuple[str, ...] = ()
        self.has_collected = False
        self.lost_workers: list[str] = []
        self._failed: set[str] = set()

    def pytest_collection_finish(self, session: pytest.Session) -> None:
        """Note what is to run; a run that ends early leaves errors, not holes."""
        self.expected = tuple(item.nodeid for item in session.items if hasattr(item, "describe_in_report"))

    @pytest.hookimpl(optionalhook=True)
    def pytest_xdist_node_collection_finished(self, ids: Sequence[str]) -> None:
        """The same under xdist, whose controller collects nothing; every worker collects the same."""
        self.has_collected = True
        if not self.expected:
            self.expected = tuple(nodeid for nodeid in ids if is_ours_node(nodeid))

    @pytest.hookimpl(optionalhook=True)
    def pytest_testnodedown(self, error: object) -> None:
        """A worker that died; xdist ends as if there were no tests where all die while they collect."""
        if error:
            self.lost_workers.append(str(error))

    @pytest.hookimpl(tryfirst=True)
    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        """Keep the outcome a report carries; one of ours that carries none was lost with its worker or to a bug."""
        self._keep(report)

    def _keep(self, report: pytest.TestReport) -> None:
        wire = getattr(report, WIRE, None)
        if wire is not None and report.nodeid in self._failed and not report.failed:
            return  # with --dist=each every worker runs it, and one that failed is enough
        if report.failed:
            self._failed.add(report.nodeid)
        if wire is not None:
            self.wires[report.nodeid] = wire
            self.origins[report.nodeid] = getattr(report, ORIGIN)
            lines: str | None = getattr(report, LOG, None)
            if lines is not None:
                self.log_lines[report.nodeid] = lines
            if report.failed and not self._is_worker:
                from pytest_reqfile.plugin.failure import point_at_finding

                point_at_finding(report)
        elif report.failed and is_ours_node(report.nodeid):
            from pytest_reqfile.plugin.failure import crash_message

            # What it found before, if it came so far, is not lost with the verdict.
            self.wires[report.nodeid] = {"lost": crash_message(report), "before": self.wires.get(report.nodeid)}
        elif report.skipped and report.nodeid not in self.wires and is_ours_node(report.nodeid):
            from pytest_reqfile.plugin.failure import skip_message

            self.wires[report.nodeid] = {"skipped": skip_message(report)}  # by a mark or a plugin of the user
        if str(report.outcome) == "rerun":
            self.wires.pop(report.nodeid, None)  # what counts is the attempt that follows
        links = getattr(report, LINKS, None)
        if links is not None:
            self._keep_linked(report, tuple(links))
        self._stretch(report)

    def _keep_linked(self, report: pytest.TestReport, links: tuple[str, ...]) -> None:
        self.links[report.nodeid] = links
        if str(report.outcome) == "rerun":
            self.results.pop(report.nodeid, None)  # what counts is the attempt that follows
        elif report.when == "call" or not report.passed:
            self.results[report.nodeid] = _result(report)

    def _stretch(self, report: pytest.TestReport) -> None:
        began, ended = getattr(report, "start", 0.0), getattr(report, "stop", 0.0)
        if began:  # the report of a crash has none
            first, last = self.span or (began, ended)
            self.span = min(first, began), max(last, ended)

    @pytest.hookimpl(wrapper=True, trylast=True)
    def pytest_sessionfinish(self, session: pytest.Session) -> Generator[None, None, None]:
        """Write the reports that were asked for, also where another plugin breaks down over its own.

        A report that cannot be written fails the run. So does an item that was to run and did not: xdist ends with 0
        when all workers broke down.
        """
        try:
            yield
        finally:
            self._finish(session)

    def _finish(self, session: pytest.Session) -> None:
        self.exit_status = int(session.exitstatus)
        if options.writes_reports(self._config) and self.exit_status != pytest.ExitCode.USAGE_ERROR:
            from pytest_reqfile.plugin.writing import write_reports

            self.problems, self.notes, self.cuts = write_reports(session, self)
        if self.exit_status == pytest.ExitCode.OK and (self.problems or self.unreached):
            session.exitstatus = pytest.ExitCode.TESTS_FAILED

    def pytest_terminal_summary(self, terminalreporter: pytest.TerminalReporter) -> None:
        """The section of ours, where there was anything of ours."""
        if self.wires or self.links or self.problems or self.notes or self.unreached:
            from pytest_reqfile.plugin.terminal import write_section

            write_section(terminalreporter, self)

    @property
    def unreached(self) -> tuple[str, ...]:
        """The items of ours that were to run and have no outcome; none where nothing was to run, or not here."""
        if self._is_worker or options.runs_nothing(self._config):
            return ()
        return tuple(nodeid for nodeid in self.expected if nodeid not in self.wires)


def _result(report: pytest.TestReport) -> str:
    expected = hasattr(report, "wasxfail")
    if report.skipped:  # before its call also where it is expected to fail: nothing of it ran
        return "xfailed" if expected and report.when == "call" else "skipped"
    if report.passed:
        return "xpassed" if expected else "passed"
    return "failed" if report.when == "call" else "error"
