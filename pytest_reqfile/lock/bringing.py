"""Content that the lock pins, brought to this machine: nothing is resolved anew, no lock is written.

What ``ai-rulez generate --locked`` does before it renders (spec/lock.md 6.3), for a machine that only checks.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Literal

from pytest_reqfile.errors import ReqfileError
from pytest_reqfile.lock.directories import Hasher
from pytest_reqfile.lock.fetching import Fetcher
from pytest_reqfile.lock.remote_pins import altered, uncovered
from pytest_reqfile.lock.remotes import remote_sources, table_of, tree_kind
from pytest_reqfile.lock.values import Entry, EntryTable, Lock
from pytest_reqfile.project.values import Config, Source


@dataclass(frozen=True, slots=True, kw_only=True)
class Brought:
    """What became of one source: its content was ``here``, or was ``fetched``; it ``differs`` from the lock or is not
    what the lock pins; or it ``failed``. ``detail`` says why, or the commit."""

    table: EntryTable
    name: str
    state: Literal["here", "fetched", "differs", "failed"]
    detail: str

    @property
    def label(self) -> str:
        return f"{self.table} {self.name}"


def bring_pinned(config: Config, lock: Lock | None, fetcher: Fetcher, hasher: Hasher) -> Iterator[Brought]:
    """Bring every remote source, in the order of the configuration, each verified against its pin."""
    for source in remote_sources(config):
        table = table_of(source)
        entry = lock.entry(table, source.name) if lock is not None else None
        detail = uncovered(source, lock)
        if detail is not None or entry is None:
            yield Brought(table=table, name=source.name, state="differs", detail=f"{detail}")
            continue
        try:
            yield _bring(source, entry, fetcher, hasher)
        except ReqfileError as error:
            yield Brought(table=table, name=source.name, state="failed", detail=str(error))


def _bring(source: Source, entry: Entry, fetcher: Fetcher, hasher: Hasher) -> Brought:
    table, name = table_of(source), source.name
    cached = fetcher.cached(source, entry)
    if cached is not None and altered(source, entry, cached, hasher) is None:
        return Brought(table=table, name=name, state="here", detail=entry.commit)
    digest = hasher.directory(tree_kind(source), fetcher.tree(source, entry.commit).folder)
    if digest == entry.digest:
        return Brought(table=table, name=name, state="fetched", detail=entry.commit)
    detail = (
        f"content digest {digest} does not match the lock's {entry.digest}; the fetched files changed "
        "(run `reqfile lock` only after reviewing the change)"
    )
    return Brought(table=table, name=name, state="differs", detail=detail)
