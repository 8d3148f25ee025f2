"""The JSON report: golden file, the schema in the package, traceability (issue 5 items 3 and 6)."""

from __future__ import annotations

import random
from collections.abc import Callable

import pytest

from pytest_reqfile.outcome import Finding, Location
from pytest_reqfile.reports.run_json import json_report
from pytest_reqfile.reports.run_report import (
    ItemResult,
    KnownRequirement,
    LinkedTest,
    RunReport,
    TestResult,
    moved,
    run_report,
)
from pytest_reqfile.reports.traceability import trace_lines, traces, unverified_line
from tests.support.reports import every_kind, item, outcome, read_json

NOBODY = KnownRequirement(id="NOBODY", kind="code", declared=Location(path="Reqfile.yaml", line=3), must="Be.")


def test_every_kind_of_outcome(golden: Callable[[str, str], None]) -> None:
    """The whole file, byte by byte, and as the schema describes it."""
    text = json_report(every_kind())
    read_json(text)
    golden("report.json", text)


def test_order_of_items_does_not_matter() -> None:
    """Shuffled items give the same bytes."""
    report = every_kind()
    items = list(report.items)
    random.Random(7).shuffle(items)
    again = run_report("1.2.3", items, started=report.started, seconds=report.seconds)
    expected = run_report("1.2.3", report.items, started=report.started, seconds=report.seconds)
    assert json_report(again) == json_report(expected)


def test_undecodable_names_are_shown() -> None:
    """A lone surrogate is no JSON that every reader takes; other characters stay what they are."""
    finding = Finding(message="ü\udcff\x1b", file="x\udc80.py")
    document = read_json(json_report(run_report("1", [item(outcome(findings=(finding,)))])))
    (shown,) = document["items"][0]["findings"]
    assert (shown["message"], shown["file"]) == ("ü\\xff\x1b", "x\\x80.py")


def test_a_run_that_ended_early_is_not_complete() -> None:
    """Both keys say so."""
    document = read_json(json_report(run_report("1", [], stopped="interrupted")))
    assert (document["complete"], document["stopped"]) == (False, "interrupted")


def linked(identifier: str, result: TestResult) -> RunReport:
    """A run of one linked test of a requirement without checks."""
    test = LinkedTest(nodeid="t.py::t", requirements=(identifier,), result=result)
    return run_report("1", [], tests=[test], requirements=[NOBODY])


@pytest.mark.parametrize("result", ["passed", "failed", "xfailed", "xpassed"])
def test_a_linked_test_that_ran_verifies(result: TestResult) -> None:
    """It looked, whatever it found."""
    assert unverified_line(traces(linked("NOBODY", result))) is None


@pytest.mark.parametrize("result", ["error", "skipped"])
def test_a_linked_test_that_did_not_run_verifies_nothing(result: TestResult) -> None:
    """Neither an error in its setup nor a skip looked at anything."""
    line = "1 of 1 requirement not verified in this run: NOBODY"
    assert unverified_line(traces(linked("NOBODY", result))) == line


def test_what_belongs_to_a_requirement() -> None:
    """Checks, examples and tests are counted with their results; examples alone verify nothing."""
    found = traces(every_kind())
    assert list(trace_lines(found)) == [
        "FAIL_FAST  3 checks (2 fail, 1 advisory), 1 example (1 fail), 1 test (1 passed)",
        "PASSES  1 check (1 pass)",
        "UNSEEN  nothing in this run",
    ]
    assert [trace.is_verified for trace in found] == [True, True, False]
    example = outcome("pass", subject="example", owner="NOBODY", check="examples/ok-a")
    only_examples = run_report("1", [item(example)], requirements=[NOBODY])
    assert [trace.is_verified for trace in traces(only_examples)] == [False]


def test_ids_of_two_files_are_two_requirements() -> None:
    """A block nearer to a folder may carry the id again (seed 004 CASCADE)."""
    below = KnownRequirement(id="NOBODY", kind="code", declared=Location(path="app/Reqfile.yaml", line=3), must="Be.")
    found = outcome("pass", owner="NOBODY", declared=Location(path="app/Reqfile.yaml", line=8))
    report = run_report("1", [item(found, "app/Reqfile.yaml")], requirements=[NOBODY, below])
    assert [(trace.requirement.declared.path, trace.is_verified) for trace in traces(report)] == [
        ("Reqfile.yaml", False),
        ("app/Reqfile.yaml", True),
    ]


def test_many_unverified_requirements_are_counted() -> None:
    """Ten by name, the rest as a number."""
    many = (KnownRequirement(id=f"R{n:02}", kind="code", declared=NOBODY.declared, must="Be.") for n in range(12))
    line = unverified_line(traces(run_report("1", [], requirements=many)))
    names = ", ".join(f"R{n:02}" for n in range(10))
    assert line == f"12 of 12 requirements not verified in this run: {names} and 2 more"


def test_a_repository_inside_another_is_seen_from_above() -> None:
    """Relative paths get the folder in front; absolute ones are elsewhere anyway."""
    found = outcome(
        findings=(Finding(message="a", file="x.py"), Finding(message="b", file="/y.py"), Finding(message="c"))
    )
    result = moved(found, "sub")
    assert result.declared.path == "sub/Reqfile.yaml"
    assert [finding.file for finding in result.findings] == ["sub/x.py", "/y.py", None]
    assert moved(found, "") is found


def test_a_path_that_leads_out_is_absolute() -> None:
    """Not ``app/../x`` and not ``../x``, which no reader finds below the root."""
    paths = ("../x.py", "../../x.py", "a/..b/c.py", "..c.py")
    found = outcome(findings=tuple(Finding(message="m", file=path, line=1) for path in paths))
    assert [each.file for each in moved(found, "app", "/repo").findings] == [
        "x.py",
        "/x.py",
        "app/a/..b/c.py",
        "app/..c.py",
    ]
    assert [each.file for each in moved(found, "", "/home/repo").findings][:2] == ["/home/x.py", "/x.py"]
    assert moved(found, "/elsewhere", "/repo").findings[0].file == "/x.py"


def test_items_are_sorted_by_where_they_are_declared() -> None:
    """File, line, name."""
    late = outcome("pass", owner="A", declared=Location(path="Reqfile.yaml", line=30))
    early = outcome("pass", owner="Z", declared=Location(path="Reqfile.yaml", line=3))
    below = ItemResult(nodeid="x", file="app/Reqfile.yaml", outcome=late)
    report = run_report("1", [below, item(late), item(early)])
    assert [(entry.file, entry.outcome.owner) for entry in report.items] == [
        ("Reqfile.yaml", "Z"),
        ("Reqfile.yaml", "A"),
        ("app/Reqfile.yaml", "A"),
    ]
