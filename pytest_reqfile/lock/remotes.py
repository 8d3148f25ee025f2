"""Remote sources: which there are, and how the lock records what they ask for (spec/lock.md 6.1, 6.4)."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from pytest_reqfile.lock.digest import TreeKind
from pytest_reqfile.lock.values import Entry, EntryTable
from pytest_reqfile.project.values import Config, Source, SourceTable

TABLES: Final[dict[SourceTable, EntryTable]] = {
    "includes": "include",
    "installed_skills": "skill",
    "skill_sources": "source",
}
_TREES: Final[dict[EntryTable, TreeKind]] = {"include": "include", "skill": "installed-skill", "source": "skill-source"}
_USER: Final = re.compile(r"(?<=://)[^/]*@")
_RANGE_MARKS: Final = frozenset("^~* ")
_FULL_COMMIT: Final = re.compile(r"[0-9a-f]{40}")


@dataclass(frozen=True, slots=True, kw_only=True)
class CachedTree:
    """The content folder of a remote source on this machine, and the commit it was fetched at (empty: unknown)."""

    folder: Path
    commit: str = ""


FindCached = Callable[[Source, Entry], CachedTree | None]
"""Where the content of a source is on this machine; None where it is not. Never fetches."""


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
