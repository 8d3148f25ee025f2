"""Approvals, denials and scan results: records beside the pins, kept through every rewrite (spec/lock.md 8, 9)."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Literal

from pytest_reqfile.errors import UsageError
from pytest_reqfile.lock.values import ENTRY_TABLES, Approval, Deny, EntryTable, Lock, Scan


def with_approval(lock: Lock, approval: Approval) -> Lock:
    """``lock`` with the record set; one of the same reviewer for the same digest is replaced."""
    kept = tuple(one for one in lock.approvals if _identity(one) != _identity(approval))
    return replace(lock, approvals=(*kept, approval))


def with_denial(lock: Lock, deny: Deny) -> Lock:
    """``lock`` with the digest denied; an older reason is replaced."""
    return replace(lock, denied=(*(one for one in lock.denied if one.digest != deny.digest), deny))


def with_scan(lock: Lock, scan: Scan) -> Lock:
    """``lock`` with the record set; one of exactly the same scanner is replaced."""
    return replace(lock, scans=(*(one for one in lock.scans if one.scanner != scan.scanner), scan))


def scan_of(lock: Lock, scanner: str) -> Scan | None:
    """The record of a scanner, its name in any case."""
    return next((one for one in lock.scans if one.scanner.casefold() == scanner.casefold()), None)


def _identity(one: Approval) -> tuple[str, ...]:
    return one.kind, one.domain, one.id, one.digest, one.reviewer.strip().casefold()


@dataclass(frozen=True, slots=True, kw_only=True)
class Pinned:
    """Something that may be approved or denied, by its digest. ``table`` is empty for items and role outputs."""

    kind: str
    id: str
    digest: str
    domain: str = ""
    table: EntryTable | Literal[""] = ""

    @property
    def ref(self) -> str:
        """``kind:id`` or ``kind:domain/id``."""
        return f"{self.kind}:{self.domain}/{self.id}" if self.domain else f"{self.kind}:{self.id}"

    @property
    def is_remote(self) -> bool:
        return self.table in {"include", "skill", "source"}

    @property
    def kinds(self) -> tuple[str, ...]:
        """How records call the kind; an installed skill also goes by the name of its table (spec/lock.md 9)."""
        return (self.kind, "skill") if self.table == "skill" else (self.kind,)

    def is_meant_by(self, approval: Approval) -> bool:
        """Whether a record speaks of this, at whatever digest."""
        return approval.kind in self.kinds and (approval.domain, approval.id) == (self.domain, self.id)


def pinned(lock: Lock) -> Iterator[Pinned]:
    """Everything a lock pins that may be approved or denied."""
    for item in lock.items:
        yield Pinned(kind=item.kind, id=item.id, domain=item.domain, digest=item.digest)
    for table in ENTRY_TABLES:
        kind = "installed-skill" if table == "skill" else table
        for entry in lock.entries(table):
            yield Pinned(kind=kind, id=entry.name, domain=entry.view, digest=entry.digest, table=table)
    for pin in lock.role_pins:
        yield Pinned(kind="role-output", id=pin.role, digest=pin.digest)


def orphans(lock: Lock) -> tuple[Approval, ...]:
    """Approvals of what the lock does not pin, in the lock's order."""
    known = {(kind, one.domain, one.id) for one in pinned(lock) for kind in one.kinds}
    return tuple(one for one in lock.approvals if (one.kind, one.domain, one.id) not in known)


def without_orphans(lock: Lock) -> tuple[Lock, tuple[str, ...]]:
    """``lock`` without approvals of what it no longer pins, and a warning for each (AR715); denials stay."""
    gone = orphans(lock)
    kept = tuple(one for one in lock.approvals if one not in gone)
    warnings = tuple(f"AR715 approval of {one.target} by {one.reviewer} dropped: it is not pinned" for one in gone)
    return replace(lock, approvals=kept), warnings


def denied(lock: Lock) -> tuple[tuple[Pinned, str], ...]:
    """What the lock pins although it denies the digest, and the reason that is given."""
    reasons = {one.digest: one.reason for one in lock.denied}
    return tuple((one, reasons[one.digest]) for one in pinned(lock) if one.digest in reasons)


def refuse_denied(lock: Lock) -> None:
    """Raise ``UsageError`` (AR717) where the lock pins a digest it denies."""
    found = [f"{one.ref}{f' ({reason})' if reason else ''}" for one, reason in denied(lock)]
    if found:
        raise UsageError(f"AR717 refusing to pin content on the deny list: {'; '.join(found)}")
