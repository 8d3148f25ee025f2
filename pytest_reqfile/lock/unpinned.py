"""What looks as if it were pinned and is not: said when a lock is written, and of keys by every comparison.

ai-rulez pins the keys it knows and the files it bundles; whoever relies on the lock for the rest is to hear of it.
"""

from __future__ import annotations

from collections.abc import Iterator

from pytest_reqfile.lock.declared import unknown_keys
from pytest_reqfile.lock.remotes import TABLES
from pytest_reqfile.project.resources import loose_entries, loose_folders
from pytest_reqfile.project.rubrics import loose_rubrics
from pytest_reqfile.project.values import Project


def unpinned_keys(project: Project) -> Iterator[str]:
    """Keys of pinned declarations that are in no digest."""
    if project.config.lock.scope != "all":
        return
    for label, key in unknown_keys(project.config):
        yield f"{label}: its key `{key}` is not pinned, because ai-rulez does not know it"


def unpinned_sources(project: Project) -> Iterator[str]:
    """Includes and skills that are read from elsewhere than the lock pins (seed 001 "What is pinned")."""
    config = project.config
    for source in (*config.includes, *config.installed_skills, *config.skill_sources):
        label = f"{TABLES[source.table]} {source.name}"
        if source.local_override is not None:
            yield f'{label} is read from its local_override "{source.local_override}", which is not pinned'
        elif source.is_local and source.table != "includes":
            yield f'{label} is read from the path "{source.source}", which is not pinned: only git repositories are'


def unpinned_files(project: Project, *, in_git: bool) -> Iterator[str]:
    """Folders, symlinks and repositories beside or among pinned files that no pin covers."""
    for item in project.own_items:
        yield from map(str, loose_folders(item))
        yield from map(str, loose_entries(item, project.config, in_git=in_git))
    yield from map(str, loose_rubrics(project.own))
