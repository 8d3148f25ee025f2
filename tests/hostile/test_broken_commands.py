"""Commands whose files would never reach them, and reports that belie themselves."""

from __future__ import annotations

import pytest

from tests.support import Repo
from tests.support.requirements import command, expect, req

FIND = 'f() { test $# -eq 0 || { echo "found $*"; exit 1; }; }\n'


@pytest.mark.parametrize(
    "end",
    ["f  # look at each", "f # it's", "cat <<E\nx\nE", "f; cat <<E | f\nx\nE"],
    ids=["comment", "quote-in-comment", "here-document", "piped"],
)
def test_a_command_that_would_not_receive_its_files_is_an_error(repo: Repo, end: str) -> None:
    """A comment at the end swallows what is added there; the tool saw nothing and passed (seed 004 COMMAND_CHECK)."""
    repo.write("a.py")
    repo.write("Reqfile.yaml", req(R1=command(f"{FIND}{end}\n", files="*.py", pass_files=True)))
    reason = "would not receive its files: they go to the end of its last line, expected the command there, found a"
    expect(repo.run("check"), 3, f"{reason} comment or a here-document\n", "1 check run", "1 error.")


@pytest.mark.parametrize(
    "end",
    ["f '# no comment'", "f a#b", "# first\nf", "cat <<E >/dev/null\nx\nE\nf", "f $((1<<2))", "f \\#"],
    ids=["quoted", "inside", "above", "ended", "shift", "escaped"],
)
def test_what_only_looks_like_a_comment_keeps_its_files(repo: Repo, end: str) -> None:
    """Only the shell can tell."""
    repo.write("a.py")
    repo.write("Reqfile.yaml", req(R1=command(f"{FIND}{end}", files="*.py", pass_files=True)))
    expect(repo.run("check"), 1, "a.py\n", "1 violation")


def test_a_command_without_files_may_end_in_a_comment(repo: Repo) -> None:
    """Nothing is added to it."""
    repo.write("a.py")
    repo.write("Reqfile.yaml", req(R1=[command("true # fine"), command("true # fine", files="*.py")]))
    expect(repo.run("check"), 0, "2 checks run")


@pytest.mark.parametrize(
    "report",
    [
        '<testsuite failures="1"><testcase name="a"/></testsuite>',
        '<testsuites errors="02"><testsuite><testcase name="a"/></testsuite></testsuites>',
        '<testsuite><testcase name="a"/><error message="cannot load b"/></testsuite>',
    ],
    ids=["failures", "errors", "suite"],
)
def test_a_junit_report_that_belies_itself_is_an_error(repo: Repo, report: str) -> None:
    """It tells of failures and lists none: no report of a pass (seed 004 NO_FALSE_GREEN)."""
    repo.write("out.xml", report)
    repo.write("Reqfile.yaml", req(R1=command("cat out.xml", format="junit")))
    expect(repo.run("check"), 3, "the JUnit report tells of failures or errors but lists no failed test\n", "1 error.")


def test_a_junit_report_without_failures_passes(repo: Repo) -> None:
    """Counts of zero, or none at all; skipped tests are none of its failures."""
    suite = '<testsuite failures="0" errors=" 0 "><testcase name="a"><skipped/></testcase></testsuite>'
    repo.write("out.xml", f'<testsuites failures="" tests="1">{suite}</testsuites>')
    repo.write("Reqfile.yaml", req(R1=command("cat out.xml", format="junit")))
    expect(repo.run("check"), 0, "1 check run")
