"""Who says when a tag was released, in which order (seed 001 "Minimum release age"; the tables of cases U)."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from pytest_reqfile.errors import FormatError, GitError, ReqfileError
from pytest_reqfile.lock.ages import Gate, Release
from pytest_reqfile.lock.first_seen import FirstSeen
from pytest_reqfile.lock.forge import ForgeError, ForgeRelease
from pytest_reqfile.lock.release_age import ReleaseTimes
from pytest_reqfile.lock.selection import SelectionError, select
from pytest_reqfile.lock.tag_dates import TagDates
from pytest_reqfile.lock.tags import Tag, read_tags
from pytest_reqfile.project.values import AgeSource, LockSettings, Source
from pytest_reqfile.workspace.environment import Environment
from pytest_reqfile.workspace.remotes import Remotes
from tests.support.range_sources import URL, commit, range_source, tags
from tests.support.repo import Repo

NOW = datetime(2026, 9, 28, 10, tzinfo=UTC)
DAY = timedelta(days=1)
PUBLISHED = NOW - 30 * DAY
TAG = Tag(name="v3.9.0", commit=commit("a"))
SOURCE = range_source("^3")
WEEK = LockSettings(min_release_age="7d")


class GivenForge:
    """A forge that says the same of every tag, and counts the questions."""

    def __init__(self, said: ForgeRelease | str) -> None:
        self.said = said
        self.asked = 0

    def release(self, source: str, tag: Tag) -> ForgeRelease:
        del source, tag
        self.asked += 1
        if isinstance(self.said, str):
            raise ForgeError(self.said)
        return self.said


class GivenDates:
    """Every tag has one date, and counts the questions."""

    def __init__(self, moment: datetime | None = None) -> None:
        self.moment = moment
        self.asked = 0

    def date(self, source: Source, tag: Tag) -> datetime:
        del source, tag
        self.asked += 1
        if self.moment is None:
            raise GitError("no date")
        return self.moment


class Setting:
    """A mode with what its sources say."""

    def __init__(self, folder: Path, mode: AgeSource, forge: ForgeRelease | str = "no release") -> None:
        self.path = folder / "observed-tags.toml"
        self.forge = GivenForge(forge)
        self.dates = GivenDates(NOW - 90 * DAY)
        self.mode = mode

    def seen(self, moment: datetime, tag: Tag = TAG) -> Setting:
        FirstSeen(self.path).observe(URL, [tag], moment)
        return self

    def gate(self, source: Source = SOURCE, listed: tuple[Tag, ...] = (TAG,)) -> Gate:
        times = ReleaseTimes(self.mode, self.forge, FirstSeen(self.path), self.dates, NOW)
        gate = times.gate(source, WEEK)
        assert gate is not None
        self.warnings = gate.observe(listed)
        return gate

    def release(self) -> Release:
        return self.gate().release_of(TAG)

    def error(self) -> str:
        with pytest.raises(ReqfileError) as caught:
            self.release()
        return str(caught.value)


OF_COMMIT = ForgeRelease(published=PUBLISHED, target=TAG.commit)
OF_BRANCH = ForgeRelease(published=PUBLISHED, target="")


@pytest.mark.case("lock:U-modes")
@pytest.mark.parametrize("mode", ["auto", "forge"])
def test_the_forge_goes_first(tmp_path: Path, mode: AgeSource) -> None:
    """Whatever else is known, even if the record cannot be read."""
    setting = Setting(tmp_path, mode, OF_COMMIT).seen(NOW - 9 * DAY)
    assert setting.release() == Release(at=PUBLISHED, source="forge")
    setting.path.write_text("broken")
    assert setting.release() == Release(at=PUBLISHED, source="forge")
    assert setting.warnings == (f"warning: cannot use {setting.path}: it is no record of tags; delete it",)


@pytest.mark.case("lock:U-modes")
def test_auto_falls_back_to_the_record_and_no_further(tmp_path: Path) -> None:
    """An unseen tag is recorded and counts as seen now; the commit's date is never asked for."""
    setting = Setting(tmp_path, "auto")
    assert setting.release() == Release(at=NOW, source="first-seen")
    assert FirstSeen(setting.path).when(URL, TAG) == NOW
    known = Setting(tmp_path / "other", "auto").seen(NOW - 9 * DAY)
    assert known.release() == Release(at=NOW - 9 * DAY, source="first-seen")
    assert setting.dates.asked + known.dates.asked == 0


@pytest.mark.case("lock:U-modes")
def test_auto_without_a_usable_record(tmp_path: Path) -> None:
    """The tag is held back, and both reasons are told; the file stays as it is."""
    setting = Setting(tmp_path, "auto")
    setting.path.write_text("broken")
    assert setting.error() == (
        f"no release time for v3.9.0: no release; cannot use {setting.path}: it is no record of tags; delete it"
    )
    assert setting.path.read_text() == "broken"
    nowhere = ReleaseTimes("auto", GivenForge("no release"), None, GivenDates(), NOW).gate(SOURCE, WEEK)
    assert nowhere is not None
    with pytest.raises(SelectionError, match="set HOME"):
        select(SOURCE, (TAG,), gate=nowhere)


@pytest.mark.case("lock:U-modes")
def test_a_record_that_cannot_be_written_is_not_believed(tmp_path: Path) -> None:
    """Even though it can be read: what this run has seen is lost, and the next would see it anew."""
    setting = Setting(tmp_path, "auto").seen(NOW - 9 * DAY)
    lock = setting.path.with_name(f"{setting.path.name}.lock")
    lock.unlink()
    lock.mkdir()
    assert setting.error().startswith(f"no release time for v3.9.0: no release; cannot write {lock}: ")


@pytest.mark.case("lock:U-modes")
def test_the_modes_alone_fail_closed(tmp_path: Path) -> None:
    """``forge`` and ``commit`` ask nobody else; ``first-seen`` does not ask the forge."""
    assert Setting(tmp_path, "forge", "the forge is closed").seen(NOW - 9 * DAY).error() == "the forge is closed"
    first = Setting(tmp_path / "first", "first-seen", OF_COMMIT)
    assert first.release() == Release(at=NOW, source="first-seen")
    assert first.forge.asked == 0
    by_commit = Setting(tmp_path, "commit", OF_COMMIT)
    assert by_commit.release() == Release(at=NOW - 90 * DAY, source="commit")
    by_commit.dates.moment = None
    assert by_commit.error() == "no date"
    assert by_commit.forge.asked == 0


@pytest.mark.case("lock:U-moved")
def test_a_release_of_a_branch(tmp_path: Path) -> None:
    """The later of publish time and first sight decides; a tag that only this run has seen proves nothing."""
    before = Setting(tmp_path / "a", "forge", OF_BRANCH).seen(PUBLISHED - DAY)
    assert before.release() == Release(at=PUBLISHED, source="forge")
    after = Setting(tmp_path / "b", "forge", OF_BRANCH).seen(PUBLISHED + DAY)
    assert after.release() == Release(at=PUBLISHED + DAY, source="first-seen")
    never = Setting(tmp_path / "c", "forge", OF_BRANCH)
    assert never.error() == "the release of v3.9.0 does not record its commit"
    auto = Setting(tmp_path / "d", "auto", OF_BRANCH)
    assert auto.release() == Release(at=NOW, source="first-seen")
    broken = Setting(tmp_path / "e", "forge", OF_BRANCH)
    broken.path.parent.mkdir()
    broken.path.write_text("broken")
    assert broken.error() == "the release of v3.9.0 does not record its commit"


@pytest.mark.case("lock:U-moved")
def test_a_moved_tag_falls_back_to_its_first_sight(tmp_path: Path) -> None:
    """In ``auto``; the old commit's record is of no use to it."""
    setting = Setting(tmp_path, "auto", "v3.9.0 was moved").seen(NOW - 90 * DAY, Tag(name="v3.9.0", commit=commit("b")))
    assert setting.release() == Release(at=NOW, source="first-seen")


@pytest.mark.case("lock:U30")
def test_each_tag_is_looked_up_once(tmp_path: Path) -> None:
    """Answers and failures alike, for one commit."""
    for said in (OF_COMMIT, "no release"):
        setting = Setting(tmp_path, "forge", said)
        gate = setting.gate()
        for _ in range(3):
            try:
                gate.release_of(TAG)
            except ForgeError:
                assert isinstance(said, str)
        assert setting.forge.asked == 1


def test_a_gate_is_for_ranges_with_an_age(tmp_path: Path) -> None:
    """A source's own age goes before the project's, and "0" turns it off; a plain ref has none."""
    times = ReleaseTimes("auto", GivenForge(""), FirstSeen(tmp_path / "x"), GivenDates(), NOW)
    own = times.gate(range_source(min_release_age="3d"), WEEK)
    general = times.gate(range_source(), WEEK)
    assert own is not None
    assert general is not None
    assert (own.minimum, general.minimum) == (3 * DAY, 7 * DAY)
    assert times.gate(range_source(min_release_age="0"), WEEK) is None
    assert times.gate(range_source(), LockSettings()) is None
    assert times.gate(range_source("", ref="main"), WEEK) is None


def test_an_age_that_cannot_be_read(tmp_path: Path) -> None:
    """It is told at the source, or for the project."""
    times = ReleaseTimes("auto", GivenForge(""), FirstSeen(tmp_path / "x"), GivenDates(), NOW)
    message = 'invalid min_release_age "1.5d": expected a whole number with h, d or w (12h, 7d, 2w), at most 3650 days'
    with pytest.raises(FormatError) as caught:
        times.gate(range_source(min_release_age="1.5d"), WEEK)
    assert str(caught.value) == f".ai-rulez/config.toml:1: {message}"
    with pytest.raises(FormatError) as caught:
        times.gate(range_source(), LockSettings(min_release_age="1.5d"))
    assert str(caught.value) == message


def test_a_thousand_and_more_tags(tmp_path: Path) -> None:
    """The highest versions are recorded, whatever the order of the names."""
    listed = tags(" ".join([f"v3.{number}.0" for number in range(1100)] + ["latest"]))
    setting = Setting(tmp_path, "first-seen")
    setting.gate(listed=listed)
    record = FirstSeen(setting.path)
    known = {tag.name for tag in listed if record.when(URL, tag) is not None}
    assert known == {f"v3.{number}.0" for number in range(100, 1100)}


@pytest.mark.case("lock:U-commit")
def test_dates_of_a_real_repository(repo: Repo, tmp_path: Path) -> None:
    """The tagger's date of an annotated tag, else the committer's; nothing is left behind."""
    repo.write("a.txt", "1\n")
    repo.commit()
    committed = int(repo.git("show", "-s", "--format=%ct").strip())
    repo.git("tag", "v1.0.0")
    repo.git("tag", "-a", "-m", "x", "deploy/v2.0.0", env={"GIT_COMMITTER_DATE": "1700000000 +0200"})
    url = f"file://{repo.root}"
    environment = Environment(variables={"PATH": "/usr/bin:/bin", "HOME": str(tmp_path)})
    remotes = Remotes(environment=environment)
    listed = {tag.name: tag for tag in read_tags(remotes.tags(url))}
    dates = TagDates(lambda source, what, store: remotes.fetch_alone(store, url, what, 1 << 30), environment)
    assert dates.date(SOURCE, listed["v1.0.0"]) == datetime.fromtimestamp(committed, UTC)
    assert dates.date(SOURCE, listed["deploy/v2.0.0"]) == datetime.fromtimestamp(1_700_000_000, UTC)
    moved = Tag(name="v1.0.0", commit=commit("b"))
    with pytest.raises(GitError, match=r"the remote has moved v1\.0\.0 since it listed its tags"):
        dates.date(SOURCE, moved)
    with pytest.raises(GitError):
        dates.date(SOURCE, Tag(name="v7", commit=commit("b")))


@pytest.mark.parametrize("name", ["-x", "a b", "a..b", "v1*", "a:b", "x.lock", "a//b", "/a", "@{u}", "é"])
def test_unusual_names_are_not_fetched(name: str) -> None:
    """git could read them as something else."""

    def never(source: Source, what: str, store: Path) -> None:
        raise AssertionError((source, what, store))

    with pytest.raises(GitError, match="unusual"):
        TagDates(never, Environment(variables={})).date(SOURCE, Tag(name=name, commit=commit(1)))
