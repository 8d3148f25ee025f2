"""Approvals against the policy of a project: AR710 to AR719, as far as they can be told offline (spec/lock.md 9).

AR716 (an approval that comes with the change it approves) needs the base of a change and is not judged.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from datetime import UTC, date, datetime
from typing import Final, Literal

from pytest_reqfile.lock.changes import Change
from pytest_reqfile.lock.governance_policy import RANKS, Policy
from pytest_reqfile.lock.records import Pinned, denied, orphans, pinned
from pytest_reqfile.lock.values import Approval, Lock

Status = Literal["ok", "missing", "stale", "expired", "unauthorized", "insufficient"]

_DAY: Final = re.compile(r"[0-9]{4}-[0-9]{2}-[0-9]{2}", re.ASCII)
_SHOWN: Final = 10
NOT_JUDGED: Final = (
    "[governance] forbid_self_approval is not judged here: the lock does not say who made a change, "
    "`ai-rulez approve` does"
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Verdict:
    """How something that needs an approval stands. ``approved`` is the digest of the newest one that is stale."""

    subject: Pinned
    status: Status
    code: str = ""
    detail: str = ""
    approved: str = ""

    @property
    def change(self) -> Change:
        """The verdict as a difference; only for one that is not ``ok``."""
        return Change(
            scope="approval",
            change="added" if self.status == "missing" else "changed",
            kind=self.subject.kind,
            id=self.subject.id,
            domain=self.subject.domain,
            old=self.approved,
            new=self.subject.digest,
            detail=f"{self.code} {self.detail}",
            code=self.code,
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class Governed:
    """Differences that fail a check, and what is only said. ``judged`` counts what needs an approval."""

    changes: tuple[Change, ...] = ()
    notes: tuple[str, ...] = ()
    judged: int = 0


def govern(lock: Lock, policy: Policy, now: datetime) -> Governed:
    """Judge a lock. What is on its deny list fails whatever the policy says; the rest only where it is enforced."""
    verdicts = judge_all(lock, policy, now)
    failed = [verdict for verdict in verdicts if verdict.status != "ok"]
    changes = [*denials(lock), *(verdict.change for verdict in failed if policy.enforce)]
    return Governed(changes=tuple(changes), notes=tuple(_notes(lock, policy, verdicts)), judged=len(verdicts))


def judge_all(lock: Lock, policy: Policy, now: datetime) -> tuple[Verdict, ...]:
    """The verdict on everything that needs an approval, in the lock's order."""
    return tuple(judge(one, lock.approvals, policy, now) for one in pinned(lock) if policy.requires(one))


def denials(lock: Lock) -> Iterator[Change]:
    """What the lock pins although it denies the digest (AR717)."""
    for one, reason in denied(lock):
        detail = f"AR717 its digest is on the deny list{f': {reason}' if reason else ''}"
        yield Change(
            scope="approval",
            change="changed",
            kind=one.kind,
            id=one.id,
            domain=one.domain,
            new=one.digest,
            detail=detail,
            code="AR717",
        )


def _notes(lock: Lock, policy: Policy, verdicts: tuple[Verdict, ...]) -> Iterator[str]:
    for one in orphans(lock):
        yield f"AR715 approval of {one.target} by {one.reviewer}: it is not pinned"
    failed = [verdict for verdict in verdicts if verdict.status != "ok"]
    if failed and not policy.enforce:
        named = ", ".join(f"{verdict.subject.ref} ({verdict.code} {verdict.status})" for verdict in failed[:_SHOWN])
        more = f" and {len(failed) - _SHOWN} more" if len(failed) > _SHOWN else ""
        yield f"{len(failed)} of {len(verdicts)} without a sufficient approval, not enforced: {named}{more}"
    if policy.enforce and not policy.require:
        yield "[governance] enforce is on, but require_approval asks for nothing"
    if verdicts and policy.forbid_self_approval:
        yield NOT_JUDGED


def judge(one: Pinned, approvals: Iterable[Approval], policy: Policy, now: datetime) -> Verdict:
    """How one digest stands: approvals of it that are not expired, by who may, sure enough, and enough of them."""
    records = [record for record in approvals if one.is_meant_by(record)]
    current = [record for record in records if record.digest == one.digest]
    if not records:
        return Verdict(subject=one, status="missing", code="AR710", detail="it has no approval")
    if not current:
        newest = max(records, key=lambda record: record.approved_at)
        detail = f"changed since {newest.reviewer} approved it"
        return Verdict(subject=one, status="stale", code="AR711", detail=detail, approved=newest.digest)
    for sieve in (_by_age, _by_authority, _by_assurance):
        kept, refusal = sieve(current, policy, now)
        if not kept:
            return _refused(one, refusal)
        current = kept
    names = {reviewer_key(record.reviewer) for record in current} - {""}
    if len(names) < policy.min_approvers:
        named = f" ({', '.join(sorted(names))})" if names else ""
        detail = f"approved by {len(names)} of {policy.min_approvers}{named}"
        return Verdict(subject=one, status="insufficient", code="AR714", detail=detail)
    return Verdict(subject=one, status="ok")


Refusal = tuple[Status, str, str]
"""Status, code and detail of approvals that do not count."""


def _refused(one: Pinned, refusal: Refusal) -> Verdict:
    status, code, detail = refusal
    return Verdict(subject=one, status=status, code=code, detail=detail)


def reviewer_key(name: str) -> str:
    """``github:x``, ``@x`` and ``x`` are one reviewer, in any case (spec/lock.md 9)."""
    return name.strip().casefold().removeprefix("github:").removeprefix("@")


def _by_age(records: list[Approval], policy: Policy, now: datetime) -> tuple[list[Approval], Refusal]:
    reasons = [(record, _expired(record, policy, now)) for record in records]
    kept = [record for record, reason in reasons if not reason]
    detail = "; ".join(f"the approval by {record.reviewer} {reason}" for record, reason in reasons if reason)
    return kept, ("expired", "AR712", detail)


def _expired(record: Approval, policy: Policy, now: datetime) -> str:
    """Why an approval is no longer valid; it is through the day it expires on. What is no date has expired."""
    if record.expires:
        last = _day(record.expires)
        if last is None:
            return f"expires on `{record.expires}`, which is no date"
        if now.date() > last:
            return f"expired on {record.expires}"
    if policy.max_age is None:
        return ""
    given = read_time(record.approved_at)
    if given is None:
        return f"was given at `{record.approved_at}`, which is no time, so its age is not known"
    return "is older than [governance] max_age" if now - given > policy.max_age else ""


def _day(text: str) -> date | None:
    try:
        return date.fromisoformat(text) if _DAY.fullmatch(text) else None
    except ValueError:
        return None


def read_time(text: str) -> datetime | None:
    """An RFC 3339 time with its offset; None for anything else."""
    try:
        found = datetime.fromisoformat(text)
    except ValueError:
        return None
    return found.astimezone(UTC) if found.tzinfo is not None else None


def _by_authority(records: list[Approval], policy: Policy, now: datetime) -> tuple[list[Approval], Refusal]:
    del now
    if not policy.approvers and not policy.approvers_from:
        return records, ("ok", "", "")
    allowed = {reviewer_key(name) for name in policy.approvers}
    kept = [record for record in records if reviewer_key(record.reviewer) in allowed]
    names = ", ".join(dict.fromkeys(record.reviewer for record in records))
    if policy.approvers_from:
        detail = f"whether {names} may approve is in {policy.approvers_from}, which is not looked up offline"
        return kept, ("unauthorized", "AR719", detail)
    return kept, ("unauthorized", "AR713", f"{names} may not approve: not among [governance] approvers")


def _by_assurance(records: list[Approval], policy: Policy, now: datetime) -> tuple[list[Approval], Refusal]:
    """A record that says ``signed`` is an assertion as long as nobody has verified the signature (AR718)."""
    del now
    wanted = RANKS.get(policy.min_assurance, 0)
    kept = [record for record in records if _rank(record) >= wanted]
    claimed = [record.reviewer for record in records if record.assurance == "signed"]
    if claimed:
        detail = f"the signature of {', '.join(claimed)} is not verified here; min_assurance is {policy.min_assurance}"
        return kept, ("insufficient", "AR718", detail)
    found = ", ".join(dict.fromkeys(record.assurance or "none" for record in records))
    return kept, ("insufficient", "AR714", f"assurance is {found}, min_assurance is {policy.min_assurance}")


def _rank(record: Approval) -> int:
    return RANKS["asserted"] if record.assurance == "signed" else RANKS.get(record.assurance, 0)
