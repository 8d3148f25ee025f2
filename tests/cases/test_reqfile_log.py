"""Cases J: the run log of command checks (seed 004 RUN_LOG), through the command line."""

from __future__ import annotations

import json
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest

import pytest_reqfile
from tests.support import Repo
from tests.support.blocks import block, reqfile_text, run

NO_FIXME = block("NO_FIXME", run('grep -n FIXME "$@" && exit 1 || exit 0', files="**/*.py", pass_files=True, fast=True))
PASSES = block("PASSES", run("true"))
BROKEN = block("BROKEN", run("exit 7"))
QUIET = block("QUIET", run("exit 1", files="**/*.go"))
CODE = "def clean():\n    pass\n\n\ndef hot():\n    pass  # HOT FIXME\n"


@pytest.fixture
def logged(repo: Repo) -> Repo:
    """Four requirements and a file with a mark, committed."""
    repo.write("Reqfile.yaml", reqfile_text(NO_FIXME, PASSES, BROKEN, QUIET))
    repo.write("a.py", CODE)
    repo.commit()
    return repo


def lines(repo: Repo, path: str) -> list[dict[str, Any]]:
    """The log, each line parsed by itself."""
    return [json.loads(line) for line in repo.path(path).read_text("utf-8").splitlines()]


@pytest.mark.case("reqfile:J1")
def test_every_line_says_of_which_run_it_is(logged: Repo) -> None:
    """HEAD, version, run and time are those of the run; parents of the file are made."""
    plain = logged.run("check")
    done = logged.run("check", "--log", "logs/deep/run.jsonl")
    assert (done.code, done.out) == (plain.code, plain.out)
    found = lines(logged, "logs/deep/run.jsonl")
    head = logged.git("rev-parse", "HEAD")
    assert {line["git_head"] for line in found} == {head}
    assert {line["v"] for line in found} == {1}
    assert {line["reqfile_version"] for line in found} == {pytest_reqfile.__version__}
    assert {(line["fast"], line["changed"], line["base"]) for line in found} == {(False, False, None)}
    (run_id,) = {line["run_id"] for line in found}
    (time,) = {line["time_ms"] for line in found}
    assert run_id.startswith(f"{time:x}-")


@pytest.mark.case("reqfile:J2")
def test_command_checks_and_their_findings_are_logged(logged: Repo) -> None:
    """A line for each check that ran, its findings after it; none for a check with nothing to check."""
    logged.run("check", "--log", "run.jsonl")
    shared = {"v", "run_id", "time_ms", "git_head", "reqfile_version", "fast", "changed", "base", "tags"}
    found = [{k: v for k, v in line.items() if k not in shared} for line in lines(logged, "run.jsonl")]
    fixme = 'grep -n FIXME "$@" && exit 1 || exit 0'
    assert found == [
        {
            "kind": "command_check",
            "requirement": "NO_FIXME",
            "command": fixme,
            "files": 1,
            "status": "violations",
            "findings": 1,
        },
        {
            "kind": "command_finding",
            "requirement": "NO_FIXME",
            "file": None,
            "line": None,
            "message": "6:    pass  # HOT FIXME",
            "probability": None,
            "uncertain": False,
        },
        {
            "kind": "command_check",
            "requirement": "PASSES",
            "command": "true",
            "files": 0,
            "status": "pass",
            "findings": 0,
        },
        {
            "kind": "command_check",
            "requirement": "BROKEN",
            "command": "exit 7",
            "files": 0,
            "status": "error",
            "error": "`exit 7` failed with exit code 7\n(no output)",
        },
    ]


@pytest.mark.case("reqfile:J4")
def test_tags_mark_every_line(logged: Repo) -> None:
    """Both tags, and ``fast``; a value may be empty or hold ``=``, the last of a key wins."""
    tags = ("--log-tag", "session_id=old", "--log-tag", "session_id=abc", "--log-tag", "hook=a=b", "--log-tag", "x=")
    logged.run("check", "--fast", "--changed", "HEAD", "--log", "run.jsonl", *tags)
    logged.write("b.py", CODE)
    logged.run("check", "--fast", "--changed", "HEAD", "--log", "run.jsonl", *tags)
    found = lines(logged, "run.jsonl")
    assert len(found) == 2
    for line in found:
        assert line["tags"] == {"session_id": "abc", "hook": "a=b", "x": ""}
        assert (line["fast"], line["changed"], line["base"]) == (True, True, "HEAD")


@pytest.mark.case("reqfile:J5")
@pytest.mark.parametrize("tag", ["no-equals", "=value", ""])
def test_a_malformed_tag_is_a_config_error(logged: Repo, tag: str) -> None:
    """Said before any check runs, and nothing is logged."""
    done = logged.run("check", "--log", "run.jsonl", "--log-tag", tag)
    assert (done.code, done.out) == (
        3,
        f"error  --log-tag must be KEY=VALUE, got `{tag}`\n\n"
        "0 checks run, 0 with nothing to check. 0 violations, 0 advisory findings, 1 error.\n",
    )
    assert not logged.path("run.jsonl").exists()


def test_a_tag_without_a_log_is_a_wrong_command_line(logged: Repo) -> None:
    """spec/reqfile.md 7: exit 2 from the argument parser."""
    done = logged.run("check", "--log-tag", "a=b")
    assert (done.code, done.out) == (2, "")
    assert done.err.endswith("error: argument --log-tag: needs --log\n")


@pytest.mark.case("reqfile:J6")
def test_a_log_that_cannot_be_written_is_an_error(logged: Repo) -> None:
    """It joins the errors of the checks, whose findings stay as they are."""
    logged.write("blocked")
    done = logged.run("check", "--only", "PASSES", "--log", "blocked/run.jsonl")
    assert done.code == 3
    assert done.out.startswith("error  cannot write the run log blocked/run.jsonl: ")
    assert done.out.endswith("\n\n1 check run, 0 with nothing to check. 0 violations, 0 advisory findings, 1 error.\n")


@pytest.mark.parametrize("target", ["Reqfile.yaml", "missing"])
def test_a_log_never_goes_through_a_symlink(logged: Repo, target: str) -> None:
    """A repository's symlink must not say what of ours is written where."""
    logged.symlink("run.jsonl", target)
    before = logged.path("Reqfile.yaml").read_bytes()
    done = logged.run("check", "--only", "PASSES", "--log", "run.jsonl")
    assert done.code == 3
    assert done.out.startswith("error  cannot write the run log run.jsonl: a symbolic link\n")
    assert logged.path("Reqfile.yaml").read_bytes() == before
    assert not logged.path("missing").exists()


def test_a_config_error_logs_nothing(logged: Repo) -> None:
    """spec/reqfile.md 8.6: a run that stops before its checks has no lines."""
    logged.write("Reqfile.yaml", "reqfile: 2\n")
    assert logged.run("check", "--log", "run.jsonl").code == 3
    assert not logged.path("run.jsonl").exists()


def test_a_run_without_checks_still_makes_the_log(logged: Repo) -> None:
    """Nothing ran, so no line; but a log that could not be made would be an error."""
    assert logged.run("check", "--only", "QUIET", "--log", "run.jsonl").code == 0
    assert logged.path("run.jsonl").read_bytes() == b""


def test_a_log_before_the_first_commit(repo: Repo) -> None:
    """There is no HEAD to name."""
    repo.git("checkout", "-q", "--orphan", "fresh")
    repo.write("Reqfile.yaml", reqfile_text(PASSES))
    assert repo.run("check", "--log", "run.jsonl").code == 0
    assert [line["git_head"] for line in lines(repo, "run.jsonl")] == [None]


def test_a_log_is_relative_to_the_current_folder(logged: Repo) -> None:
    """Not to the repository."""
    logged.write("sub/x", "")
    logged.run("check", "--only", "PASSES", "--log", "run.jsonl", cwd="sub")
    assert len(lines(logged, "sub/run.jsonl")) == 1


def test_what_a_tool_prints_cannot_forge_a_line(repo: Repo) -> None:
    """Newlines, line separators and bytes that are no text stay inside of their JSON string."""
    script = r"""printf 'a\n{"v":1}\n\342\200\250\205\033[31m\377'; exit 1"""
    repo.write("Reqfile.yaml", reqfile_text(block("NOISY", run(script))))
    repo.run("check", "--log", "run.jsonl")
    text = repo.path("run.jsonl").read_bytes()
    assert text.isascii()
    assert text.count(b"\n") == 2
    assert lines(repo, "run.jsonl")[1]["message"] == 'a\n{"v":1}\n\u2028\ufffd\x1b[31m\ufffd'


def test_bytes_that_are_no_text_are_shown(logged: Repo) -> None:
    """Half a surrogate pair is no JSON that every reader takes."""
    logged.run("check", "--only", "PASSES", "--log", "run.jsonl", "--log-tag", "k\udcff=v\udcfe")
    assert lines(logged, "run.jsonl")[0]["tags"] == {"k\\xff": "v\\xfe"}


def test_several_processes_append_whole_lines(logged: Repo) -> None:
    """Hooks of several sessions share one log; each line parses and no run is torn apart."""
    with ThreadPoolExecutor(4) as pool:
        runs = [pool.submit(logged.run, "check", "--log", "run.jsonl", "--log-tag", f"n={n}") for n in range(8)]
        assert {run.result().code for run in runs} == {3}
    found = lines(logged, "run.jsonl")
    assert len(found) == 8 * 4
    tags = [line["tags"]["n"] for line in found]
    assert sorted(tags, key=int) == sorted((str(n) for n in range(8) for _ in range(4)), key=int)
    assert all(len(set(tags[start : start + 4])) == 1 for start in range(0, len(tags), 4))
