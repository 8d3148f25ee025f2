"""Design 2.3: what each outcome looks like in pytest, the same in all three xdist modes."""

from __future__ import annotations

import re
import sys
from collections.abc import Callable

import pytest

from tests.support import Repo
from tests.support.requirements import OK, command, req, say

Run = Callable[..., pytest.RunResult]

EVERYTHING = req(
    PASSES=[OK],
    FAILS=[command("cat found.sarif; exit 1", format="sarif"), say("second line", hint="Do it.")],
    BREAKS=[command("echo boom; exit 7")],
    ADVISES=[say("think of it", mode="advisory"), command("exit 9", mode="advisory")],
    QUIET=[command("exit 1", files="**/*.go")],
    SLOW=[say("quick", fast=True), OK],
)
SARIF = """{"runs": [{"results": [
  {"message": {"text": "one"}, "ruleId": "E1",
   "locations": [{"physicalLocation": {"artifactLocation": {"uri": "src/a.py"}, "region": {"startLine": 4}}}]},
  {"message": {"text": "two"}}]}]}"""


@pytest.fixture
def everything(project: Repo) -> Repo:
    """A repository with a requirement for each outcome."""
    project.write("Reqfile.yaml", EVERYTHING)
    project.write("found.sarif", SARIF)
    project.write("test_linked.py", "import pytest\n@pytest.mark.requirement('PASSES')\ndef test_linked(): pass\n")
    return project


def test_every_outcome_in_every_mode(everything: Repo, mode: tuple[str, ...]) -> None:
    """Counts, exit code, located failures, the advisory category and the summary line do not depend on xdist."""
    done = everything.pytest("--strict-markers", "-W", "error", "-rA", *mode)
    assert done.code == 1
    for line in (
        "FAILED Reqfile.yaml::FAILS/command-1 - one (E1)",
        "FAILED Reqfile.yaml::FAILS/command-2 - second line",
        "FAILED Reqfile.yaml::SLOW/command-1 - quick",
        "ERROR Reqfile.yaml::BREAKS/command-1 - `echo boom; exit 7` failed with exit code 7",
        "PASSED Reqfile.yaml::PASSES/command-1",
        "SKIPPED [1] Reqfile.yaml:49: nothing to check: no matching file",
        "src/a.py:4: one (E1)",
        "  fix: Do it.",
        "advisory  ADVISES  think of it",
        "8 checks run, 1 with nothing to check. 4 violations, 1 advisory finding, 2 errors (1 advisory).",
    ):
        assert line in done.out.splitlines(), done.out
    assert re.search(r"3 failed, 3 passed, 1 skipped, 1 error, 2 advisory in", done.out)


def test_failure_has_no_frame_of_ours(everything: Repo, run: Run) -> None:
    """A failure shows requirement, why, place, message, fix hint and declaration, and nothing else."""
    result = run("Reqfile.yaml::FAILS/command-1")
    text = result.stdout.str()
    shown = text[text.index("[reqfile] FAILS/command-1") : text.index("= reqfile =")].split("\n")[1:-1]
    assert shown == [
        "FAILS: Be good.",
        "  why: Because.",
        "src/a.py:4: one (E1)",
        "  fix: h",
        "two",
        "  fix: h",
        "declared at Reqfile.yaml:16",
    ]
    assert "pytest_reqfile" not in text.replace("plugins:", "")


def test_tb_line_points_at_the_finding(everything: Repo, run: Run) -> None:
    """The crash location is the finding's, so that editors and annotators jump there."""
    result = run("--tb=line", "Reqfile.yaml::FAILS/command-1")
    result.stdout.fnmatch_lines([f"{everything.root}/src/a.py:4: one (E1)"])


@pytest.mark.parametrize("arguments", [(), ("--runxfail",)], ids=["plain", "runxfail"])
def test_advisory_is_a_category_of_its_own(everything: Repo, run: Run, arguments: tuple[str, ...]) -> None:
    """An advisory finding shows as A, never fails, and is no pass either, even under --runxfail."""
    result = run("-k", "ADVISES/", *arguments)
    assert result.ret == 0
    result.stdout.fnmatch_lines(["Reqfile.yaml AA *", "*, 2 advisory in*"])


def test_an_error_stops_with_x(everything: Repo, run: Run) -> None:
    """-x stops at an error as at a failure."""
    result = run("-x", "-k", "BREAKS or SLOW")
    result.assert_outcomes(errors=1, deselected=7)


def test_fast_defers_slow_commands(everything: Repo, run: Run) -> None:
    """--reqfile-fast leaves commands that are not declared fast for a full run, and says so."""
    result = run("--reqfile-fast", "-rs", "Reqfile.yaml")
    result.assert_outcomes(failed=1, skipped=8)
    result.stdout.fnmatch_lines(
        [
            "1 check run, 0 with nothing to check, 8 left for a full run.*",
            "SKIPPED [[]1] Reqfile.yaml:8: left for a full run",
        ]
    )


def test_markers_select(everything: Repo, run: Run) -> None:
    """-m with our markers finds the items, and Python tests linked to a requirement too (design 2.6)."""
    run("-m", "fast").assert_outcomes(failed=1, deselected=9)
    run("-m", "requirement(id='PASSES')").assert_outcomes(passed=2, deselected=8)
    run("-m", "requirement(kind='product')").assert_outcomes(deselected=10)
    result = run("-m", "advisory")
    assert result.ret == 0
    result.stdout.fnmatch_lines(["*8 deselected, 2 advisory in*"])


def test_only_deselects_other_requirements(everything: Repo, run: Run) -> None:
    """--reqfile-only keeps the listed requirements and every Python test; an unknown id is a usage error."""
    run("--reqfile-only", "PASSES,SLOW").assert_outcomes(passed=3, failed=1, deselected=6)
    result = run("--reqfile-only", "PASSES,NONE,NEITHER")
    assert result.ret == pytest.ExitCode.USAGE_ERROR
    result.stderr.fnmatch_lines(
        [
            "ERROR: --reqfile-only: no requirement has the id NEITHER",
            "ERROR: --reqfile-only: no requirement has the id NONE",
        ]
    )


def test_quiet_keeps_the_summary_line(everything: Repo, run: Run) -> None:
    """-q drops the section but its summary line; -qq drops that as well."""
    quiet = run("-q", "-k", "ADVISES/").stdout.str()
    assert "= reqfile =" not in quiet
    assert "2 checks run, 0 with nothing to check. 0 violations, 1 advisory finding, 1 error (1 advisory)." in quiet
    assert "checks run" not in run("-qq", "-k", "ADVISES/").stdout.str()


def test_last_failed_runs_the_failures_again(everything: Repo) -> None:
    """--lf remembers our items by node id, with workers as well."""
    everything.execute(sys.executable, "-m", "pytest", "-q")
    for extra in ((), ("-n", "2")):
        done = everything.execute(sys.executable, "-m", "pytest", "--lf", *extra)
        assert re.search(r"3 failed, (2 deselected, )?1 error in", done.out), done.out


def test_hostile_text_does_not_reach_the_terminal(project: Repo, run: Run) -> None:
    """Control characters of a command's output are shown, not obeyed."""
    project.write("Reqfile.yaml", req(X=[command("printf 'a\\033[2Jb\\001'; exit 1")]))
    text = run().stdout.str()
    assert "a\\x1b[2Jb\\x01" in text
    assert "\x1b[2J" not in text


def test_a_requirement_may_run_pytest(project: Repo, run: Run) -> None:
    """A pytest started by a command check collects none of our items unless asked by path (design 2.1)."""
    project.write("test_a.py", "def test_a(): pass\n")
    project.write("Reqfile.yaml", req(TESTS=[command(f"{sys.executable} -m pytest -q -p no:cacheprovider . >out.txt")]))
    run("Reqfile.yaml").assert_outcomes(passed=1)
    assert "1 passed" in project.path("out.txt").read_text()
    nested = project.pytest("--reqfile", "--co", "-q", env={"REQFILE_RUN": "x"})
    assert "Reqfile.yaml" not in nested.out
    named = project.pytest("Reqfile.yaml", "--co", "-q", env={"REQFILE_RUN": "x"})
    assert "Reqfile.yaml::TESTS/command-1" in named.out


def test_a_killed_worker_leaves_an_error(project: Repo) -> None:
    """A worker that dies takes no outcome with it: its item is an error in the section's counts."""
    project.write("Reqfile.yaml", req(DIES=[command("kill -9 $PPID; sleep 5")], LIVES=[OK]))
    done = project.pytest("-n", "2", "--max-worker-restart=0")
    assert done.code == 1
    assert re.search(r"checks? run, 0 with nothing to check\. 0 violations, 0 advisory findings, 1 error\.", done.out)


def test_a_bug_keeps_its_traceback(project: Repo, run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    """An exception that is none of ours is shown as pytest shows it, and counts as an error."""
    from pytest_reqfile.plugin.opened import OpenedRepository

    def explode(self: OpenedRepository, *arguments: object) -> None:
        raise ZeroDivisionError("a bug")

    monkeypatch.setattr(OpenedRepository, "evaluate", explode)
    project.write("Reqfile.yaml", req(A=[OK]))
    result = run()
    result.assert_outcomes(errors=1)
    result.stdout.fnmatch_lines(["*ZeroDivisionError: a bug", "1 check run, * 1 error."])
