"""Candidates over merged changes: what they would have said in review (seed 000 "Suggesting verifiers"; spec 7)."""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Final

from pytest_reqfile.errors import GitError, ReqfileError, WorkspaceError
from pytest_reqfile.verifiers.changes import changes_between
from pytest_reqfile.verifiers.results import Result
from pytest_reqfile.verifiers.run import VerifierRun
from pytest_reqfile.verifiers.suggestions import Replay, Suggestion, evaluate_offline
from pytest_reqfile.verifiers.tree import Tree, is_entered
from pytest_reqfile.verifiers.words import sanitized
from pytest_reqfile.workspace.extraction import extract_tree
from pytest_reqfile.workspace.files import temporary_folder
from pytest_reqfile.workspace.git import Git
from pytest_reqfile.workspace.walk import Walk

MOST_DIFFS: Final = 100
MAX_FILES: Final = 50_000
MAX_FILE_BYTES: Final = 32 * 1024 * 1024
MAX_BYTES: Final = 512 * 1024 * 1024
MAX_SECONDS: Final = 120.0
SHOWN_COMMITS: Final = 5
_SHOWN_SUBJECT: Final = 60
_SHOWN_ID: Final = 8
_LOG: Final = ("log", "--first-parent", "-z", "--no-show-signature", "--format=%H%x1f%P%x1f%s")


@dataclass(frozen=True, slots=True, kw_only=True)
class Merged:
    """One change of the first-parent history: a merge, a squash, or a direct commit; a root has no ``parent``."""

    commit: str
    parent: str
    subject: str

    @property
    def label(self) -> str:
        """How it is named to people."""
        subject = sanitized(self.subject)
        cut = subject if len(subject) <= _SHOWN_SUBJECT else subject[:_SHOWN_SUBJECT] + "..."
        return f"{self.commit[:_SHOWN_ID]} {cut}"


def replay_all(
    suggestions: Sequence[Suggestion], run: VerifierRun, number: int
) -> tuple[tuple[Suggestion, ...], tuple[str, ...]]:
    """The suggestions with what they would have flagged in the last ``number`` merged changes, and notes.

    0 or less asks for nothing. A history that cannot be read is a note, never fatal.
    """
    usable = [one for one in suggestions if one.usable]
    if number <= 0 or not usable:
        return tuple(suggestions), ()
    try:
        commits = merged_changes(run, min(number, MOST_DIFFS))
        prefix = run.tree.git.line("rev-parse", "--show-prefix").rstrip("/") if run.tree.git is not None else ""
    except GitError as error:
        return tuple(suggestions), (f"replay skipped: {error}",)
    merged = tuple(change for change in commits if change.parent)
    counts = {one.id: Replay() for one in usable}
    failed: list[str] = []
    started = run.clock.monotonic()
    for change in merged:
        try:
            if run.clock.monotonic() - started > MAX_SECONDS:
                raise WorkspaceError(f"the replay took more than {MAX_SECONDS:g} seconds")
            for identifier, result in _replayed(change, usable, run, prefix).items():
                counts[identifier] = _counted(counts[identifier], result, change)
        except ReqfileError as error:
            failed.append(str(error))
    notes = [f"replay: {_why_no_parent(run)}, so {change.label} was skipped" for change in commits[len(merged) :]]
    if failed:
        notes.append(f"{len(failed)} of {len(merged)} merged diff(s) could not be replayed ({failed[0]})")
    return tuple(replace(one, replay=counts.get(one.id)) for one in suggestions), tuple(notes)


def merged_changes(run: VerifierRun, number: int) -> tuple[Merged, ...]:
    """The last merged changes, newest first; the last one may be a root commit, which has no parent."""
    git = run.tree.git
    if git is None or not run.tree.in_git:
        raise GitError("the project is not in a git repository")
    if git.head() is None:
        raise GitError("the repository has no commit yet")
    out = os.fsdecode(git.answer(*_LOG, "-n", str(number), "HEAD", "--"))
    rows = [entry.split("\x1f", 2) for entry in out.split("\0") if entry]
    return tuple(Merged(commit=row[0], parent=row[1].split(" ")[0], subject=row[2]) for row in rows)


def _why_no_parent(run: VerifierRun) -> str:
    is_cut = run.tree.git is not None and run.tree.git.is_shallow()
    return "the history of this shallow clone ends there" if is_cut else "a root commit changes nothing that was there"


def _replayed(change: Merged, usable: Sequence[Suggestion], run: VerifierRun, prefix: str) -> dict[str, Result]:
    """Every candidate at one change, the way a run on that change would have been; nothing where nothing changed.

    ``prefix`` is the project's folder in its repository.
    """
    git = run.tree.git
    assert git is not None
    _refuse_large(git, change.commit)
    with temporary_folder("reqfile-replay-") as folder:
        extract_tree(git, change.commit, folder)
        root = folder / prefix
        tree = Tree(root, files=_regular_files(root))
        changes = changes_between(tree, git, change.parent, change.commit, with_lines=True)
        if not changes.changes:
            return {}
        results = {}
        for one in usable:
            assert one.verifier is not None
            results[one.id] = evaluate_offline(one.verifier, run, tree, changes)
        return results


def _regular_files(root: Path) -> tuple[str, ...]:
    """What a listing of the commit would have: links are none of it."""
    walk = Walk(root)
    if walk.kind("") != "folder":
        return ()
    return tuple(path for path, kind in walk.below("") if kind == "file" and is_entered(path))


def _refuse_large(git: Git, commit: str) -> None:
    out = os.fsdecode(git.answer("ls-tree", "-r", "-z", "-l", "--full-tree", "--end-of-options", commit))
    sizes = [int(size) for entry in out.split("\0") if entry and (size := entry.split("\t", 1)[0].split()[3]) != "-"]
    if len(sizes) > MAX_FILES or max(sizes, default=0) > MAX_FILE_BYTES or sum(sizes) > MAX_BYTES:
        raise WorkspaceError(
            f"the revision {commit[:_SHOWN_ID]} is too large to extract: at most {MAX_FILES} files, "
            f"{MAX_FILE_BYTES // 1024**2} MiB each and {MAX_BYTES // 1024**2} MiB together"
        )


def _counted(replay: Replay, result: Result, change: Merged) -> Replay:
    if result.status == "fail":
        shown = (*replay.flagged_commits, change.label)[:SHOWN_COMMITS]
        return replace(replay, diffs=replay.diffs + 1, flagged=replay.flagged + 1, flagged_commits=shown)
    if result.status in {"pass", "not_applicable"}:
        return replace(replay, diffs=replay.diffs + 1)
    return replace(replay, errors=replay.errors + 1)
