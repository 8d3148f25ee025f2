"""What is reviewed must have no unseen say in the run that reviews it (seed 003; spec oracle.md 5.2, 9.12)."""

from __future__ import annotations

import json
import sys
from pathlib import Path

import pytest

from tests.support import Repo
from tests.support.missions import criterion, entry, mission_text

TOLD = "C: the verifier was loaded under the reviewed project's own configuration, or imports from it"


@pytest.fixture
def reviewed(project: Repo) -> Repo:
    """A committed workspace with a plugin and an ini file of its own; the mission lies in ``home``."""
    project.write("evil.py", "def pytest_runtest_makereport(item, call): print('EVIL')\n")
    project.write("own.ini", "[pytest]\n")
    project.write("tests/test_a.py", "def test_a(): pass\n")
    project.write("tests/conftest.py", "")
    project.commit()
    project.home.joinpath("mission.json").write_text(mission_text(entry("true"), criteria=[criterion()]))
    return project


def _arguments(repo: Repo) -> tuple[str, ...]:
    return (str(repo.home / "mission.json"), "--reqfile-oracle-sink", str(repo.home / "sink"), "-p", "no:cacheprovider")


def _is_told(repo: Repo) -> bool:
    claims = json.loads((repo.home / "sink" / "worker-claims.json").read_text())
    (claim,) = claims["claims"]
    assert claim["text"].startswith("[pass] ")
    told = TOLD in claims["limitations"]
    assert told == ("(confidence: low)" in claim["text"])
    return told


@pytest.mark.parametrize("mode", [("-p", "no:xdist"), ("-n", "2")], ids=["alone", "workers"])
def test_a_run_from_outside_is_not_influenced(reviewed: Repo, mode: tuple[str, ...]) -> None:
    """Started in the reviewed workspace, with everything that pytest loads elsewhere."""
    done = reviewed.execute(sys.executable, "-P", "-m", "pytest", *_arguments(reviewed), *mode)
    assert done.code == 0, done.out + done.err
    assert not _is_told(reviewed)
    assert reviewed.git("status", "--porcelain", "--ignored") == ""


@pytest.mark.parametrize(
    ("start", "more", "variables"),
    [
        (("-m", "pytest"), ("-p", "no:xdist"), {}),
        (("-m", "pytest"), ("-n", "2"), {}),
        (("-P", "-m", "pytest"), ("-c", "own.ini", "--rootdir", "{home}"), {}),
        (("-P", "-m", "pytest"), ("--rootdir", "."), {}),
        (("-P", "-m", "pytest"), ("-p", "evil"), {"PYTHONPATH": "{root}"}),
        (("-P", "-m", "pytest"), (), {"PYTHONPATH": "{root}/tests"}),
        (("-P", "-m", "pytest"), ("tests", "--rootdir", "{home}", "--import-mode", "importlib"), {}),
    ],
    ids=["current-folder", "workers", "ini", "rootdir", "plugin", "import-path", "conftest"],
)
@pytest.mark.case("oracle:9.12")
def test_influence_is_told(
    reviewed: Repo, start: tuple[str, ...], more: tuple[str, ...], variables: dict[str, str]
) -> None:
    """Low confidence and a limitation, whatever the way in."""
    places = {"root": str(reviewed.root), "home": str(reviewed.home)}
    words = (word.format(**places) for word in more)
    env = {name: value.format(**places) for name, value in variables.items()}
    done = reviewed.execute(sys.executable, *start, *_arguments(reviewed), *words, env=env)
    assert done.code == 0, done.out + done.err
    assert _is_told(reviewed)


@pytest.mark.parametrize(("variables", "told"), [({}, False), ({"PYTHONPATH": "."}, True)])
@pytest.mark.case("oracle:9.12")
def test_the_command_takes_no_module_of_the_workspace(reviewed: Repo, variables: dict[str, str], *, told: bool) -> None:
    """``python -m`` looks into the current folder first; what a user puts on the path is told."""
    sink = str(reviewed.home / "sink")
    if not told:
        for name in ("json", "argparse", "yaml", "subprocess", "sitecustomize", "hashlib", "selectors"):
            reviewed.write(f"{name}.py", "raise SystemExit('shadowed')\n")
    mission = str(reviewed.home / "mission.json")
    done = reviewed.execute(
        sys.executable, "-m", "pytest_reqfile", "oracle", "run", mission, "--sink", sink, env=variables
    )
    assert done.code == 0, done.out + done.err
    assert _is_told(reviewed) is told


@pytest.mark.parametrize("mode", [("-p", "no:xdist"), ("-n", "2")], ids=["alone", "workers"])
@pytest.mark.case("oracle:9.19")
def test_what_ran_is_told_though_pytest_stopped(project: Repo, mode: tuple[str, ...]) -> None:
    """With ``-x`` pytest reports no more after a failure; all commands had run by then, and the claims say how."""
    project.write("a.txt", "x")
    project.commit()
    oracle = (entry("true", check_id="A"), entry("false", check_id="B"), entry("exit 3", check_id="C"))
    criteria = [criterion(f"AC-{name}", name) for name in "ABC"]
    (project.home / "mission.json").write_text(mission_text(*oracle, criteria=criteria))
    done = project.pytest(*_arguments(project), "-x", *mode)
    assert done.code in {1, 2}, done.out + done.err
    claims = json.loads((project.home / "sink" / "worker-claims.json").read_text())
    assert [claim["text"].partition("]")[0] for claim in claims["claims"]] == ["[pass", "[fail", "[fail"]
    assert [check["exitCode"] for check in claims["checks"]] == [0, 1, 3]


def test_evidence_is_not_overwritten_by_what_was_not_reported(project: Repo) -> None:
    """Ctrl-C during the second command: the first one's receipt stays, the second says that it was interrupted."""
    project.write("conftest.py", "")
    project.commit()
    seconds = "0.4"
    plugin = project.home / "stopping.py"
    plugin.write_text(
        "import os, signal, threading, time\n"
        "from pathlib import Path\n"
        "def stop():\n"
        f"    receipt = Path({str(project.home / 'sink' / 'oracle' / '01-A.json')!r})\n"
        "    while not receipt.exists(): time.sleep(0.01)\n"
        f"    time.sleep({seconds}); os.kill(os.getpid(), signal.SIGINT)\n"
        "threading.Thread(target=stop, daemon=True).start()\n"
    )
    oracle = (entry("exit 3", check_id="A"), entry("sleep 20", check_id="B"), entry("true", check_id="C"))
    (project.home / "mission.json").write_text(mission_text(*oracle))
    variables = {"PYTHONPATH": str(project.home)}
    done = project.pytest(*_arguments(project), "-p", "stopping", "-p", "no:xdist", env=variables)
    assert done.code == 2, done.out + done.err
    claims = json.loads((project.home / "sink" / "worker-claims.json").read_text())
    assert [check["exitCode"] for check in claims["checks"]] == [3, None, None]
    receipts = [json.loads(path.read_text()) for path in sorted(Path(project.home, "sink", "oracle").glob("*.json"))]
    assert [receipt.get("blockedReason") for receipt in receipts] == [None, "interrupted", "not-run"]
    assert [receipt["process"]["reason"] for receipt in receipts] == ["exit", "signal", "not-started"]
