"""Minimum ages and what is said of tags that are too young (spec/lock.md 6.7; cases S7, T30 to T33)."""

from __future__ import annotations

import json
from datetime import UTC, datetime, timedelta

import pytest

from pytest_reqfile.errors import UsageError
from pytest_reqfile.lock.ages import Gate, Held, Release, ReleasedFrom, go_duration, held_for_age, read_age
from pytest_reqfile.lock.tags import Tag

NOW = datetime(2026, 9, 28, 10, tzinfo=UTC)
TAG = Tag(name="v3.9.0", commit="a" * 40)


def _gate(days: float = 7) -> Gate:
    def nobody(tag: Tag) -> Release:
        raise AssertionError(tag)

    return Gate(minimum=timedelta(days=days), now=NOW, release_of=nobody, observe=lambda _tags: ())


def _held(age: timedelta, source: ReleasedFrom = "forge") -> Held | None:
    return held_for_age(TAG, Release(at=NOW - age, source=source), _gate())


@pytest.mark.case("lock:S7")
@pytest.mark.parametrize(
    ("text", "hours"),
    [("", None), ("0", None), ("0d", None), ("12h", 12), ("7d", 168), ("2w", 336), ("3650d", 87600), ("007d", 168)],
)
def test_ages(text: str, hours: int | None) -> None:
    """A whole number with a unit; nothing and zero are no minimum."""
    assert read_age(text) == (timedelta(hours=hours) if hours is not None else None)


@pytest.mark.case("lock:S7")
@pytest.mark.parametrize(
    "text",
    [
        *("-1d", "1.5d", "7", "7 d", "1d12h", "3651d", "week", "d", "7D", "7d\n", "٧d", "+7d", " 7d", "87601h"),
        *("99999999999999999999d", "9" * 5000 + "h"),
    ],
)
def test_what_is_no_age(text: str) -> None:
    """It is refused, and what is expected is said."""
    with pytest.raises(UsageError) as caught:
        read_age(text)
    assert str(caught.value) == (
        f'invalid min_release_age "{text}": expected a whole number with h, d or w (12h, 7d, 2w), at most 3650 days'
    )


@pytest.mark.case("lock:T23")
def test_exactly_old_enough() -> None:
    """The minimum itself passes; a second less does not; a release of tomorrow has no age."""
    assert _held(timedelta(days=7)) is None
    assert _held(timedelta(days=7) - timedelta(seconds=1)) is not None
    future = _held(timedelta(days=-1))
    assert future is not None
    assert future.age_days == 0


@pytest.mark.case("lock:T30")
@pytest.mark.case("lock:T32")
@pytest.mark.case("lock:T33")
def test_held_texts() -> None:
    """How old, who says so; or why nobody knows."""
    said = [str(_held(timedelta(hours=23))), str(_held(timedelta(days=1))), str(_held(timedelta(days=3), "commit"))]
    assert said == [
        "AR733 v3.9.0 held back: released less than a day ago (forge)",
        "AR733 v3.9.0 held back: released 1 day ago (forge)",
        "AR733 v3.9.0 held back: released 3 days ago (commit)",
    ]
    assert str(Held(tag="v3.9.0", reason="the forge is closed")) == "AR733 v3.9.0 held back: the forge is closed"


def test_held_documents() -> None:
    """The keys in order; what is unknown has none."""
    held = _held(timedelta(days=3, hours=1))
    assert held is not None
    assert json.dumps(held.as_json()) == (
        '{"tag": "v3.9.0", "commit": "' + "a" * 40 + '", "released": "2026-09-25T09:00:00Z", "released_from": "forge", '
        '"age_days": 3, "eligible_at": "2026-10-02T09:00:00Z"}'
    )
    assert Held(tag="v1", reason="why").as_json() == {"tag": "v1", "age_days": 0, "reason": "why"}


def test_gos_durations() -> None:
    """Whole hours."""
    assert [go_duration(timedelta(hours=hours)) for hours in (12, 168)] == ["12h0m0s", "168h0m0s"]
