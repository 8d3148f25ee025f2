"""The state of a lock for a session: parts, outcomes, errors (issue 6.6)."""

from __future__ import annotations

import json
from dataclasses import replace

import pytest

from pytest_reqfile.lock.changes import VOUCHING_HINT, Change, Report, report_from_wire, report_to_wire
from pytest_reqfile.lock.check import check_project
from pytest_reqfile.lock.opening import lock_file
from pytest_reqfile.lock.state import LockState, part_outcome, parts_of, state_from_wire, state_to_wire, take_state
from pytest_reqfile.lock.toptree import subject_of
from pytest_reqfile.lock.values import Entry, ItemPin, Lock, OutputPin
from tests.support.locks import LockProject
from tests.support.repo import Repo

PATH = ".ai-rulez/ai-rulez.lock"
ITEM = ItemPin(kind="rule", id="a", digest="d")
ENTRY = Entry(name="a", source="s", commit="c", digest="d")


def _state(project: LockProject) -> LockState:
    loaded = project.load()
    return take_state(lock_file(loaded.place), lambda lock: check_project(loaded, lock, project.tools()))


@pytest.mark.parametrize(
    ("lock", "more", "parts"),
    [
        (Lock(items=(ITEM,)), False, "sources lock"),
        (Lock(items=(ITEM,), outputs_pinned=True), False, "sources lock"),
        (Lock(items=(ITEM,), outputs_pinned=True), True, "sources outputs remotes lock"),
        (Lock(items=(ITEM,)), True, "sources remotes lock"),
        (Lock(outputs=(OutputPin(role="r", digest="d"),)), False, "sources outputs lock"),
        (Lock(includes=(ENTRY,)), False, "remotes lock"),
        (Lock(items=(ITEM,), served=(ENTRY,)), True, "sources remotes served lock"),
        (Lock(), False, "lock"),
    ],
)
def test_parts_that_apply(lock: Lock, more: bool, parts: str) -> None:
    """A part that does not apply is no item; ``more`` are remote sources and a list of generated files."""
    assert parts_of(lock, has_remotes=more, generates=more) == tuple(parts.split())


def test_in_sync(repo: Repo) -> None:
    """Tree and subject of the lock; every part passes with what it looked at."""
    project = LockProject(repo).base()
    lock = project.lock()
    state = _state(project)
    assert (state.exists, state.in_sync, state.changes, state.notes, state.error) == (True, True, (), (), "")
    assert (state.tree, state.subject) == (lock.tree, subject_of(lock).digest)
    assert [(o.check, o.status, o.looked_at) for o in state.outcomes] == [
        ("sources", "pass", 8),
        ("outputs", "nothing_to_check", 0),
        ("remotes", "nothing_to_check", 0),
        ("served", "nothing_to_check", 0),
        ("lock", "pass", 1),
    ]
    assert state_from_wire(state_to_wire(state)) == state


def test_each_difference_names_its_file(repo: Repo) -> None:
    """Content by its path, declarations by config.toml, entries by the lock; each is one finding."""
    project = LockProject(repo, '[[hooks]]\nevent = "Stop"\n').base()
    project.lock()
    project.write("rules/tone.md", "new")
    project.config('[[hooks]]\nevent = "Start"\n')
    outcome = _state(project).outcome("sources")
    assert outcome.status == "fail"
    assert [(finding.file, finding.message) for finding in outcome.findings] == [
        (".ai-rulez/config.toml", "source added    hook Start:*:0"),
        (".ai-rulez/config.toml", "source removed  hook Stop:*:0"),
        (".ai-rulez/rules/tone.md", "source changed  rule tone (rules/tone.md)"),
    ]
    assert str(outcome.declared) == f"{PATH}:1"
    assert (
        outcome.fix_hint == "review the change with `reqfile lock --diff`, then run `reqfile lock` and commit the lock"
    )


@pytest.mark.case("lock:Y7")
@pytest.mark.parametrize(
    ("change", "part", "file"),
    [
        (
            Change(scope="source", change="changed", kind="local-include", id="s", path="../shared"),
            "sources",
            "../shared",
        ),
        (Change(scope="output", change="changed", path="CLAUDE.md"), "outputs", "CLAUDE.md"),
        (Change(scope="output", change="changed", kind="role", id="r"), "outputs", ".ai-rulez/config.toml"),
        (Change(scope="remote", change="changed", kind="include", id="r", detail="d"), "remotes", PATH),
        (Change(scope="served", change="changed", id="r", detail="d"), "served", PATH),
        (Change(scope="lock", change="changed", detail="d"), "lock", PATH),
        (Change(scope="approval", change="changed", kind="rule", id="r", detail="d"), "lock", PATH),
    ],
)
def test_files_of_every_scope(change: Change, part: str, file: str) -> None:
    """In exactly one part."""
    report = Report(name="ai-rulez.lock", changes=(change,), looked_at={"lock": 1})
    found = {one: part_outcome(PATH, report, one) for one in ("sources", "outputs", "remotes", "served", "lock")}
    assert [one for one, outcome in found.items() if outcome.status == "fail"] == [part]
    assert found[part].findings[0].file == file
    codes = {"source": "AR981", "lock": "AR981", "remote": "AR981", "output": "AR982", "served": "AR995"}
    assert found[part].findings[0].rule == codes.get(change.scope, "approval")


def test_what_could_not_be_looked_at() -> None:
    """An error of the lock's part, with its differences; other parts are judged. It crosses processes."""
    lost = Change(scope="lock", change="changed", detail="d")
    report = Report(name="ai-rulez.lock", changes=(lost,), looked_at={"lock": 1, "source": 1}, errors=("e", "f"))
    outcome = part_outcome(PATH, report, "lock")
    assert (outcome.status, outcome.reason) == ("error", "e\nf\nlock: d")
    assert part_outcome(PATH, report, "sources").status == "pass"
    assert not report.in_sync
    assert not replace(report, changes=()).in_sync
    assert report_from_wire(json.loads(json.dumps(report_to_wire(report)))) == report


def test_only_vouching_is_wrong() -> None:
    """Then a new lock would not help, and the hint says what does; each finding goes by its own code."""
    missing = Change(scope="approval", change="added", kind="rule", id="r", detail="AR710 d", code="AR710")
    unsigned = Change(scope="lock", change="changed", detail="AR720 d", code="AR720")
    report = Report(name="ai-rulez.lock", changes=(unsigned, missing), looked_at={"lock": 1})
    outcome = part_outcome(PATH, report, "lock")
    assert [finding.rule for finding in outcome.findings] == ["AR720", "AR710"]
    assert outcome.fix_hint == VOUCHING_HINT
    edited = replace(report, changes=(*report.changes, Change(scope="lock", change="changed", detail="d")))
    assert "reqfile lock --diff" in (part_outcome(PATH, edited, "lock").fix_hint or "")


def test_what_was_not_looked_at_is_no_pass(repo: Repo) -> None:
    """A part whose bytes nobody knows says so."""
    project = LockProject(repo).base()
    project.save(replace(project.lock(), served=(ENTRY,)))
    served = _state(project).outcome("served")
    assert served.status == "nothing_to_check"
    assert served.reason is not None
    assert "1 served skill(s) were not compared" in served.reason


def test_no_lock(repo: Repo) -> None:
    """Neither there nor in sync."""
    state = _state(LockProject(repo).base())
    assert (state.exists, state.in_sync, state.tree, state.subject) == (False, False, "", "")
    enforced = _state(LockProject(repo, "[lock]\nenforce = true\n").base())
    assert (enforced.exists, enforced.in_sync, enforced.outcome("lock").status) == (False, False, "fail")


@pytest.mark.case("lock:Y8")
@pytest.mark.parametrize("text", ["version = 9\n", "["])
def test_an_unreadable_lock(repo: Repo, text: str) -> None:
    """An error of every part, with the reason."""
    project = LockProject(repo).base()
    project.write("ai-rulez.lock", text)
    state = _state(project)
    assert (state.in_sync, state.changes) == (False, ())
    assert state.error.startswith(f"{PATH}:1: ")
    assert {state.outcome(part).status for part in ("sources", "lock")} == {"error"}
    assert state.outcome("sources").reason == state.error
    assert state_from_wire(state_to_wire(state)) == state


def test_other_wire_versions_are_refused() -> None:
    """A worker of another version cannot be misread."""
    with pytest.raises(ValueError, match="expected a lock state of wire version 1, found 2"):
        state_from_wire({**state_to_wire(LockState(path=PATH, exists=False)), "v": 2})
