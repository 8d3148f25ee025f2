"""The lines that say how well labeled examples cover requirements and verifiers."""

from __future__ import annotations

from dataclasses import replace
from time import process_time

from pytest_reqfile.outcome import Location, Outcome, Subject
from pytest_reqfile.reports.example_coverage import coverage_lines

DECLARED = Location(path="Reqfile.yaml", line=3)


def _outcome(subject: Subject, owner: str, **details: str) -> Outcome:
    return Outcome(
        subject=subject, owner=owner, check="c", status="pass", declared=DECLARED, looked_at=1, details=details
    )


def test_each_class_is_named() -> None:
    """Both classes, one of them, none; a verifier without a target does not count."""
    outcomes = (
        *(_outcome("requirement", owner) for owner in ("BOTH", "BAD", "GOOD", "NONE")),
        _outcome("example", "BOTH", label="violation"),
        _outcome("example", "BOTH", label="ok"),
        _outcome("example", "BAD", label="violation"),
        _outcome("example", "GOOD", label="ok"),
        _outcome("verifier", "flat"),
        _outcome("verifier", "linked", target_id="rule"),
        _outcome("example", "linked", want="fail"),
    )
    assert list(coverage_lines(outcomes)) == [
        "labeled examples of 4 requirements: 1 with both classes, 1 with violations only, 1 with correct ones only, "
        "1 with none",
        "labeled examples of 1 verifier: 0 with both classes, 1 with violations only, 0 with none",
    ]


def test_examples_that_were_not_selected() -> None:
    """What was chosen alone, by name or marker, says itself which examples it has."""
    outcomes = (
        _outcome("requirement", "BOTH", labels="ok violation"),
        _outcome("requirement", "BAD", labels="violation"),
        _outcome("verifier", "both", target_id="rule", labels="fail pass"),
        _outcome("verifier", "one", target_id="rule", labels="not_applicable"),
        _outcome("verifier", "none", target_id="rule", labels=""),
    )
    assert list(coverage_lines(outcomes)) == [
        "labeled examples of 2 requirements: 1 with both classes, 1 with violations only, 0 with none",
        "labeled examples of 3 verifiers: 1 with both classes, 1 with correct ones only, 1 with none",
    ]


def test_one_name_in_two_projects() -> None:
    """Two verifiers are two, each with its own examples."""
    first = _outcome("verifier", "same", target_id="rule", labels="fail pass")
    second = replace(_outcome("verifier", "same", target_id="rule", labels=""), declared=Location(path="b", line=1))
    assert list(coverage_lines((first, second))) == [
        "labeled examples of 2 verifiers: 1 with both classes, 1 with none",
    ]


def test_nothing_is_said_of_nothing() -> None:
    """A run without requirements and verifiers has no line."""
    assert list(coverage_lines(())) == []


def test_cost_grows_with_the_outcomes_alone() -> None:
    """Ten thousand requirements are counted in well under a second: each outcome is looked at once."""
    outcomes = tuple(_outcome("requirement", f"R{n}") for n in range(10_000))
    start = process_time()
    assert len(list(coverage_lines(outcomes))) == 1
    assert process_time() - start < 1.0
