"""A run of verifiers as SARIF 2.1.0 (spec/verifiers.md 9.4)."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Final, Literal

from pytest_reqfile.outcome import Finding
from pytest_reqfile.reports.sarif_document import Fingerprints, collapsed, location, sarif_text
from pytest_reqfile.reports.verifiers import Row, VerifierReport

if TYPE_CHECKING:
    import sarif_om

DRIVER: Final = "ai-rulez verifiers"
INFORMATION: Final = "https://github.com/Goldziher/ai-rulez"
FINGERPRINT: Final = "aiRulezVerifier/v1"
_LEVELS: Final[dict[str, Literal["error", "warning", "note"]]] = {
    "error": "error",
    "warning": "warning",
    "info": "note",
}


def render_sarif(report: VerifierReport, version: str) -> str:
    """One SARIF run: a result per finding, and notifications for what could not be evaluated. ``version`` is ours."""
    import sarif_om

    shown = [row for row in report.rows if row.is_shown]
    numbers: dict[str, int] = {}
    rules: list[sarif_om.ReportingDescriptor] = []
    for row in shown:
        if rule_id(row) not in numbers:
            numbers[rule_id(row)] = len(rules)
            rules.append(_rule(row))
    prints = Fingerprints()
    results = [_result(row, finding, numbers, prints) for row in shown for finding in _findings(row)]
    driver = sarif_om.ToolComponent(name=DRIVER, version=version, information_uri=INFORMATION, rules=rules)
    return sarif_text(
        sarif_om.Run(
            tool=sarif_om.Tool(driver=driver),
            invocations=[_invocation(report)],
            results=results,
            column_kind="unicodeCodePoints",
        )
    )


def rule_id(row: Row) -> str:
    """``CODE/NAME``, or the bare name of a flat verifier."""
    return f"{row.code}/{row.name}" if row.code else row.name


def _rule(row: Row) -> sarif_om.ReportingDescriptor:
    import sarif_om

    # A flat failure's message names files, which a rule does not.
    text = row.text("description") or (row.message if row.target else "") or f"verifier {row.name} ({row.text('type')})"
    fix = row.outcome.fix_hint
    return sarif_om.ReportingDescriptor(
        id=rule_id(row),
        name=row.name,
        short_description=sarif_om.MultiformatMessageString(text=text),
        help=sarif_om.MultiformatMessageString(text=fix) if fix else None,
        properties=_target_properties(row) or None,
    )


def _findings(row: Row) -> tuple[Finding, ...]:
    return row.findings or (Finding(message=row.message or row.status),)


def _result(row: Row, finding: Finding, numbers: dict[str, int], prints: Fingerprints) -> sarif_om.Result:
    import sarif_om

    stated = row.outcome.details.get("stated") is True
    text = f"{row.message} ({finding.message})" if stated else finding.message
    identity = collapsed(finding.match or finding.message)
    fix = {"fix": row.outcome.fix_hint} if row.outcome.fix_hint else {}
    return sarif_om.Result(
        rule_id=rule_id(row),
        rule_index=numbers[rule_id(row)],
        level="error" if row.status == "error" else _LEVELS[row.severity],
        message=sarif_om.Message(text=text),
        locations=list(_locations(row, finding)) or None,
        related_locations=_related(row),
        partial_fingerprints={FINGERPRINT: prints.of(row.name, finding.file or "", identity)},
        properties={"verifier": row.name, **_target_properties(row), "code": row.code, **fix},
    )


def _locations(row: Row, finding: Finding) -> Iterator[sarif_om.Location]:
    """Where it was found; else where the rule says so; else where the verifier is declared."""
    if finding.file is not None:
        yield location(finding.file, finding.line)
    elif row.text("target_path"):
        yield location(row.text("target_path"), row.target_line)
    elif row.text("source"):
        yield location(row.text("source"))


def _related(row: Row) -> list[sarif_om.Location] | None:
    path = row.text("target_path")
    if not path:
        return None
    text = f"declared by {row.text('target_kind')} {row.text('target_id')}"
    return [location(path, row.target_line, identifier=1, text=text)]


def _target_properties(row: Row) -> dict[str, str]:
    kind = row.text("target_kind")
    return {"rule": row.text("target_id"), "kind": kind} if kind else {}


def _invocation(report: VerifierReport) -> sarif_om.Invocation:
    import sarif_om

    notes = list(_notifications(report))
    return sarif_om.Invocation(
        execution_successful=not any(note.level == "error" for note in notes),
        tool_execution_notifications=notes or None,
    )


def _notifications(report: VerifierReport) -> Iterator[sarif_om.Notification]:
    import sarif_om

    if report.run_error is not None:
        yield sarif_om.Notification(level="error", message=sarif_om.Message(text=f"run failed: {report.run_error}"))
    for row in report.rows:
        if row.status == "error" and not row.code:
            yield sarif_om.Notification(level="error", message=sarif_om.Message(text=f"{row.name}: {row.message}"))
        elif row.status == "skipped":
            text = f"{row.code} {row.name}: {row.message}"
            yield sarif_om.Notification(level="note", message=sarif_om.Message(text=text))
