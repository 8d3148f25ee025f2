"""Folds the reports of a run into outcomes, in the process that shows them, and ends the terminal with our section.

Under xdist that is the controller alone; results arrive as plain dicts on the reports (design 4).
"""

from __future__ import annotations

from pathlib import Path
from typing import Any, Final

import pytest

from pytest_reqfile.plugin.names import is_ours

WIRE: Final = "reqfile_outcome"
"""The attribute of a report that carries the outcome in its wire form."""
ADVISORY: Final = "reqfile_advisory"
"""The attribute of a report whose outcome was looked at but does not gate."""


class Recorder:
    """The outcomes of a run by node id, in wire form until somebody asks for them."""

    def __init__(self) -> None:
        self.wires: dict[str, dict[str, Any]] = {}

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        """Keep the outcome a report carries; one of ours that carries none was lost with its worker or to a bug."""
        wire = getattr(report, WIRE, None)
        if wire is not None:
            self.wires[report.nodeid] = wire
        elif report.failed and is_ours(Path(report.nodeid.split("::")[0])):
            self.wires[report.nodeid] = {"lost": report.longreprtext.strip().rpartition("\n")[2]}

    def pytest_terminal_summary(self, terminalreporter: pytest.TerminalReporter) -> None:
        """The section of ours, where there was anything of ours."""
        if self.wires:
            from pytest_reqfile.plugin.terminal import write_section

            write_section(terminalreporter, self.wires)
