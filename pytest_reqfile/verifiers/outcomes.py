"""Results of verifiers as ``Outcome``s, which is what both fronts and all reports exchange (design 2.3, 4)."""

from __future__ import annotations

from dataclasses import fields, replace
from typing import TYPE_CHECKING, Final, Literal

from pytest_reqfile.outcome import Finding, Location, Outcome, Severity, Status
from pytest_reqfile.verifiers.costs import LlmUsage
from pytest_reqfile.verifiers.results import Result
from pytest_reqfile.verifiers.words import sanitized

if TYPE_CHECKING:
    from pytest_reqfile.verifiers.examples import ExampleResult

FailOn = Literal["error", "warning", "info", "none"]
Details = dict[str, str | int | float | bool | None]
FAIL_ON: Final[tuple[FailOn, ...]] = ("error", "warning", "info", "none")
_RANK: Final = {"info": 1, "warning": 2, "error": 3, "none": 4}


def gates(severity: Severity, fail_on: FailOn) -> bool:
    """Whether a failure of ``severity`` fails the run."""
    return _RANK[severity] >= _RANK[fail_on]


def outcome_of(result: Result, fail_on: FailOn = "error") -> Outcome:
    """The outcome of one result; a failure below ``fail_on`` is ``advisory``.

    ``details`` carries the rest of the result: ``type``, ``code``, ``status``, ``message``, ``source``, ``advisory``,
    ``description``, ``target_kind``, ``target_id``, ``target_path``, ``target_line``, ``stated``, ``notes`` (one per
    line), ``bare`` where the result has no findings of its own, and ``labels`` of the declared examples, in one text;
    ``llm_calls`` and the other fields of ``LlmUsage`` where it has one.
    """
    gating = gates(result.severity, fail_on)
    failed = result.status == "fail"
    status: Status = result.status if not failed or gating else "advisory"
    findings = result.findings or ((Finding(message=result.message or "failed"),) if failed else ())
    if status == "advisory":
        findings = tuple(replace(finding, kind="advisory") for finding in findings)
    return Outcome(
        subject="verifier",
        owner=result.name,
        check="",
        status=status,
        declared=result.declared,
        findings=findings,
        reason=_reason(result),
        blocking=gating or status == "error",  # not looked at is never a pass, whatever the severity (seed 000)
        severity=result.severity,
        looked_at=max(1, result.files) if status == "pass" else result.files,
        seconds=result.seconds,
        title=result.description or (result.message if result.stated else ""),
        why=f"{result.target.kind} {result.target.id}" if result.target else "",
        fix_hint=result.fix or None,
        details=_details(result),
    )


def telling(outcome: Outcome) -> Outcome:
    """The outcome with findings that can stand alone, as in the summary of pytest and in code scanning.

    The finding of a flat key check says `key check failed` (spec/verifiers.md 4); the values are in the message.
    """
    if outcome.details.get("type") != "key_equals" or len(outcome.findings) != 1:
        return outcome
    finding = outcome.findings[0]
    message = str(outcome.details.get("message") or finding.message)
    said = message.removeprefix(f"{finding.file}: ").removeprefix(f"{finding.file} ")
    return replace(outcome, findings=(replace(finding, message=said),))


def _reason(result: Result) -> str | None:
    if result.status in ("pass", "fail"):
        return None
    return sanitized(result.message) or result.status


def _details(result: Result) -> Details:
    target = result.target
    return {
        "type": result.type,
        "status": result.status,
        "description": result.description,
        "code": result.code,
        "message": sanitized(result.message),
        "source": result.source,
        "target_kind": target.kind if target else "",
        "target_id": target.id if target else "",
        "target_path": (target.path or "") if target else "",
        "target_line": target.line if target else None,
        "advisory": result.advisory,
        "stated": result.stated,
        "notes": "\n".join(map(sanitized, result.notes)),
        "bare": not result.findings,
        "labels": " ".join(result.labels),
    } | _usage(result.usage)


def _usage(usage: LlmUsage | None) -> Details:
    """What was used of models; a result that reached none says nothing of it."""
    return {} if usage is None else {f"llm_{field.name}": getattr(usage, field.name) for field in fields(usage)}


def example_outcome(result: ExampleResult, check: str) -> Outcome:
    """The outcome of one example; ``check`` is its name below the verifier, such as ``examples/with-down-passes``."""
    example, verifier = result.example, result.verifier
    wanted = f"expected {example.expect}, got {result.got}"
    message = f"{wanted}: {result.message}" if result.message else wanted
    status: Status = "pass" if result.ok else "fail"
    reason = None
    if result.got == "skipped":
        status, reason = "skipped", result.message
    elif result.got == "error":
        status, reason = "error", message
    failing = (Finding(message=message, file=result.declared.path, line=result.declared.line),)
    return Outcome(
        subject="example",
        owner=verifier.id,
        check=check,
        status=status,
        declared=Location(path=result.declared.path, line=result.declared.line),
        findings=failing if status == "fail" else (),
        reason=reason,
        severity="error",
        looked_at=1,
        seconds=result.seconds,
        title=example.name,
        fix_hint=verifier.fix or None,
        details={
            "type": verifier.require.kind,
            "want": example.expect,
            "got": result.got,
            "ok": result.ok,
            "message": sanitized(result.message),
        },
    )
