"""From planned checks to outcomes: the one place that fills in what every outcome of a requirement carries."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from pytest_reqfile.outcome import Finding, Outcome, Status
from pytest_reqfile.reqfile.plan import PlannedCheck
from pytest_reqfile.reqfile.values import CommandCheck, Edition

NOTHING_MATCHES: Final = "nothing to check: no matching file"
NO_UNIT: Final = "nothing to check: no code unit"
DEFERRED: Final = "left for a full run"


def check_outcome(
    planned: PlannedCheck,
    status: Status,
    *,
    findings: tuple[Finding, ...] = (),
    reason: str | None = None,
    seconds: float = 0.0,
    blocking: bool | None = None,
    fix_hint: str | None = None,
    details: Mapping[str, str | int | None] | None = None,
) -> Outcome:
    """The outcome of a planned check; ``blocking`` is the check's own mode unless given, ``fix_hint`` a command's."""
    requirement, check = planned.requirement, planned.check
    known: dict[str, str | int | float | bool | None] = {"kind": requirement.kind, "files": len(planned.files)}
    if isinstance(check, CommandCheck):
        known |= {"command": check.run, "arguments": len(planned.arguments)}
    if requirement.imported is not None:
        known |= {"block": str(requirement.location), "source": str(requirement.imported)}
    return Outcome(
        subject="requirement",
        owner=requirement.id,
        check=planned.name,
        status=status,
        declared=requirement.declaration(check),
        findings=findings,
        reason=reason,
        blocking=check.mode == "blocking" if blocking is None else blocking,
        looked_at=int(planned.state == "run"),
        seconds=seconds,
        title=requirement.must,
        why=requirement.why,
        fix_hint=check.fix_hint if isinstance(check, CommandCheck) else fix_hint,
        details={**known, **(details or {})},
    )


def left_out(planned: PlannedCheck) -> Outcome:
    """The outcome of a check that is not to run, saying why."""
    if planned.state == "deferred":
        return check_outcome(planned, "deferred", reason=DEFERRED)
    nothing = NOTHING_MATCHES if isinstance(planned.check, CommandCheck) else NO_UNIT
    return check_outcome(planned, "nothing_to_check", reason=nothing)


def not_judged(planned: PlannedCheck, edition: Edition) -> Outcome:
    """A decision check that a front gives nobody to judge it: an error, never a pass (seed 004 NO_FALSE_GREEN)."""
    blocking = planned.check.mode == "blocking" or edition == "0.1"
    reason = "nothing judges decision checks here, so no code unit was judged"
    return check_outcome(planned, "error", reason=reason, blocking=blocking)
