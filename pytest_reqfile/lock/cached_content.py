"""The content of remote sources as this machine has it; never the network (spec/lock.md 6.1, 6.2)."""

from __future__ import annotations

from functools import partial
from typing import Final

from pytest_reqfile.errors import WorkspaceError
from pytest_reqfile.lock.cache import AiRulezCache, cache_root
from pytest_reqfile.lock.content_folder import content_described, content_folder, content_key
from pytest_reqfile.lock.directories import BOOKKEEPING
from pytest_reqfile.lock.remotes import CachedTree, FindCached
from pytest_reqfile.lock.values import Entry
from pytest_reqfile.project.values import Source
from pytest_reqfile.workspace.environment import Environment, cache_folder
from pytest_reqfile.workspace.extraction import Part
from pytest_reqfile.workspace.source_store import SourceStore, is_commit

_STORE: Final = "sources"


def source_store(environment: Environment) -> SourceStore:
    """Where fetched content is kept for the user. Raises WorkspaceError when no variable says where a cache is."""
    return SourceStore(cache_folder(environment) / _STORE, environment)


def find_cached(environment: Environment) -> FindCached:
    """Finds the content of a pin in our cache as it is now, then in ai-rulez's own. Never uses the network."""
    theirs = AiRulezCache(cache_root(environment)).find

    def find(source: Source, entry: Entry) -> CachedTree | None:
        try:
            store = source_store(environment)
        except WorkspaceError:  # no variable says where a cache is
            return theirs(source, entry)
        folder = store.kept(entry.commit, part_of(source)) if is_commit(entry.commit) else None
        return CachedTree(folder=folder, commit=entry.commit) if folder is not None else theirs(source, entry)

    return find


def part_of(source: Source) -> Part:
    """The part of a commit that is the content of a source."""
    return Part(
        name=content_key(source),
        what=content_described(source),
        choose=partial(content_folder, source),
        exact=True,
        without=BOOKKEEPING,  # no digest covers these, so nothing of a repository may arrive by them
    )
