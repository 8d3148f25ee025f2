"""A pytest run as SARIF 2.1.0: findings as results, what could not be evaluated as notifications, passes as nothing."""

from __future__ import annotations

import re
import zlib
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Final, Literal

from pytest_reqfile.outcome import Finding, Outcome
from pytest_reqfile.reports.run_report import ItemResult, RunReport
from pytest_reqfile.reports.sarif_document import ROOT_BASE, Fingerprints, collapsed, location, sarif_text
from pytest_reqfile.reports.sarif_rules import RuleBook, limited, rule_book, rule_key
from pytest_reqfile.reports.words import counted

if TYPE_CHECKING:
    import sarif_om

Level = Literal["error", "warning", "note"]

RESULT_LIMIT: Final = 5000
"""Results that code scanning shows; it picks its own when there are more (user-asks 31)."""
RULE_LIMIT: Final = 25_000
"""Rules that code scanning takes; it refuses a file with more."""
BYTE_LIMIT: Final = 10_000_000
"""Compressed bytes that code scanning takes."""
MESSAGE_LIMIT: Final = 4000
FINGERPRINT: Final = "reqfile/v1"
_RANK: Final[dict[Level, int]] = {"error": 0, "warning": 1, "note": 2}
_LEVELS: Final[dict[str, Level]] = {"error": "error", "warning": "warning", "info": "note"}
_LINE_NUMBERS: Final = re.compile(r"(?<=[:(,])\d+|(?<=line )\d+")


@dataclass(frozen=True, slots=True, kw_only=True)
class SarifReport:
    """The text of the file, and what had to be left out of it, in words for the terminal."""

    text: str
    cuts: tuple[str, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class _Row:
    """One result before it is written."""

    level: Level
    rule: int
    outcome: Outcome
    finding: Finding
    fingerprint: str


def sarif_report(report: RunReport) -> SarifReport:
    """One SARIF run within the limits of code scanning; the gravest results are kept, and the report says the rest."""
    rules = rule_book(report.outcomes)
    rows = sorted(_rows(report.items, rules), key=lambda row: (_RANK[row.level], row.rule))
    kept = min(len(rows), RESULT_LIMIT)
    while True:
        told = rules.within(RULE_LIMIT, {row.rule for row in rows[:kept]})
        cuts = tuple(_cuts(rows, kept, told))
        text = sarif_text(_run(report, told, cuts), (_result(row, told) for row in rows[:kept]))
        if kept == 0 or not _is_too_big(text):
            return SarifReport(text=text, cuts=cuts)
        kept //= 2


def _is_too_big(text: str) -> bool:
    data = text.encode()
    return len(data) > BYTE_LIMIT and len(zlib.compress(data)) > BYTE_LIMIT


def _cuts(rows: Sequence[_Row], kept: int, rules: RuleBook) -> Iterator[str]:
    if kept < len(rows):
        yield f"{counted(len(rows) - kept, 'result')} of {len(rows)} left out: code scanning takes no more"
    known = len(rules.rules)
    if len(rules.written) < known:
        yield f"{counted(known - len(rules.written), 'rule')} of {known} left out: code scanning takes no more"
    shown = map(_shown_message, rows[:kept])
    long = sum(len(text) == MESSAGE_LIMIT and text.endswith("…") for text in shown)
    if long:
        yield f"{counted(long, 'message')} cut to {MESSAGE_LIMIT} characters"


def _rows(items: Sequence[ItemResult], rules: RuleBook) -> Iterator[_Row]:
    prints = Fingerprints()
    for item in items:
        outcome = item.outcome
        key = rule_key(outcome)
        for finding in _findings(outcome):
            yield _Row(
                level=_level(outcome, finding),
                rule=rules.places[key],
                outcome=outcome,
                finding=finding,
                fingerprint=prints.of(rules.id_of(key), outcome.check, finding.file or item.file, _identity(finding)),
            )


def _findings(outcome: Outcome) -> tuple[Finding, ...]:
    """What is shown at a line; of errors only those of a declaration (spec verifiers 9.4; user-asks 30)."""
    if outcome.status == "error" and (outcome.subject == "load" or outcome.details.get("code")):
        declared = outcome.declared
        return (Finding(message=outcome.reason or "", file=declared.path, line=declared.line),)
    return outcome.findings


def _level(outcome: Outcome, finding: Finding) -> Level:
    if finding.kind == "uncertain":
        return "note"
    if finding.kind == "advisory" and outcome.subject != "verifier":
        return "warning"
    return "error" if outcome.status == "error" else _LEVELS[outcome.severity]


def _identity(finding: Finding) -> str:
    """What a finding says, whatever line it is on: the text found, else its message without line numbers."""
    return collapsed(finding.match or _LINE_NUMBERS.sub("", finding.message))


def _run(report: RunReport, rules: RuleBook, cuts: Sequence[str]) -> sarif_om.Run:
    import sarif_om

    driver = sarif_om.ToolComponent(
        name="pytest-reqfile",
        version=report.version,
        semantic_version=report.version,
        rules=rules.descriptors(),
    )
    root = sarif_om.ArtifactLocation(description=sarif_om.Message(text="the root of the git repository"))
    return sarif_om.Run(
        tool=sarif_om.Tool(driver=driver),
        automation_details=sarif_om.RunAutomationDetails(id="pytest-reqfile/"),
        invocations=[_invocation(report, rules, cuts)],
        original_uri_base_ids={ROOT_BASE: root},
        column_kind="unicodeCodePoints",
        properties={"complete": report.stopped is None, "counts": dict(report.counts())},
    )


def _result(row: _Row, rules: RuleBook) -> sarif_om.Result:
    import sarif_om

    outcome, finding = row.outcome, row.finding
    declared = outcome.declared
    place = location(finding.file, finding.line, finding.column) if finding.file else _declared(outcome)
    related = [location(declared.path, declared.line, identifier=1, text=f"{outcome.name} is declared here")]
    target = outcome.details.get("target_path")
    if isinstance(target, str) and target:
        line = outcome.details.get("target_line")
        text = f"declared by {outcome.why}"
        related.append(location(target, line if isinstance(line, int) else None, identifier=2, text=text))
    return sarif_om.Result(
        rule_id=rules.rules[row.rule][0],
        rule_index=rules.index_of(row.rule),
        level=row.level,
        message=sarif_om.Message(text=_shown_message(row)),
        locations=[place],
        related_locations=related,
        partial_fingerprints={FINGERPRINT: row.fingerprint},
        properties=_properties(outcome, finding),
    )


def _declared(outcome: Outcome) -> sarif_om.Location:
    return location(outcome.declared.path, outcome.declared.line)


def _shown_message(row: _Row) -> str:
    return limited(_message(row.outcome, row.finding), MESSAGE_LIMIT)


def _message(outcome: Outcome, finding: Finding) -> str:
    """The finding's text, after the message that the declaration states (spec verifiers 9.4)."""
    stated = outcome.details.get("message") if outcome.details.get("stated") else None
    return f"{stated} ({finding.message})" if stated and stated != finding.message else finding.message


def _properties(outcome: Outcome, finding: Finding) -> dict[str, object]:
    known = {
        outcome.subject if outcome.subject in {"requirement", "verifier"} else "item": outcome.owner,
        "check": outcome.check,
        "kind": finding.kind if finding in outcome.findings else "error",
        "code": outcome.details.get("code"),
        "rule": finding.rule,
        "fix": finding.fix_hint or outcome.fix_hint,
        "probability": finding.probability,
        "model": finding.model,
        "source": outcome.details.get("source"),
    }
    return {key: value for key, value in known.items() if value is not None and value != ""}


def _invocation(report: RunReport, rules: RuleBook, cuts: Sequence[str]) -> sarif_om.Invocation:
    import sarif_om

    execution = [note for o in report.outcomes if o.subject != "load" for note in _notes(o, rules)]
    configuration = [note for o in report.outcomes if o.subject == "load" for note in _notes(o, rules)]
    execution += [_notification("warning", f"this report is not complete: {cut}") for cut in cuts]
    deferred = report.counts()["deferred"]
    if deferred:
        execution.append(_notification("note", f"{counted(deferred, 'check')} left for a full run"))
    if report.stopped is not None:
        execution.append(_notification("error", f"the run ended early, this report is not complete: {report.stopped}"))
    began, ended = report.started, report.started + report.seconds
    return sarif_om.Invocation(
        execution_successful=all(note.level != "error" for note in (*execution, *configuration)),
        start_time_utc=_utc(began) if began else None,
        end_time_utc=_utc(ended) if began else None,
        tool_execution_notifications=execution,
        tool_configuration_notifications=configuration,
    )


def _notes(outcome: Outcome, rules: RuleBook) -> Iterator[sarif_om.Notification]:
    """An error, or a model that was not asked: what nobody looked at must show (seed 004 NO_FALSE_GREEN)."""
    if outcome.status == "error":
        yield _notification("error" if outcome.blocking else "warning", _noted(outcome), outcome, rules)
    elif outcome.status == "skipped":
        yield _notification("note", _noted(outcome), outcome, rules)


def _noted(outcome: Outcome) -> str:
    told = outcome.reason or ""
    return limited(told if outcome.subject == "load" else f"{outcome.name}: {told}", MESSAGE_LIMIT)


def _notification(
    level: Level, text: str, outcome: Outcome | None = None, rules: RuleBook | None = None
) -> sarif_om.Notification:
    import sarif_om

    rule = None
    if outcome is not None and rules is not None:
        key = rule_key(outcome)
        rule = sarif_om.ReportingDescriptorReference(id=rules.id_of(key), index=rules.index_of(rules.places[key]))
    return sarif_om.Notification(
        message=sarif_om.Message(text=text),
        level=level,
        associated_rule=rule,
        locations=None if outcome is None else [_declared(outcome)],
    )


def _utc(seconds: float) -> str:
    return datetime.fromtimestamp(seconds, UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z")
