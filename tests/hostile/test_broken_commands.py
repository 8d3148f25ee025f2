"""Commands whose files would never reach them."""

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
