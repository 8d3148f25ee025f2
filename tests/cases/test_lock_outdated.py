"""``reqfile lock --outdated`` as a process, over real repositories (cases V; seed 001 "lock --outdated")."""

from __future__ import annotations

import os
import shutil
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

from pytest_reqfile.lock.first_seen import FirstSeen
from pytest_reqfile.lock.tags import Tag
from tests.support.forge import local_forge
from tests.support.ranges import RangeProject
from tests.support.repo import Repo

NOW = datetime.now(UTC)
RECORD = ".cache/ai-rulez/observed-tags.toml"


@pytest.fixture
def project(repo: Repo, make_repo: Callable[[str], Repo]) -> RangeProject:
    return RangeProject(repo, make_repo)


@pytest.fixture
def locked(project: RangeProject) -> RangeProject:
    """v3.4.0 is pinned; v3.9.0 and v4.1.0 came later."""
    project.remote.publish("v3.4.0")
    project.config(project.include()).lock()
    project.remote.publish("v3.9.0", annotated=True)
    project.remote.publish("v4.1.0")
    return project


class CountingGit:
    """A ``git`` in front of the real one that writes down its arguments."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        real = shutil.which("git")
        (folder / "git").write_text(f'#!/bin/sh\necho "$*" >> "{folder}/calls"\nexec {real} "$@"\n')
        (folder / "git").chmod(0o755)

    def env(self, path: str) -> dict[str, str]:
        return {"PATH": f"{self._folder}{os.pathsep}{path}"}

    def count(self, word: str) -> int:
        """How many calls had the word among their arguments."""
        return sum(word in line.split() for line in (self._folder / "calls").read_text().splitlines())


def _row(project: RangeProject, *argv: str, env: dict[str, str] | None = None) -> dict[str, Any]:
    _, document = project.outdated(*argv, env=env)
    (row,) = document["sources"]
    found: dict[str, Any] = row
    return found


def _seen(project: RangeProject, **days: float) -> Path:
    """The record of first sights, with the tags of the remote so many days old."""
    path = project.repo.home / RECORD
    for name, age in days.items():
        tag = name.replace("_", ".")
        commit = project.remote.repo.git("rev-parse", f"{tag}^{{commit}}")
        moment = (NOW - timedelta(days=age)).replace(microsecond=0)
        FirstSeen(path).observe(project.remote.url, [Tag(name=tag, commit=commit)], moment)
    return path


@pytest.mark.case("lock:V1")
@pytest.mark.case("lock:V16")
def test_an_update_is_shown(locked: RangeProject) -> None:
    """The sample of the cases; exit 0, and 2 only where that is asked for; nothing is written."""
    before = locked.bytes
    done = locked.run("--outdated")
    assert (done.code, done.err) == (0, "")
    assert done.out == (
        "SOURCE  KIND     CONSTRAINT  LOCKED  ALLOWED  LATEST  NOTE\n"
        "core    include  ^3.4        v3.4.0  v3.9.0   v4.1.0  update available; newer major available\n"
        "1 source(s): 1 updatable, 1 with a newer major, 0 moved tag(s), 0 error(s)\n"
    )
    assert locked.run("--outdated", "--fail-on-outdated").code == 2
    assert locked.bytes == before
    assert not (locked.repo.home / RECORD).exists()


def test_the_document(locked: RangeProject) -> None:
    """Its keys, in order; what is absent has none."""
    code, document = locked.outdated()
    assert code == 0
    assert list(document) == ["schema_version", "sources", "summary"]
    assert document["schema_version"] == 1
    assert list(document["sources"][0].items()) == [
        ("kind", "include"),
        ("name", "core"),
        ("source", locked.remote.url),
        ("constraint", "^3.4"),
        ("locked", "v3.4.0"),
        ("allowed", "v3.9.0"),
        ("latest", "v4.1.0"),
        ("status", "updatable"),
        ("major_available", True),
    ]
    assert list(document["summary"].items()) == [
        ("total", 1),
        ("updatable", 1),
        ("major_available", 1),
        ("tag_moved", 0),
        ("errors", 0),
        ("held_back", 0),
    ]


@pytest.mark.case("lock:V3")
def test_not_locked(project: RangeProject) -> None:
    """Without a lock, and with a pin of an ordinary ref."""
    project.remote.publish("v3.4.0")
    project.config(project.include())
    row = _row(project)
    assert (row["status"], row["allowed"], "locked" in row) == ("not-locked", "v3.4.0", False)
    assert "  -       v3.4.0   v3.4.0  not locked; run `reqfile lock`\n" in project.run("--outdated").out
    project.config(project.include().replace('version = "^3.4"', 'ref = "main"')).lock()
    project.config(project.include())
    assert _row(project)["status"] == "not-locked"


@pytest.mark.case("lock:V4")
@pytest.mark.case("lock:T15")
def test_a_moved_tag(locked: RangeProject) -> None:
    """An error, with both commits; also for a tag that is annotated."""
    pinned = locked.pin().commit
    moved = locked.remote.move("v3.4.0")
    code, document = locked.outdated()
    (row,) = document["sources"]
    assert (code, row["status"], row["code"]) == (2, "tag-moved", "AR732")
    assert row["note"] == f"v3.4.0 now points to {moved[:12]}, pinned at {pinned[:12]}"
    assert (document["summary"]["tag_moved"], document["summary"]["errors"]) == (1, 1)
    assert f"AR732; v3.4.0 now points to {moved[:12]}" in locked.run("--outdated").out


@pytest.mark.case("lock:V5")
def test_a_deleted_tag(locked: RangeProject) -> None:
    """It counts as an error here, and says what would be a downgrade."""
    locked.run("update")
    locked.remote.delete("v3.9.0")
    code, document = locked.outdated()
    (row,) = document["sources"]
    assert (code, row["status"], row["code"], row["downgrade"]) == (2, "tag-missing", "AR735", True)
    assert row["note"] == ("v3.9.0 no longer exists on the remote; the allowed v3.4.0 is lower than the pinned v3.9.0")
    assert document["summary"]["errors"] == 1


@pytest.mark.case("lock:V6")
def test_nothing_satisfies(locked: RangeProject) -> None:
    """AR730, and AR731 for what is no constraint."""
    locked.config(locked.include("^9"))
    code, document = locked.outdated()
    (row,) = document["sources"]
    assert (code, row["status"], row["code"], "allowed" in row) == (2, "unsatisfiable", "AR730", False)
    assert row["note"] == 'no tag satisfies "^9" (highest tags: "v4.1.0", "v3.9.0", "v3.4.0")'
    locked.config(locked.include("^^9"))
    row = _row(locked)
    assert (row["status"], row["code"]) == ("invalid", "AR731")


@pytest.mark.case("lock:V8")
def test_only_a_downgrade(locked: RangeProject) -> None:
    """The constraint leaves the pinned tag out; that is no error."""
    locked.run("update")
    locked.config(locked.include(">=3.0.0 <3.9.0"))
    code, document = locked.outdated()
    (row,) = document["sources"]
    assert (code, row["status"], row["downgrade"]) == (0, "downgrade-only", True)
    assert row["note"] == "the allowed v3.4.0 is lower than the pinned v3.9.0"


def test_a_pinned_tag_that_is_no_version(locked: RangeProject) -> None:
    """Such as one before the prefix was set."""
    locked.remote.repo.git("tag", "x/v3.4.1", "v3.4.0")
    locked.config(locked.include(more='tag_prefix = "x/v"\n'))
    row = _row(locked)
    assert (row["status"], row["allowed"], row["note"]) == (
        "locked-non-version",
        "x/v3.4.1",
        "the pinned tag is no version",
    )


def test_a_pin_of_another_repository_is_none(locked: RangeProject) -> None:
    """Its tag and commit say nothing about this one."""
    other = locked.another_remote("other")
    other.publish("v3.4.0")
    locked.config(locked.include().replace(locked.remote.url, other.url))
    assert _row(locked)["status"] == "not-locked"


@pytest.mark.case("lock:V11")
def test_several_sources(locked: RangeProject, tmp_path: Path) -> None:
    """Sorted by kind and name; ordinary refs are left out; one listing for each repository; names and kinds limit."""
    skill = locked.include("~3.4.0", name="deploy", table="installed_skills", more='path = "rules"\n')
    source = locked.include("9.x", name="acme", table="skill_sources")
    plain = locked.include(name="branch").replace('version = "^3.4"', 'ref = "main"')
    locked.config(plain + source + skill + locked.include(name="a") + locked.include())
    git = CountingGit(tmp_path)
    code, document = locked.outdated(env=git.env(locked.repo.variables["PATH"]))
    assert git.count("ls-remote") == 1
    names = [(row["kind"], row["name"], row["status"]) for row in document["sources"]]
    assert names == [
        ("include", "a", "not-locked"),
        ("include", "core", "updatable"),
        ("skill", "deploy", "not-locked"),
        ("source", "acme", "unsatisfiable"),
    ]
    assert (code, list(document["summary"].values())) == (2, [4, 1, 3, 0, 1, 0])
    text = locked.run("--outdated").out
    assert "4 source(s): 1 updatable, 3 with a newer major, 0 moved tag(s), 1 error(s)\n" in text
    assert [line.split()[0] for line in text.splitlines()[1:5]] == ["a", "core", "deploy", "acme"]
    limited = locked.outdated("--kind", "include", "core")
    assert [row["name"] for row in limited[1]["sources"]] == ["core"]
    wrong = locked.run("--outdated", "branch", "core", "nobody")
    assert (wrong.code, wrong.err) == (
        1,
        "error: [branch nobody]: not a remote include, installed skill or skill source with a version constraint\n",
    )


@pytest.mark.case("lock:V13")
@pytest.mark.parametrize(
    ("severity", "expected", "code"),
    [
        ("off", (None, None, 0), 0),
        ("loud", (None, None, 0), 0),
        ("info", ("AR734", "info", 0), 0),
        ("warning", ("AR734", "warning", 0), 0),
        ("error", ("AR734", "error", 1), 2),
    ],
)
def test_updates_as_findings(
    locked: RangeProject, severity: str, expected: tuple[str | None, str | None, int], code: int
) -> None:
    """AR734 is off unless ``[lint.severity]`` says otherwise; rows with a code keep it."""
    locked.config(f'[lint.severity]\nAR734 = "{severity}"\n' + locked.include())
    found, document = locked.outdated()
    (row,) = document["sources"]
    assert (row.get("code"), row.get("severity"), document["summary"]["errors"]) == expected
    assert found == code
    locked.remote.move("v3.4.0")
    row = _row(locked)
    assert (row["code"], "severity" in row) == ("AR732", False)


@pytest.mark.case("lock:V14")
def test_a_minimum_release_age(locked: RangeProject) -> None:
    """The newest that is old enough is allowed; what is held back is listed and counted; every tag is observed."""
    locked.config('[lock]\nmin_release_age = "7d"\n' + locked.include(">=3.4.0"))
    path = _seen(locked, v3_9_0=30, v4_1_0=1.5)
    code, document = locked.outdated()
    (row,) = document["sources"]
    assert (code, row["status"], row["allowed"], row["latest"]) == (0, "updatable", "v3.9.0", "v4.1.0")
    (held,) = row["held_back"]
    assert list(held) == ["tag", "commit", "released", "released_from", "age_days", "eligible_at"]
    assert (held["tag"], held["released_from"], held["age_days"]) == ("v4.1.0", "first-seen", 1)
    assert document["summary"]["held_back"] == 1
    assert path.read_text().count("[[tag]]") == 3
    text = locked.run("--outdated").out
    assert "; AR733 v4.1.0 held back: released 1 day ago (first-seen)\n" in text
    assert text.endswith(", 0 error(s), 1 held back\n")


@pytest.mark.case("lock:V14")
def test_everything_is_too_young(locked: RangeProject) -> None:
    """The pinned tag needs no age; without a pin there is nothing to take."""
    locked.config('[lock]\nmin_release_age = "7d"\n' + locked.include(">=3.4.0"))
    row = _row(locked)
    assert (row["status"], row["allowed"], len(row["held_back"])) == ("up-to-date", "v3.4.0", 2)
    (locked.folder / "ai-rulez.lock").unlink()
    code, document = locked.outdated()
    (row,) = document["sources"]
    assert (code, row["status"], row["code"], len(row["held_back"])) == (2, "unsatisfiable", "AR730", 3)
    assert document["summary"]["held_back"] == 3


def test_a_record_that_cannot_be_used_is_said(locked: RangeProject) -> None:
    """The tags are held back, with the reason; the file stays."""
    locked.config('[lock]\nmin_release_age = "7d"\n' + locked.include())
    path = _seen(locked, v3_9_0=30)
    path.write_text("broken")
    row = _row(locked)
    assert row["allowed"] == "v3.4.0"
    assert row["note"] == f"warning: cannot use {path}: it is no record of tags; delete it"
    assert row["held_back"][0]["reason"].startswith("no release time for v3.9.0: the repository is not on GitHub; ")
    assert path.read_text() == "broken"


def test_the_forge_decides(locked: RangeProject, tmp_path: Path) -> None:
    """A project that names GitHub, whose repository is here: a release of the right commit, an old one that moved."""
    commits = {tag: locked.remote.repo.git("rev-parse", f"{tag}^{{commit}}") for tag in ("v3.9.0", "v4.1.0")}
    url = "https://github.com/acme/rules"
    git = tmp_path / "gitconfig"
    git.write_text(f'[url "{locked.remote.url}"]\n\tinsteadOf = {url}\n')
    text = locked.include(">=3.4.0", more='min_release_age = "7d"\n').replace(locked.remote.url, url)
    locked.config(text)
    with local_forge() as forge:
        old = (NOW - timedelta(days=60)).strftime("%Y-%m-%dT%H:%M:%SZ")
        forge.publish("v3.9.0", old, commits["v3.9.0"])
        forge.publish("v4.1.0", old, commits["v4.1.0"], target=commits["v3.9.0"])
        env = {"GIT_CONFIG_GLOBAL": str(git), "GITHUB_API_URL": forge.api, "GITHUB_TOKEN": "t0ken"}
        row = _row(locked, env=env)
        assert (row["status"], row["allowed"]) == ("not-locked", "v3.9.0")
        (held,) = row["held_back"]
        assert (held["tag"], held["released_from"], held["age_days"]) == ("v4.1.0", "first-seen", 0)
        assert {asked.headers.get("Authorization") for asked in forge.asked} == {None}
        locked.config("[lock]\nmin_release_age_source = 'forge'\n" + text)
        (held,) = _row(locked, env=env)["held_back"]
        assert held["reason"].startswith("v4.1.0 was moved: its release is of commit ")


def test_no_ranges_and_no_network(project: RangeProject) -> None:
    """Nothing to look at is said; offline is refused before anything is read."""
    done = project.run("--outdated")
    assert (done.code, done.out) == (0, "no source uses a version constraint\n")
    assert project.outdated()[1]["sources"] == []
    offline = project.run("--outdated", "--offline")
    assert (offline.code, offline.err) == (
        1,
        "error: lock --outdated reads the remote's tags and needs the network; it cannot run with --offline\n",
    )


@pytest.mark.parametrize(
    ("argv", "message"),
    [
        (("--fail-on-outdated",), "--fail-on-outdated needs --outdated"),
        (("--outdated", "--check"), "--outdated only reads the tags of remotes, so it cannot be combined with --check"),
        (("--outdated", "--kind", "served"), 'unknown --kind "served" (use include, skill or source)'),
        (("--outdated", "--format", "xml"), 'unknown --format "xml" (use text or json)'),
    ],
)
def test_flags_that_do_not_belong_together(project: RangeProject, argv: tuple[str, ...], message: str) -> None:
    """Exit 1, before anything is asked."""
    done = project.run(*argv)
    assert (done.code, done.out, done.err) == (1, "", f"error: {message}\n")


def test_remotes_that_do_not_answer(locked: RangeProject, tmp_path: Path) -> None:
    """Exit 1; all of them are told, and nothing is reported as if it had been looked at."""
    gone = locked.include(name="gone").replace(locked.remote.url, f"file://{tmp_path}/nowhere")
    done = locked.config(locked.include() + gone + gone.replace("gone", "lost")).run("--outdated", "--format", "json")
    assert (done.code, done.out) == (1, "")
    assert 'error: include "gone": ' in done.err
    assert 'error: include "lost": ' in done.err
