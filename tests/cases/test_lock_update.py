"""``reqfile lock update`` as a process, over real repositories (cases W; seed 001 "update")."""

from __future__ import annotations

import json
import stat
from collections.abc import Callable
from dataclasses import replace

import pytest

from pytest_reqfile.lock.opening import lock_file
from pytest_reqfile.lock.values import Approval, Deny, Lock
from pytest_reqfile.project.places import project_at
from tests.support.ranges import RangeProject
from tests.support.repo import Repo

SECRET = 'token = "ghp_' + "a1B2" * 9 + '"\n'


@pytest.fixture
def project(repo: Repo, make_repo: Callable[[str], Repo]) -> RangeProject:
    return RangeProject(repo, make_repo)


@pytest.fixture
def locked(project: RangeProject) -> RangeProject:
    """v3.4.0 is pinned; v3.9.0 (annotated) and v4.1.0 came later."""
    project.remote.publish("v3.4.0", gone="# Gone\n", same="# Same\n")
    project.config(project.include()).lock()
    project.remote.repo.delete("rules/gone.md")
    project.remote.publish("v3.9.0", annotated=True, added="# Added\n")
    project.remote.publish("v4.1.0")
    return project


def _write(project: RangeProject, lock: Lock) -> None:
    place = project_at(project.repo.root, top=project.repo.root)
    assert place is not None
    lock_file(place).write(lock)


@pytest.mark.case("lock:W1")
@pytest.mark.case("lock:W12")
def test_a_pin_moves(locked: RangeProject) -> None:
    """Tag, tag object, commit and digest are new, the tree is made anew; everything else of the lock stays."""
    approval = Approval(
        kind="rule", id="own", digest="sha256:0", reviewer="a@b.c", assurance="asserted", approved_at="2026-01-01"
    )
    _write(locked, replace(locked.read(), approvals=(approval,)))
    before = locked.read()
    done = locked.run("update")
    new = locked.pin()
    assert (done.code, done.err) == (0, "")
    assert done.out == (
        f"include core: v3.4.0 -> v3.9.0 ({new.commit[:12]})\n"
        "  A  rules/added.md\n"
        "  D  rules/gone.md\n"
        "  M  rules/version.md\n"
        f"  tree {before.includes[0].digest} -> {new.digest}\n"
        "  run `ai-rulez generate`, then `reqfile lock` (it refreshes the output pins and the served-skill pins, which "
        "stay stale until then)\n"
        "updated 1 source(s)\n"
    )
    remote = locked.remote.repo
    assert (new.tag, new.commit) == ("v3.9.0", remote.git("rev-parse", "v3.9.0^{commit}"))
    assert new.tag_object == remote.git("rev-parse", "v3.9.0^{tag}")
    after = locked.read()
    assert after.tree != before.tree
    assert replace(after, includes=before.includes, tree=before.tree) == before
    assert locked.run("--check").code == 0
    assert locked.run("update").out == "include core: v3.9.0: up to date within the constraint\nupdated 0 source(s)\n"


@pytest.mark.case("lock:W10")
def test_a_dry_run(locked: RangeProject) -> None:
    """The same report and code; the lock's bytes stay, the new content is in the cache."""
    before = locked.bytes
    code, document = locked.update("--dry-run")
    assert (code, locked.bytes) == (0, before)
    assert list(document) == ["schema_version", "dry_run", "updates"]
    (item,) = document["updates"]
    assert list(item) == ["kind", "name", "from", "to", "digest_old", "digest_new", "files", "scan"]
    assert item["files"] == [
        {"path": "rules/added.md", "change": "A"},
        {"path": "rules/gone.md", "change": "D"},
        {"path": "rules/version.md", "change": "M"},
    ]
    assert item["scan"] == {"errors": 0, "warnings": 0}
    text = locked.run("update", "--dry-run")
    assert text.out.endswith("would update 1 source(s)\n")
    real = locked.update()
    assert real == (0, document | {"dry_run": False})
    assert locked.pin().digest == item["digest_new"]


@pytest.mark.case("lock:W12")
def test_old_content_that_is_not_here_is_not_compared(locked: RangeProject) -> None:
    """No list of files; nothing else is missing."""
    _, document = locked.update(env={"REQFILE_CACHE": str(locked.repo.home / "empty")})
    (item,) = document["updates"]
    assert "files" not in item
    assert item["digest_new"] == locked.pin().digest


@pytest.mark.case("lock:W12")
def test_old_content_that_is_not_the_pinned_one_is_not_compared(locked: RangeProject) -> None:
    """What somebody changed in the cache says nothing about the update."""
    cached = [path for path in (locked.repo.home / "reqfile-cache").rglob("gone.md") if path.is_file()]
    assert cached
    for path in cached:
        path.chmod(0o644)
        path.write_text("# Something else\n")
    code, document = locked.update("--dry-run")
    assert (code, "files" in document["updates"][0]) == (0, False)


@pytest.mark.case("lock:W12")
def test_the_same_content_under_a_new_tag(locked: RangeProject) -> None:
    """The list of files is there, and empty."""
    locked.run("update")
    locked.remote.repo.git("tag", "v3.9.1", "v3.9.0^{}")
    _, document = locked.update()
    assert document["updates"][0]["files"] == []


@pytest.mark.case("lock:W3")
def test_a_moved_tag_blocks_everything(locked: RangeProject) -> None:
    """Nothing is written for any source."""
    pinned = locked.pin().commit
    locked.config(locked.include() + locked.include("4.x", name="other"))
    moved = locked.remote.move("v3.4.0")
    before = locked.bytes
    code, document = locked.update()
    assert (code, locked.bytes) == (2, before)
    assert document["updates"] == []
    (blocked,) = document["blocked"]
    assert blocked["reason"] == (
        f"AR732 tag v3.4.0 was pinned at {pinned} but now points to {moved}; review the new commit, then pass "
        "--accept-moved-tag"
    )
    done = locked.run("update")
    assert (
        done.err
        == f"error: include core: {blocked['reason']}\nerror: 1 source(s) cannot be updated; nothing was written\n"
    )
    assert locked.run("update", "other").code == 0


@pytest.mark.case("lock:W4")
def test_a_moved_tag_that_is_accepted(locked: RangeProject) -> None:
    """It is pinned where it leads now, also if no newer one is allowed; a note says so."""
    locked.config(locked.include("3.4.x"))
    locked.run()
    moved = locked.remote.move("v3.4.0", same="# Other\n")
    code, document = locked.update("--accept-moved-tag")
    assert (code, document["notes"]) == (0, ["include core: accepted the moved tag v3.4.0"])
    (item,) = document["updates"]
    assert (item["from"], item["to"]) == ("v3.4.0", "v3.4.0")
    assert {"path": "rules/same.md", "change": "M"} in item["files"]
    assert (locked.pin().tag, locked.pin().commit) == ("v3.4.0", moved)
    assert locked.run("--check").code == 0


def test_a_moved_tag_is_accepted_whatever_its_age(locked: RangeProject) -> None:
    """Who accepts it has looked at it; a gate does not hold it back."""
    locked.config(locked.include("3.4.x", more='min_release_age = "7d"\n'))
    moved = locked.remote.move("v3.4.0")
    code, _ = locked.update("--accept-moved-tag")
    assert (code, locked.pin().commit) == (0, moved)


@pytest.mark.case("lock:W6")
def test_downgrades(locked: RangeProject) -> None:
    """Refused without consent, also where the pinned tag is gone or moved."""
    locked.run("update")
    locked.config(locked.include("<3.9.0 >=3.4.0"))
    before = locked.bytes
    code, document = locked.update()
    assert (code, document["updates"], locked.bytes) == (0, [], before)
    (left,) = document["unchanged"]
    refusal = (
        'refusing to move include "core" from v3.9.0 down to v3.4.0: a lower version can come from a truncated tag list'
    )
    assert left["reason"] == f"{refusal}; pass --allow-downgrade"
    locked.remote.move("v3.9.0")
    code, document = locked.update("--accept-moved-tag")
    assert (code, document["blocked"][0]["reason"]) == (2, f"{refusal}; pass --allow-downgrade")
    locked.remote.delete("v3.9.0")
    code, document = locked.update()
    assert (code, document["unchanged"][0]["reason"]) == (0, f"{refusal}; pass --allow-downgrade")
    assert document["notes"][0].startswith("include core: AR735 v3.9.0 no longer exists on the remote; ")
    assert locked.bytes == before
    code, document = locked.update("--allow-downgrade")
    assert (code, document["updates"][0]["to"], locked.pin().tag) == (0, "v3.4.0", "v3.4.0")


def test_a_deleted_tag_moves_up(locked: RangeProject) -> None:
    """It is only warned of, and the newest allowed tag is taken."""
    locked.remote.delete("v3.4.0")
    done = locked.run("update")
    assert (done.code, locked.pin().tag) == (0, "v3.9.0")
    assert done.err == "warning: include core: AR735 v3.4.0 no longer exists on the remote\n"


def test_a_pinned_tag_that_is_no_version(locked: RangeProject) -> None:
    """It moves only with consent to a downgrade, because nothing says that it goes up."""
    locked.remote.repo.git("tag", "x/v3.4.1", "v3.4.0")
    locked.config(locked.include(more='tag_prefix = "x/v"\n'))
    code, document = locked.update()
    reason = "the pinned tag v3.4.0 is no version; pass --allow-downgrade to move it"
    assert (code, document["unchanged"][0]["reason"]) == (0, reason)
    locked.update("--allow-downgrade")
    assert locked.pin().tag == "x/v3.4.1"


def test_what_is_not_locked_yet_is_pinned(project: RangeProject) -> None:
    """Without a lock one is made; it pins this source only."""
    project.remote.publish("v3.4.0")
    project.config(project.include())
    code, document = project.update()
    assert (code, "from" in document["updates"][0], project.pin().tag) == (0, False, "v3.4.0")
    assert not project.read().has_content_pins
    assert (
        project.run("update", "--dry-run").out
        == "include core: v3.4.0: up to date within the constraint\nwould update 0 source(s)\n"
    )


@pytest.mark.case("lock:W7")
@pytest.mark.parametrize(("version", "code"), [("^9", "AR730"), ("^^3", "AR731")])
def test_constraints_that_cannot_be_met(locked: RangeProject, version: str, code: str) -> None:
    """They block the other sources, too."""
    locked.config(locked.include() + locked.include(version, name="other"))
    before = locked.bytes
    exit_code, document = locked.update()
    assert (exit_code, locked.bytes, document["updates"]) == (2, before, [])
    assert document["blocked"][0]["reason"].startswith(f"{code} ")


@pytest.mark.case("lock:W9")
def test_findings_refuse_the_pin(locked: RangeProject) -> None:
    """Nothing is written, a dry run is refused in the same way; accepted findings are said to be."""
    locked.remote.publish("v3.9.5", leak=SECRET)
    before = locked.bytes
    for flags in (("--dry-run",), ()):
        code, document = locked.update(*flags)
        (item,) = document["updates"]
        assert (code, locked.bytes) == (2, before)
        assert item["scan"]["errors"] >= 1
        assert item["scan"]["refused"] is True
        assert item["scan"]["findings"][0]["file"] == "rules/leak.md"
        assert "ghp_a1B2a1B2" not in json.dumps(document)
    done = locked.run("update")
    assert "include core: the security scan found 1 error(s)" in done.err
    assert done.err.endswith(
        "error: refused 1 source(s): the security scan of the new tree has error findings; review them, then pass "
        "--accept-findings. Nothing was written\n"
    )
    assert "updated" not in done.out
    code, document = locked.update("--accept-findings")
    assert (code, document["updates"][0]["scan"]["accepted"], locked.pin().tag) == (0, True, "v3.9.5")


def test_a_denied_digest_is_not_pinned(locked: RangeProject) -> None:
    """AR717; nothing is written."""
    _, document = locked.update("--dry-run")
    denied = document["updates"][0]["digest_new"]
    _write(locked, replace(locked.read(), denied=(Deny(digest=denied, reason="bad"),)))
    before = locked.bytes
    done = locked.run("update")
    assert (done.code, locked.bytes) == (1, before)
    assert "AR717" in done.err


def test_a_lock_that_was_edited_by_hand(locked: RangeProject) -> None:
    """It stays red: a new tree digest would hide the edit."""
    edited = locked.bytes.replace(b"kind = 'rule'", b"kind = 'rule'\nowner = 'x'").replace(
        b"id = 'own'", b"id = 'other'"
    )
    (locked.folder / "ai-rulez.lock").write_bytes(edited)
    done = locked.run("update")
    assert (done.code, done.out, locked.bytes) == (2, "", edited)
    assert done.err.startswith(
        "error: the tree digest does not match the pins in ai-rulez.lock; it was edited by hand. Nothing was written: "
    )


@pytest.mark.case("lock:W13")
def test_names_and_kinds(locked: RangeProject) -> None:
    """Only what is named moves; entries are told apart by kind and name; a wrong name is an error."""
    skill = locked.include("~3.4.0", table="installed_skills", more='path = "rules"\n')
    locked.config(locked.include() + skill).lock()
    locked.config(locked.include() + skill.replace("~3.4.0", "^3.4"))
    code, document = locked.update("--kind", "skill")
    assert (code, [item["kind"] for item in document["updates"]]) == (0, ["skill"])
    assert locked.pin().tag == "v3.4.0"
    wrong = locked.run("update", "nobody")
    assert (wrong.code, wrong.err) == (
        1,
        "error: [nobody]: not a remote include, installed skill or skill source with a version constraint\n",
    )


def test_a_source_that_is_named_update(locked: RangeProject) -> None:
    """``--`` tells it from the command."""
    locked.config(locked.include("4.x", name="update"))
    done = locked.repo.run("lock", "--", "update", env={"AI_RULEZ_ALLOW_FILE_URLS": "1"})
    assert (done.code, locked.read().includes[0].name) == (0, "update")
    assert locked.repo.run("--edition", "0.4", "lock", "update", "--help").out.startswith("usage: reqfile lock update ")


@pytest.mark.parametrize(
    ("argv", "message"),
    [
        (("--write-config",), "--write-config needs --major"),
        (("--kind", "served"), 'unknown --kind "served" (use include, skill or source)'),
        (("--format", "xml"), 'unknown --format "xml" (use text or json)'),
        (("--offline",), "lock update reads the remote's tags and needs the network; it cannot run with --offline"),
    ],
)
def test_flags_that_do_not_belong_together(project: RangeProject, argv: tuple[str, ...], message: str) -> None:
    """Exit 1, before anything is asked; so is a flag that nobody knows."""
    done = project.run("update", *argv)
    assert (done.code, done.out, done.err) == (1, "", f"error: {message}\n")
    assert project.run("update", "--nonsense").code == 1


@pytest.mark.case("lock:W15")
def test_newer_majors_are_suggested(locked: RangeProject) -> None:
    """Nothing is written, no pin moves."""
    before = (locked.folder / "config.toml").read_bytes(), locked.bytes
    done = locked.run("update", "--major")
    assert (done.code, done.out) == (
        0,
        'include core: newer major v4.1.0: version = "^4.0" (now "^3.4"); `reqfile lock update --major --write-config` '
        "applies it\n",
    )
    _, document = locked.update("--major")
    assert document == {
        "schema_version": 1,
        "dry_run": False,
        "updates": [],
        "major": [{"kind": "include", "name": "core", "from": "^3.4", "to": "^4.0", "latest": "v4.1.0"}],
    }
    assert ((locked.folder / "config.toml").read_bytes(), locked.bytes) == before
    locked.config(locked.include("4.x"))
    assert locked.run("update", "--major").out == "no source has a newer major version\n"


def test_a_major_is_not_the_way_around_a_moved_tag(locked: RangeProject) -> None:
    """It is blocked; accepted, it is no matter of a major version."""
    locked.remote.move("v3.4.0")
    before = (locked.folder / "config.toml").read_bytes(), locked.bytes
    code, document = locked.update("--major", "--write-config")
    assert (code, [item["name"] for item in document["blocked"]]) == (2, ["core"])
    done = locked.run("update", "--major", "--write-config", "--accept-moved-tag")
    assert (done.code, done.out) == (0, "no source has a newer major version\n")
    assert ((locked.folder / "config.toml").read_bytes(), locked.bytes) == before


@pytest.mark.case("lock:W16")
def test_a_newer_major_is_taken(locked: RangeProject) -> None:
    """Only the constraint's text changes, whatever the layout; the pin moves; other sources stay."""
    text = (
        "# top\r\nversion = \"5.0\"\r\nname = 'demo' # name\r\n\r\n[[includes]]\r\n"
        f"  name='core'\r\n\tsource = '{locked.remote.url}'\r\n  version   =\t'^3.4'  # keep  me\r\n"
        f'[[includes]]\nname = "other"\nsource = "{locked.remote.url}"\nref = "^3.4"\n'
    )
    config = locked.write("config.toml", text.encode())
    config.chmod(0o640)
    locked.run()
    before = locked.read()
    code, document = locked.update("--major", "--write-config", "core")
    assert code == 0
    assert document["major"][0]["written"] is True
    assert [item["to"] for item in document["updates"]] == ["v4.1.0"]
    assert config.read_bytes().decode() == text.replace("'^3.4'  #", "'^4.0'  #")
    assert stat.S_IMODE(config.stat().st_mode) == 0o640
    after = locked.read()
    assert (after.includes[0].tag, after.includes[0].ref) == ("v4.1.0", "^4.0")
    assert after.includes[1] == before.includes[1]
    assert locked.run("--check").code == 0
    assert sorted(path.name for path in locked.folder.iterdir()) == ["ai-rulez.lock", "config.toml", "rules"]


def test_a_dry_run_of_a_newer_major(locked: RangeProject) -> None:
    """The move is shown, neither file is written."""
    before = (locked.folder / "config.toml").read_bytes(), locked.bytes
    code, document = locked.update("--major", "--write-config", "--dry-run")
    assert (code, document["updates"][0]["to"], "written" in document["major"][0]) == (0, "v4.1.0", False)
    assert ((locked.folder / "config.toml").read_bytes(), locked.bytes) == before


def test_the_shorthand_is_rewritten(locked: RangeProject) -> None:
    """``ref = "^3.4"`` is a constraint, too."""
    text = locked.include().replace("version =", "ref =")
    locked.config(text)
    assert locked.update("--major", "--write-config")[0] == 0
    assert (locked.folder / "config.toml").read_text().endswith('ref = "^4.0"\n')


@pytest.mark.case("lock:W17")
def test_a_refused_major_leaves_the_config(locked: RangeProject) -> None:
    """Findings, a repository that has gone, a lock that cannot be written: both files are as they were."""
    config = locked.folder / "config.toml"
    config.chmod(0o640)
    locked.remote.publish("v5.0.0", leak=SECRET)
    before = config.read_bytes(), config.stat().st_mtime_ns, locked.bytes
    code, document = locked.update("--major", "--write-config")
    assert (code, document["updates"][0]["scan"]["refused"], "written" in document["major"][0]) == (2, True, False)
    hidden = locked.remote.repo.root.rename(locked.remote.repo.root.with_name("away"))
    assert locked.run("update", "--major", "--write-config").code == 1
    hidden.rename(locked.remote.repo.root)
    assert (config.read_bytes(), config.stat().st_mtime_ns, locked.bytes) == before
    assert stat.S_IMODE(config.stat().st_mode) == 0o640


@pytest.mark.case("lock:W18")
def test_a_source_that_must_be_edited_by_hand(locked: RangeProject) -> None:
    """An inline array has no table to patch; a config.toml behind a link is not followed."""
    inline = f'includes = [{{name = "core", source = "{locked.remote.url}", version = "^3.4"}}]\n'
    locked.config(inline)
    done = locked.run("update", "--major", "--write-config")
    assert (done.code, done.out) == (1, "")
    assert done.err == 'error: no [[includes]] entry named "core" in config.toml; edit it by hand\n'
    locked.config(locked.include())
    config = locked.folder / "config.toml"
    config.rename(locked.folder / "real.toml")
    config.symlink_to("real.toml")
    done = locked.run("update", "--major", "--write-config")
    assert done.code == 1
    assert "edit it by hand" in done.err
    assert config.is_symlink()


def test_ages_hold_updates_back(locked: RangeProject) -> None:
    """What is too young is told, and the release time of what is taken is recorded."""
    locked.config('[lock]\nmin_release_age = "7d"\nmin_release_age_source = "commit"\n' + locked.include())
    for tag, second in (("v3.9.8", 1_600_000_000), ("v3.9.9", 4_000_000_000)):
        locked.remote.repo.git("tag", "-a", "-m", "x", tag, env={"GIT_COMMITTER_DATE": f"{second} +0000"})
    code, document = locked.update()
    (item,) = document["updates"]
    assert (code, item["to"], item["released_from"]) == (0, "v3.9.8", "commit")
    assert item["released"] == "2020-09-13T12:26:40Z"
    assert [held["tag"] for held in item["held_back"]] == ["v3.9.9"]
    assert list(item)[-4:] == ["held_back", "released", "released_from", "scan"]
    assert (locked.pin().released, locked.pin().released_from) == (item["released"], "commit")
    done = locked.run("update")
    assert "  AR733 v3.9.9 held back: released less than a day ago (commit)\n" in done.out


def test_outside_of_a_project(repo: Repo) -> None:
    """There is nothing to update, and that is an error."""
    done = repo.run("lock", "update")
    assert (done.code, done.err) == (1, f"error: no .ai-rulez project in or above {repo.root}\n")
