"""Files that git was told to take for unchanged, compared all the same (seed 000 "Changed-only runs").

``git update-index --assume-unchanged``, ``--skip-worktree`` and ``core.ignoreStat`` hide edits from ``git diff``. A
full run looks at such a file as it is on disk, so a run on what changed must notice that it did.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator
from dataclasses import replace

from pytest_reqfile.verifiers.diffs import Change, parse_diff
from pytest_reqfile.verifiers.tree import Tree
from pytest_reqfile.workspace.git import Git, TreeFile
from pytest_reqfile.workspace.git_ahead import PATCH


def unwatched_changes(
    tree: Tree, git: Git, base: str, known: Collection[str], *, with_lines: bool
) -> tuple[Change, ...]:
    """What differs from the commit ``base`` though git does not say so; ``known`` is what it does say."""
    hidden = {path: kept for path, kept in tree.listing.unwatched.items() if path not in known}
    before = {file.path: file for file in git.tree_files(base, here=True)}
    now = git.hashes(tree.still_there(tuple(hidden)))
    found = (_change(path, kept, before.get(path), now.get(path)) for path, kept in hidden.items())
    changes = [change for change in found if change is not None]
    return tuple(_with_lines(changes, git, before)) if with_lines else tuple(changes)


def _change(path: str, kept: bool, old: TreeFile | None, oid: str | None) -> Change | None:
    """``kept`` says that the file belongs on disk; what a sparse checkout leaves out did not change."""
    if oid is None:
        return Change(path=path, status="D") if kept and old is not None else None
    if old is None or not old.is_regular:
        return Change(path=path, status="A", added=None)
    return Change(path=path, status="M") if old.oid != oid else None


def _with_lines(changes: list[Change], git: Git, before: dict[str, TreeFile]) -> Iterator[Change]:
    for change in changes:
        if change.status == "M":
            _, patch = parse_diff(git.answer(*PATCH, "--text", before[change.path].oid, "--", change.path))
            yield replace(change, added=patch.added.get(change.path, ()))
        else:
            yield change
