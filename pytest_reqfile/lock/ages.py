"""How old a release is: minimum ages, and what was held back for its age (spec/lock.md 6.7)."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Final, Literal

from pytest_reqfile.errors import UsageError
from pytest_reqfile.lock.tags import Tag

ReleasedFrom = Literal["forge", "first-seen", "commit"]

_AGE: Final = re.compile(r"(?P<count>[0-9]+)(?P<unit>[hdw])", re.ASCII)
_HOURS: Final = {"h": 1, "d": 24, "w": 168}
_LONGEST: Final = timedelta(days=3650)
_DIGITS: Final = 6
"""Of a number of hours that is still allowed, with one to spare."""


def read_age(text: str, key: str = "min_release_age") -> timedelta | None:
    """``12h``, ``7d``, ``2w``; None for no limit (empty, ``0``). Raises ``UsageError`` for anything else.

    ``key`` is what messages call the setting.
    """
    if text in {"", "0"}:
        return None
    found = _AGE.fullmatch(text)
    count = found["count"].lstrip("0") if found is not None else ""
    if found is None or len(count) > _DIGITS:
        raise _invalid(text, key)
    age = timedelta(hours=int(count or "0") * _HOURS[found["unit"]])
    if age > _LONGEST:
        raise _invalid(text, key)
    return age or None


def _invalid(text: str, key: str) -> UsageError:
    return UsageError(
        f'invalid {key} "{text}": expected a whole number with h, d or w (12h, 7d, 2w), at most 3650 days'
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class Release:
    """When a tag was released (UTC), and who says so."""

    at: datetime
    source: ReleasedFrom


@dataclass(frozen=True, slots=True, kw_only=True)
class Gate:
    """Lets a tag pass that is at least ``minimum`` old at ``now``.

    ``release_of`` raises ``ReqfileError`` where nobody knows: the tag is then held back. ``observe`` is told of every
    tag that is listed, before, and answers what people should know.
    """

    minimum: timedelta
    now: datetime
    release_of: Callable[[Tag], Release]
    observe: Callable[[tuple[Tag, ...]], tuple[str, ...]]


@dataclass(frozen=True, slots=True, kw_only=True)
class Held:
    """A tag that is not taken (AR733): too young, or for a ``reason`` when nobody knows its age."""

    tag: str
    commit: str = ""
    release: Release | None = None
    age_days: int = 0
    eligible_at: datetime | None = None
    reason: str = ""

    def __str__(self) -> str:
        if self.release is None:
            return f"AR733 {self.tag} held back: {self.reason}"
        return f"AR733 {self.tag} held back: released {_days(self.age_days)} ago ({self.release.source})"

    def as_json(self) -> dict[str, object]:
        """Its document in reports; absent parts have no key."""
        released = self.release
        document: dict[str, object | None] = {
            "tag": self.tag,
            "commit": self.commit or None,
            "released": timestamp(released.at) if released is not None else None,
            "released_from": released.source if released is not None else None,
            "age_days": self.age_days,
            "eligible_at": timestamp(self.eligible_at) if self.eligible_at is not None else None,
            "reason": self.reason or None,
        }
        return {key: value for key, value in document.items() if value is not None}


def held_for_age(tag: Tag, release: Release, gate: Gate) -> Held | None:
    """Why a tag is held back; None for one that is old enough. One from the future has no age yet."""
    age = max(gate.now - release.at, timedelta())
    if age >= gate.minimum:
        return None
    return Held(
        tag=tag.name, commit=tag.commit, release=release, age_days=age.days, eligible_at=release.at + gate.minimum
    )


def timestamp(moment: datetime) -> str:
    """``2026-09-28T10:00:00Z``."""
    return moment.astimezone(UTC).strftime("%Y-%m-%dT%H:%M:%SZ")


def go_duration(length: timedelta) -> str:
    """Whole hours as Go prints a duration: ``168h0m0s``."""
    return f"{length // timedelta(hours=1)}h0m0s"


def _days(count: int) -> str:
    if count == 0:
        return "less than a day"
    return "1 day" if count == 1 else f"{count} days"
