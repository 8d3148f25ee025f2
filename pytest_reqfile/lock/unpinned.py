"""What looks as if it were pinned and is not: said when a lock is written, and of keys by every comparison.

ai-rulez pins the keys it knows and the files it bundles; whoever relies on the lock for the rest is to hear of it.
"""

from __future__ import annotations

from collections.abc import Iterator

from pytest_reqfile.lock.declared import unknown_keys
from pytest_reqfile.project.resources import loose_entries, loose_folders
from pytest_reqfile.project.rubrics import loose_rubrics
from pytest_reqfile.project.values import Project


def unpinned_keys(project: Project) -> Iterator[str]:
    """Keys of pinned declarations that are in no digest."""
    if project.config.lock.scope != "all":
        return
    for label, key in unknown_keys(project.config):
        yield f"{label}: its key `{key}` is not pinned, because ai-rulez does not know it"


def unpinned_files(project: Project, *, in_git: bool) -> Iterator[str]:
    """Folders, symlinks and repositories beside or among pinned files that no pin covers."""
    for item in project.own_items:
        yield from map(str, loose_folders(item))
        yield from map(str, loose_entries(item, project.config, in_git=in_git))
    yield from map(str, loose_rubrics(project.own))
