"""A run of verifiers as JUnit XML: a suite per rule or skill, a case per result or finding (spec 9.5)."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from pytest_reqfile.outcome import Finding
from pytest_reqfile.reports.junit_document import Case, Suite, Verdict, junit_text
from pytest_reqfile.reports.verifiers import Row, VerifierReport, finding_line, one_line

NAME: Final = "ai-rulez verifiers"
_NO_TARGET: Final = "config"


def render_junit(report: VerifierReport) -> str:
    """The whole run; a failure below the lowest failing severity is a pass with its text as output."""
    suites: dict[str, list[Case]] = {}
    for row in report.rows:
        kind = row.text("target_kind")
        suite = f"{kind}:{row.text('target_id')}" if kind else _NO_TARGET
        suites.setdefault(suite, []).extend(_cases(row))
    if report.run_error is not None:
        verdict = Verdict(kind="error", message=report.run_error, type="error")
        suites.setdefault(_NO_TARGET, []).append(Case(name="run", classname="run", verdict=verdict))
    found = [Suite(name=name, cases=tuple(suites[name])) for name in sorted(suites)]
    return junit_text(NAME, found, count_skipped=True)


def _cases(row: Row) -> Iterator[Case]:
    seconds = row.outcome.seconds
    if row.status == "fail":
        for finding in row.findings or (Finding(message=row.message or "failed"),):
            yield _failure(row, finding, seconds)
            seconds = 0.0
        return
    verdict = None
    if row.status == "error":
        verdict = Verdict(kind="error", message=row.message, text=row.message, type=row.code or "error")
    elif row.status != "pass":
        verdict = Verdict(kind="skipped", message=row.message or row.status)
    yield Case(name=row.name, classname=row.name, seconds=seconds, verdict=verdict)


def _failure(row: Row, finding: Finding, seconds: float) -> Case:
    name = f"{row.name} {one_line(finding.file)}" if finding.file else row.name
    fix = f"\nfix: {row.outcome.fix_hint}" if row.outcome.fix_hint else ""
    text = finding_line(finding) + fix
    if row.outcome.status != "fail":
        output = f"{row.severity}: {text}"
        return Case(name=name, classname=row.name, seconds=seconds, output=output)
    message = one_line(finding.message)
    verdict = Verdict(kind="failure", message=message, text=text, type=row.code or "fail")
    return Case(name=name, classname=row.name, seconds=seconds, verdict=verdict)
