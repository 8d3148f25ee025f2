"""Projects that mean harm: nothing hangs, nothing crashes, nothing passes because it was not looked at."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from pytest_reqfile.errors import FileError, FormatError
from pytest_reqfile.syntax.globs import verifier_glob
from pytest_reqfile.verifiers.changes import Scope, load_changes
from pytest_reqfile.verifiers.pattern_sets import Patterns
from pytest_reqfile.verifiers.run import RunOptions
from pytest_reqfile.verifiers.scan import Search, scan
from pytest_reqfile.verifiers.selection import FileClasses, Selection
from pytest_reqfile.verifiers.tree import Tree
from pytest_reqfile.verifiers.unseen import may_match_below
from pytest_reqfile.workspace.bulk import BulkReader, list_folder
from tests.support import Repo
from tests.support.verifiers import Workbench, flat, head, member, predicate


@pytest.fixture
def bench(tmp_path: Path) -> Workbench:
    return Workbench(tmp_path)


def test_special_files(bench: Workbench) -> None:
    """A FIFO is no file, and a symlink to a folder above is not followed."""
    os.mkfifo(bench.root / "pipe.txt")
    (bench.root / "up").symlink_to("..")
    (bench.root / "loop.txt").symlink_to("loop.txt")
    bench.write("a.txt", "ok\n")
    bench.config(flat("n", "glob_count", glob="*.txt", max=1) + flat("f", "forbid", glob="*", pattern="XXX"))
    counted, _ = bench.results()
    assert (counted.status, counted.message) == ("pass", "1 file(s)")


def test_file_that_vanishes(tmp_path: Path) -> None:
    """A file that is gone when it is read is an error that names it, unless something else decides."""
    reader = BulkReader(tmp_path, 100)
    (tmp_path / "there").write_text("x")
    selection = Selection(source="walk", include=(verifier_glob("*"),))
    search = Search(selection=selection, pattern="x", locate=True)
    classes = FileClasses([selection], {"walk": ("gone", "there")})
    answer = scan([search], classes, reader.read, Patterns(lambda: 0.0), lambda path: None)[search]
    assert answer.unreadable == (("gone", "read gone: no such file"),)
    assert [hit.file for hit in answer.hits] == ["there"]


def test_symlink_where_a_file_was(tmp_path: Path) -> None:
    """A listed file that became a symlink is not read."""
    (tmp_path / "link").symlink_to("/etc/hostname")
    with pytest.raises(FileError, match="read link: "):
        BulkReader(tmp_path, 100).read("link")


@pytest.mark.parametrize("size", [0, 1, 9, 10, 11, 1000, (1 << 20) - 1, 1 << 20, (1 << 20) + 1, 5 << 20])
def test_reading_up_to_the_limit(tmp_path: Path, size: int) -> None:
    """The beginning of a file, and whether there is more, whatever its size is beside the buffer's."""
    data = os.urandom(size)
    (tmp_path / "f").write_bytes(data)
    for limit in (10, 1 << 20, 4 << 20):
        reader = BulkReader(tmp_path, limit)
        for _ in range(2):
            assert reader.read("f") == (data[:limit], size > limit)


def test_names_that_are_no_text(bench: Workbench) -> None:
    """Undecodable names are matched, searched, reported."""
    name = os.fsdecode(b"\xff\xfe.txt")
    bench.write(name, "XXX\n")
    bench.config(flat("f", "forbid", glob="*.txt", pattern="XXX"))
    bench.spec(head("s", when="*.txt") + predicate("forbid", regex="XXX"))
    first, second = bench.results()
    assert first.findings[0].file == second.findings[0].file == name


@pytest.mark.parametrize(
    ("path", "content"),
    [
        ("x.json", "[" * 100_000),
        ("x.yaml", "[" * 100_000),
        ("x.yaml", "a: &a [x]\nb: &b [*a, *a]\nk: [*b, *b"),
        ("x.toml", "a = " + "[" * 100_000),
        ("x.json", b"\xff\xfe"),
        ("x.toml", "a = " + "9" * 10_000),
    ],
)
def test_documents(bench: Workbench, path: str, content: str | bytes) -> None:
    """Broken and bottomless documents are failures that say so."""
    bench.write(path, content)
    bench.config(flat("k", "key_equals", path=path, key="k", equals="v"))
    result = bench.result()
    assert result.status == "fail"
    assert result.message.startswith(f"{path} does not parse: ")


def test_alias_bomb(bench: Workbench) -> None:
    """Aliases of aliases stay as small as they are written."""
    lines = ["a0: &a0 [x, x]"] + [f"a{n}: &a{n} [*a{n - 1}, *a{n - 1}]" for n in range(1, 60)]
    bench.write("x.yaml", "\n".join([*lines, "k: v"]))
    bench.config(flat("k", "key_equals", path="x.yaml", key="k", equals="v"))
    assert bench.result().status == "pass"


@pytest.mark.parametrize(
    "text", ["[[verifiers]]\n" * 3 + "id = [", "verifiers = 3\n", "other = 1\n", "\x00", "[[verifiers]]\nid = 3\n"]
)
def test_broken_files(bench: Workbench, text: str) -> None:
    """A file that cannot be read drops all of its declarations, visibly."""
    bench.spec(text)
    (result,) = bench.results()
    assert (result.status, result.code, result.type) == ("error", "AR9H2", "invalid")
    assert result.message.startswith("invalid TOML: ")


def test_deep_tree(bench: Workbench) -> None:
    """Predicates nested without end are an invalid declaration."""
    bench.spec(head("x") + predicate(".".join(["not"] * 40 + ["file_exists"]), path="x"))
    (result,) = bench.results()
    assert result.code == "AR9H2"


def test_wide_tree(bench: Workbench) -> None:
    """A thousand members are evaluated."""
    bench.write("a.txt", "x\n")
    bench.spec(head("x", when="a.txt") + "".join(member("all", "forbid", regex=f"word{n}") for n in range(1000)))
    assert bench.result().status == "pass"


def test_pattern_too_large(bench: Workbench) -> None:
    """A pattern that RE2 cannot hold is refused when it is declared."""
    bench.config(flat("f", "forbid", glob="*", pattern="((a{1000}){1000}){1000}"))
    with pytest.raises(FormatError, match="invalid verifier verifiers"):
        bench.declarations()


def test_surrounding_hook(bench: Workbench, repo: Repo, tmp_path: Path) -> None:
    """Variables of a hook do not make git answer about another repository."""
    other = Workbench(repo.root, repo.environment.updated({"GIT_DIR": str(tmp_path), "GIT_INDEX_FILE": "/nowhere"}))
    other.write("a.ddl", "make\n")
    other.spec(head("x", when="*.ddl") + predicate("regex", regex="-- undo"))
    result = other.result(RunOptions(scope=Scope(kind="since", revision="HEAD")))
    assert [finding.file for finding in result.findings] == ["a.ddl"]


def test_revision_is_no_option(repo: Repo) -> None:
    """A revision is never read as a path or an option."""
    repo.write("main")
    tree = Tree(repo.root, repo.workspace_git())
    assert load_changes(tree, Scope(kind="since", revision="main"), with_lines=True).existing == ("main",)


@pytest.mark.parametrize(
    ("glob", "folder", "may"),
    [
        ("*.txt", "shut", True),
        ("shut/*.txt", "shut", True),
        ("shut/in/*.txt", "shut", True),
        ("s*/in/*.txt", "shut", True),
        ("lib/*.txt", "shut", False),
        ("shut/*.txt", "shut/in", False),
        ("shut/**", "shut/in/deep", True),
        ("**/x.txt", "a/b", True),
        ("{lib,shut}/x", "shut", True),
        ("{lib,bin}/x", "shut", False),
        ("shut/", "shut/in", True),
        ("./shut/x", "shut", True),
    ],
)
def test_folders_a_glob_looks_into(glob: str, folder: str, may: bool) -> None:
    """An unreadable folder concerns the globs that would have looked into it, and no others."""
    assert may_match_below(verifier_glob(glob), folder) is may


def test_unreadable_root(tmp_path: Path) -> None:
    """A root that is not there is an error, not an empty project."""
    with pytest.raises(FileError, match="cannot read"):
        list_folder(tmp_path / "gone", frozenset())
