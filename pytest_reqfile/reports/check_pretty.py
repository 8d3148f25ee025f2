"""The text of ``reqfile check`` for people at a terminal: a table, then what does not pass (spec reqfile.md 8.5)."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import groupby
from typing import Final

from pytest_reqfile.outcome import Finding, Outcome
from pytest_reqfile.reports.check import CheckReport, RunError
from pytest_reqfile.reports.check_plain import decision_lines, message_lines, source_line
from pytest_reqfile.reports.check_rows import (
    FAILING,
    GRADES,
    Grade,
    Row,
    command_line,
    error_text,
    rows_of,
    without_place,
)
from pytest_reqfile.reports.words import columns, counted, duration, padded, shortened
from pytest_reqfile.syntax.printable import visible

SYMBOLS: Final[dict[Grade, str]] = {
    "violation": "✗",
    "error": "!",
    "advisory": "●",
    "uncertain": "?",
    "pass": "✓",
    "nothing": "–",
}
FINDINGS_SHOWN: Final = 5
MESSAGE_LINES_SHOWN: Final = 12
ERROR_LINES_SHOWN: Final = 4
_MORE: Final = "(reqfile check -v)"
_RULE_LENGTH: Final = 64
_RULE: Final = "─" * _RULE_LENGTH
DEFAULT_WIDTH: Final = 120
_NARROWEST_CELL: Final = 24
_AROUND_CELLS: Final = len("  ✗ " + "  " + "   ")
_COLORS: Final[dict[Grade, str]] = {
    "violation": "31",
    "error": "1;31",
    "advisory": "33",
    "uncertain": "36",
    "pass": "32",
    "nothing": "2",
}
_BOLD: Final = "1"
_DIM: Final = "2"


@dataclass(frozen=True, slots=True, kw_only=True)
class Style:
    """How much is shown: ``verbose`` everything and what each check ran, ``quiet`` only what fails.

    ``width`` is what the table fits into, in columns.
    """

    color: bool = False
    verbose: bool = False
    quiet: bool = False
    width: int = DEFAULT_WIDTH

    def paint(self, text: str, code: str) -> str:
        """``text`` in the colour of an SGR code, if colours are on."""
        return f"\x1b[{code}m{text}\x1b[0m" if self.color and text else text

    def symbol(self, grade: Grade) -> str:
        """The grade's symbol in its colour."""
        return self.paint(SYMBOLS[grade], _COLORS[grade])


def render_pretty(report: CheckReport, style: Style) -> str:
    """The report for a terminal. Not meant for scripts, and free of control characters but the colours of ``style``."""
    rows = rows_of(report.outcomes)
    blocks: list[list[str]] = []
    banner = [f"{style.symbol('error')} Jev is not set up: {visible(m.variable)} is not set" for m in report.setup]
    if not style.quiet and rows:
        blocks += [[_header(report, rows)], *([banner] if banner else []), *_table(rows, style)]
    sections = [
        *_sections(rows, style),
        banner if style.quiet else [],
        list(_decisions(report, style)),
        [line for error in report.run_errors for line in _error_lines(error, style)],
        [] if report.setup or style.quiet or not report.conflicts_not_checked else list(decision_lines(report))[-1:],
        [] if style.quiet else [source_line(source) for source in report.sources],
        _checks(rows, style) if style.verbose else [],
    ]
    shown = [section for section in sections if section]
    if blocks and shown:
        blocks.append([style.paint(_RULE, _DIM)])
    blocks += [*shown, [_footer(report, rows, style)]]
    return "\n\n".join("\n".join(block) for block in blocks) + "\n"


def _header(report: CheckReport, rows: Sequence[Row]) -> str:
    return f"reqfile check · {counted(len(rows), 'requirement')} · {counted(report.checks_run, 'check')}"


def _table(rows: Sequence[Row], style: Style) -> Iterator[list[str]]:
    """One line per requirement; a block for each Reqfile folder, headed by it if there are several."""
    id_width = max(columns(row.id) for row in rows)
    time_width = max(len(duration(row.seconds)) for row in rows)
    room = max(style.width - id_width - time_width - _AROUND_CELLS, _NARROWEST_CELL)
    cells = [(row, shortened(" · ".join(row.parts()), room)) for row in rows]
    widths = _Widths(id=id_width, cell=max(columns(cell) for _, cell in cells), time=time_width)
    folders = {row.folder for row in rows}
    for folder, group in groupby(cells, key=lambda cell: cell[0].folder):
        heading = [style.paint(visible(folder or ".", kept=frozenset()), _BOLD)] if len(folders) > 1 else []
        yield heading + [_table_line(row, cell, widths, style) for row, cell in group]


@dataclass(frozen=True, slots=True, kw_only=True)
class _Widths:
    """Columns of the table."""

    id: int
    cell: int
    time: int


def _table_line(row: Row, cell: str, widths: _Widths, style: Style) -> str:
    line = f"  {style.symbol(row.grade)} {padded(row.id, widths.id)}  "
    if not row.seconds:
        return line + cell
    return f"{line}{padded(cell, widths.cell)}   {style.paint(duration(row.seconds).rjust(widths.time), _DIM)}"


def _sections(rows: Sequence[Row], style: Style) -> Iterator[list[str]]:
    """A section for each requirement that does not pass, most severe first; with ``quiet`` only those that fail."""
    for row in sorted(rows, key=lambda row: GRADES.index(row.grade)):
        if not row.findings and row.errors and not row.told_errors:
            continue
        if row.grade in FAILING or (row.grade in {"advisory", "uncertain"} and not style.quiet):
            yield [*_section_head(row, style), *_section_body(row, style)]


def _section_head(row: Row, style: Style) -> Iterator[str]:
    taken = f" · from {visible(row.source, kept=frozenset())}" if row.source else ""
    summary = " · ".join(part.partition(" · ")[0] for part in row.counts())
    yield f"{style.symbol(row.grade)} {style.paint(row.id, _BOLD)}  {summary}{style.paint(taken, _DIM)}"
    yield f"  {visible(row.must)}"


def _section_body(row: Row, style: Style) -> Iterator[str]:
    shown = row.findings if style.verbose else row.findings[:FINDINGS_SHOWN]
    for finding in shown:
        yield from _finding_lines(finding, row, style)
    if len(shown) < len(row.findings):
        yield f"  … {len(row.findings) - len(shown)} more {_MORE}"
    for outcome in row.told_errors:
        error = RunError(message=error_text(outcome), blocking=outcome.blocking)
        yield from (f"  {line}" for line in _error_lines(error, style))
    for hint in dict.fromkeys(finding.fix_hint for finding in row.findings if finding.fix_hint):
        first, *rest = message_lines(hint)
        yield f"  {style.paint('fix', _DIM)}  {first}"
        yield from (f"       {line}" for line in rest)


def _finding_lines(finding: Finding, row: Row, style: Style) -> Iterator[str]:
    parts = []
    if finding.file is not None:
        position = f":{finding.line}" if finding.line else ""
        parts.append(style.paint(visible(finding.file, kept=frozenset()) + position, _BOLD))
    if finding.probability is not None:
        parts.append(f"p={finding.probability:.2f}")
    first, *rest = message_lines(without_place(finding.message, finding, row.id))
    yield f"  {style.symbol(finding.kind)} {'  '.join([*parts, first])}"
    yield from (f"    {line}" for line in _last(rest, MESSAGE_LINES_SHOWN - 1, style))


def _decisions(report: CheckReport, style: Style) -> Iterator[str]:
    """Requirements that cannot both hold, in a box: they are for people, whatever an agent reads first."""
    if not report.decisions:
        return
    title = f"{counted(len(report.decisions), 'decision')} to make"
    yield style.paint(f"┌─ {title} {'─' * max(_RULE_LENGTH - len(title) - 4, 0)}", _DIM)
    for decision in report.decisions:
        for line in decision.lines():
            yield f"{style.paint('│', _DIM)} {line}"
    yield style.paint(f"└{'─' * (_RULE_LENGTH - 1)}", _DIM)


def _error_lines(error: RunError, style: Style) -> Iterator[str]:
    first, *rest = message_lines(error.message)
    advisory = "" if error.blocking else "advisory  "
    yield f"{style.symbol('error')} {advisory}{first}"
    yield from (f"  {line}" for line in _last(rest, ERROR_LINES_SHOWN - 1, style))


def _last(lines: Sequence[str], limit: int, style: Style) -> Iterable[str]:
    """The last ``limit`` lines, where a tool says what went wrong, and how many are left out."""
    if style.verbose or len(lines) <= limit:
        return lines
    return (f"… {counted(len(lines) - limit, 'line')} {_MORE}", *lines[-limit:])


def _checks(rows: Sequence[Row], style: Style) -> list[str]:
    width = max((columns(row.id) for row in rows), default=0)
    lines = [f"  {padded(row.id, width)}  {_check(outcome)}" for row in rows for outcome in row.outcomes]
    return [style.paint("Checks", _BOLD), *lines] if lines else []


def _check(outcome: Outcome) -> str:
    """What one check ran on, how long it took, or why it did not run."""
    details = outcome.details
    command = details.get("command")
    facts = ["decision"] if command is None else [f"command  {command_line(str(command))}"]
    if outcome.reason is not None:
        facts.append("error" if outcome.status == "error" else outcome.reason)
    if details.get("units"):
        facts.append(f"{counted(int(details['units'] or 0), 'unit')} ({details.get('cached') or 0} cached)")
    if details.get("model"):
        facts.append(visible(str(details["model"]), kept=frozenset()))
    if command is not None and details.get("files"):  # what a decision looked at are its units
        facts.append(counted(int(details["files"] or 0), "file"))
    if outcome.seconds:
        facts.append(duration(outcome.seconds))
    return " · ".join(facts)


def _footer(report: CheckReport, rows: Sequence[Row], style: Style) -> str:
    """What was found, and beside it what ran: a run that evaluated nothing shows (seed 004 NO_FALSE_GREEN)."""
    uncertain = sum(finding.kind == "uncertain" for _, finding in report.findings)
    advisory = report.advisory_findings - uncertain
    found: tuple[tuple[Grade, int, str], ...] = (
        ("violation", report.violations, counted(report.violations, "violation")),
        ("advisory", advisory, f"{advisory} advisory"),
        ("uncertain", uncertain, f"{uncertain} uncertain"),
        ("error", len(report.errors), counted(len(report.errors), "error")),
    )
    parts = [f"{style.symbol(grade)} {text}" for grade, count, text in found if count]
    if not parts and report.checks_run:
        parts = [f"{style.symbol('pass')} every check passes"]
    if not parts:
        parts = [f"{style.symbol('nothing')} no check ran"]
    return "   ".join([*parts, style.paint(" · ".join(_context(report, rows)), _DIM)])


def _context(report: CheckReport, rows: Sequence[Row]) -> Iterator[str]:
    yield counted(report.checks_run, "check")
    if report.nothing_to_check:
        yield f"{report.nothing_to_check} with nothing to check"
    if report.judges:
        yield f"{counted(report.units_judged, 'unit')} judged"
    if report.deferred:
        yield f"{report.deferred} left for a full run"
    seconds = sum(row.seconds for row in rows)
    if seconds:
        yield duration(seconds)
