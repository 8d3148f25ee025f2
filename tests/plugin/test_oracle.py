"""Missions in pytest: items, outcomes, claims from the brief, the same with workers (seed 003; design 2.1)."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import pytest

from tests.support import Repo

Run = Callable[..., pytest.RunResult]


def _mission(**more: object) -> str:
    oracle = [
        {"checkId": "AC-1", "command": ["true"], "expectedExitCode": 0},
        {"checkId": "AC-2", "command": ["false"], "expectedExitCode": 0},
        {"checkId": "AC-3", "command": ["no-such-tool-at-all"], "expectedExitCode": 0},
    ]
    criteria = [{"id": f"AC-{n}", "text": f"criterion {n}", "checkId": f"AC-{n}"} for n in (1, 2, 3)]
    return json.dumps({"verificationOracle": oracle, "acceptanceCriteria": criteria, **more})


@pytest.fixture
def reviewed(project: Repo) -> Repo:
    """A committed workspace beside which missions and sinks lie in ``home``."""
    project.write("a.txt", "x")
    project.commit()
    project.home.joinpath("mission.json").write_text(_mission())
    return project


def _claims(sink: Path) -> Mapping[str, Any]:
    found: Mapping[str, Any] = json.loads(sink.joinpath("worker-claims.json").read_text())
    return found


@pytest.mark.case("oracle:9.19")
def test_every_outcome_in_every_mode(reviewed: Repo, mode: tuple[str, ...]) -> None:
    """A wrong exit code fails, what could not run is an error that says blocked, and the claims say both."""
    sink = reviewed.home / "sink"
    arguments = (str(reviewed.home / "mission.json"), "--reqfile-oracle-sink", str(sink), "-rA", *mode)
    done = reviewed.pytest(*arguments)
    assert done.code == 1, done.out + done.err
    assert "PASSED" in done.out
    assert "mission.json::oracle/AC-1" in done.out
    assert "1 failed, 1 passed, 1 error" in done.out
    assert "blocked (" in done.out
    assert "oracle commands: 1 passed, 1 failed, 1 blocked" in done.out
    verdicts = {claim["id"]: claim["text"] for claim in _claims(sink)["claims"]}
    assert set(verdicts) == {"AC-1", "AC-2", "AC-3"}
    assert "pass" in verdicts["AC-1"]
    assert "fail" in verdicts["AC-2"]
    assert "blocked" in verdicts["AC-3"]
    assert reviewed.git("status", "--porcelain") == ""


@pytest.mark.case("oracle:9.19")
def test_what_is_deselected_is_blocked_in_the_claims(reviewed: Repo, run: Run) -> None:
    """The claims are built from the brief: a command that did not run is never left out."""
    sink = reviewed.home / "sink"
    result = run(str(reviewed.home / "mission.json"), "-k", "AC-1", "--reqfile-oracle-sink", str(sink))
    result.assert_outcomes(passed=1, deselected=2)
    result.stdout.fnmatch_lines(["oracle: blocked"])
    texts = {claim["id"]: claim["text"] for claim in _claims(sink)["claims"]}
    assert "blocked" in texts["AC-2"]


def test_a_json_file_is_a_mission_only_by_name_and_content(reviewed: Repo, run: Run) -> None:
    """The walk never takes JSON for a mission, and other JSON that is named is left to others."""
    reviewed.write("mission.json", _mission())
    reviewed.write("other.json", "{}")
    reviewed.write("test_a.py", "def test_a(): pass\n")
    run().assert_outcomes(passed=1)
    assert run("other.json").ret == pytest.ExitCode.USAGE_ERROR
    assert "mission.json::oracle/AC-2" in run("--co", "-q", "mission.json").stdout.str()


def test_a_sink_inside_the_workspace_is_a_usage_error(reviewed: Repo, run: Run) -> None:
    """Evidence must not change what is reviewed."""
    result = run(str(reviewed.home / "mission.json"), "--reqfile-oracle-sink", "evidence")
    assert result.ret == pytest.ExitCode.USAGE_ERROR
    assert not reviewed.path("evidence").exists()


def test_a_bad_mission_blocks_everything(reviewed: Repo, run: Run) -> None:
    """Duplicate keys make every item an error, located."""
    path = reviewed.home / "bad.json"
    path.write_text(_mission().replace('"verificationOracle"', '"x": 1, "x": 2, "verificationOracle"', 1))
    result = run(str(path))
    assert result.ret == 1
    result.stdout.fnmatch_lines(["*blocked (oracle-invalid)*"])


def test_missions_of_one_name_do_not_share_a_sink(reviewed: Repo, run: Run) -> None:
    """Each has its claims; nothing is overwritten."""
    sink = reviewed.home / "sink"
    for name in ("one", "two"):
        reviewed.home.joinpath(name).mkdir()
        oracle = [{"checkId": name, "command": "true", "expectedExitCode": 0}]
        (reviewed.home / name / "mission.json").write_text(json.dumps({"verificationOracle": oracle}))
    paths = [str(reviewed.home / name / "mission.json") for name in ("one", "two")]
    run(*paths, "--reqfile-oracle-sink", str(sink)).assert_outcomes(passed=2)
    found = [_claims(folder)["checks"] for folder in (sink / "mission", sink / "mission" / "run-2")]
    assert [[check["checkId"] for check in checks] for checks in found] == [["one"], ["two"]]


@pytest.mark.case("oracle:9.1")
def test_a_mission_without_an_oracle_is_blocked(reviewed: Repo, run: Run) -> None:
    """Named, it is one item: no tests at all could pass for a success."""
    path = reviewed.home / "bare.json"
    path.write_text(json.dumps({"acceptanceCriteria": [{"id": "AC-1", "text": "t", "checkId": "C"}]}))
    result = run(str(path), "--reqfile-oracle-sink", str(reviewed.home / "sink"))
    result.assert_outcomes(errors=1)
    assert result.ret == 1
    (claim,) = _claims(reviewed.home / "sink")["claims"]
    assert claim["text"].startswith("[blocked] ")


def test_a_mission_that_changes_meanwhile_is_blocked(reviewed: Repo) -> None:
    """The claims must be about the brief that was run, not about an easier one."""
    mission = reviewed.home / "mission.json"
    easier = json.loads(_mission())
    easier["verificationOracle"], easier["acceptanceCriteria"] = (easier[key][:1] for key in list(easier)[:2])
    (reviewed.home / "changing.py").write_text(
        "from pathlib import Path\n"
        f"def pytest_runtest_teardown(): Path({str(mission)!r}).write_text({json.dumps(easier)!r})\n"
    )
    arguments = (str(mission), "--reqfile-oracle-sink", str(reviewed.home / "sink"), "-p", "changing")
    done = reviewed.pytest(*arguments, env={"PYTHONPATH": str(reviewed.home)})
    assert "oracle: blocked" in done.out, done.out + done.err
    claims = _claims(reviewed.home / "sink")
    assert [claim["text"].partition("]")[0] for claim in claims["claims"]] == ["[blocked"]
    assert any("the mission was changed while it was verified" in line for line in claims["limitations"])
