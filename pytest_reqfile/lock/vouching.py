"""Who vouches for a lock: approvals and signatures, beside the comparison of its pins (spec/lock.md 9, 10)."""

from __future__ import annotations

from dataclasses import replace
from datetime import datetime

from pytest_reqfile.lock.changes import Change, Report, sorted_changes
from pytest_reqfile.lock.check import is_enforced
from pytest_reqfile.lock.file import LOCK_NAME
from pytest_reqfile.lock.governance import Governed, govern
from pytest_reqfile.lock.governance_policy import Policy, read_policy
from pytest_reqfile.lock.signing_policy import read_signing
from pytest_reqfile.lock.values import Lock
from pytest_reqfile.project.values import Config, Project


def vouched(
    report: Report, project: Project, lock: Lock | None, now: datetime, *, with_signatures: bool = True
) -> Report:
    """``report``, and whether the lock has the approvals and signatures the project asks for.

    Raises ``FormatError`` for a policy that cannot be read.
    """
    governed = _governed(lock, read_policy(project.config), now)
    report = replace(
        report,
        changes=sorted_changes((*report.changes, *governed.changes)),
        notes=(*report.notes, *governed.notes),
        looked_at={**report.looked_at, "approval": governed.judged},
    )
    return _signed(report, project, lock, now) if with_signatures else report


def _signed(report: Report, project: Project, lock: Lock | None, now: datetime) -> Report:
    policy = read_signing(project.config)
    if others := sorted({*policy.require} - {"lock"}):
        note = f"[signing] require: signatures of {' and '.join(others)} are not verified here"
        report = replace(report, notes=(*report.notes, note))
    if not policy.requires_lock:
        return report
    from pytest_reqfile.lock.signatures import Signatures, check_signatures, signature_change

    if lock is not None and lock.has_content_pins:
        found = check_signatures(project.place, lock, policy, now)
    else:
        found = Signatures(changes=(signature_change("AR720", f"{LOCK_NAME} has no content pins to sign"),))
    return replace(
        report,
        changes=sorted_changes((*report.changes, *found.changes)),
        notes=(*report.notes, *found.notes),
        errors=(*report.errors, *found.errors),
    )


def _governed(lock: Lock | None, policy: Policy, now: datetime) -> Governed:
    """Approvals of a lock; where they are enforced there must be one, with pins (AR710)."""
    found = govern(lock, policy, now) if lock is not None else Governed()
    if not policy.enforce or (lock is not None and lock.has_content_pins):
        return found
    what = "does not exist" if lock is None else "pins no content"
    detail = f"AR710 {LOCK_NAME} {what}, so nothing in it is approved; run `reqfile lock`"
    missing = Change(scope="approval", change="added", kind="lock", id=LOCK_NAME, detail=detail, code="AR710")
    return replace(found, changes=(missing, *found.changes))


def must_exist(project: Project) -> bool:
    """Whether a lock that is not there is a difference: it is enforced, or approvals in it are."""
    return is_enforced(project, None) or must_be_vouched(project.config)


def must_be_vouched(config: Config) -> bool:
    """Whether what is wrong with the lock itself fails a run although ``[lock] enforce`` is off."""
    return read_policy(config).enforce or read_signing(config).requires_lock
