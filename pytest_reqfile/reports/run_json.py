"""A pytest run as JSON of our own form, described by ``schema/report-1.schema.json`` in this package."""

from __future__ import annotations

import json
from collections.abc import Iterable
from dataclasses import fields
from typing import Final

from pytest_reqfile.outcome import Finding, Location
from pytest_reqfile.reports.json_values import encodable
from pytest_reqfile.reports.llm_usage import model_use
from pytest_reqfile.reports.run_report import ItemResult, LinkedTest, RunReport
from pytest_reqfile.reports.traceability import Trace, traces

VERSION: Final = 1
_OF_TIMES: Final = frozenset({"receipt_digest", "receipt_size"})
"""Details that differ from run to run, as a receipt holds when its command ran: the claims cite them, not this file."""


def json_report(report: RunReport) -> str:
    """Indented ASCII JSON with a final newline; an undecodable byte of a file name shows as ``\\xNN``."""
    found = traces(report)
    document = {
        "version": VERSION,
        "tool": {"name": "pytest-reqfile", "version": report.version},
        "complete": report.stopped is None,
        "stopped": report.stopped,
        "started": report.started,
        "seconds": report.seconds,
        "counts": report.counts(),
        "requirements": [_requirement(trace) for trace in found],
        "unverified": [trace.requirement.id for trace in found if not trace.is_verified],
        "items": [_item(item) for item in report.items],
        "tests": [_test(test) for test in report.tests],
    }
    used = model_use(report.outcomes)
    if used is not None:
        document["llm"] = used.document
    return json.dumps(encodable(document), indent=1) + "\n"


def _requirement(trace: Trace) -> dict[str, object]:
    requirement = trace.requirement
    return {
        "id": requirement.id,
        "kind": requirement.kind,
        "must": requirement.must,
        "declared": _location(requirement.declared),
        "verified": trace.is_verified,
        "checks": _statuses(trace.checks),
        "examples": _statuses(trace.examples),
        "tests": [{"nodeid": test.nodeid, "result": test.result} for test in trace.tests],
    }


def _statuses(items: Iterable[ItemResult]) -> list[dict[str, object]]:
    return [{"name": item.outcome.check, "status": item.outcome.status} for item in items]


def _item(item: ItemResult) -> dict[str, object]:
    outcome = item.outcome
    return {
        "nodeid": item.nodeid,
        "file": item.file,
        "subject": outcome.subject,
        "owner": outcome.owner,
        "check": outcome.check,
        "status": outcome.status,
        "blocking": outcome.blocking,
        "severity": outcome.severity,
        "declared": _location(outcome.declared),
        "looked_at": outcome.looked_at,
        "seconds": outcome.seconds,
        "title": outcome.title,
        "why": outcome.why,
        "fix_hint": outcome.fix_hint,
        "reason": outcome.reason,
        "findings": [_finding(finding) for finding in outcome.findings],
        "details": {key: value for key, value in outcome.details.items() if key not in _OF_TIMES},
    }


def _finding(finding: Finding) -> dict[str, object]:
    return {field.name: getattr(finding, field.name) for field in fields(finding)}


def _location(place: Location) -> dict[str, object]:
    return {"path": place.path, "line": place.line, "column": place.column}


def _test(test: LinkedTest) -> dict[str, object]:
    return {"nodeid": test.nodeid, "requirements": list(test.requirements), "result": test.result}
