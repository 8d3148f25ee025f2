"""Remote sources against their pins, without the network (spec/lock.md 5.4.5, 6.3, 6.4)."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final

from pytest_reqfile.errors import FileError, FormatError
from pytest_reqfile.lock.changes import Change
from pytest_reqfile.lock.directories import Hasher
from pytest_reqfile.lock.remotes import (
    CachedTree,
    FindCached,
    is_full_commit,
    is_range,
    recorded_path,
    redacted,
    remote_sources,
    requested_ref,
    table_of,
    tree_kind,
)
from pytest_reqfile.lock.selection import satisfies
from pytest_reqfile.lock.values import Entry, EntryTable, Lock
from pytest_reqfile.project.values import Config, Source

_FILE_URL: Final = re.compile(r"(?:git\+)?file://", re.IGNORECASE)

_NOT_CACHED: Final = "not cached, so its content was not compared; `reqfile lock --fetch` brings it"


@dataclass(frozen=True, slots=True, kw_only=True)
class RemoteCheck:
    """``compared`` counts sources and entries that were looked at, ``uncached`` are sources that were not."""

    changes: tuple[Change, ...]
    notes: tuple[str, ...]
    compared: int
    uncached: tuple[Source, ...] = ()


def covers(entry: Entry, source: Source) -> bool:
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


def uncovered(source: Source, lock: Lock | None) -> str | None:
    """Why the lock does not pin what the configuration asks for; None where it does."""
    if lock is None:
        return "not pinned: ai-rulez.lock does not exist"
    entry = lock.entry(table_of(source), source.name)
    if entry is None:
        return "not covered by the lock"
    if not covers(entry, source):
        field = "url" if source.table == "skill_sources" else "source"
        return f"lock is stale: {field}, path or ref changed since it was written"
    if not is_full_commit(entry.commit):  # nothing could ever be compared with it
        return f'the lock records "{entry.commit}", which is no commit id; run `reqfile lock`'
    if is_full_commit(source.ref) and entry.commit != source.ref:
        return f"ref is pinned to {source.ref} but the lock records commit {entry.commit}; run `reqfile lock`"
    return None


def altered(source: Source, entry: Entry, cached: CachedTree, hasher: Hasher) -> str | None:
    """Why what is on this machine is not what the entry pins; None where it is."""
    if cached.commit and cached.commit != entry.commit:
        return f"cache is at commit {cached.commit}, lock records {entry.commit}"
    try:
        digest = hasher.directory(tree_kind(source), cached.folder)
    except (FileError, FormatError) as error:
        return f"cannot digest the cached content: {error}"
    return (
        None if digest == entry.digest else f"cached content digest {digest} does not match the lock's {entry.digest}"
    )


def check_remotes(config: Config, lock: Lock | None, find: FindCached, hasher: Hasher) -> RemoteCheck:
    """Every remote source against its pin and, where it is on this machine, its content against the digest."""
    changes: list[Change] = []
    uncached: list[Source] = []
    sources = remote_sources(config)
    for source in sources:
        table, detail = table_of(source), uncovered(source, lock)
        entry = lock.entry(table, source.name) if lock is not None else None
        if detail is None and entry is not None:
            cached = find(source, entry)
            if cached is None:
                uncached.append(source)
                continue
            detail = altered(source, entry, cached, hasher)
        if detail is not None:
            changes.append(_changed(table, source.name, detail))
    gone = list(_unconfigured(config, lock)) if lock is not None else []
    notes = (f"{table_of(source)} {source.name} {_NOT_CACHED}" for source in uncached)
    return RemoteCheck(
        changes=(*changes, *gone),
        notes=tuple(notes),
        compared=len(sources) - len(uncached) + len(gone),
        uncached=tuple(uncached),
    )


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
