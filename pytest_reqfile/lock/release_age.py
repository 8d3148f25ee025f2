"""When a tag was released, by the first source that answers (seed 001 "Minimum release age"; spec/lock.md 6.7)."""

from __future__ import annotations

from collections.abc import Callable
from datetime import datetime
from pathlib import Path
from typing import Protocol

from pytest_reqfile.errors import FileError, FormatError, Problem, ReqfileError, UsageError
from pytest_reqfile.lock.ages import Gate, Release, read_age
from pytest_reqfile.lock.cache import cache_root
from pytest_reqfile.lock.first_seen import FILE_NAME, FirstSeen
from pytest_reqfile.lock.forge import Forge, ForgeError, ForgeRelease, Get, forge_token
from pytest_reqfile.lock.remotes import is_range, redacted
from pytest_reqfile.lock.tag_dates import Bring, TagDates
from pytest_reqfile.lock.tags import Tag, tag_version
from pytest_reqfile.project.values import AgeSource, LockSettings, Source
from pytest_reqfile.workspace.clock import Clock, utc_now
from pytest_reqfile.workspace.environment import Environment

Gates = Callable[[Source], Gate | None]
"""The gate of a source's minimum release age; None for a source that has none."""


class UnknownReleaseError(ReqfileError):
    """Nobody knows when a tag was released: it is held back."""


class Releases(Protocol):
    """Knows when a forge published releases. Raises ``ForgeError``."""

    def release(self, source: str, tag: Tag) -> ForgeRelease: ...


class Dates(Protocol):
    """Reads the dates that tags claim. Raises ``GitError``."""

    def date(self, source: Source, tag: Tag) -> datetime: ...


class ReleaseTimes:
    """Release times of one run, asked once for each tag at its commit.

    ``now`` is the time of the run. Without a ``first_seen`` record that one is an error whenever it is needed.
    """

    def __init__(
        self, mode: AgeSource, forge: Releases, first_seen: FirstSeen | None, dates: Dates, now: datetime
    ) -> None:
        self._mode = mode
        self._forge = forge
        self._record = first_seen
        self._dates = dates
        self._now = now
        self._known: dict[tuple[str, str, str], Release | ReqfileError] = {}
        self._new: set[tuple[str, Tag]] = set()
        self._unusable: FileError | None = None

    def gate(self, source: Source, settings: LockSettings) -> Gate | None:
        """The gate of a range source. Raises ``FormatError`` for a minimum that is no age."""
        if not is_range(source):
            return None
        try:
            minimum = read_age(source.min_release_age or settings.min_release_age)
        except UsageError as error:
            place = source.location if source.min_release_age else None
            problem = Problem(
                message=str(error), path=place.path if place else None, line=place.line if place else None
            )
            raise FormatError([problem]) from error
        if minimum is None:
            return None
        return Gate(
            minimum=minimum,
            now=self._now,
            release_of=lambda tag: self._release(source, tag),
            observe=lambda tags: self._observe(source, tags),
        )

    def _observe(self, source: Source, tags: tuple[Tag, ...]) -> tuple[str, ...]:
        """Every listed tag gets a record, the highest versions first where there are too many."""
        try:
            new = self._first_seen().observe(redacted(source.source), _by_version(tags, source), self._now)
        except FileError as error:
            self._unusable = error
            return (f"warning: {error}",)
        self._new |= {(source.source, tag) for tag in new}
        return ()

    def _release(self, source: Source, tag: Tag) -> Release:
        key = (source.source, tag.name, tag.commit)
        if key not in self._known:
            try:
                self._known[key] = self._looked_up(source, tag)
            except ReqfileError as error:
                self._known[key] = error
        found = self._known[key]
        if isinstance(found, ReqfileError):
            raise found
        return found

    def _looked_up(self, source: Source, tag: Tag) -> Release:
        match self._mode:
            case "forge":
                return self._of_forge(source, tag)
            case "first-seen":
                return self._of_first_seen(source, tag)
            case "commit":
                return Release(at=self._dates.date(source, tag), source="commit")
            case "auto":
                return self._of_either(source, tag)

    def _of_either(self, source: Source, tag: Tag) -> Release:
        """Never the commit's date, which loosens the gate for whoever can push."""
        try:
            return self._of_forge(source, tag)
        except ForgeError as forge:
            try:
                return self._of_first_seen(source, tag)
            except FileError as record:
                raise UnknownReleaseError(f"no release time for {tag.name}: {forge}; {record}") from record

    def _of_forge(self, source: Source, tag: Tag) -> Release:
        release = self._forge.release(source.source, tag)
        if release.target:
            return Release(at=release.published, source="forge")
        seen = self._seen_before(source, tag)
        if seen is None:
            raise ForgeError(f"the release of {tag.name} does not record its commit")
        if seen > release.published:
            return Release(at=seen, source="first-seen")
        return Release(at=release.published, source="forge")

    def _seen_before(self, source: Source, tag: Tag) -> datetime | None:
        """When an earlier run first saw the tag: what this one sees proves nothing about a branch's release."""
        if (source.source, tag) in self._new:
            return None
        try:
            return self._first_seen().when(redacted(source.source), tag)
        except FileError:
            return None

    def _of_first_seen(self, source: Source, tag: Tag) -> Release:
        """One without a record is too many for the record, and counts as seen now, like one just recorded."""
        when = self._first_seen().when(redacted(source.source), tag)
        return Release(at=when if when is not None else self._now, source="first-seen")

    def _first_seen(self) -> FirstSeen:
        if self._unusable is not None:
            raise self._unusable
        if self._record is None:
            raise FileError(f"cannot find a folder for {FILE_NAME}: set HOME")
        return self._record


def _by_version(tags: tuple[Tag, ...], source: Source) -> list[Tag]:
    """The highest versions first, then what is no version; so a record that is full keeps what may be taken next."""
    versions = [(version, tag) for tag in tags if (version := tag_version(tag.name, source.tag_prefix)) is not None]
    versions.sort(key=lambda one: one[0].precedence, reverse=True)
    named = {tag for _, tag in versions}
    return [*(tag for _, tag in versions), *(tag for tag in tags if tag not in named)]


def open_gates(settings: LockSettings, environment: Environment, clock: Clock, client: Get, bring: Bring) -> Gates:
    """The gates of a project's sources, for one run. Nothing is read or asked before a gate needs it."""
    root = cache_root(environment)
    times = ReleaseTimes(
        settings.min_release_age_source,
        Forge(environment, client, forge_token(environment)),
        FirstSeen(Path(root, FILE_NAME)) if root is not None else None,
        TagDates(bring, environment),
        utc_now(clock).replace(microsecond=0),
    )
    return lambda source: times.gate(source, settings)
