"""The last section of a run's terminal output: what did not fail the run, and what was looked at (design 2.3)."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import pytest

from pytest_reqfile.outcome import Location, Outcome, from_wire
from pytest_reqfile.reports.check import CheckReport
from pytest_reqfile.reports.check_plain import finding_lines, summary_line
from pytest_reqfile.reports.item_text import first_message


def write_section(terminal: pytest.TerminalReporter, wires: Mapping[str, Mapping[str, Any]]) -> None:
    """Write the section; with ``-q`` only its summary line, with ``-qq`` nothing."""
    verbosity = terminal.config.get_verbosity()
    outcomes = tuple(outcome_of(nodeid, wire) for nodeid, wire in wires.items())
    if verbosity < -1:
        return
    if verbosity >= 0:
        terminal.section("reqfile")
        for line in (line for outcome in outcomes for line in _unfailing_lines(outcome)):
            terminal.write_line(line)
    requirements = tuple(outcome for outcome in outcomes if outcome.subject in {"requirement", "load"})
    if requirements:
        judges = any(outcome.check == "decision" for outcome in requirements)
        terminal.write_line(summary_line(CheckReport(outcomes=requirements, judges=judges)))


def outcome_of(nodeid: str, wire: Mapping[str, Any]) -> Outcome:
    """The outcome behind a report; one that was lost is an error under the item's name, never a hole."""
    if "lost" not in wire:
        return from_wire(wire)
    path, _, name = nodeid.partition("::")
    return Outcome(
        subject="load" if name == "load" else "requirement",
        owner=name.partition("/")[0] or path,
        check=name.partition("/")[2],
        status="error",
        declared=Location(path=path, line=1),
        reason=str(wire["lost"]) or "the item ended without a result",
    )


def _unfailing_lines(outcome: Outcome) -> list[str]:
    if outcome.status == "advisory":
        return [line for finding in outcome.findings for line in finding_lines(outcome, finding)]
    if outcome.status == "error" and not outcome.blocking:
        return [f"advisory error  {outcome.owner}  {first_message(outcome)}"]
    return []
