"""The JSON of ``reqfile check --format json`` (spec reqfile.md 8.3)."""

from __future__ import annotations

import json

from pytest_reqfile.outcome import Finding, Outcome
from pytest_reqfile.reports.check import CheckReport
from pytest_reqfile.reports.decisions import Conflict


def render_json(report: CheckReport) -> str:
    """The report as pretty-printed JSON with a final newline; non-ASCII text is escaped, so any file name is valid."""
    document: dict[str, object] = {
        "findings": [
            _finding(outcome, finding, report.breaks(outcome, finding)) for outcome, finding in report.findings
        ],
        "errors": [
            {"requirement": error.requirement, "message": error.message, "blocking": error.blocking}
            for error in report.errors
        ],
    }
    if report.sources:
        document["sources"] = [
            {"location": source.location, "commit": source.commit, "offline": source.offline}
            for source in report.sources
        ]
    if report.setup:
        document["setup"] = [
            {"variable": missing.variable, "requirements": list(missing.requirements), "blocking": missing.blocking}
            for missing in report.setup
        ]
    document["summary"] = _summary(report)
    document["exit_code"] = report.exit_code
    return json.dumps(document, indent=2) + "\n"


def _finding(outcome: Outcome, finding: Finding, breaks: tuple[Conflict, ...]) -> dict[str, object]:
    found: dict[str, object] = {
        "requirement": outcome.owner,
        "kind": finding.kind,
        "file": finding.file,
        "line": finding.line,
        "message": finding.message,
        "fix_hint": finding.fix_hint,
    }
    optional = {
        "probability": finding.probability,
        "model": finding.model,
        "block": outcome.details.get("block"),
        "source": outcome.details.get("source"),
        "conflicts": [{"requirement": c.breaks, "probability": c.probability} for c in breaks] or None,
    }
    return found | {key: value for key, value in optional.items() if value is not None}


def _summary(report: CheckReport) -> dict[str, object]:
    units = {"units_judged": report.units_judged} if report.judges else {}
    return {
        "checks_run": report.checks_run,
        "checks_with_nothing_to_check": report.nothing_to_check,
        "checks_left_for_full_run": report.deferred,
        **units,
        "violations": report.violations,
        "advisory_findings": report.advisory_findings,
        "errors": len(report.errors),
        "advisory_errors": report.advisory_errors,
        "decisions": len(report.decisions),
        **({"conflicts_not_checked": report.conflicts_not_checked} if report.conflicts_not_checked else {}),
    }
