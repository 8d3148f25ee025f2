"""The JSON of ``reqfile verifiers run`` (spec/verifiers.md 9.3)."""

from __future__ import annotations

import json
from typing import Final

from pytest_reqfile.outcome import Finding
from pytest_reqfile.reports.verifiers import ALWAYS_COUNTED, Row, VerifierReport, one_line

SCHEMA_VERSION: Final = 1


def render_json(report: VerifierReport) -> str:
    """The report as one document, indented by two spaces; keys that have nothing to say are left out."""
    counted = {status: report.counts[status] for status in ALWAYS_COUNTED}
    counted |= {status: report.counts[status] for status in ("skipped", "inactive") if report.counts[status]}
    document: dict[str, object] = {"schema_version": SCHEMA_VERSION, "root": report.root}
    if report.mode:
        document["mode"] = report.mode
    document["summary"] = dict(sorted(counted.items()))
    document["results"] = [_result(row) for row in report.rows]
    if report.llm is not None:
        document["llm"] = report.llm.document
    return json_text(document)


def error_document(message: str, exit_code: int) -> str:
    """What is printed instead of a report where the run could not start."""
    return json_text({"schema_version": SCHEMA_VERSION, "status": "error", "error": message, "exit_code": exit_code})


def json_text(document: object) -> str:
    """A document for people and programs: indented, in UTF-8, with a final newline."""
    return json.dumps(document, indent=2, ensure_ascii=False) + "\n"


def _result(row: Row) -> dict[str, object]:
    found: dict[str, object] = {
        "name": row.name,
        "type": row.text("type"),
        "severity": row.severity,
        "status": row.status,
        "description": row.text("description"),
        "message": row.message,
        "code": row.code,
        "target": _target(row),
        "fix": row.outcome.fix_hint or "",
        "source": row.text("source"),
        "advisory": row.outcome.details.get("advisory") is True,
        "findings": [_finding(finding) for finding in row.findings],
        "notes": list(row.notes),
    }
    return {key: value for key, value in found.items() if value}


def _target(row: Row) -> dict[str, object]:
    found: dict[str, object] = {
        "kind": row.text("target_kind"),
        "id": row.text("target_id"),
        "path": row.text("target_path"),
        "line": row.target_line,
    }
    return {key: value for key, value in found.items() if value}


def _finding(finding: Finding) -> dict[str, object]:
    found: dict[str, object] = {
        "file": one_line(finding.file or ""),
        "line": finding.line,
        "message": one_line(finding.message),
        "match": one_line(finding.match or ""),
    }
    return {key: value for key, value in found.items() if value}
