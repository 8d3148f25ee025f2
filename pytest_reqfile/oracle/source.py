"""Which state of the workspace was verified (spec oracle.md 5.1 step 1, 5.5)."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Final

from pytest_reqfile.errors import FileError, GitError
from pytest_reqfile.oracle.digests import canonical_json, sha256_hex
from pytest_reqfile.workspace.environment import Environment
from pytest_reqfile.workspace.git import Git, discover_root, nearest_repository
from pytest_reqfile.workspace.snapshot import FolderWalk, Listing
from pytest_reqfile.workspace.tree_reading import TreeEntry, object_id, read_entry

_SUBMODULE: Final = "160000"
_LONG_ID: Final = 64


@dataclass(frozen=True, slots=True, kw_only=True)
class SourceState:
    """``head`` is the commit checked out (None before the first, or outside git), ``snapshot_hash`` 64 hex digits over
    the content of all tracked and untracked files, ``tree`` git's id of the same files, ``clean`` whether that is
    head's tree.
    """

    snapshot_hash: str
    head: str | None = None
    tree: str | None = None
    clean: bool = False


UNKNOWN: Final = SourceState(snapshot_hash="0" * 64)
"""Where nothing was read."""


def source_state(root: Path, env: Environment) -> SourceState:
    """Read every file that is not ignored; nothing is written, and no filter of the repository runs.

    Raises ``FileError`` for what cannot be read.
    """
    git = _git(root, env)
    head = None if git is None else git.head()
    algorithm = "sha256" if head is not None and len(head) == _LONG_ID else "sha1"
    found = _entries(root, git or FolderWalk(root), algorithm)
    entries = tuple(sorted(found, key=lambda entry: os.fsencode(entry.path)))
    below = {entry.path: source_state(root / entry.path, env) for entry in entries if entry.mode == _SUBMODULE}
    entries = tuple(_with_submodule(entry, below.get(entry.path)) for entry in entries)
    digest = sha256_hex(canonical_json([[entry.path, entry.mode, entry.target or entry.sha256] for entry in entries]))
    if git is None or head is None or any(state.head is None for state in below.values()):
        return SourceState(snapshot_hash=digest, head=head)
    tree = git_tree_id(entries, algorithm)
    clean = tree == git.line("rev-parse", "--verify", f"{head}^{{tree}}")
    return SourceState(
        snapshot_hash=digest, head=head, tree=tree, clean=clean and all(state.clean for state in below.values())
    )


def _with_submodule(entry: TreeEntry, state: SourceState | None) -> TreeEntry:
    """A submodule counts by its commit and by what is in it; one that is not checked out has neither."""
    return entry if state is None else replace(entry, blob=state.head or "", sha256=state.snapshot_hash)


def covered_paths(root: Path, env: Environment, paths: Iterable[str]) -> frozenset[str]:
    """Those of ``paths`` whose content is part of the workspace's state: files that are not ignored."""
    listed = (_git(root, env) or FolderWalk(root)).list_files()
    files = frozenset(listed)
    folders = tuple(path for path in listed if path.endswith("/"))
    outside_git = (path for path in paths if ".git" not in path.split("/"))
    return frozenset(path for path in outside_git if path in files or path.startswith(folders))


def tracked_paths(root: Path, env: Environment) -> frozenset[str]:
    """What git tracks in the workspace; nothing outside git."""
    git = _git(root, env)
    return frozenset() if git is None else frozenset(os.fsdecode(git.run(("ls-files", "-z"))).split("\0")[:-1])


def _git(root: Path, env: Environment) -> Git | None:
    """git, if ``root`` is the top of a working tree; a folder deep inside another repository is taken as it is.

    Raises ``FileError`` where the repository of ``root`` says that its files are elsewhere: what git tells of them
    would be about a tree that is not reviewed.
    """
    try:
        top = discover_root(root, env)
    except GitError:
        return None
    if top != root and nearest_repository(root) == root:
        raise FileError(f"{root}: its git configuration says that its files are in {top}; unset core.worktree")
    return Git(root, env) if top == root else None


def _entries(root: Path, listing: Listing, algorithm: str) -> Iterator[TreeEntry]:
    for path in listing.list_files():
        names: tuple[str, ...] = (path,)
        if path.endswith("/"):  # an untracked repository inside this one
            names = tuple(f"{path}{name}" for name in FolderWalk(root / path.rstrip("/")).list_files())
        for name in names:
            entry = read_entry(root, name, algorithm)
            if entry is not None:
                yield entry


def git_tree_id(entries: tuple[TreeEntry, ...], algorithm: str) -> str:
    """The id git gives a tree of exactly these files.

    Content is taken as it is on disk: where clean filters or line-end conversion apply it differs from the commit's.
    """
    root: dict[str, object] = {}
    for entry in entries:
        *folders, name = entry.path.split("/")
        place = root
        for folder in folders:
            below = place.setdefault(folder, {})
            assert isinstance(below, dict)
            place = below
        place[name] = (entry.mode, entry.blob)
    return _tree_id(algorithm, root)


def _tree_id(algorithm: str, folder: Mapping[str, object]) -> str:
    rows: list[tuple[bytes, bytes]] = []
    for name, child in folder.items():
        raw = os.fsencode(name)
        if isinstance(child, dict):
            rows.append((raw + b"/", b"40000 " + raw + b"\0" + bytes.fromhex(_tree_id(algorithm, child))))
        elif isinstance(child, tuple):
            mode, identifier = child
            rows.append((raw, mode.encode() + b" " + raw + b"\0" + bytes.fromhex(identifier)))
    return object_id(algorithm, b"tree", b"".join(row for _, row in sorted(rows)))
