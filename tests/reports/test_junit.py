"""JUnit XML: golden file, Jenkins schema, every item once, located failures (issue 5 item 2; spec verifiers 9.5)."""

from __future__ import annotations

from collections.abc import Callable

from pytest_reqfile.outcome import Finding
from pytest_reqfile.reports.junit import junit_report, properties
from pytest_reqfile.reports.junit_document import Case, Suite, Verdict, junit_text
from pytest_reqfile.reports.run_report import run_report
from tests.support.reports import every_kind, item, outcome, read_junit


def test_every_kind_of_outcome(golden: Callable[[str, str], None]) -> None:
    """The whole file, byte by byte, and valid; each item is one case."""
    report = every_kind()
    text = junit_report(report)
    root = read_junit(text)
    assert sorted(case.get("name", "") for case in root.iter("testcase")) == sorted(o.name for o in report.outcomes)
    golden("report.xml", text)


def test_suites_are_what_is_enforced() -> None:
    """One for each requirement and each target of a verifier, in the order of their names."""
    names = [suite.get("name") for suite in read_junit(junit_report(every_kind()))]
    assert names == sorted(str(name) for name in names)
    assert "requirement:FAIL_FAST" in names
    assert "rule:database" in names


def test_a_failure_is_located_and_says_everything() -> None:
    """The message names the place, the body every finding with its hint, and where the item is declared."""
    found = (Finding(message="one", file="a.py", line=3, fix_hint="Do."), Finding(message="two"))
    root = read_junit(junit_report(run_report("1", [item(outcome(findings=found))])))
    (failure,) = root.iter("failure")
    assert failure.get("message") == "a.py:3: one"
    assert failure.get("type") == "violation"
    lines = str(failure.text).split("\n")
    assert lines[2:] == ["a.py:3: one", "  fix: Do.", "two", "declared at Reqfile.yaml:8"]


def test_a_verifier_says_what_it_enforces() -> None:
    """Rule, its file and line, and the fix (seed 000 "Output and failure mapping")."""
    (failure,) = (
        case for case in read_junit(junit_report(every_kind())).iter("failure") if case.get("type") == "AR9H1"
    )
    assert failure.get("message") == "db/1.sql: pattern `-- down` not found"
    assert str(failure.text).split("\n") == [
        "AR9H1 migrations-have-down: Every migration needs a down section.",
        '  enforces: rule "database" (.ai-rulez/rules/database.md:3)',
        "db/1.sql: pattern `-- down` not found  [CREATE TABLE]",
        "  fix: Raise it.",
        "declared at .ai-rulez/verifiers/db.toml:1",
    ]


def test_what_does_not_gate_is_no_failure() -> None:
    """Advisory findings and errors are output of a passing case (spec verifiers 9.5)."""
    lax = outcome("error", owner="LAX", blocking=False, reason="not judged")
    root = read_junit(junit_report(run_report("1", [item(outcome("advisory")), item(lax)])))
    assert (root.get("failures"), root.get("errors")) == ("0", "0")
    first, second = (str(output.text) for output in root.iter("system-out"))
    assert first.startswith("advisory: FAIL_FAST: Errors stop the program.")
    assert "error: not judged" in second


def test_an_empty_run_is_a_valid_report() -> None:
    """Nothing ran, and that is what the file says; a run that ended early says that too."""
    assert len(read_junit(junit_report(run_report("1", [])))) == 0
    stopped = read_junit(junit_report(run_report("1", [], stopped="interrupted")))
    assert [p.get("value") for p in stopped.iter("property")] == ["interrupted"]


def test_hostile_text_is_valid_and_visible() -> None:
    """Lone surrogates, controls and noncharacters are shown, never written and never dropped."""
    bad = "a\x00\x1b[2J\ud800\udcff\ufffe]]>&<\r\nb"
    case = Case(name=bad, classname=bad, verdict=Verdict(kind="failure", message=bad, text=bad, type=bad), output=bad)
    root = read_junit(junit_text(bad, [Suite(name=bad, cases=(case,), properties={bad: bad})]))
    shown = "a\\x00\\x1b[2J\\ud800\\xff\\ufffe]]>&<\\x0d\nb"
    (failure,) = root.iter("failure")
    assert (failure.get("message"), failure.text) == (shown, shown)
    assert next(root.iter("system-out")).text == shown


def test_a_verdict_without_text_stays_a_verdict() -> None:
    """junit-xml drops a failure that says nothing: the case would pass."""
    cases = tuple(
        Case(name="x", classname="x", verdict=Verdict(kind=kind, message="")) for kind in ("failure", "error")
    )
    root = read_junit(junit_text("x", [Suite(name="x", cases=cases)]))
    assert (len(list(root.iter("failure"))), len(list(root.iter("error")))) == (1, 1)


def test_times_have_three_decimals() -> None:
    """More are invalid; a time of zero is written."""
    cases = (Case(name="a", classname="x", seconds=1.23456), Case(name="b", classname="x"))
    root = read_junit(junit_text("x", [Suite(name="x", cases=cases)]))
    assert [case.get("time") for case in root.iter("testcase")] == ["1.235", "0.000"]
    assert root.get("time") == "1.235"


def test_properties_for_pytests_own_file() -> None:
    """Few and flat: whose, which check, what it came to, where, and a digest of what was declared."""
    found = dict(properties(outcome()))
    digest = found.pop("digest")
    assert found == {
        "requirement": "FAIL_FAST",
        "check": "command-1",
        "status": "fail",
        "file": "src/a b.py",
        "line": "4",
    }
    assert digest == dict(properties(outcome("pass")))["digest"]
    assert digest != dict(properties(outcome(why="Another.")))["digest"]
    assert dict(properties(outcome(details={"digest": "sha256:0"})))["digest"] == "sha256:0"
    assert "verifier" in dict(properties(outcome(subject="verifier")))
