"""What a run is narrowed to: ``--since``, ``--staged``, or everything (seed 000 "Changed-only runs"; spec 3)."""

from __future__ import annotations

import os
import re
from collections.abc import Iterable
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Final, Literal

from pytest_reqfile.errors import FileError, GitError, UsageError
from pytest_reqfile.verifiers.diffs import Change, Lines, Patch, parse_diff
from pytest_reqfile.verifiers.tree import Tree
from pytest_reqfile.verifiers.words import go_quoted
from pytest_reqfile.workspace.bulk import BulkReader
from pytest_reqfile.workspace.git import Git
from pytest_reqfile.workspace.git_ahead import PATCH, RENAMES, merging, resolving, thread_options
from pytest_reqfile.workspace.paths import byte_order

_TEXT_SAMPLE: Final = 8000


@dataclass(frozen=True, slots=True, kw_only=True)
class Scope:
    """How much of the repository counts as changed; ``revision`` belongs to ``since``."""

    kind: Literal["all", "since", "staged"] = "all"
    revision: str = ""

    @property
    def mode(self) -> str:
        """The words of the report's last line."""
        return f"since {self.revision}" if self.kind == "since" else self.kind


@dataclass(frozen=True)
class ChangeSet:
    """The changed files by path, byte order; ``changes`` is None where every listed file counts as new."""

    changes: tuple[Change, ...] | None

    @property
    def everything(self) -> bool:
        return self.changes is None

    @cached_property
    def _by_path(self) -> dict[str, Change]:
        return {change.path: change for change in self.changes or ()}

    @property
    def existing(self) -> tuple[str, ...]:
        """Changed paths that were not deleted, in byte order."""
        return tuple(change.path for change in self.changes or () if change.status != "D")

    def added(self, path: str) -> Lines | None:
        """The new lines of ``path``: None for every line, () for none."""
        if self.everything:
            return None
        change = self._by_path.get(path)
        return change.added if change is not None else ()

    def has_changed(self, path: str) -> bool:
        """Whether ``path`` is in the change and was not deleted."""
        change = self._by_path.get(path)
        return change is not None and change.status != "D"


def refuse_revision(text: str) -> None:
    """Raise UsageError for a ``--since`` value that git could take for something else."""
    revision = text.strip()
    if revision.startswith("-"):
        raise UsageError(f"--since {go_quoted(text)} starts with '-' and would be read as a git option")
    if any(ord(char) < 0x20 or ord(char) == 0x7F for char in text):
        raise UsageError(f"--since {go_quoted(text)} contains a control character")
    if not revision:
        raise UsageError(f"invalid git revision {go_quoted(text)}")


def load_changes(tree: Tree, scope: Scope, *, with_lines: bool) -> ChangeSet:
    """What changed in ``scope``; ``with_lines`` asks for the new lines of changed files, which cost a patch.

    Raises UsageError or GitError for a base that cannot be used: a missing base never passes (seed 000).
    """
    if scope.kind == "all":
        return ChangeSet(None)
    if scope.kind == "since":
        return _since(tree, scope.revision, with_lines)
    return _staged(tree, with_lines)


def _since(tree: Tree, revision: str, with_lines: bool) -> ChangeSet:
    refuse_revision(revision)
    try:
        git = _inside(tree)
        base = _merge_base(git, revision)
        # git looks at every file for each of the two, and there is more than one processor.
        listing = tree.listing
        # The patch that was begun ahead costs nothing more.
        begun = git.has_begun(*thread_options(), *PATCH, base, "--")
        tracked = _diff(tree, git, (base, "--"), with_lines or begun)
        tracked = (*tracked, *_unwatched(tree, git, base, tracked, with_lines))
        listed = set(listing.untracked)
    except GitError as error:
        raise GitError(f"resolve changed files: {error}{_hint(error)}") from None
    # An untracked file counts as new, also where the index forgot a file that is still on disk.
    kept = [change for change in tracked if not (change.status == "D" and change.path in listed)]
    known = {change.path for change in kept}
    untracked = [Change(path=path, status="A", added=None) for path in listed - known]
    return ChangeSet(_sorted([*kept, *untracked]))


def _unwatched(tree: Tree, git: Git, base: str, tracked: Iterable[Change], with_lines: bool) -> tuple[Change, ...]:
    """What differs of the files of which git was told not to look."""
    if not tree.listing.unwatched:
        return ()
    from pytest_reqfile.verifiers.unwatched import unwatched_changes

    return unwatched_changes(tree, git, base, {change.path for change in tracked}, with_lines=with_lines)


def _staged(tree: Tree, with_lines: bool) -> ChangeSet:
    try:
        git = _inside(tree).before_commit()
        if git.start("rev-parse", "--verify", "--quiet", "HEAD^{commit}").reply().code != 0:
            raise GitError("the repository has no commits to compare the index with")
        return ChangeSet(_sorted(_diff(tree, git, ("--cached", "HEAD", "--"), with_lines)))
    except GitError as error:
        raise GitError(f"resolve staged files: {error}{_hint(error)}") from None


def _hint(error: GitError) -> str:
    """What to do where git would have had to fetch, which a run never does (seed 000 "Changed-only runs")."""
    lacks = re.search(r"transport '.*' not allowed", str(error)) is not None
    return "; this clone is partial, fetch what it lacks first: git fetch --refetch --no-filter" if lacks else ""


def changes_between(tree: Tree, git: Git, old: str, new: str, *, with_lines: bool) -> ChangeSet:
    """What differs between two commits (object ids); ``tree`` holds the files of the new one.

    ``git`` works in the project's folder of the repository. Raises GitError.
    """
    return ChangeSet(_sorted(_diff(tree, git, (old, new, "--"), with_lines)))


def _inside(tree: Tree) -> Git:
    if tree.git is None or not tree.in_git:
        raise GitError(f"{tree.root} is not inside a git repository")
    return tree.git


def _merge_base(git: Git, revision: str) -> str:
    """The commit where HEAD left ``revision``; both are resolved once, so that they are never read as options."""
    reply = git.start(*resolving(revision)).reply()
    if reply.code != 0:
        raise GitError(
            f"base revision {go_quoted(revision)} does not exist in this repository "
            "(in a shallow clone, fetch the base ref first)"
        )
    found = git.start(*merging(os.fsdecode(reply.out).strip())).reply()
    if found.code != 0 or not found.out.strip():
        raise GitError(
            f"no common ancestor between {go_quoted(revision)} and HEAD (shallow clone or unrelated history)"
        )
    return os.fsdecode(found.out).split("\n", 1)[0]


def _diff(tree: Tree, git: Git, against: tuple[str, ...], with_lines: bool) -> tuple[Change, ...]:
    if not with_lines:
        return parse_diff(git.answer(*thread_options(), *RENAMES, *against))[0]
    changes, patch = parse_diff(git.answer(*thread_options(), *PATCH, *against))
    texts = _texts(tree, patch.binary)
    added = patch.added
    if texts:  # `-diff` in .gitattributes hides the lines of a text; a ratchet must see them all the same
        added = added | _forced(git, against, texts).added
    return tuple(
        change if change.added is None else replace(change, added=added.get(change.path, ())) for change in changes
    )


def _texts(tree: Tree, paths: Iterable[str]) -> tuple[str, ...]:
    """Those of ``paths`` that hold no NUL near their start."""
    reader = BulkReader(tree.root, _TEXT_SAMPLE)
    found = []
    for path in paths:
        try:
            data, _ = reader.read(path)
        except FileError:
            continue
        if b"\0" not in data:
            found.append(path)
    return tuple(found)


def _forced(git: Git, against: tuple[str, ...], paths: tuple[str, ...]) -> Patch:
    """The patch with ``--text``; renames keep their partner only when everything is compared."""
    added: dict[str, Lines] = {}
    wanted = frozenset(paths)
    _, patch = parse_diff(git.answer(*thread_options(), *PATCH, "--text", *against))
    added.update((path, lines) for path, lines in patch.added.items() if path in wanted)
    return Patch(added=added, binary=())


def _sorted(changes: Iterable[Change]) -> tuple[Change, ...]:
    return tuple(sorted(changes, key=lambda change: byte_order(change.path)))
