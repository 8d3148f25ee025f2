"""Remote sources against their pins, without the network (spec/lock.md 5.4.5, 6.1, 6.4)."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from pytest_reqfile.errors import FileError, FormatError
from pytest_reqfile.lock.changes import Change
from pytest_reqfile.lock.digest import TreeKind
from pytest_reqfile.lock.directories import Hasher
from pytest_reqfile.lock.values import Entry, EntryTable, Lock
from pytest_reqfile.project.values import Config, Source, SourceTable

TABLES: Final[dict[SourceTable, EntryTable]] = {
    "includes": "include",
    "installed_skills": "skill",
    "skill_sources": "source",
}
_TREES: Final[dict[EntryTable, TreeKind]] = {"include": "include", "skill": "installed-skill", "source": "skill-source"}
_USER: Final = re.compile(r"(?<=://)[^/@]*@")
_RANGE_MARKS: Final = frozenset("^~* ")
_FULL_COMMIT: Final = re.compile(r"[0-9a-f]{40}")
_FILE_URL: Final = re.compile(r"(?:git\+)?file://", re.IGNORECASE)


@dataclass(frozen=True, slots=True, kw_only=True)
class CachedTree:
    """The content folder of a remote source on this machine, and the commit it was fetched at (empty: unknown)."""

    folder: Path
    commit: str = ""


FindCached = Callable[[Source, Entry], CachedTree | None]
"""Where the content of a source is on this machine; None where it is not. Never fetches."""

Satisfies = Callable[[Source, str], bool]
"""Whether a recorded tag is still one that the source's version constraint allows."""


@dataclass(frozen=True, slots=True, kw_only=True)
class RemoteCheck:
    """``compared`` counts sources and entries that were looked at."""

    changes: tuple[Change, ...]
    notes: tuple[str, ...]
    compared: int


def remote_sources(config: Config) -> tuple[Source, ...]:
    """The sources that entries pin: git ones without a ``local_override``, in the order of the tables."""
    every = (*config.includes, *config.installed_skills, *config.skill_sources)
    return tuple(source for source in every if source.is_git and source.local_override is None)


def table_of(source: Source) -> EntryTable:
    return TABLES[source.table]


def tree_kind(source: Source) -> TreeKind:
    """Under which kind a source's tree is digested."""
    return "okf-include" if source.table == "includes" and source.format == "okf" else _TREES[table_of(source)]


def requested_ref(source: Source) -> str:
    """The ref as the lock records it: the text of a version constraint, or a plain ref."""
    return source.version or source.ref


def is_range(source: Source) -> bool:
    """Whether it asks for a range of versions: by ``version``, or by a ``ref`` that git could not have."""
    return bool(source.version) or any(char in _RANGE_MARKS for char in source.ref)


def is_full_commit(ref: str) -> bool:
    """Whether a ref is a whole commit id in git's own spelling, which names that commit and nothing else."""
    return _FULL_COMMIT.fullmatch(ref) is not None


def recorded_path(source: Source) -> str:
    """The path as the lock records it; an installed skill's defaults to ``skills/<name>``."""
    return source.path or (f"skills/{source.name}" if source.table == "installed_skills" else "")


def redacted(source: str) -> str:
    """A source without the credentials in its URL; the user of an ssh URL is none (spec/lock.md 6.2)."""
    found = _USER.search(source)
    if found is None or (":" not in found[0] and not source.lower().startswith(("http", "git+http"))):
        return source
    return _USER.sub("", source, count=1)


def tag_has_prefix(source: Source, tag: str) -> bool:
    """What can be said of a tag without reading versions: it has the prefix that is asked for."""
    return tag.startswith(source.tag_prefix)


def covers(entry: Entry, source: Source, satisfies: Satisfies = tag_has_prefix) -> bool:
    """Whether a pin is one of what the configuration asks for (spec/lock.md 6.4)."""
    if entry.ref != requested_ref(source) or entry.path != recorded_path(source):
        return False
    if not _same_source(entry.source, redacted(source.source)):
        return False
    return not is_range(source) or (bool(entry.tag) and satisfies(source, entry.tag))


def _same_source(locked: str, configured: str) -> bool:
    """Equal, or both file URLs with the same last element: locks once held paths of one machine."""
    if locked == configured:
        return True
    one, other = _FILE_URL.match(locked), _FILE_URL.match(configured)
    if one is None or other is None or one[0].lower() != other[0].lower():
        return False
    return _last(locked) == _last(configured)


def _last(url: str) -> str:
    return url.rstrip("/").rpartition("/")[2]


def check_remotes(
    config: Config,
    lock: Lock | None,
    find: FindCached,
    hasher: Hasher,
    satisfies: Satisfies = tag_has_prefix,
) -> RemoteCheck:
    """Every remote source against its pin and, where it is on this machine, its content against the digest."""
    changes: list[Change] = []
    notes: list[str] = []
    sources = remote_sources(config)
    for source in sources:
        entry = lock.entry(table_of(source), source.name) if lock is not None else None
        if lock is None or entry is None:
            missing = "not pinned: ai-rulez.lock does not exist" if lock is None else "not covered by the lock"
            changes.append(_changed(table_of(source), source.name, missing))
        elif not covers(entry, source, satisfies):
            field = "url" if source.table == "skill_sources" else "source"
            detail = f"lock is stale: {field}, path or ref changed since it was written"
            changes.append(_changed(table_of(source), source.name, detail))
        else:
            cached = find(source, entry)
            if cached is None:
                notes.append(f"{table_of(source)} {source.name} not cached, so its content was not compared")
            else:
                changes += _content_changes(source, entry, cached, hasher)
    gone = list(_unconfigured(config, lock)) if lock is not None else []
    return RemoteCheck(changes=(*changes, *gone), notes=tuple(notes), compared=len(sources) + len(gone))


def _content_changes(source: Source, entry: Entry, cached: CachedTree, hasher: Hasher) -> Iterator[Change]:
    table = table_of(source)
    if cached.commit and cached.commit != entry.commit:
        yield _changed(table, source.name, f"cache is at commit {cached.commit}, lock records {entry.commit}")
        return
    try:
        digest = hasher.directory(tree_kind(source), cached.folder)
    except (FileError, FormatError) as error:
        yield _changed(table, source.name, f"cannot digest the cached content: {error}")
        return
    if digest != entry.digest:
        detail = f"cached content digest {digest} does not match the lock's {entry.digest}"
        yield _changed(table, source.name, detail)


def _unconfigured(config: Config, lock: Lock) -> Iterator[Change]:
    tables: tuple[tuple[EntryTable, tuple[Source, ...]], ...] = (
        ("include", config.includes),
        ("skill", config.installed_skills),
        ("source", config.skill_sources),
    )
    for table, sources in tables:
        names = {source.name for source in sources if source.is_git}
        for entry in lock.entries(table):
            if entry.name not in names:
                yield _changed(table, entry.name, "in the lock but no longer configured")


def _changed(table: EntryTable, name: str, detail: str) -> Change:
    return Change(scope="remote", change="changed", kind=table, id=name, detail=detail)
