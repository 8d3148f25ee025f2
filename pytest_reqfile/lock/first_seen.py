"""When this machine first saw a tag at a commit (seed 001 "Minimum release age", 2; spec/lock.md 6.7).

The file is ai-rulez's own, ``observed-tags.toml`` in its cache: both tools add to one history.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import Final, cast

from pytest_reqfile.errors import FileError, FormatError
from pytest_reqfile.lock.ages import timestamp
from pytest_reqfile.lock.tags import Tag
from pytest_reqfile.lock.toml_text import toml_string
from pytest_reqfile.syntax.toml import parse_toml
from pytest_reqfile.workspace.shared_file import read_shared, update_shared

FILE_NAME: Final = "observed-tags.toml"
HEADER: Final = "# Local record of when ai-rulez first saw each remote tag (min_release_age). Safe to delete.\n"
MOST: Final = 5000
MOST_OF_ONE: Final = 1000
LARGEST: Final = 1024 * 1024
_LARGEST_WRITTEN: Final = LARGEST - 64 * 1024

Key = tuple[str, str, str]
"""Source, tag, commit."""
Seen = dict[Key, datetime]


class FirstSeen:
    """The record in the file at ``path``. Times are UTC. Raises ``FileError`` for a file that cannot be used."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._seen: Seen | None = None

    def observe(self, source: str, tags: Sequence[Tag], now: datetime) -> frozenset[Tag]:
        """Record those of ``tags`` that are new as seen ``now``; which ones had no record before.

        Of a source with more tags than are kept, the first of ``tags`` are.
        """
        wanted = tags[:MOST_OF_ONE]
        new: set[Tag] = set()

        def add(data: bytes) -> bytes:
            seen = self._read(data)
            new.update(tag for tag in tags if (source, tag.name, tag.commit) not in seen)
            self._seen = seen
            if new.isdisjoint(wanted):
                return data
            self._seen = _with(seen, source, wanted, now)
            return _text(self._seen).encode()

        update_shared(self._path, add)
        return frozenset(new)

    def when(self, source: str, tag: Tag) -> datetime | None:
        """When the tag was first seen at its commit; None for one that has no record."""
        if self._seen is None:
            self._seen = self._read(read_shared(self._path))
        return self._seen.get((source, tag.name, tag.commit))

    def _read(self, data: bytes) -> Seen:
        if len(data) > LARGEST:
            raise FileError(f"cannot use {self._path}: larger than {LARGEST} bytes; delete it")
        try:
            return dict(_records(parse_toml(data.decode(), FILE_NAME)))
        except (FormatError, UnicodeDecodeError, KeyError, TypeError, ValueError, OverflowError) as error:
            raise FileError(f"cannot use {self._path}: it is no record of tags; delete it") from error


def _records(document: dict[str, object]) -> Iterable[tuple[Key, datetime]]:
    for record in cast("list[dict[str, object]]", document.get("tag", [])):
        source, tag, commit, seen = (record[key] for key in ("source", "tag", "commit", "seen"))
        if not (isinstance(source, str) and isinstance(tag, str) and isinstance(commit, str)):
            raise TypeError("a record names a source, a tag and a commit")
        if not isinstance(seen, datetime) or seen.tzinfo is None:
            raise TypeError("a time without an offset means nothing")
        yield (source, tag, commit), seen.astimezone(UTC)


def _with(seen: Seen, source: str, wanted: Sequence[Tag], now: datetime) -> Seen:
    """The record with what is wanted in it: of the source, what is wanted no more goes first, then the oldest."""
    keys = {(source, tag.name, tag.commit) for tag in wanted}
    kept = dict(seen)
    others = [key for key in seen if key[0] == source and key not in keys]
    for key in _oldest(seen, others)[: max(0, len(others) + len(keys) - MOST_OF_ONE)]:
        del kept[key]
    kept |= {key: now for key in keys if key not in seen}
    for key in _oldest(kept, kept)[: max(0, len(kept) - MOST)]:
        del kept[key]
    return kept


def _oldest(seen: Seen, keys: Iterable[Key]) -> list[Key]:
    return sorted(keys, key=lambda key: (seen[key], key))


def _text(seen: Seen) -> str:
    """The file, small enough to be read again: as often as it takes, the oldest tenth goes."""
    while len((text := _whole_text(seen)).encode()) > _LARGEST_WRITTEN:
        kept = _oldest(seen, seen)[max(1, len(seen) // 10) :]
        seen = {key: seen[key] for key in kept}
    return text


def _whole_text(seen: Seen) -> str:
    return HEADER + "".join(
        f"\n[[tag]]\nsource = {toml_string(source)}\ntag = {toml_string(tag)}\ncommit = {toml_string(commit)}\n"
        f"seen = {timestamp(seen[source, tag, commit])}\n"
        for source, tag, commit in sorted(seen, key=lambda key: tuple(part.encode() for part in key))
    )
