"""Locks in pytest: one item a part, the session fixture, once per run in the three xdist modes (issue 6.6)."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import replace

import pytest

from pytest_reqfile.lock.renew import LockRequest
from pytest_reqfile.lock.toptree import tree_of
from pytest_reqfile.lock.values import Entry
from tests.support import Repo
from tests.support.locks import LockProject

Run = Callable[..., pytest.RunResult]
LOCK = ".ai-rulez/ai-rulez.lock"
REQFILE = """reqfile: 1
code:
  - id: A
    must: x
    why: y
    checks:
      - command:
          run: "true"
          fix_hint: z
"""


@pytest.fixture
def locked(project: Repo) -> LockProject:
    """A locked project with a generated file."""
    found = LockProject(project).base()
    project.write("CLAUDE.md", "x\n")
    found.write(".generated-manifest.json", '{"files": ["CLAUDE.md"]}')
    found.lock()
    return found


def test_parts_in_every_mode(locked: LockProject, mode: tuple[str, ...]) -> None:
    """One item for each part that applies; a failure has a line for every difference, each naming its file."""
    locked.write("rules/tone.md", "new")
    locked.write("rules/more.md", "new")
    done = locked.repo.pytest("--strict-markers", "-W", "error", "-rA", *mode)
    lines = done.out.splitlines()
    assert done.code == 1
    assert f"FAILED {LOCK}::sources - source added    rule more (rules/more.md)" in lines
    for line in (
        ".ai-rulez/rules/more.md: source added    rule more (rules/more.md)",
        ".ai-rulez/rules/tone.md: source changed  rule tone (rules/tone.md)",
        "  fix: review the change with `reqfile lock --diff`, then run `reqfile lock` and commit the lock",
        f"declared at {LOCK}:1",
        f"PASSED {LOCK}::outputs",
        f"PASSED {LOCK}::lock",
    ):
        assert line in lines, done.out
    assert "1 failed, 2 passed" in done.out


def test_in_sync(locked: LockProject, run: Run) -> None:
    """Items by path, marker and name; parts that do not apply are none; nothing is written."""
    before = (locked.folder / "ai-rulez.lock").stat()
    run(LOCK).assert_outcomes(passed=3)
    run("-m", "lock and blocking").assert_outcomes(passed=3)
    run(f"{LOCK}::sources").assert_outcomes(passed=1)
    run("--reqfile", "--rootdir", str(locked.repo.root)).assert_outcomes(passed=3)
    after = (locked.folder / "ai-rulez.lock").stat()
    assert (before.st_mtime_ns, before.st_ino) == (after.st_mtime_ns, after.st_ino)


def test_collection_looks_at_the_lock_alone(locked: LockProject, run: Run) -> None:
    """Nothing is hashed under --collect-only, so nothing that cannot be hashed is noticed."""
    locked.write("skills/pack/assets/a\\b", "refused in a digest")
    result = run("--collect-only", "-q", LOCK)
    assert result.ret == 0
    result.stdout.fnmatch_lines([f"{LOCK}::sources", f"{LOCK}::outputs", f"{LOCK}::lock"])
    run(LOCK).assert_outcomes(errors=3)


def test_the_order_and_names_of_all_parts(locked: LockProject, run: Run) -> None:
    """Sources, outputs, remotes, served, lock; what nobody can compare is skipped with its reason."""
    lock = locked.read()
    assert lock is not None
    entry = Entry(name="gone", source="s", commit="c", digest="d")
    locked.save(replace(lock, served=(entry,), includes=(entry,)))
    result = run("-rs", LOCK)
    result.assert_outcomes(passed=2, skipped=1, failed=2)
    note = "1 served skill(s) were not compared: what a server serves is known to ai-rulez alone*"
    result.stdout.fnmatch_lines([f"{LOCK}: note: {note}", f"*SKIPPED*{note}"])
    names = [line.split("::")[1] for line in run("--co", "-q", LOCK).outlines if line.startswith(LOCK)]
    assert names == ["sources", "outputs", "remotes", "served", "lock"]


REMOTE = '[[includes]]\nname = "inc"\nsource = "https://h/inc"\n'


def test_what_nobody_could_look_at(locked: LockProject, mode: tuple[str, ...]) -> None:
    """Remote content that is not on this machine does not pass; where the lock is insisted on, it fails."""
    lock = locked.read()
    assert lock is not None
    entry = Entry(name="inc", source="https://h/inc", commit="c" * 40, digest="sha256:0")
    lock = replace(lock, includes=(entry,))
    locked.save(replace(lock, tree=tree_of(lock)))
    locked.config(f'{REMOTE}[[hooks]]\nevent = "Stop"\ncwd = "x"\n')
    locked.lock(LockRequest(content_only=True))
    note = "include inc not cached, so its content was not compared; `reqfile lock --fetch` brings it"
    key = "hook Stop:*:0: its key `cwd` is not pinned, because ai-rulez does not know it"
    done = locked.repo.pytest("-rs", LOCK, *mode)
    assert (done.code, "3 passed, 1 skipped" in done.out) == (0, True), done.out
    lines = done.out.splitlines()
    assert f"SKIPPED [1] {LOCK}:1: {note}; {key}" in lines
    assert [line for line in lines if "note: " in line] == [f"{LOCK}: note: {note}", f"{LOCK}: note: {key}"]
    locked.config(f"{REMOTE}[lock]\nenforce = true\n")
    locked.lock(LockRequest(content_only=True))
    done = locked.repo.pytest(LOCK, *mode)
    assert (done.code, "1 failed, 2 passed, 1 skipped" in done.out) == (1, True), done.out
    assert (
        f"{LOCK}: lock: remote includes are not in the local cache, so their content was not compared and [lock] "
        "enforce = true; run `reqfile lock --fetch` to bring them"
    ) in done.out.splitlines()


@pytest.mark.parametrize("text", ["version = 9\n", "["])
def test_an_unreadable_lock(locked: LockProject, run: Run, text: str) -> None:
    """``::load`` is an error with file and line, and so is the fixture."""
    locked.write("ai-rulez.lock", text)
    locked.repo.write("test_a.py", "def test_a(reqfile_lock): pass\n")
    result = run("-rE")
    result.assert_outcomes(errors=2)
    result.stdout.fnmatch_lines([f"ERROR {LOCK}::load - {LOCK}:1: *", f"ERROR test_a.py::test_a - * {LOCK}:1: *"])
    result.stdout.no_fnmatch_line("verifiers: *")  # a lock is none


def test_a_state_tells_its_differences(locked: LockProject, run: Run) -> None:
    """Where an assertion fails, pytest shows what differs, not the value's fields."""
    locked.write("rules/tone.md", "new")
    locked.repo.write("test_a.py", "def test_a(reqfile_lock):\n    assert reqfile_lock.in_sync\n")
    result = run("test_a.py")
    result.stdout.fnmatch_lines(
        [f"E*where False = LockState({LOCK}: source changed  rule tone (rules/tone.md)).in_sync"]
    )


TEST = """
def test_lock(reqfile_lock):
    lock = reqfile_lock
    assert (lock.exists, lock.in_sync) == (True, {in_sync})
    assert lock.tree.startswith("sha256:") and lock.subject.startswith("sha256:")
    assert [str(change) for change in lock.changes] == {changes}
"""


@pytest.mark.case("lock:Z1")
@pytest.mark.case("lock:Z2")
def test_the_fixture_in_every_mode(locked: LockProject, mode: tuple[str, ...]) -> None:
    """The same state wherever the test runs."""
    locked.repo.write("test_a.py", TEST.format(in_sync=True, changes=[]))
    locked.repo.write("test_b.py", TEST.format(in_sync=True, changes=[]))
    assert locked.repo.pytest("test_a.py", "test_b.py", *mode).code == 0
    locked.write("rules/tone.md", "new")
    for name in ("test_a.py", "test_b.py"):
        locked.repo.write(name, TEST.format(in_sync=False, changes=["source changed  rule tone (rules/tone.md)"]))
    done = locked.repo.pytest("test_a.py", "test_b.py", *mode)
    assert done.code == 0, done.out


@pytest.mark.case("lock:Z4")
def test_the_state_of_the_session_start(locked: LockProject, mode: tuple[str, ...]) -> None:
    """What tests do to the content meanwhile does not count: it was compared once."""
    (locked.folder / "rules/tone.md").chmod(0o644)
    locked.repo.write(
        "test_a.py",
        "import pathlib, time\n"
        "def test_first(reqfile_lock):\n    assert reqfile_lock.in_sync\n"
        "    pathlib.Path('.ai-rulez/rules/tone.md').write_text('changed')\n    time.sleep(0.2)\n"
        "def test_later(reqfile_lock):\n    assert reqfile_lock.in_sync\n",
    )
    assert locked.repo.pytest("test_a.py", *mode).code == 0


COUNTING = """
import os
import pytest_reqfile.lock.check as check
import pytest_reqfile.plugin.locks as locks
original = locks.check_project
def counting(*args, **kwargs):
    with open("computed.txt", "a") as file:
        file.write(f"{os.environ.get('PYTEST_XDIST_WORKER', 'controller')}\\n")
    return original(*args, **kwargs)
locks.check_project = counting
"""


def test_compared_once_per_run(locked: LockProject, mode: tuple[str, ...]) -> None:
    """By the controller under xdist, however many workers, items and tests ask."""
    locked.repo.write("conftest.py", COUNTING)
    locked.repo.write("test_a.py", "def test_a(reqfile_lock): pass\n" * 1 + "def test_b(reqfile_lock): pass\n")
    locked.repo.write("test_c.py", "def test_c(reqfile_lock): pass\n")
    done = locked.repo.pytest(*mode)
    assert done.code == 0, done.out
    assert locked.repo.path("computed.txt").read_text() == "controller\n"


def test_other_locks_are_compared_once_too(locked: LockProject) -> None:
    """One of a project below is compared by the first worker that needs it."""
    inner = Repo.__new__(Repo)
    inner.__dict__.update({**locked.repo.__dict__, "root": locked.repo.path("app")})
    LockProject(inner).base().lock()
    locked.repo.write("conftest.py", COUNTING)
    done = locked.repo.pytest("-n", "2", "app")
    assert (done.code, "2 passed" in done.out or "3 passed" in done.out) == (0, True), done.out
    computed = locked.repo.path("computed.txt").read_text().split()
    assert sorted(computed)[0] == "controller"
    assert len(computed) == 2


def test_without_a_lock(project: Repo, run: Run) -> None:
    """No items; the fixture says that there is none."""
    found = LockProject(project).base()
    project.write(
        "test_a.py",
        "def test_a(reqfile_lock):\n    assert (reqfile_lock.exists, reqfile_lock.in_sync) == (False, False)\n",
    )
    run().assert_outcomes(passed=1)
    (found.folder / "config.toml").unlink()
    for path in ("rules", "skills", "context", "agents", "commands", "checks", "domains"):
        project.delete(f".ai-rulez/{path}")
    run("test_a.py").assert_outcomes(passed=1)


def test_an_enforced_lock_that_is_missing(project: Repo, mode: tuple[str, ...]) -> None:
    """``[lock] enforce = true``: its item fails."""
    LockProject(project, "[lock]\nenforce = true\n").base()
    for arguments in ((), ("--reqfile",)):
        done = project.pytest("-rf", *arguments, *mode)
        assert done.code == 1
        assert (
            f"FAILED {LOCK}::lock - lock: ai-rulez.lock does not exist but [lock] enforce = true; run `reqfile lock`"
        ) in done.out.splitlines()
        assert "1 failed" in done.out


def test_enforcement_switched_off(locked: LockProject, run: Run) -> None:
    """``enforce = false``: differences are told and do not fail the run."""
    locked.config("[lock]\nenforce = false\n")
    locked.write("rules/tone.md", "new")
    result = run("-rA", LOCK)
    assert result.ret == 0
    result.stdout.fnmatch_lines(["*source changed  rule tone (rules/tone.md)*", "*2 passed, 1 advisory*"])


def test_a_broken_configuration(locked: LockProject, run: Run) -> None:
    """Every part is an error that says what is wrong."""
    locked.config("[lock]\nscope = 'x'\n")
    result = run("-rE", LOCK)
    result.assert_outcomes(errors=3)
    result.stdout.fnmatch_lines([f'ERROR {LOCK}::sources - .ai-rulez/config.toml:4: invalid lock scope "x"*'])


def test_a_weakened_verifier_shows_beside_its_own_result(locked: LockProject, run: Run) -> None:
    """Changed together with a stale lock it is visible in the same run, though it passes now."""
    text = '[[verifiers]]\nid = "v"\nrule = "tone"\n[verifiers.require.file_exists]\npath = "CLAUDE.md"\n'
    locked.write("verifiers/v.toml", text)
    locked.lock()
    run("-q").assert_outcomes(passed=4)
    locked.write("verifiers/v.toml", text.replace("CLAUDE.md", "."))
    result = run("-rA")
    result.assert_outcomes(passed=3, failed=1)
    result.stdout.fnmatch_lines(["FAILED *::sources - source changed  verifier v (verifiers/v.toml)"])


def test_requirements(project: Repo, mode: tuple[str, ...]) -> None:
    """The lock of a repository's Reqfiles has items beside theirs, and is the fixture where there is no project."""
    project.write("Reqfile.yaml", REQFILE)
    assert project.run("lock").code == 0
    project.write("test_a.py", TEST.format(in_sync=True, changes=[]))
    done = project.pytest("-rA", *mode)
    assert done.code == 0, done.out
    for name in ("Reqfile.yaml::A/command-1", ".reqfile/reqfile.lock::sources", ".reqfile/reqfile.lock::lock"):
        assert f"PASSED {name}" in done.out
    project.write("Reqfile.yaml", REQFILE.replace('"true"', '"exit 0"'))
    done = project.pytest("-rA", "--reqfile", *mode)
    assert "FAILED .reqfile/reqfile.lock::sources - source changed  requirement A (Reqfile.yaml)" in done.out
    assert "PASSED Reqfile.yaml::A/command-1" in done.out


def test_reports(locked: LockProject, run: Run) -> None:
    """A stale lock is in SARIF, JUnit and JSON, at its file."""
    locked.write("rules/tone.md", "new")
    run("--reqfile-sarif", "o.sarif", "--reqfile-json", "o.json", "--reqfile-junit", "o.xml", LOCK)
    results = json.loads(locked.repo.path("o.sarif").read_text())["runs"][0]["results"]
    texts = [result["message"]["text"] for result in results]
    assert any("source changed  rule tone" in text for text in texts)
    assert "source changed  rule tone" in locked.repo.path("o.xml").read_text()
    assert "source changed  rule tone" in locked.repo.path("o.json").read_text()


def _results(locked: LockProject, run: Run) -> list[tuple[str, str, str]]:
    """Of every SARIF result the code, the file and the level."""
    run("--reqfile-sarif", "o.sarif", "--reqfile")
    results = json.loads(locked.repo.path("o.sarif").read_text())["runs"][0]["results"]
    places = [result["locations"][0]["physicalLocation"]["artifactLocation"]["uri"] for result in results]
    return sorted(
        (one["properties"]["rule"], place, one.get("level", "warning"))
        for one, place in zip(results, places, strict=True)
    )


@pytest.mark.case("lock:Y7")
@pytest.mark.case("lock:Y8")
def test_codes_of_drift(locked: LockProject, run: Run) -> None:
    """AR981 at the source or the lock, AR982 at the output; with ``enforce = false`` nothing that fails."""
    locked.write("rules/tone.md", "new")
    locked.repo.write("CLAUDE.md", "new\n")
    assert _results(locked, run) == [
        ("AR981", ".ai-rulez/rules/tone.md", "error"),
        ("AR982", "CLAUDE.md", "error"),
    ]
    locked.config("[lock]\nenforce = false\n")
    assert {level for _, _, level in _results(locked, run)} == {"warning"}
    locked.config("")
    locked.write("ai-rulez.lock", "version = 1\n")
    assert _results(locked, run) == [("AR981", LOCK, "error")]
    locked.config("[lock]\nenforce = true\n")
    (locked.folder / "ai-rulez.lock").unlink()
    assert _results(locked, run) == [("AR981", LOCK, "error")]


def test_codes_of_drift_are_tuned(locked: LockProject, run: Run) -> None:
    """``[lint.severity]`` makes a part advisory by its code; a word nobody knows leaves it an error."""
    locked.write("rules/tone.md", "new")
    locked.repo.write("CLAUDE.md", "new\n")
    for severity, outcome in (
        ('AR982 = "warning"', "1 failed, 1 passed, 1 advisory"),
        ('AR981 = "off"', "1 failed, 1 passed, 1 advisory"),
        ('AR981 = "info"\nAR982 = "info"', "1 passed, 2 advisory"),
        ('AR981 = "mild"', "2 failed, 1 passed"),
    ):
        locked.config(f"[lint.severity]\n{severity}\n")
        done = run(LOCK)
        assert (done.ret, f" {outcome} in " in done.stdout.str()) == (int("failed" in outcome), True)


def test_tuned_codes_in_every_mode(locked: LockProject, mode: tuple[str, ...]) -> None:
    """Advisory for the workers, too."""
    locked.write("rules/tone.md", "new")
    locked.repo.write("CLAUDE.md", "new\n")
    locked.config('[lint.severity]\nAR982 = "warning"\n')
    done = locked.repo.pytest(LOCK, *mode)
    assert (done.code, " 1 failed, 1 passed, 1 advisory in " in done.out) == (1, True), done.out


def test_the_cache_can_be_switched_off(locked: LockProject, run: Run) -> None:
    """Nothing is kept then."""
    run("--reqfile-lock-no-cache", LOCK).assert_outcomes(passed=3)
    assert not (locked.repo.home / "reqfile-cache/lock").exists()


def test_switched_off(locked: LockProject, run: Run) -> None:
    """--no-reqfile: no items; the fixture still works."""
    locked.repo.write("test_a.py", TEST.format(in_sync=True, changes=[]))
    run("--no-reqfile").assert_outcomes(passed=1)


def test_a_symlinked_configuration_folder(locked: LockProject, mode: tuple[str, ...]) -> None:
    """A lock is never read through a symlink: an error of its own, in every mode."""
    locked.folder.rename(locked.repo.path("real"))
    locked.repo.symlink(".ai-rulez", "real")
    locked.repo.write("test_a.py", "def test_a(reqfile_lock): pass\n")
    done = locked.repo.pytest("-rE", "test_a.py", LOCK, *mode)
    assert done.code == 1
    assert f"ERROR {LOCK}::load - {LOCK}: read lock file: .ai-rulez: cannot read: a symbolic link" in done.out
    assert "2 errors" in done.out
