"""The text of ``reqfile verifiers run``: a table, what failed and how to fix it, a summary (spec/verifiers.md 9.2)."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import Final

from pytest_reqfile.reports.verifiers import Row, VerifierReport, finding_line, one_line

NOTHING: Final = "No verifiers configured."
_GAP: Final = "  "


def render_text(report: VerifierReport) -> str:
    """The whole report; ``No verifiers configured.`` where nothing was selected."""
    if not report.rows:
        return f"{NOTHING}\n"
    header = ("STATUS", "SEVERITY", "NAME", "MESSAGE")
    lines = [*table([header, *((row.status, row.severity, row.name, row.message) for row in report.rows)])]
    details = [line for row in report.rows for line in _details(row)]
    if details:
        lines += ["", *details]
    if report.llm is not None and report.llm.used:
        return "\n".join([*lines, "", summary_line(report), report.llm.line]) + "\n"
    return "\n".join([*lines, "", summary_line(report)]) + "\n"


def summary_line(report: VerifierReport) -> str:
    """What passed, failed and could not run, and what the run was narrowed to."""
    counts = report.counts
    words = [f"{counts['pass']} passed", f"{counts['fail']} failed", f"{counts['error']} could not run"]
    for status, word in (("not_applicable", "not applicable"), ("skipped", "skipped"), ("inactive", "inactive")):
        if counts[status]:
            words.append(f"{counts[status]} {word}")
    mode = f" ({report.mode})" if report.mode else ""
    return ", ".join(words) + mode


def table(rows: Sequence[Sequence[str]]) -> Iterator[str]:
    """Rows of cells, each column as wide as its widest cell; the last one is not padded."""
    widths = [max(len(row[column]) for row in rows) for column in range(len(rows[0]) - 1)]
    for row in rows:
        cells = [cell.ljust(width) for cell, width in zip(row, widths, strict=False)]
        yield _GAP.join([*cells, row[-1]])


def _details(row: Row) -> Iterable[str]:
    fix = row.outcome.fix_hint
    if row.manifest:
        yield f"{row.code} {row.name}"
        yield from (f"  {note}" for note in row.manifest)
    if not row.is_shown or not (row.findings or fix or row.target):
        return
    place = one_line(row.text("target_path"))
    if row.target_line:
        place += f":{row.target_line}"
    target = f" ({row.target}{f', {place}' if place else ''})" if row.target else ""
    yield f"{row.code} {row.name}{target}"
    for finding in row.findings:
        yield f"  {finding_line(finding)}"
    if fix:
        yield f"  fix: {one_line(fix)}"
