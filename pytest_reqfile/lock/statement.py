"""The statement a signature over a lock is made of (seed 001 "Signing the lock"; spec/lock.md 10)."""

from __future__ import annotations

from typing import Final

from pytest_reqfile.errors import ReqfileError
from pytest_reqfile.lock.toptree import HASH_VERSION, SUBJECT_TYPE, EditedLockError, Subject, subject_of
from pytest_reqfile.lock.values import Lock
from pytest_reqfile.syntax.gojson import indented

SCHEMA_VERSION: Final = 1


class NothingToSignError(ReqfileError):
    """There is no lock, or it pins no content."""


def signable_subject(lock: Lock | None, name: str) -> Subject:
    """The subject of a lock that may be signed: one that has content pins and was not edited by hand."""
    if lock is None or not lock.has_content_pins:
        raise NothingToSignError(f"{name} has no content pins to sign")
    subject = subject_of(lock)
    if lock.tree != subject.tree:
        raise EditedLockError(
            f"the tree digest of {name} does not match its entries (edited by hand?); refusing to compute a subject"
        )
    return subject


def subject_line(subject: Subject) -> str:
    """The subject for people."""
    pinned = "true" if subject.outputs_pinned else "false"
    approvals = subject.approvals_digest or "none"
    return (
        f"{subject.digest}  (lock-subject/v1; tree {subject.tree}, approvals {approvals}, "
        f"hash_version {HASH_VERSION}, scope {subject.scope}, outputs_pinned {pinned})"
    )


def statement(subject: Subject) -> str:
    """The subject as the file that is signed, byte for byte the same each time."""
    return indented(
        {
            "schema_version": SCHEMA_VERSION,
            "type": SUBJECT_TYPE,
            "subject": subject.digest,
            "tree": subject.tree,
            "approvals_digest": subject.approvals_digest,
            "hash_version": HASH_VERSION,
            "scope": subject.scope,
            "outputs_pinned": subject.outputs_pinned,
        }
    )
