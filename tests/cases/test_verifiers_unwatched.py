"""Edits of files that git was told to overlook are in a change all the same (seed 000 "Changed-only runs")."""

from __future__ import annotations

import pytest

from pytest_reqfile.verifiers.changes import Scope, load_changes
from pytest_reqfile.verifiers.diffs import Change
from pytest_reqfile.verifiers.run import RunOptions
from pytest_reqfile.verifiers.tree import Tree
from pytest_reqfile.workspace.git import Git
from tests.support import Repo
from tests.support.verifiers import Workbench, head, predicate

MAIN = Scope(kind="since", revision="main")


@pytest.fixture
def bench(repo: Repo) -> Workbench:
    """Two files below a project that is not at the top of its repository, on a branch."""
    bench = Workbench(repo.root / "project", repo.environment)
    bench.write_all({"a.py": "x = 1\n# XXX old\n", "b.py": "y = 1\n"})
    repo.write("a.py", "another of that name")
    repo.commit()
    repo.branch("topic")
    return bench


def overlook(repo: Repo, option: str, *paths: str) -> None:
    repo.git("update-index", f"--{option}", *(f"project/{path}" for path in paths))


def changes(bench: Workbench, repo: Repo, *, with_lines: bool = True) -> tuple[Change, ...]:
    git = Git(bench.root, repo.environment)
    return load_changes(Tree(bench.root, git), MAIN, with_lines=with_lines).changes or ()


@pytest.mark.parametrize("option", ["assume-unchanged", "skip-worktree"])
@pytest.mark.parametrize("with_lines", [False, True])
def test_an_edit_is_seen(bench: Workbench, repo: Repo, option: str, with_lines: bool) -> None:
    """With its new lines where these are asked for; what was not edited is not in the change."""
    overlook(repo, option, "a.py", "b.py")
    bench.write("a.py", "x = 1\n# XXX old\nz = 1\n")
    added = ((3, 3),) if with_lines else ()
    assert changes(bench, repo, with_lines=with_lines) == (Change(path="a.py", status="M", added=added),)


def test_a_new_line_fails_and_an_old_one_does_not(bench: Workbench, repo: Repo) -> None:
    """As in a file that git does look at."""
    bench.spec(head("x", when="*.py") + predicate("forbid", regex="XXX", **{"in": "diff-added"}))
    repo.commit()
    repo.git("branch", "-f", "main")
    overlook(repo, "assume-unchanged", "a.py", "b.py")
    bench.write("a.py", "x = 2\n# XXX old\n")
    assert bench.result(RunOptions(scope=MAIN)).status == "pass"
    bench.write("b.py", "y = 1\n# XXX new\n")
    (finding,) = bench.result(RunOptions(scope=MAIN)).findings
    assert (finding.file, finding.line) == ("b.py", 2)


@pytest.mark.parametrize(
    ("option", "expected"), [("assume-unchanged", (Change(path="a.py", status="D"),)), ("skip-worktree", ())]
)
def test_a_file_that_is_not_on_disk(bench: Workbench, repo: Repo, option: str, expected: tuple[Change, ...]) -> None:
    """Gone, or left out by a sparse checkout, which changes nothing."""
    overlook(repo, option, "a.py")
    (bench.root / "a.py").unlink()
    assert changes(bench, repo) == expected


def test_a_file_that_came_after_the_base_is_new(bench: Workbench, repo: Repo) -> None:
    """Told by git itself, once, and with every line where it was edited behind git's back."""
    bench.write("c.py", "1\n")
    repo.commit()
    overlook(repo, "assume-unchanged", "c.py")
    bench.write("c.py", "1\n2\n")
    assert changes(bench, repo) == (Change(path="c.py", status="A", added=None),)
