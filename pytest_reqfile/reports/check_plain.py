"""The plain text of ``reqfile check``, fit for agents and logs (spec reqfile.md 8.2)."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from pytest_reqfile.outcome import Finding, Outcome
from pytest_reqfile.reports.check import CheckReport, ResolvedSource, RunError
from pytest_reqfile.reports.words import counted
from pytest_reqfile.syntax.printable import visible

if TYPE_CHECKING:
    from pytest_reqfile.reports.decisions import Conflict


def render_plain(report: CheckReport) -> str:
    """Findings, errors and sources, a blank line, and the summary line; a clean run is the summary line alone."""
    lines = [f"setup  {missing}" for missing in report.setup]
    for outcome, finding in report.findings:
        lines.extend(finding_lines(outcome, finding, report.breaks(outcome, finding)))
    for decision in report.decisions:
        first, *rest = decision.lines()
        lines.extend((f"decide  {first}", *rest))
    lines.extend(line for error in report.errors for line in _error_lines(error))
    lines.extend(map(source_line, report.sources))
    blank = [""] if lines else []
    return "\n".join([*lines, *blank, summary_line(report), *decision_lines(report)]) + "\n"


def summary_line(report: CheckReport) -> str:
    """The last line of every run: what ran, what had nothing to check, and what was found (seed 004 NO_FALSE_GREEN)."""
    ran = [f"{counted(report.checks_run, 'check')} run", f"{report.nothing_to_check} with nothing to check"]
    if report.judges:
        ran.append(f"{counted(report.units_judged, 'code unit')} judged")
    if report.deferred:
        ran.append(f"{report.deferred} left for a full run")
    advisory = f" ({report.advisory_errors} advisory)" if report.advisory_errors else ""
    found = [
        counted(report.violations, "violation"),
        counted(report.advisory_findings, "advisory finding"),
        counted(len(report.errors), "error") + advisory,
    ]
    return f"{', '.join(ran)}. {', '.join(found)}."


def decision_lines(report: CheckReport) -> Iterator[str]:
    """What follows the summary where conflicts between requirements were found, or could not be looked for."""
    if report.decisions:
        number = counted(len(report.decisions), "decision")
        yield f"{number} to make between requirements that cannot both hold."
    if report.conflicts_not_checked:
        yield f"Conflicts between requirements not checked: {visible(report.conflicts_not_checked)}."


def message_lines(message: str) -> list[str]:
    """The lines of a message of unknown origin, at least one, fit for a terminal."""
    return [visible(line.removesuffix("\r")) for line in message.rstrip().split("\n")]


def finding_lines(outcome: Outcome, finding: Finding, breaks: Sequence[Conflict] = ()) -> Iterator[str]:
    """One finding: place and message, further message lines indented, fix hint, what that breaks, where it is from."""
    parts: list[str] = [] if finding.kind == "violation" else [finding.kind]
    parts.append(outcome.owner)
    if finding.file is not None:
        parts.append(visible(finding.file, kept=frozenset()) + (f":{finding.line}" if finding.line else ""))
    if finding.probability is not None:
        parts.append(f"p={finding.probability:.2f}")
    yield from _message_lines(parts, finding.message)
    if finding.fix_hint:
        yield from _message_lines(["  fix:"], finding.fix_hint, separator=" ")
    if breaks:
        yield f"  breaks: {', '.join(f'{c.breaks} (p={c.probability:.2f})' for c in breaks)}"
    if outcome.details.get("block"):  # a verifier has a source, too, but is taken from nowhere
        yield visible(f"  from: {outcome.details['block']}, use {outcome.details['source']}", kept=frozenset())


def _error_lines(error: RunError) -> Iterator[str]:
    parts = ["error" if error.blocking else "advisory error"]
    if error.requirement:
        parts.append(error.requirement)
    return _message_lines(parts, error.message)


def _message_lines(parts: list[str], message: str, separator: str = "  ") -> Iterator[str]:
    first, *rest = message_lines(message)
    yield separator.join([*parts, first])
    for line in rest:
        yield f"    {line}"


def source_line(source: ResolvedSource) -> str:
    """Which commit a tag stands for in this run."""
    offline = " (cannot be reached: using the last resolution cached here)" if source.offline else ""
    return f"source  {source.location} resolved to commit {source.commit}{offline}"
