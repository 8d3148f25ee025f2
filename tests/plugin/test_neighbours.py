"""Plugins that people run beside ours: one run of each, in which both do what they promise (issue 5 item 7)."""

from __future__ import annotations

import json
import re
import tomllib
from importlib.metadata import entry_points
from pathlib import Path
from typing import Any

import pytest

from tests.support import Completed, Repo
from tests.support.neighbours import NEIGHBOURS, without_neighbours
from tests.support.reports import read_json
from tests.support.requirements import OK, command, req, say

FOUND = {
    "message": {"text": "bare except"},
    "locations": [{"physicalLocation": {"artifactLocation": {"uri": "src/a.py"}, "region": {"startLine": 4}}}],
}

LINKED = """
import pytest
from shop import used

@pytest.mark.requirement('PASSES')
def test_a(): assert used() == 1
"""


@pytest.fixture
def project(project: Repo) -> Repo:
    """A pass, a located failure, an advisory finding, an error, a check of nothing and a linked test."""
    project.write("found.sarif", json.dumps({"runs": [{"results": [FOUND]}]}))
    checks = {
        "PASSES": [OK],
        "FAILS": [command("cat found.sarif; exit 1", format="sarif")],
        "ADVISES": [say("careful", mode="advisory")],
        "BREAKS": [command("exit 7")],
        "QUIET": [command("exit 1", files="**/*.go")],
    }
    project.write("Reqfile.yaml", req(**checks))
    project.write("pytest.ini", "[pytest]\npythonpath = .\n")
    project.write("shop.py", "def used(): return 1\n")
    project.write("test_a.py", LINKED)
    return project


def run(project: Repo, neighbours: tuple[str, ...], *arguments: str, **variables: str) -> Completed:
    """pytest with the neighbour on and our JSON report."""
    env = {"PYTEST_ADDOPTS": without_neighbours(*neighbours), **variables}
    return project.pytest("--reqfile-json=r.json", *arguments, env=env)


def report(project: Repo) -> dict[str, Any]:
    """The JSON report of the last run."""
    return read_json(project.path("r.json").read_text("utf-8"))


def statuses(project: Repo) -> dict[str, str]:
    """Status of each requirement's only check, and the result of the linked test."""
    found = report(project)
    tests = {test["nodeid"]: test["result"] for test in found["tests"]}
    return {item["owner"]: item["status"] for item in found["items"]} | tests


USUAL = {
    "PASSES": "pass",
    "FAILS": "fail",
    "ADVISES": "advisory",
    "BREAKS": "error",
    "QUIET": "nothing_to_check",
    "test_a.py::test_a": "passed",
}


def test_the_suite_turns_all_of_them_off() -> None:
    """pyproject.toml names what tests/support/neighbours.py names, and each is installed."""
    options = tomllib.loads(Path("pyproject.toml").read_text("utf-8"))["tool"]["pytest"]["ini_options"]["addopts"]
    off = [option.removeprefix("-pno:") for option in options if option.startswith("-pno:")]
    assert tuple(off) == NEIGHBOURS
    assert set(NEIGHBOURS) <= {point.name for point in entry_points(group="pytest11")}


def test_randomly(project: Repo) -> None:
    """Items in any order give the same report."""
    done = run(project, ("randomly",), "--randomly-seed=3")
    assert "Using --randomly-seed=3" in done.out
    assert done.code == 1
    assert statuses(project) == USUAL


def test_rerunfailures(project: Repo) -> None:
    """What counts is the last attempt: a check is evaluated again, and the report has it once."""
    flaky = command("test -f ran || { touch ran; echo first; exit 1; }")
    project.write("Reqfile.yaml", req(FLAKY=[flaky], FAILS=[say("always")], BREAKS=[command("exit 7")]))
    done = run(project, ("rerunfailures",), "--reruns=1", "Reqfile.yaml")
    assert done.code == 1
    assert re.search(r"1 failed, 1 passed, 1 error, 3 rerun in", done.out), done.out
    assert statuses(project) == {"FLAKY": "pass", "FAILS": "fail", "BREAKS": "error"}


SPECS = """
[[verifiers]]
id = "hangs"
rule = "r"
[verifiers.require.command]
argv = ["sleep", "62.375"]

[[verifiers]]
id = "passes"
rule = "r"
[verifiers.require.command]
argv = ["true"]
"""


def test_timeout(project: Repo) -> None:
    """Its timeout is an error in its words, the command is gone, and the items after it run."""
    project.write("Reqfile.yaml", req(HANGS=[command("sleep 61.375; true")], PASSES=[OK]))
    project.write(".ai-rulez/config.toml", 'version = "5.0"\nname = "demo"\n')
    project.write(".ai-rulez/rules/r.md", "# r\n")
    project.write(".ai-rulez/verifiers/v.toml", SPECS)
    done = run(project, ("timeout",), "--timeout=4", "--reqfile", "--reqfile-allow-exec", "-k", "not test_a")
    assert done.code == 1
    assert statuses(project) == {"HANGS": "error", "PASSES": "pass", "hangs": "error", "passes": "pass"}
    reasons = {item["owner"]: item["reason"] for item in report(project)["items"]}
    assert "Timeout (>4.0s)" in reasons["HANGS"]
    assert "Timeout (>4.0s)" in reasons["hangs"]
    running = project.execute("ps", "-eo", "args").out
    assert "sleep 61.375" not in running
    assert "sleep 62.375" not in running


def test_sugar(project: Repo) -> None:
    """Its own display of the run; our section and counts remain."""
    done = run(project, ("sugar",), "--force-sugar")
    assert done.code == 1
    assert "4 checks run, 1 with nothing to check. 1 violation, 1 advisory finding, 1 error." in done.out
    assert statuses(project) == USUAL


def test_html(project: Repo) -> None:
    """Each item once in its page, an advisory finding as expected failure."""
    done = run(project, ("html", "html_fixtures", "metadata"), "--html=page.html", "--self-contained-html")
    assert done.code == 1, done.out
    page = project.path("page.html").read_text("utf-8")
    for name in ("PASSES", "FAILS", "ADVISES", "BREAKS", "QUIET"):
        assert f"Reqfile.yaml::{name}/command-1" in page
    assert "1 Expected failures" in page
    assert statuses(project) == USUAL


def test_cov(project: Repo) -> None:
    """Coverage of Python tests, and our reports beside it."""
    done = run(project, ("pytest_cov",), "--cov=shop", "--cov-report=term")
    assert done.code == 1
    assert re.search(r"shop\.py\s+\d+\s+0\s+100%", done.out), done.out
    assert statuses(project) == USUAL


def test_github_annotations(project: Repo) -> None:
    """A failure is annotated at the finding; the plugin says nothing of errors (user-asks 42)."""
    done = run(
        project, ("pytest_github_actions_annotate_failures",), GITHUB_ACTIONS="true", GITHUB_WORKSPACE=str(project.root)
    )
    notes = [line for line in (done.out + done.err).splitlines() if line.startswith("::error")]
    assert notes == ["::error file=src/a.py,line=4::[reqfile] FAILS/command-1%0A%0Abare except"]
    assert "declared at Reqfile.yaml:16\n" in done.out
