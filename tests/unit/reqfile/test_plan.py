"""Which checks run on which files (seed 004 COMMAND_CHECK, SELECTION, FAST_PATH)."""

from __future__ import annotations

import pytest

from pytest_reqfile.errors import UsageError
from pytest_reqfile.reqfile.plan import Candidates, parse_only, refuse_unknown_ids
from tests.support.memory_tree import catalog_of, plan_of
from tests.support.requirements import OK, command, req, seen

FILES: dict[str, str | bytes] = {"a.txt": "", "app/b.txt": "", "app/-c.txt": "", "lib/d.py": ""}


def test_a_check_without_a_matching_file_has_nothing_to_check() -> None:
    """One without ``files`` always runs, on no file."""
    checks = [OK, command("x", files="*.txt"), command("x", files="*.rs"), "- decision"]
    planned = plan_of({"Reqfile.yaml": req(R1=checks), **FILES})
    assert [(check.name, check.state, check.files) for check in planned] == [
        ("command-1", "run", ()),
        ("command-2", "run", ("a.txt",)),
        ("command-3", "nothing_to_check", ()),
        ("decision", "run", ("Reqfile.yaml", "a.txt", "app/-c.txt", "app/b.txt", "lib/d.py")),
    ]


def test_arguments_are_relative_and_never_read_as_options() -> None:
    """Byte order of the repository path; only with ``pass_files``."""
    planned = plan_of({"app/Reqfile.yaml": req(R1=[seen("*.txt"), command("x", files="*.txt")]), **FILES})
    assert [check.arguments for check in planned] == [("./-c.txt", "b.txt"), ()]


def test_a_fast_run_defers_what_is_not_declared_fast() -> None:
    """Decisions always run (seed 004 FAST_PATH)."""
    planned = plan_of({"Reqfile.yaml": req(R1=[OK, command("x", fast=True), "- decision"])}, fast=True)
    assert [check.state for check in planned] == ["deferred", "run", "run"]


def test_a_narrowed_run_looks_at_candidates_that_match() -> None:
    """Deleted files trigger commands that take no files, last, and are never passed."""
    candidates = Candidates(existing=("app/b.txt", "lib/d.py"), deleted=("app/gone.txt",))
    checks = [
        seen("**/*.txt"),
        command("x", files="**/*.txt"),
        command("x", files="**/gone.txt"),
        seen("**/gone.txt"),
        OK,
    ]
    planned = plan_of({"Reqfile.yaml": req(R1=checks), **FILES}, candidates=lambda _: candidates)
    assert [(check.state, check.files) for check in planned] == [
        ("run", ("app/b.txt",)),
        ("run", ("app/b.txt", "app/gone.txt")),
        ("run", ("app/gone.txt",)),
        ("nothing_to_check", ()),
        ("run", ()),
    ]


def test_only_the_listed_requirements_are_planned() -> None:
    """All blocks of an id (spec 5.4)."""
    files = {"Reqfile.yaml": req(A=OK, B=OK), "app/Reqfile.yaml": "reqfile: 1\ncode:\n  - { id: A, use: .. }\n"}
    planned = plan_of(files, only=frozenset({"A"}))
    assert [(check.requirement.id, check.requirement.folder) for check in planned] == [("A", ""), ("A", "app")]


@pytest.mark.parametrize(
    ("values", "ids"),
    [([], None), (["A"], {"A"}), (["A,B", "C"], {"A", "B", "C"}), ([" A , "], {"A"})],
)
def test_only_lists_ids_with_commas(values: list[str], ids: set[str] | None) -> None:
    """And may be repeated."""
    assert parse_only(values) == ids


@pytest.mark.parametrize("values", [[""], [","], [" ", ""]])
def test_only_without_an_id_is_refused(values: list[str]) -> None:
    """An empty variable in a script must not run everything, nor nothing."""
    with pytest.raises(UsageError, match=r"^--only lists no requirement id$"):
        parse_only(values)


def test_each_unknown_id_is_named() -> None:
    """All of them, in order."""
    catalog = catalog_of({"Reqfile.yaml": req(A=OK)})
    with pytest.raises(UsageError) as caught:
        refuse_unknown_ids(catalog, frozenset({"A", "Y", "X"}))
    assert caught.value.messages == ("--only: no requirement has the id X", "--only: no requirement has the id Y")
    refuse_unknown_ids(catalog, None)
