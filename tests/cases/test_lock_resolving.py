"""What remote sources are pinned to (cases X; seed 001 "Version constraints"): real repositories, real git."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from datetime import UTC, datetime, timedelta

import pytest

from pytest_reqfile.errors import ReqfileError
from pytest_reqfile.lock.ages import Gate, Release
from pytest_reqfile.lock.remote_pins import covers
from pytest_reqfile.lock.renew import LockRequest, RefusedError, UnresolvedError
from pytest_reqfile.lock.tags import Tag
from pytest_reqfile.lock.values import Entry
from pytest_reqfile.project.values import SourceTable
from tests.support import Repo
from tests.support.remotes import CONTENT, Remote, Taker, source_of

RULE = ".ai-rulez/rules/style.md"


@pytest.fixture
def taker(make_repo: Callable[[str], Repo]) -> Taker:
    return Taker(make_repo)


@pytest.fixture
def remote(taker: Taker) -> Remote:
    return taker.remote()


def refused(taker: Taker) -> str:
    """Why the sources cannot be pinned, though all were looked at; nothing was written."""
    before = taker.project.read()
    with pytest.raises(UnresolvedError) as caught:
        taker.lock()
    assert caught.value.refused
    assert taker.project.read() == before
    first, line = str(caught.value).split("\n")
    assert first == "cannot write ai-rulez.lock:"
    return line.removeprefix("  ")


def test_a_branch_is_followed(taker: Taker, remote: Remote) -> None:
    """A plain ref is resolved anew by every lock; the entry says all that was asked for."""
    first = remote.publish(CONTENT)
    taker.takes(remote, ref="main", path="sub")
    lock = taker.lock()
    (entry,) = lock.includes
    assert entry == Entry(name="shared", source=remote.url, commit=first, digest=entry.digest, path="sub", ref="main")
    second = remote.publish({RULE: "# Other\n"})
    moved = taker.lock().includes[0]
    assert (moved.commit, moved.digest != entry.digest) == (second, True)


@pytest.mark.case("lock:X20")
@pytest.mark.parametrize("key", ["version", "ref"])
def test_the_newest_allowed_tag(taker: Taker, remote: Remote, key: str) -> None:
    """Tag, its object, commit and constraint are recorded; higher majors, prereleases and names do not count."""
    wanted = remote.publish(CONTENT, "v1.3.0", annotated=True)
    remote.publish({RULE: "2"}, "v2.0.0")
    for tag in ("v1.2.0", "v1.4.0-rc.1", "latest"):
        remote.tag(tag)
    taker.takes(remote, **{key: "^1.2"})
    (entry,) = taker.lock().includes
    assert (entry.ref, entry.tag, entry.commit) == ("^1.2", "v1.3.0", wanted)
    assert entry.tag_object == remote.repo.git("rev-parse", "v1.3.0")
    assert (entry.released, entry.released_from) == ("", "")


@pytest.mark.case("lock:X22")
def test_a_pin_that_is_allowed_is_kept(taker: Taker, remote: Remote) -> None:
    """No silent upgrade: the same bytes, though newer tags are there."""
    remote.publish(CONTENT, "v1.2.0", annotated=True)
    taker.takes(remote, version="^1.2")
    taker.lock()
    before = taker.written()
    remote.publish({RULE: "2"}, "v1.3.0")
    taker.lock()
    taker.lock(LockRequest(names=("shared",)))
    assert taker.written() == before


@pytest.mark.case("lock:X23")
def test_a_moved_tag_is_refused(taker: Taker, remote: Remote) -> None:
    """Nothing is written, whatever the new commit holds."""
    old = remote.publish(CONTENT, "v1.2.0")
    taker.takes(remote, version="^1.2")
    taker.lock()
    new = remote.publish({RULE: "evil"}, "v1.2.0")
    assert refused(taker) == (
        f"AR732 include shared: tag v1.2.0 was pinned at {old} but now points to {new} "
        "(review the new commit, then `reqfile lock update --accept-moved-tag`)"
    )
    assert taker.include().commit == old


@pytest.mark.parametrize("edit", [{"version": "^1.1"}, {"version": "^1.2", "path": "other"}, {"version": "^2"}])
def test_an_edit_of_the_constraint_hides_no_moved_tag(taker: Taker, remote: Remote, edit: dict[str, str]) -> None:
    """The pin counts no more, but what it was pinned at is known all the same."""
    old = remote.publish(CONTENT, "v1.2.0")
    taker.takes(remote, version="^1.2")
    taker.lock()
    new = remote.publish({RULE: "evil"}, "v1.2.0")
    remote.tag("v2.0.0")
    taker.takes(remote, **edit)
    assert refused(taker).startswith(f"AR732 include shared: tag v1.2.0 was pinned at {old} but now points to {new} ")
    assert taker.include().commit == old


def test_a_deleted_tag_only_warns(taker: Taker, remote: Remote) -> None:
    """The pinned commit is still used, also where the remote does not have it any more and it is not here."""
    commit = remote.publish(CONTENT, "v1.2.0")
    taker.takes(remote, version="^1.2")
    taker.lock()
    before = taker.written()
    remote.delete_tag("v1.2.0")
    resolver = taker.resolver()
    taker.project.lock(None, resolver)
    warning = (
        f"AR735 include shared: tag v1.2.0 no longer exists on the remote; the pinned commit {commit} is still used"
    )
    assert (resolver.notes, taker.written()) == ([warning], before)
    remote.repo.git("reset", "-q", "--hard", "HEAD~1")
    remote.repo.git("reflog", "expire", "--expire=now", "--all")
    remote.repo.git("gc", "-q", "--prune=now")
    for folder in (taker.cache / "commits").iterdir():
        folder.rename(taker.cache / "elsewhere")
    resolver = taker.resolver()
    taker.project.lock(None, resolver)
    assert (resolver.notes, taker.written()) == ([warning], before)


@pytest.mark.case("lock:X25")
@pytest.mark.parametrize(
    ("tags", "message"),
    [
        (
            "latest nightly",
            'no semantic version tags to satisfy "^1.2"; non-version tags: "latest", "nightly"; '
            "pin a commit SHA instead",
        ),
        ("v1.1.0 v2.0.0", 'no tag satisfies "^1.2" (highest tags: "v2.0.0", "v1.1.0")'),
        ("", 'no semantic version tags to satisfy "^1.2"; pin a commit SHA instead'),
    ],
)
def test_unsatisfiable(taker: Taker, remote: Remote, tags: str, message: str) -> None:
    """AR730 ends with 2: the remote was asked, and has nothing that will do."""
    remote.publish(CONTENT)
    for tag in tags.split():
        remote.tag(tag)
    taker.takes(remote, version="^1.2")
    assert refused(taker) == f'include "shared": AR730 {message}'


@pytest.mark.parametrize(
    ("keys", "message"),
    [
        ({"version": "^^3"}, 'version constraint "^^3" is invalid: '),
        ({"version": "^1", "ref": "main"}, 'version constraint "^1" is invalid: set `version` or `ref`, not both'),
    ],
)
def test_a_bad_constraint_could_not_run(taker: Taker, remote: Remote, keys: dict[str, str], message: str) -> None:
    """AR731 is an error of the configuration; no remote is asked."""
    remote.vanish()
    taker.takes(remote, **keys)
    with pytest.raises(UnresolvedError, match=r'include "shared": AR731 ') as caught:
        taker.lock()
    assert message in str(caught.value)
    assert not caught.value.refused


@pytest.mark.case("lock:X26")
def test_a_lower_version_is_refused(taker: Taker, remote: Remote) -> None:
    """A remote that hides newer tags cannot roll a pin back by way of an edited constraint."""
    remote.publish(CONTENT, "v1.3.0")
    taker.takes(remote, version="^1.2")
    taker.lock()
    remote.publish({RULE: "2"}, "v1.2.0")
    remote.delete_tag("v1.3.0")
    taker.takes(remote, version="^1")
    assert refused(taker) == (
        'refusing to move include "shared" from v1.3.0 down to v1.2.0: a lower version can come from a truncated tag '
        "list"
    )
    taker.takes(remote, version="~1.2.0")
    assert taker.lock().includes[0].tag == "v1.2.0"


@pytest.mark.case("lock:X28")
@pytest.mark.parametrize(
    ("keys", "tag"),
    [
        ({"version": "^1", "tag_prefix": "deploy/v"}, "deploy/v1.1.0"),
        ({"version": "^1", "tag_prefix": "deploy/v", "include_prerelease": True}, "deploy/v1.2.0-rc.1"),
        ({"version": "^1.2.0-rc", "tag_prefix": "deploy/v"}, "deploy/v1.2.0-rc.1"),
        ({"version": "^1"}, "v1.0.0"),
        ({"version": "^1", "include_prerelease": True}, "v1.9.0-beta"),
    ],
)
def test_prefixes_and_prereleases(taker: Taker, remote: Remote, keys: dict[str, object], tag: str) -> None:
    """Tags of another prefix are none; a prerelease is taken where it is asked for."""
    remote.publish(CONTENT)
    for one in ("deploy/v1.1.0", "deploy/v1.2.0-rc.1", "deploy/1.5.0", "v1.0.0", "v1.9.0-beta", "other/v1.9.0"):
        remote.tag(one)
    taker.takes(remote, **keys)
    assert taker.lock().includes[0].tag == tag


@pytest.mark.case("lock:K9")
def test_a_prerelease_pin_without_prereleases() -> None:
    """It is no longer one that the constraint allows."""
    pin = Entry(name="shared", source="https://h.invalid/r", commit="c", digest="d", ref="^1", tag="v1.2.0-rc.1")
    assert covers(pin, source_of(version="^1", include_prerelease=True))
    assert not covers(pin, source_of(version="^1"))


@pytest.mark.case("lock:X30")
def test_offline(taker: Taker, remote: Remote) -> None:
    """Pins that cover their source are kept, of ranges and refs alike; anything else says what cannot be resolved."""
    remote.publish(CONTENT, "v1.2.0")
    taker.takes_all(taker.entry(remote, version="^1.2"), taker.entry(remote, "skill_sources", name="acme", ref="main"))
    taker.lock()
    before = taker.written()
    remote.vanish()
    taker.lock(offline=True)
    assert taker.written() == before
    taker.takes_all(taker.entry(remote, version="^1.1"), taker.entry(remote, "skill_sources", name="acme", ref="dev"))
    with pytest.raises(UnresolvedError) as caught:
        taker.lock(offline=True)
    assert str(caught.value).split("\n") == [
        "cannot write ai-rulez.lock:",
        '  version constraint "^1.1" of include "shared" cannot be resolved offline',
        '  ref "dev" of source "acme" cannot be resolved offline',
    ]
    assert not caught.value.refused


def test_a_name_of_another_kind(taker: Taker, remote: Remote) -> None:
    """Nothing would be pinned anew: told, and not done in silence."""
    remote.publish(CONTENT)
    taker.takes(remote)
    taker.lock()
    done = taker.run("shared", "--kind", "source")
    assert (done.code, done.err) == (1, f'error: "shared" is not of kind source in {taker.project.folder}\n')
    assert taker.run("shared", "--kind", "include").code == 0


@pytest.mark.parametrize("offline", [False, True])
def test_an_age_that_is_none_is_told_though_a_pin_needs_none(taker: Taker, remote: Remote, offline: bool) -> None:
    """A gate that somebody believes to have set must not be found missing when it is needed."""
    remote.publish(CONTENT, "v1.2.0")
    taker.takes(remote, version="^1.2")
    taker.lock()
    taker.takes(remote, version="^1.2", min_release_age="7 days")
    done = taker.run(*(("--offline",) if offline else ()))
    assert (done.code, 'invalid min_release_age "7 days": expected a whole number with h, d or w' in done.err) == (
        1,
        True,
    )


def gated(ages: dict[str, int], asked: list[str] | None = None) -> Callable[[object], Gate]:
    """A minimum age of seven days; tags are that many days old, and those without an age are known to nobody."""
    now = datetime(2026, 9, 30, tzinfo=UTC)

    def release_of(tag: Tag) -> Release:
        if asked is not None:
            asked.append(tag.name)
        if tag.name not in ages:
            raise ReqfileError("no release")
        return Release(at=now - timedelta(days=ages[tag.name]), source="forge")

    gate = Gate(minimum=timedelta(days=7), now=now, release_of=release_of, observe=lambda _: ())
    return lambda _: gate


@pytest.mark.case("lock:X40")
@pytest.mark.case("lock:X44")
def test_too_young_a_tag(taker: Taker, remote: Remote) -> None:
    """The next older one is taken, its release recorded, and what was held back told."""
    remote.publish(CONTENT, "v1.2.0")
    remote.publish({RULE: "2"}, "v1.3.0")
    taker.takes(remote, version="^1.2")
    resolver = taker.resolver(gate=gated({"v1.2.0": 30, "v1.3.0": 1}))
    (entry,) = taker.project.lock(None, resolver).includes
    assert (entry.tag, entry.released, entry.released_from) == ("v1.2.0", "2026-08-31T00:00:00Z", "forge")
    assert resolver.notes == ["include shared: AR733 v1.3.0 held back: released 1 day ago (forge)"]
    asked: list[str] = []
    assert taker.project.lock(None, taker.resolver(gate=gated({}, asked))).includes == (entry,)
    assert asked == []


@pytest.mark.case("lock:X42")
def test_all_too_young(taker: Taker, remote: Remote) -> None:
    """Nothing to pin, and when there will be."""
    remote.publish(CONTENT, "v1.2.0")
    taker.takes(remote, version="^1.2")
    with pytest.raises(UnresolvedError) as caught:
        taker.project.lock(None, taker.resolver(gate=gated({"v1.2.0": 1})))
    assert caught.value.refused
    assert 'include "shared": AR730 every tag that satisfies "^1.2" is held back' in str(caught.value)
    assert "becomes eligible on 2026-10-06" in str(caught.value)


@pytest.mark.parametrize("table", ["includes", "installed_skills", "skill_sources"])
def test_every_table(taker: Taker, remote: Remote, table: SourceTable) -> None:
    """Each is pinned in its own table; a skill's path is recorded though nobody wrote it."""
    commit = remote.publish({**CONTENT, "skills/shared/SKILL.md": "x"})
    taker.takes(remote, table)
    lock = taker.lock()
    found = {"includes": lock.includes, "installed_skills": lock.skills, "skill_sources": lock.sources}
    ((name, (entry,)),) = [(name, entries) for name, entries in found.items() if entries]
    assert (name, entry.commit, entry.ref) == (table, commit, "")
    assert entry.path == ("skills/shared" if table == "installed_skills" else "")
    assert taker.project.lines() == []


def test_content_that_a_pin_knows_otherwise(taker: Taker, remote: Remote) -> None:
    """A cache that was tampered with heals; a digest that is wrong in the lock is told and replaced."""
    remote.publish(CONTENT)
    taker.takes(remote)
    before = taker.lock()
    (cached,) = (taker.cache / "commits").iterdir()
    (cached / "rules/style.md").write_text("# STYLE\n")
    assert taker.lock() == before
    assert (cached / "rules/style.md").read_text() == "# Style\n"
    (cached / "rules/planted.md").write_text("# Obey\n")
    assert taker.lock() == before
    assert not (cached / "rules/planted.md").exists()
    entry = before.includes[0]
    taker.project.save(replace(before, includes=(replace(entry, digest="sha256:" + "0" * 64),)))
    resolver = taker.resolver()
    assert taker.project.lock(None, resolver).includes == (entry,)
    assert resolver.notes == [
        f"include shared: the lock had sha256:{'0' * 64} for the content of {entry.commit}, but it is {entry.digest}"
    ]


def test_a_cache_that_was_tampered_with_is_never_pinned(taker: Taker, remote: Remote) -> None:
    """Without an older pin: files that were added beside the fetched ones, or changed in place, are not locked."""
    remote.publish(CONTENT)
    taker.takes(remote)
    clean = taker.lock().includes[0]
    (cached,) = (taker.cache / "commits").iterdir()
    (taker.project.folder / "ai-rulez.lock").unlink()
    (cached / "rules/planted.md").write_text("# Obey\n")
    assert taker.lock().includes[0] == clean
    (taker.project.folder / "ai-rulez.lock").unlink()
    (cached / "rules/style.md").write_text("# STYLE\n")
    assert taker.lock().includes[0] == clean


def test_refusals_and_failures_together_could_not_run(taker: Taker, remote: Remote) -> None:
    """One source that could not be looked at weighs more than one that is refused."""
    remote.publish(CONTENT)
    gone = taker.remote("gone")
    gone.vanish()
    taker.takes_all(taker.entry(remote, version="^1"), taker.entry(gone, name="away"))
    with pytest.raises(UnresolvedError) as caught:
        taker.lock()
    lines = str(caught.value).split("\n")[1:]
    assert lines[0].startswith('  include "shared": AR730 ')
    assert lines[1].startswith(f'  include "away": {gone.url}: ')
    assert not caught.value.refused
    assert isinstance(RefusedError("x"), ReqfileError)
