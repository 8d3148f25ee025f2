"""One digest over everything a lock pins, and what a signature covers (spec/lock.md 2.7, 2.10)."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Final

from pytest_reqfile.errors import ReqfileError
from pytest_reqfile.lock.digest import digest_text, encoded, lp, lp_text, u64
from pytest_reqfile.lock.values import ENTRY_TABLES, Approval, Deny, Entry, EntryTable, Lock, ordered

Row = tuple[str, str, str]
"""Kind, key and digest field of one pin."""

HASH_VERSION: Final = 1
SUBJECT_TYPE: Final = "ai-rulez/lock-subject/v1"
ROW_KINDS: Final[dict[EntryTable, str]] = {
    "include": "include",
    "skill": "installed-skill",
    "source": "skill-source",
    "served": "served-skill",
}
_NUL: Final = "\0"


def top_tree(rows: Iterable[Row]) -> str:
    """The digest over ``rows`` in any order."""
    encoded_rows = sorted(tuple(map(encoded, row)) for row in rows)
    hasher = hashlib.sha256(lp(b"ai-rulez/tree/v1") + u64(len(encoded_rows)))
    for row in encoded_rows:
        hasher.update(b"".join(map(lp, row)))
    return digest_text(hasher.digest())


def tree_of(lock: Lock) -> str:
    """The tree digest of a lock's own pins, whatever its ``tree`` says."""
    return top_tree(rows_of(lock))


class EditedLockError(ReqfileError):
    """The lock's tree digest does not belong to its pins."""


def refuse_edited(lock: Lock | None, name: str) -> None:
    """Raise EditedLockError where keeping pins would hide that somebody edited them: a new tree digest covers them."""
    if lock is not None and lock.has_content_pins and lock.tree != tree_of(lock):
        raise EditedLockError(
            f"the tree digest does not match the pins in {name}; it was edited by hand. Nothing was written: look at "
            "`reqfile lock --diff`, then run `reqfile lock`"
        )


def rows_of(lock: Lock) -> Iterator[Row]:
    for item in lock.items:
        yield f"item/{item.kind}", f"{item.domain}{_NUL}{item.id}", item.digest
    for output in lock.outputs:
        yield ("output-role", output.role, output.digest) if output.role else ("output", output.path, output.digest)
    for table in ENTRY_TABLES:
        yield from (entry_row(table, entry) for entry in lock.entries(table))


def entry_row(table: EntryTable, entry: Entry) -> Row:
    """The row of a remote entry or served skill; a tag is part of it only where there is one."""
    key = f"{entry.name}{_NUL}{entry.view}" if entry.view else entry.name
    fields = [entry.commit, entry.digest, entry.source, entry.ref, entry.path]
    if entry.tag:
        fields += [entry.tag, entry.tag_object]
    return ROW_KINDS[table], key, _NUL.join(fields)


def approvals_digest(approvals: Iterable[Approval], denied: Iterable[Deny]) -> str:
    """The digest of approval and deny records; empty where there are none."""
    sorted_lock = ordered(Lock(approvals=tuple(approvals), denied=tuple(denied)))
    fields: list[str] = []
    for one in sorted_lock.approvals:
        fields += ["approval", one.kind, one.domain, one.id, one.digest, one.reviewer, one.assurance, one.approved_at]
        fields += [one.expires, one.note, ",".join(one.accepted_findings), one.ref, one.attestation]
    for deny in sorted_lock.denied:
        fields += ["deny", deny.digest, deny.reason]
    if not fields:
        return ""
    return _sha256(b"".join(map(lp_text, ["ai-rulez/approvals/v1", *fields])))


@dataclass(frozen=True, slots=True, kw_only=True)
class Subject:
    """What a signature over a lock commits to; ``digest`` is over all the rest (seed 001 "Signing the lock")."""

    digest: str
    tree: str
    approvals_digest: str
    scope: str
    outputs_pinned: bool


def subject_digest(
    tree: str, approvals: str, scope: str, outputs_pinned: bool, hash_version: int = HASH_VERSION
) -> str:
    return _sha256(
        lp_text(SUBJECT_TYPE)
        + lp_text(tree)
        + lp_text(approvals)
        + u64(hash_version)
        + lp_text(scope)
        + bytes([outputs_pinned])
    )


def subject_of(lock: Lock) -> Subject:
    """The subject of a lock, from its recomputed tree: what the file says of its tree does not matter."""
    tree = tree_of(lock)
    approvals = approvals_digest(lock.approvals, lock.denied)
    scope = lock.scope or "all"
    return Subject(
        digest=subject_digest(tree, approvals, scope, lock.outputs_pinned),
        tree=tree,
        approvals_digest=approvals,
        scope=scope,
        outputs_pinned=lock.outputs_pinned,
    )


def _sha256(data: bytes) -> str:
    return digest_text(hashlib.sha256(data).digest())
