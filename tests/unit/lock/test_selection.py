"""Which tag is taken, with and without a minimum age (spec/lock.md 6.6, 6.7; cases T)."""

from __future__ import annotations

import time
from collections.abc import Mapping
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from pytest_reqfile.errors import HttpError
from pytest_reqfile.lock.ages import Gate, Release
from pytest_reqfile.lock.selection import Selection, SelectionError, downgrade_refusal, satisfies, select
from pytest_reqfile.lock.tags import Tag
from pytest_reqfile.lock.values import Entry
from tests.support.range_sources import URL, commit, range_source, tags

NOW = datetime(2026, 9, 28, 10, tzinfo=UTC)
LISTED = "v3.4.0 v3.4.8 v3.9.0 v4.0.0"


class Ages:
    """A gate of seven days, by the age of each tag in days; a tag without one is an error. Remembers the questions."""

    def __init__(self, days: Mapping[str, float]) -> None:
        self.days = days
        self.warnings: tuple[str, ...] = ()
        self.asked: list[str] = []
        self.observed: list[str] = []

    @property
    def gate(self) -> Gate:
        return Gate(minimum=timedelta(days=7), now=NOW, release_of=self._release, observe=self._observe)

    def _release(self, tag: Tag) -> Release:
        self.asked.append(tag.name)
        if tag.name not in self.days:
            raise HttpError("the forge\ndid not answer")
        return Release(at=NOW - timedelta(days=self.days[tag.name]), source="forge")

    def _observe(self, listed: tuple[Tag, ...]) -> tuple[str, ...]:
        self.observed += [tag.name for tag in listed]
        return self.warnings


def _pin(tag: str, at: str) -> Entry:
    return Entry(name="core", source=URL, commit=at, digest="sha256:0", ref="^3", tag=tag)


def _refused(version: str, listed: str, **changes: Any) -> SelectionError:
    with pytest.raises(SelectionError) as caught:
        select(range_source(version, **changes), tags(listed))
    return caught.value


def _gated(days: Mapping[str, float], pinned: Entry | None = None) -> tuple[Selection, Ages]:
    ages = Ages(days)
    return select(range_source("^3"), tags(" ".join(days) + " v2.0.0"), pinned=pinned, gate=ages.gate), ages


@pytest.mark.case("lock:T2")
@pytest.mark.case("lock:T3")
@pytest.mark.parametrize("others", ["", " latest nightly-1"])
@pytest.mark.parametrize(
    ("version", "expected"), [("^3.4", "v3.9.0"), ("~3.4.0", "v3.4.8"), (">=3.4.0 <3.9.0", "v3.4.8")]
)
def test_the_highest_that_is_allowed(version: str, expected: str, others: str) -> None:
    """Names that are no versions do not matter; the latest is the highest of all."""
    selection = select(range_source(version), tags(LISTED + others))
    assert (selection.tag.name, selection.latest.tag.name, selection.notes) == (expected, "v4.0.0", ())
    assert (selection.released, selection.released_from) == ("", "")


@pytest.mark.case("lock:T4")
def test_prereleases_are_taken_when_asked_for() -> None:
    """By the option, or by a constraint that names one of the same three numbers."""
    listed = tags(LISTED + " v3.10.0-rc.1")
    assert select(range_source("^3.4"), listed).tag.name == "v3.9.0"
    assert select(range_source("^3.4", include_prerelease=True), listed).tag.name == "v3.10.0-rc.1"
    assert select(range_source("^3.10.0-rc.1"), listed).tag.name == "v3.10.0-rc.1"


@pytest.mark.case("lock:T6")
@pytest.mark.case("lock:T7")
def test_two_tags_of_one_version() -> None:
    """The one that sorts first is used, and it is said."""
    same = select(range_source("^3.4"), tags("v3.4.0 3.4.0 v3.3.0 3.3.0"))
    assert same.tag.name == "3.4.0"
    assert same.notes == ('tags "3.4.0" and "v3.4.0" name the same version; using "3.4.0"',)
    build = select(range_source("^3.4"), tags("v3.4.0+b v3.4.0+a"))
    assert build.tag.name == "v3.4.0+a"
    assert build.notes == (
        'tags "v3.4.0+a" and "v3.4.0+b" differ only in build metadata, which semver precedence ignores; '
        'using "v3.4.0+a"',
    )


def test_a_prefix() -> None:
    """Only tags with exactly it count; a shorthand in ``ref`` is a constraint, too."""
    listed = tags("v9.0.0 deploy/v2.1.3 deploy/v2.2.0 deploy/2.1.9")
    source = range_source("", ref="~2.1.0", tag_prefix="deploy/v")
    selection = select(source, listed)
    assert (selection.tag.name, selection.latest.tag.name) == ("deploy/v2.1.3", "deploy/v2.2.0")


@pytest.mark.case("lock:V10")
def test_the_latest_of_prereleases_alone() -> None:
    """Then it is the tag that was chosen."""
    selection = select(range_source("^3.4.0-rc.1"), tags("v3.4.0-rc.1 v3.4.0-rc.2 v4.0.0-a"))
    assert (selection.tag.name, selection.latest.tag.name) == ("v3.4.0-rc.2", "v3.4.0-rc.2")


@pytest.mark.case("lock:T9")
@pytest.mark.case("lock:T10")
def test_nothing_satisfies() -> None:
    """AR730 names the highest tags, or says that none is a version."""
    error = _refused("^9", LISTED)
    assert (error.code, error.message) == (
        "AR730",
        'no tag satisfies "^9" (highest tags: "v4.0.0", "v3.9.0", "v3.4.8")',
    )
    assert str(error) == f"AR730 {error.message}"
    assert _refused("^9", "latest nightly").message == (
        'no semantic version tags to satisfy "^9"; non-version tags: "latest", "nightly"; pin a commit SHA instead'
    )
    assert _refused("^9", "v9.0.0", tag_prefix="x/").message == (
        'no semantic version tags with prefix "x/" to satisfy "^9"; non-version tags: "v9.0.0"; '
        "pin a commit SHA instead"
    )
    assert _refused("^9", "").message == 'no semantic version tags to satisfy "^9"; pin a commit SHA instead'
    assert _refused("^9", "x/9.1.0-a x/8.0.0", tag_prefix="x/").message == (
        'no tag with prefix "x/" satisfies "^9" (highest tags: "x/9.1.0-a", "x/8.0.0"); prereleases are excluded '
        "unless the constraint names one or include_prerelease = true"
    )


@pytest.mark.case("lock:T12")
@pytest.mark.parametrize("text", ["^^3", "^ "])
def test_a_constraint_that_cannot_be_read(text: str) -> None:
    """AR731, whatever the tags are."""
    error = _refused(text, LISTED)
    assert error.code == "AR731"
    assert error.message.startswith(f'version constraint "{text}" is invalid: ')


def test_version_and_ref() -> None:
    """Both are one too many, even if they agree."""
    error = _refused("^3", LISTED, ref="main")
    assert str(error) == 'AR731 version constraint "^3" is invalid: set `version` or `ref`, not both'


def test_what_a_recorded_tag_satisfies() -> None:
    """The constraint and the prefix; nothing satisfies what cannot be read."""
    assert satisfies(range_source("^3.4"), "v3.9.0")
    assert not satisfies(range_source("^3.4"), "v4.0.0")
    assert not satisfies(range_source("^3.4"), "latest")
    assert not satisfies(range_source("^3.4", tag_prefix="x/"), "v3.9.0")
    assert not satisfies(range_source("^^3"), "v3.9.0")
    assert satisfies(range_source("^3.4", include_prerelease=True), "v3.5.0-rc.1")


@pytest.mark.case("lock:T20")
@pytest.mark.case("lock:T21")
def test_the_newest_that_is_old_enough() -> None:
    """Its time is recorded; younger ones are held back; every listed tag is observed."""
    selection, ages = _gated({"v3.9.0": 30, "v3.8.0": 60, "v3.7.0": 90})
    assert (selection.tag.name, selection.held) == ("v3.9.0", ())
    assert (selection.released, selection.released_from) == ("2026-08-29T10:00:00Z", "forge")
    assert ages.asked == ["v3.9.0"]
    assert ages.observed == ["v2.0.0", "v3.7.0", "v3.8.0", "v3.9.0"]
    selection, _ = _gated({"v3.9.0": 1, "v3.8.0": 30, "v3.7.0": 60})
    assert selection.tag.name == "v3.8.0"
    assert [held.tag for held in selection.held] == ["v3.9.0"]
    assert selection.latest.tag.name == "v3.9.0"


@pytest.mark.case("lock:T24")
def test_the_pinned_tag_needs_no_age() -> None:
    """It is taken without a look; if it was moved, it is new."""
    days = {"v3.9.0": 1, "v3.8.0": 1, "v3.7.0": 1}
    selection, ages = _gated(days, _pin("v3.7.0", commit(3)))
    assert (selection.tag.name, selection.released) == ("v3.7.0", "")
    assert [held.tag for held in selection.held] == ["v3.9.0", "v3.8.0"]
    assert ages.asked == ["v3.9.0", "v3.8.0"]
    with pytest.raises(SelectionError):
        _gated(days, _pin("v3.7.0", commit(9)))


@pytest.mark.case("lock:T25")
def test_everything_is_too_young() -> None:
    """AR730 says which, and when the newest may be taken."""
    with pytest.raises(SelectionError) as caught:
        _gated({"v3.9.0": 1, "v3.8.0": 2, "v3.7.0": 3, "v3.6.0": 4})
    assert caught.value.code == "AR730"
    assert caught.value.message == (
        'every tag that satisfies "^3" is held back by min_release_age (168h0m0s): '
        "AR733 v3.9.0 held back: released 1 day ago (forge); AR733 v3.8.0 held back: released 2 days ago (forge); "
        "AR733 v3.7.0 held back: released 3 days ago (forge); 1 more; the newest becomes eligible on 2026-10-04; "
        "wait, lower min_release_age, or pin a commit SHA"
    )
    assert [held.tag for held in caught.value.held] == ["v3.9.0", "v3.8.0", "v3.7.0", "v3.6.0"]


@pytest.mark.case("lock:T26")
def test_a_time_that_nobody_knows_holds_back() -> None:
    """Fail closed: the next older tag is taken, and the reason is on one line."""
    ages = Ages({"v3.8.0": 30})
    selection = select(range_source("^3"), tags("v3.9.0 v3.8.0"), gate=ages.gate)
    assert selection.tag.name == "v3.8.0"
    assert [str(held) for held in selection.held] == ["AR733 v3.9.0 held back: the forge did not answer"]


@pytest.mark.case("lock:T28")
def test_at_most_fifty_lookups() -> None:
    """Then one record says so; a pin beyond them is still kept."""
    listed = tags(" ".join(f"v3.{minor}.0" for minor in range(60)))
    ages = Ages({tag.name: 1 for tag in listed})
    with pytest.raises(SelectionError) as caught:
        select(range_source("^3"), listed, gate=ages.gate)
    assert len(ages.asked) == 50
    assert [held.reason for held in caught.value.held[50:]] == ["more than 50 newer tags to check"]
    pinned = next(tag for tag in listed if tag.name == "v3.2.0")
    kept = select(range_source("^3"), listed, pinned=_pin(pinned.name, pinned.commit), gate=ages.gate)
    assert kept.tag == pinned


@pytest.mark.case("lock:W6")
def test_a_lower_version_is_refused() -> None:
    """In words that say why; up, sideways and from no version is no downgrade."""
    selection = select(range_source("^3"), tags("v3.4.0"))
    assert downgrade_refusal(range_source("^3"), "v3.9.0", selection) == (
        'refusing to move include "core" from v3.9.0 down to v3.4.0: a lower version can come from a truncated tag list'
    )
    assert [downgrade_refusal(range_source("^3"), tag, selection) for tag in ("v3.3.0", "3.4.0", "latest")] == [
        None
    ] * 3


def test_ten_thousand_tags_of_one_precedence() -> None:
    """One note, in time that grows with their number alone."""
    listed = tags(" ".join(f"v3.4.0+{number}" for number in range(10_000)))
    begun = time.process_time()
    selection = select(range_source("^3"), listed)
    assert selection.tag.name == "v3.4.0+0"
    assert len(selection.notes) == 1
    assert time.process_time() - begun < 5
