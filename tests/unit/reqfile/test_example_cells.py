"""reqfile/example_cells.py (spec/reqfile.md 6.3, 6.4)."""

from __future__ import annotations

import pytest

from pytest_reqfile.outcome import Finding, Location, Outcome, Status
from pytest_reqfile.reqfile.example_cells import CaseResult, CaseRun, Cell, failed_run, judge_case
from pytest_reqfile.reqfile.labels import Known, Label

VIOLATION, OK = Label(expected="violation"), Label(expected="ok")


def checked(status: Status, *findings: Finding, check: str = "command-1") -> Outcome:
    """The outcome of one check."""
    reason = None if status in {"pass", "fail", "advisory"} else f"{check} says why"
    declared = Location(path="Reqfile.yaml", line=3)
    return Outcome(
        subject="requirement",
        owner="R",
        check=check,
        status=status,
        declared=declared,
        findings=findings,
        reason=reason,
        looked_at=1,
    )


def finding(kind: str = "violation", file: str | None = "a.py", **more: float | str) -> Finding:
    return Finding(message="m", kind=kind, file=file, **more)  # type: ignore[arg-type]


FLAGGED = checked("fail", finding())
ADVISORY = checked("advisory", finding("advisory"))
UNSURE = checked("advisory", finding("uncertain"))
PASSED = checked("pass")
NOTHING = checked("nothing_to_check")


@pytest.mark.parametrize(
    ("label", "outcomes", "cell"),
    [
        (VIOLATION, [FLAGGED, PASSED], "caught"),
        (VIOLATION, [ADVISORY], "caught"),
        (VIOLATION, [UNSURE, PASSED], "uncertain"),
        (VIOLATION, [UNSURE, FLAGGED], "caught"),
        (VIOLATION, [PASSED, NOTHING], "missed"),
        (VIOLATION, [NOTHING], "not_selected"),
        (VIOLATION, [], "not_selected"),
        (OK, [FLAGGED], "false_alarm"),
        (OK, [ADVISORY, UNSURE], "false_alarm"),
        (OK, [UNSURE], "uncertain"),
        (OK, [PASSED], "passed"),
        (OK, [NOTHING], "passed"),
        (OK, [FLAGGED, checked("error")], "error"),
    ],
)
def test_cells(label: Label, outcomes: list[Outcome], cell: Cell) -> None:
    """The table of 6.3."""
    assert judge_case(label, outcomes).cell == cell


def test_expected_findings_must_be_among_the_flagged_files() -> None:
    """Extra files are fine; an uncertain finding flags none."""
    label = Label(expected="violation", findings=("a.py", "b.py"))
    both = checked("fail", finding(), finding(file="b.py"), finding(file="c.py"))
    assert judge_case(label, [both]).cell == "caught"
    wrong = judge_case(label, [checked("fail", finding(), finding(file="z.py"), finding("uncertain", "b.py"))])
    assert (wrong.cell, wrong.text) == ("wrong_file", "missed: flagged a.py, z.py instead of its expected findings")


def test_the_first_error_is_told_commands_before_decisions() -> None:
    """As the report of a check orders them."""
    run = judge_case(OK, [checked("error", check="decision"), checked("error", check="command-1")])
    assert (run.cell, run.text) == ("error", "error: command-1 says why")


@pytest.mark.parametrize(
    ("found", "expected"),
    [
        (finding("uncertain", probability=0.5), True),
        (finding("uncertain", probability=0.5, model="m"), False),
        (finding(), False),
    ],
)
def test_probabilities_of_commands_make_a_requirement_measured(found: Finding, expected: bool) -> None:
    """A model's own do not: there the decision check says so."""
    assert judge_case(OK, [checked("advisory", found)]).probabilistic is expected


def result(label: Label, *cells: Cell) -> CaseResult:
    return CaseResult(label=label, runs=tuple(CaseRun(cell=cell, text=cell) for cell in cells))


@pytest.mark.parametrize(
    ("cells", "cell"),
    [
        (("caught", "caught", "missed"), "caught"),
        (("caught", "missed"), "missed"),
        (("missed", "caught"), "missed"),
        (("caught", "uncertain", "missed"), "uncertain"),
    ],
)
def test_a_case_counts_by_its_most_frequent_outcome(cells: tuple[Cell, ...], cell: Cell) -> None:
    """A tie goes to one that disagrees with the label."""
    assert result(VIOLATION, *cells).representative.cell == cell


@pytest.mark.parametrize(
    ("known", "cells", "accepted"),
    [
        (None, ("caught", "caught"), True),
        (None, ("caught", "missed"), False),
        ("miss", ("missed", "caught"), True),
        ("miss", ("wrong_file", "not_selected", "uncertain"), True),
        ("miss", ("missed", "error"), False),
        ("false_alarm", ("false_alarm", "uncertain", "passed"), True),
        ("false_alarm", ("missed",), False),
    ],
)
def test_what_is_accepted(known: Known | None, cells: tuple[Cell, ...], accepted: bool) -> None:
    """As labeled, or the failure that is known, in every run."""
    label = Label(expected="ok" if known == "false_alarm" else "violation", known=known)
    assert result(label, *cells).accepted is accepted


def test_the_text_of_runs_that_differ() -> None:
    """Most frequent first; a wrong file counts as missed."""
    found = result(VIOLATION, "missed", "caught", "wrong_file", "uncertain", "wrong_file")
    assert found.text == "unstable over 5 runs: missed 3, caught 1, uncertain 1"
    assert result(VIOLATION, "caught", "caught").text == "caught"


def test_a_result_needs_a_run() -> None:
    """A case nobody ran is no result."""
    with pytest.raises(ValueError, match="needs a run"):
        CaseResult(label=OK, runs=())
    assert failed_run("no").text == "error: no"
