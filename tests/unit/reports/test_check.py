"""What a run counts, and its plain and JSON forms (seed 004 OUTPUT, NO_FALSE_GREEN; spec reqfile.md 8)."""

from __future__ import annotations

import json

import pytest

from pytest_reqfile.outcome import Finding, Outcome
from pytest_reqfile.reports.check import CheckReport, ResolvedSource, RunError
from pytest_reqfile.reports.check_json import render_json
from pytest_reqfile.reports.check_plain import render_plain
from tests.support.outcomes import outcome

VIOLATION = Finding(message="bad", file="a.py", line=3, fix_hint="h")
ADVISORY = Finding(message="hm", kind="advisory", probability=0.95, model="m-1", fix_hint="h")
UNCERTAIN = Finding(message="maybe", kind="uncertain", file="b.py", probability=0.5, fix_hint="h")


def report(*outcomes: Outcome, **fields: object) -> CheckReport:
    return CheckReport(outcomes=outcomes, **fields)  # type: ignore[arg-type]  # forwarded by name


def test_findings_are_ordered_by_kind_then_plan_commands_before_decisions() -> None:
    """A stable order (spec 8.1)."""
    decision = outcome("A", "decision", findings=(ADVISORY, Finding(message="judged", fix_hint="h")))
    first = outcome("A", findings=(UNCERTAIN, VIOLATION))
    second = outcome("B", findings=(Finding(message="other", fix_hint="h"),))
    found = [(owner.owner, finding.message) for owner, finding in report(decision, first, second).findings]
    assert found == [("A", "bad"), ("B", "other"), ("A", "judged"), ("A", "hm"), ("A", "maybe")]


@pytest.mark.parametrize(
    ("given", "code"),
    [
        (report(), 0),
        (report(outcome("A")), 0),
        (report(outcome("A", findings=(ADVISORY, UNCERTAIN))), 0),
        (report(outcome("A", findings=(VIOLATION,))), 1),
        (report(outcome("A", error="x"), outcome("B", findings=(VIOLATION,))), 3),
        (report(outcome("A", error="x", blocking=False)), 0),
        (report(outcome("A", error="x", blocking=False), outcome("B", findings=(VIOLATION,))), 1),
        (report(run_errors=(RunError(message="x"),)), 3),
        (report(run_errors=(RunError(message="x", blocking=False),)), 0),
    ],
)
def test_an_error_beats_a_violation_unless_it_does_not_gate(given: CheckReport, code: int) -> None:
    """3, 1 or 0 (seed 004 NO_FALSE_GREEN)."""
    assert given.exit_code == code
    assert json.loads(render_json(given))["exit_code"] == code


def test_checks_that_ended_in_an_error_have_run() -> None:
    """Checks left out have not; singular exactly for 1."""
    given = report(
        outcome("A", findings=(VIOLATION,)),
        outcome("B", error="x"),
        outcome("C", left="nothing_to_check"),
        outcome("D", left="deferred"),
        outcome("E", "decision", findings=(ADVISORY,), details={"units": 1}),
        judges=True,
    )
    assert render_plain(given).splitlines()[-1] == (
        "3 checks run, 1 with nothing to check, 1 code unit judged, 1 left for a full run. "
        "1 violation, 1 advisory finding, 1 error."
    )
    assert render_plain(report()).splitlines() == [
        "0 checks run, 0 with nothing to check. 0 violations, 0 advisory findings, 0 errors."
    ]


def test_plain_text_of_every_kind_of_line() -> None:
    """Two spaces between columns, further lines indented, one blank line before the last (spec 8.2)."""
    taken = outcome(
        "B", findings=(ADVISORY,), details={"block": "app/Reqfile.yaml:3", "source": "../std (std/Reqfile.yaml:9)"}
    )
    long = Finding(message="one\r\n\ttwo \n\n", file="d i.py", fix_hint="first\nsecond\n")
    given = report(
        outcome("A", findings=(VIOLATION, UNCERTAIN, long)),
        taken,
        outcome("C", error="broken\nbadly"),
        outcome("D", error="softly", blocking=False),
        run_errors=(RunError(message="whole run"),),
        sources=(
            ResolvedSource(location="o/r@v1", commit="c" * 40, offline=False),
            ResolvedSource(location="o/s@v2", commit="d" * 40, offline=True),
        ),
    )
    assert render_plain(given) == (
        "A  a.py:3  bad\n  fix: h\n"
        "A  d i.py  one\n    \ttwo\n  fix: first\n    second\n"
        "advisory  B  p=0.95  hm\n  fix: h\n  from: app/Reqfile.yaml:3, use ../std (std/Reqfile.yaml:9)\n"
        "uncertain  A  b.py  p=0.50  maybe\n  fix: h\n"
        "error  C  broken\n    badly\n"
        "advisory error  D  softly\n"
        "error  whole run\n"
        f"source  o/r@v1 resolved to commit {'c' * 40}\n"
        f"source  o/s@v2 resolved to commit {'d' * 40} (cannot be reached: using the last resolution cached here)\n"
        "\n4 checks run, 0 with nothing to check. 2 violations, 2 advisory findings, 3 errors (1 advisory).\n"
    )


def test_json_leaves_out_what_there_is_not() -> None:
    """Place and fields of every finding are always there; the rest only where it says something (spec 8.3)."""
    given = report(
        outcome("A", findings=(ADVISORY, Finding(message="bad\udcff", file="f\udcff", fix_hint="h"))),
        judges=True,
        sources=(ResolvedSource(location="o/r@v1", commit="c" * 40, offline=True),),
    )
    document = json.loads(render_json(given))
    assert document["findings"][0] == {
        "requirement": "A",
        "kind": "violation",
        "file": "f\udcff",
        "line": None,
        "message": "bad\udcff",
        "fix_hint": "h",
    }
    assert document["findings"][1]["probability"] == 0.95
    assert document["findings"][1]["model"] == "m-1"
    assert document["sources"] == [{"location": "o/r@v1", "commit": "c" * 40, "offline": True}]
    assert document["summary"]["units_judged"] == 0
    assert list(document) == ["findings", "errors", "sources", "summary", "exit_code"]
    assert render_json(given).isascii()
