"""Files that git was told to take for unchanged, compared all the same (seed 004 SELECTION, NO_FALSE_GREEN).

``git update-index --assume-unchanged``, ``--skip-worktree`` and ``core.ignoreStat`` hide edits from ``git diff``. A
full run looks at such a file as it is on disk, so a run on what changed must notice that it did.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from pytest_reqfile.reqfile.repository import Repository
from pytest_reqfile.workspace.git import TrackedChange, TreeFile


def with_unwatched(repository: Repository, commit: str, tracked: Sequence[TrackedChange]) -> tuple[TrackedChange, ...]:
    """``tracked``, and what differs from ``commit`` though git does not say so."""
    known = {change.path for change in tracked}
    hidden = {path: kept for path, kept in repository.listing.unwatched.items() if path not in known}
    if not hidden:
        return tuple(tracked)
    before = {file.path: file for file in repository.git.tree_files(commit)}
    return (*tracked, *_compared(repository, hidden, before))


def _compared(
    repository: Repository, hidden: Mapping[str, bool], before: Mapping[str, TreeFile]
) -> Iterator[TrackedChange]:
    """``hidden`` says of each path whether it belongs on disk; what a sparse checkout leaves out did not change."""
    now = repository.git.hashes(repository.snapshot.regular(hidden))
    for path, kept in hidden.items():
        old = before.get(path)
        was_file = old is not None and old.is_regular
        if path not in now:
            if kept:
                yield TrackedChange(path=path, was_file=was_file, gone=True)
        elif old is None or not was_file or old.oid != now[path]:
            yield TrackedChange(path=path, was_file=was_file, gone=False)
