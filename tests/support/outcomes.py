"""Outcomes for tests of reports."""

from __future__ import annotations

from collections.abc import Mapping

from pytest_reqfile.outcome import Finding, Location, Outcome, Status


def outcome(
    owner: str,
    check: str = "command-1",
    *,
    findings: tuple[Finding, ...] = (),
    error: str | None = None,
    left: Status | None = None,
    blocking: bool = True,
    seconds: float = 0.0,
    folder: str = "",
    must: str = "Be good. Always.",
    details: Mapping[str, str | int] | None = None,
) -> Outcome:
    """One check of requirement ``owner``: passed unless it has findings, an ``error``, or is ``left`` out."""
    status: Status = "pass"
    if findings:
        status = "fail" if any(finding.kind == "violation" for finding in findings) else "advisory"
    return Outcome(
        subject="requirement",
        owner=owner,
        check=check,
        status="error" if error else left or status,
        declared=Location(path=f"{folder}/Reqfile.yaml".removeprefix("/"), line=3),
        findings=findings,
        reason=error or (f"reason of {left}" if left else None),
        blocking=blocking,
        looked_at=0 if left else 1,
        seconds=seconds,
        title=must,
        details=dict(details or {}),
    )
