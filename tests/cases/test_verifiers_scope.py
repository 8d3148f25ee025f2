"""Changed-only runs in real repositories, case by case (cases/verifiers.md A8; seed 000 "Changed-only runs")."""

from __future__ import annotations

import pytest

from pytest_reqfile.errors import GitError, UsageError
from pytest_reqfile.verifiers.changes import ChangeSet, Scope, load_changes
from pytest_reqfile.verifiers.diffs import Change
from pytest_reqfile.verifiers.results import Result
from pytest_reqfile.verifiers.run import RunOptions
from pytest_reqfile.verifiers.tree import Tree
from tests.support import Repo
from tests.support.verifiers import Workbench, flat, head, predicate

MAIN = RunOptions(scope=Scope(kind="since", revision="main"))
STAGED = RunOptions(scope=Scope(kind="staged"))


@pytest.fixture
def bench(repo: Repo) -> Workbench:
    return Workbench(repo.root, repo.environment)


def _changes(repo: Repo, scope: Scope) -> dict[str, Change]:
    changes = load_changes(Tree(repo.root, repo.workspace_git()), scope, with_lines=True)
    return {change.path: change for change in changes.changes or ()}


def _since(repo: Repo, revision: str = "main") -> dict[str, Change]:
    return _changes(repo, Scope(kind="since", revision=revision))


def _by_name(results: tuple[Result, ...]) -> dict[str, Result]:
    return {result.name: result for result in results}


DIFF_ADDED = '[verifiers.require.forbid]\nregex = "XXX"\nin = "diff-added"\n'


@pytest.mark.case("verifiers:A8.1")
def test_topic_branch(bench: Workbench, repo: Repo) -> None:
    """Unchanged partners count, old violations do not."""
    bench.spec(
        head("p", when="svc/**/*.py")
        + predicate("paired", for_each="svc/{rel}.py", requires_exists="checks/test_{stem}.py")
        + head("n", when="svc/**/*.py")
        + DIFF_ADDED
    )
    bench.write_all({"svc/old.py": "# XXX old\nx = 1\n", "svc/new.py": "y = 1\n", "checks/test_new.py": ""})
    repo.commit()
    repo.branch("topic")
    bench.write_all({"svc/new.py": "y = 1\n# XXX new\n", "svc/old.py": "# XXX old\nx = 2\n", "svc/fresh.py": "z = 1\n"})
    repo.commit()
    results = _by_name(bench.results(MAIN))
    assert [finding.file for finding in results["p"].findings] == ["svc/fresh.py", "svc/old.py"]
    assert [(f.file, f.line) for f in results["n"].findings] == [("svc/new.py", 2)]


@pytest.mark.case("verifiers:A8.2")
def test_untracked(bench: Workbench, repo: Repo) -> None:
    """An untracked file counts since a base, and is not staged."""
    bench.spec(head("x", when="*.ddl") + predicate("regex", regex="-- undo"))
    repo.commit()
    repo.branch("topic")
    bench.write("u.ddl", "make\n")
    assert bench.result(MAIN).status == "fail"
    assert bench.result(STAGED).status == "not_applicable"


@pytest.mark.case("verifiers:A8.3")
@pytest.mark.case("verifiers:A8.11")
@pytest.mark.case("verifiers:D-21")
@pytest.mark.parametrize("spec", [False, True])
def test_missing_base(bench: Workbench, spec: bool) -> None:
    """A base that does not exist ends the run, flat verifiers or not."""
    bench.config(flat("f", "file_exists", path="x"))
    if spec:
        bench.spec(head("x") + predicate("file_exists", path="x"))
    run = bench.open(RunOptions(scope=Scope(kind="since", revision="origin/absent")))
    with pytest.raises(GitError) as caught:
        run.prepare(run.select())
    assert str(caught.value).startswith(
        'resolve changed files: base revision "origin/absent" does not exist in this repository'
    )


def test_no_common_ancestor(bench: Workbench, repo: Repo) -> None:
    """Without a merge base nothing passes."""
    repo.git("checkout", "-q", "--orphan", "other")
    repo.commit("other")
    bench.spec(head("x", when="*") + predicate("regex", regex="x"))
    with pytest.raises(GitError, match='no common ancestor between "main" and HEAD'):
        bench.results(MAIN)


@pytest.mark.parametrize(
    ("revision", "message"),
    [
        ("--output=x", "--since \"--output=x\" starts with '-' and would be read as a git option"),
        ("a\nb", '--since "a\\nb" contains a control character'),
        ("", 'invalid git revision ""'),
    ],
)
def test_refused_revision(repo: Repo, revision: str, message: str) -> None:
    """What git could take for an option never reaches it."""
    with pytest.raises(UsageError) as caught:
        _since(repo, revision)
    assert str(caught.value) == message


@pytest.mark.case("verifiers:A8.10")
def test_since(repo: Repo) -> None:
    """Every kind of change and its new lines."""
    repo.write("a.txt", "1\n2\n3\n")
    repo.write("gone.txt", "x\n")
    repo.write("old name.txt", "1\n2\n3\n4\n5\n")
    repo.write(".gitignore", "*.log\n")
    repo.commit()
    repo.branch("topic")
    repo.write("a.txt", "1\n2\nthree\n4\n")
    repo.delete("gone.txt")
    repo.git("mv", "old name.txt", "new name.txt")
    repo.write("new name.txt", "1\n2\n3\n4\n5\n6\n")
    repo.write("committed.txt", "entirely\nnew\n")
    repo.commit()
    repo.write("untracked.txt", "x\n")
    repo.write("ignored.log", "x\n")
    assert _since(repo) == {
        "a.txt": Change(path="a.txt", status="M", added=((3, 4),)),
        "gone.txt": Change(path="gone.txt", status="D"),
        "new name.txt": Change(path="new name.txt", status="R", old_path="old name.txt", added=((6, 6),)),
        "committed.txt": Change(path="committed.txt", status="A", added=None),
        "untracked.txt": Change(path="untracked.txt", status="A", added=None),
    }


@pytest.mark.case("verifiers:A8.13")
def test_staged(repo: Repo) -> None:
    """Only what is in the index."""
    repo.write("a.txt", "1\n2\n3\n")
    repo.write("b.txt", "1\n")
    repo.commit()
    repo.write("a.txt", "1\n2\n3\n4\n")
    repo.write("new.txt", "x\n")
    repo.git("add", "a.txt", "new.txt")
    repo.write("b.txt", "2\n")
    repo.write("untracked.txt", "")
    assert _changes(repo, Scope(kind="staged")) == {
        "a.txt": Change(path="a.txt", status="M", added=((4, 4),)),
        "new.txt": Change(path="new.txt", status="A", added=None),
    }


def test_staged_without_commits(bench: Workbench, repo: Repo) -> None:
    """There is nothing to compare the index with."""
    repo.git("update-ref", "-d", "HEAD")
    bench.spec(head("x", when="*") + predicate("regex", regex="x"))
    with pytest.raises(GitError) as caught:
        bench.results(STAGED)
    assert str(caught.value) == "resolve staged files: the repository has no commits to compare the index with"


@pytest.mark.case("verifiers:A8.15")
def test_listing(repo: Repo) -> None:
    """Tracked and untracked files, not ignored ones, no symlinks, nothing in folders that are never entered."""
    repo.write(".gitignore", "*.log\n")
    for path in ("a.txt", "node_modules/x.js", "sub/.venv/y.py", "deleted.txt"):
        repo.write(path)
    repo.symlink("link.txt", "a.txt")
    repo.commit()
    repo.delete("deleted.txt")
    repo.write("untracked.txt")
    repo.write("x.log")
    assert Tree(repo.root, repo.workspace_git()).repository == (".gitignore", "a.txt", "untracked.txt")


@pytest.mark.case("verifiers:A8.16")
def test_listing_outside_a_repository(bench: Workbench, repo: Repo) -> None:
    """Without git a walk serves; a scope does not."""
    repo.delete(".git")
    repo.write("a.txt")
    repo.write("node_modules/x.js")
    tree = Tree(repo.root, repo.workspace_git())
    assert not tree.in_git
    assert "a.txt" in tree.repository
    assert "node_modules/x.js" not in tree.repository
    bench.spec(head("x", when="*") + predicate("regex", regex="x"))
    with pytest.raises(GitError) as caught:
        bench.results(MAIN)
    assert str(caught.value) == f"resolve changed files: {repo.root} is not inside a git repository"


@pytest.mark.case("verifiers:D-13")
def test_lines_that_look_like_headers(repo: Repo) -> None:
    """An added line that reads like a file header does not end its file."""
    repo.write("x.ddl", "".join(f"{number}\n" for number in range(20)))
    repo.write("other.ddl", "1\n")
    repo.commit()
    repo.branch("topic")
    lines = [f"{number}\n" for number in range(20)]
    lines[3] = "++ b/other.ddl\n@@ -1 +1 @@\n"
    lines[15] = "new\n"
    repo.write("x.ddl", "".join(lines))
    assert _since(repo)["x.ddl"].added == ((4, 5), (17, 17))


@pytest.mark.parametrize(
    "setting",
    [
        ("diff.noprefix", "true"),
        ("diff.mnemonicPrefix", "true"),
        ("diff.srcPrefix", "old/"),
        ("diff.dstPrefix", "new/"),
        ("diff.interHunkContext", "20"),
        ("diff.external", "false"),
        ("color.diff", "always"),
        ("diff.renames", "false"),
        ("diff.relative", "false"),
    ],
)
def test_configuration_changes_nothing(repo: Repo, setting: tuple[str, str]) -> None:
    """The user's configuration does not decide which lines are new."""
    repo.write("sub/a.txt", "1\n2\n3\n4\n5\n6\n7\n")
    repo.write("sub/old.txt", "x\n" * 9)
    repo.commit()
    repo.branch("topic")
    repo.write("sub/a.txt", "1\nB\n3\n4\n5\nF\n7\n")
    repo.git("mv", "sub/old.txt", "sub/new.txt")
    repo.git("config", *setting)
    tree = Tree(repo.root / "sub", type(repo.workspace_git())(repo.root / "sub", repo.environment))
    changes = load_changes(tree, Scope(kind="since", revision="main"), with_lines=True)
    assert changes.changes == (
        Change(path="a.txt", status="M", added=((2, 2), (6, 6))),
        Change(path="new.txt", status="R", old_path="old.txt", added=()),
    )


def test_odd_names(repo: Repo) -> None:
    """Names that git has to quote, and bytes that are no UTF-8."""
    names = [
        "tab\there",
        'quote"d',
        "back\\slash",
        "line\nbreak",
        "ü",
        b"\xff.txt".decode("utf-8", "surrogateescape"),
        " a ",
    ]
    for name in names:
        repo.write(name, "1\n")
    repo.commit()
    repo.branch("topic")
    for name in names:
        repo.write(name, "1\n2\n")
    found = _since(repo)
    assert {name: found[name].added for name in names} == dict.fromkeys(names, ((2, 2),))


def test_text_that_is_declared_binary(bench: Workbench, repo: Repo) -> None:
    """``-diff`` in .gitattributes does not switch a ratchet off."""
    bench.spec(head("n", when="*.py") + DIFF_ADDED)
    bench.write("a.py", "# XXX old\n")
    repo.commit()
    repo.branch("topic")
    bench.write_all({".gitattributes": "*.py -diff\n", "a.py": "# XXX old\n# XXX new\n"})
    assert [(f.file, f.line) for f in bench.result(MAIN).findings] == [("a.py", 2)]


def test_forgotten_by_the_index(bench: Workbench, repo: Repo) -> None:
    """A file that left the index but is on disk still counts: nothing is lost between the two listings."""
    bench.spec(head("x", when="*.ddl") + predicate("regex", regex="-- undo"))
    bench.write("u.ddl", "make\n")
    repo.commit()
    repo.branch("topic")
    repo.git("rm", "-q", "--cached", "u.ddl")
    assert [finding.file for finding in bench.result(MAIN).findings] == ["u.ddl"]


@pytest.mark.case("verifiers:D-18")
def test_deleted_partner(bench: Workbench, repo: Repo) -> None:
    """A deleted partner was not changed along."""
    bench.spec(head("x", when="a.c") + predicate("paired", for_each="a.c", requires_changed="a.h"))
    bench.write_all({"a.c": "1\n", "a.h": "1\n"})
    repo.commit()
    repo.branch("topic")
    bench.write("a.c", "2\n")
    repo.delete("a.h")
    assert bench.result(MAIN).findings[0].message == "expected a.h to be changed too"
    bench.write("a.h", "2\n")
    assert bench.result(MAIN).status == "pass"


def test_whole_repository_verifiers_see_unchanged_files(bench: Workbench, repo: Repo) -> None:
    """A verifier without a scope runs on every invocation, over the full tree; a flat one ignores the scope."""
    bench.config(flat("f", "forbid", glob="*.txt", pattern="XXX"))
    bench.spec(
        head("c")
        + predicate("glob_count", files="*.txt", max=0)
        + head("m", when="*.zig")
        + predicate("regex", regex="x")
    )
    bench.write("a.txt", "XXX\n")
    repo.commit()
    repo.branch("topic")
    found = [(r.name, r.status) for r in bench.results(MAIN)]
    assert found == [("f", "fail"), ("c", "fail"), ("m", "not_applicable")]


def test_mode(bench: Workbench) -> None:
    """What the report's last line says."""
    bench.config(flat("f", "file_exists", path="x"))
    run = bench.open()
    assert run.mode(run.select()) is None
    staged = bench.open(STAGED)
    assert staged.mode(staged.select()) == "staged"
    bench.spec(head("x") + predicate("file_exists", path="x"))
    run = bench.open()
    assert run.mode(run.select()) == "all"
    assert MAIN.scope.mode == "since main"


def test_unchanged(bench: Workbench, repo: Repo) -> None:
    """Nothing changed: nothing applies, and nothing was looked at."""
    bench.spec(head("x", when="*.ddl") + predicate("regex", regex="x"))
    bench.write("a.ddl")
    repo.commit()
    assert _since(repo) == {}
    assert bench.result(MAIN).status == "not_applicable"
    assert ChangeSet(()).existing == ()
