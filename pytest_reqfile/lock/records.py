"""Approvals, denials and scan results: records beside the pins, kept through every rewrite (spec/lock.md 8, 9)."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from pytest_reqfile.errors import UsageError
from pytest_reqfile.lock.values import ENTRY_TABLES, Approval, Deny, Lock, Scan


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


def without_orphans(lock: Lock) -> tuple[Lock, tuple[str, ...]]:
    """``lock`` without approvals of what it no longer pins, and a warning for each (AR715); denials stay."""
    subjects = set(_subjects(lock))
    kept = tuple(one for one in lock.approvals if (one.kind, one.domain, one.id) in subjects)
    dropped = [one for one in lock.approvals if (one.kind, one.domain, one.id) not in subjects]
    warnings = tuple(f"AR715 approval of {one.target} by {one.reviewer} dropped: it is not pinned" for one in dropped)
    return replace(lock, approvals=kept), warnings


def refuse_denied(lock: Lock) -> None:
    """Raise ``UsageError`` (AR717) where the lock pins a digest it denies."""
    reasons = {one.digest: one.reason for one in lock.denied}
    found = [
        f"{_target(*subject)}{f' ({reasons[digest]})' if reasons[digest] else ''}"
        for subject, digest in _pinned(lock)
        if digest in reasons
    ]
    if found:
        raise UsageError(f"AR717 refusing to pin content on the deny list: {'; '.join(found)}")


def _subjects(lock: Lock) -> Iterator[tuple[str, str, str]]:
    return (subject for subject, _ in _pinned(lock))


def _pinned(lock: Lock) -> Iterator[tuple[tuple[str, str, str], str]]:
    """Kind, domain and id of everything that may be approved, with its digest."""
    for item in lock.items:
        yield item.key, item.digest
    for table in ENTRY_TABLES:
        for entry in lock.entries(table):
            yield (table, entry.view, entry.name), entry.digest
    for pin in lock.role_pins:
        yield ("role-output", "", pin.role), pin.digest


def _target(kind: str, domain: str, identifier: str) -> str:
    return f"{kind}:{domain}/{identifier}" if domain else f"{kind}:{identifier}"
