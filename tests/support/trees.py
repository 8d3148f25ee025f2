"""Commits that git itself would not make: trees written by hand, entry by entry."""

from __future__ import annotations

import subprocess
from collections.abc import Iterable

from tests.support.repo import Repo

Entry = tuple[str, str, str]
"""Mode, name and object id of a tree's entry."""


def blob(repo: Repo, content: bytes) -> str:
    """The id of a new blob."""
    return hash_object(repo, "blob", content)


def tree(repo: Repo, entries: Iterable[Entry]) -> str:
    """The id of a new tree with exactly these entries in this order, whatever their names."""
    return hash_object(
        repo, "tree", b"".join(f"{mode} {name}".encode() + b"\0" + bytes.fromhex(oid) for mode, name, oid in entries)
    )


def commit(repo: Repo, tree_id: str) -> str:
    """The id of a new commit of the tree; a tag keeps it."""
    oid = repo.git("commit-tree", tree_id, "-m", "made by hand")
    repo.git("update-ref", f"refs/tags/hand-{oid}", oid)
    return oid


def hash_object(repo: Repo, kind: str, content: bytes) -> str:
    """The id of a new object of this content, whether it makes sense or not."""
    done = subprocess.run(
        ("git", "hash-object", "-t", kind, "--literally", "-w", "--stdin"),
        input=content,
        cwd=repo.root,
        env=repo.variables,
        capture_output=True,
        check=True,
    )
    return done.stdout.decode().strip()
