"""The reports of a run, case by case (cases/verifiers.md A1.37, A13.6, A13.7, A15 and part B; spec/verifiers.md 9)."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import pytest

from pytest_reqfile.outcome import Finding, Location
from pytest_reqfile.reports.sarif_document import Fingerprints, collapsed
from pytest_reqfile.reports.verifiers import VerifierReport
from pytest_reqfile.reports.verifiers_json import render_json
from pytest_reqfile.reports.verifiers_junit import render_junit
from pytest_reqfile.reports.verifiers_sarif import render_sarif
from pytest_reqfile.reports.verifiers_text import render_text
from pytest_reqfile.verifiers.listing import explain_text, find_declared, list_rows
from pytest_reqfile.verifiers.outcomes import FailOn, outcome_of
from pytest_reqfile.verifiers.results import Result
from tests.support.verifiers import Workbench, flat, head, predicate

HERE = Location(path=".ai-rulez/config.toml", line=1)


@pytest.fixture
def bench(tmp_path: Path) -> Workbench:
    return Workbench(tmp_path)


def _report(results: tuple[Result, ...], fail_on: FailOn = "error", mode: str | None = "all") -> VerifierReport:
    outcomes = tuple(outcome_of(result, fail_on) for result in results)
    return VerifierReport(outcomes=outcomes, root="/project", mode=mode, fail_on=fail_on)


def _sarif(report: VerifierReport) -> dict[str, Any]:
    document = json.loads(render_sarif(report, "1.0"))
    assert document["version"] == "2.1.0"
    run: dict[str, Any] = document["runs"][0]
    return run


def _junit(report: VerifierReport) -> ElementTree.Element:
    return ElementTree.fromstring(render_junit(report))


def _result(name: str, status: Any, **fields: Any) -> Result:
    return Result(**{"name": name, "type": "regex", "severity": "error", "status": status, "declared": HERE, **fields})


@pytest.fixture
def failing(bench: Workbench) -> VerifierReport:
    """The failing spec of A15."""
    bench.write_all({"db/1.ddl": "make\n", "db/2.ddl": "make\n-- undo\n"})
    fields = {"anchor": "## Schema changes", "severity": "error", "message": "M", "fix": "F"}
    bench.spec(head("undo", when="db/*.ddl", **fields) + predicate("regex", regex="(?m)^-- undo"))
    return _report(bench.results())


@pytest.mark.case("verifiers:A15.1")
def test_sarif(failing: VerifierReport) -> None:
    """One result with its rule, its place, its declaration and a fingerprint."""
    run = _sarif(failing)
    (result,) = run["results"]
    assert (result["ruleId"], result["ruleIndex"], result["level"]) == ("AR9H1/undo", 0, "error")
    assert result["message"]["text"] == "M (pattern `(?m)^-- undo` not found)"
    assert result["properties"] == {"verifier": "undo", "rule": "store", "kind": "rule", "code": "AR9H1", "fix": "F"}
    assert result["locations"][0]["physicalLocation"]["artifactLocation"]["uri"] == "db/1.ddl"
    (related,) = result["relatedLocations"]
    assert related["physicalLocation"]["artifactLocation"]["uri"] == ".ai-rulez/rules/store.md"
    assert related["physicalLocation"]["region"]["startLine"] == 3
    assert related["message"]["text"] == "declared by rule store"
    assert len(result["partialFingerprints"]["aiRulezVerifier/v1"]) == 64
    (rule,) = run["tool"]["driver"]["rules"]
    assert (rule["id"], rule["name"], rule["help"]["text"]) == ("AR9H1/undo", "undo", "F")
    assert rule["shortDescription"]["text"] == "M"


@pytest.mark.case("verifiers:A15.3")
def test_junit(failing: VerifierReport) -> None:
    """One suite for the rule, one case for the finding."""
    root = _junit(failing)
    (suite,) = root
    (case,) = suite
    (failure,) = case
    assert (suite.get("name"), suite.get("failures"), root.get("failures")) == ("rule:store", "1", "1")
    assert (case.get("name"), case.get("classname")) == ("undo db/1.ddl", "undo")
    assert failure.get("type") == "AR9H1"
    assert failure.text == "db/1.ddl  pattern `(?m)^-- undo` not found\nfix: F"


@pytest.mark.case("verifiers:A15.4")
def test_text(failing: VerifierReport) -> None:
    """The table, the details and the summary, to the letter."""
    assert render_text(failing) == (
        "STATUS  SEVERITY  NAME  MESSAGE\n"
        "fail    error     undo  M\n"
        "\n"
        'AR9H1 undo (rule "store", .ai-rulez/rules/store.md:3)\n'
        "  db/1.ddl  pattern `(?m)^-- undo` not found\n"
        "  fix: F\n"
        "\n"
        "0 passed, 1 failed, 0 could not run (all)\n"
    )


@pytest.mark.case("verifiers:A16.22")
def test_json(failing: VerifierReport) -> None:
    """Keys in their order, nothing that is empty."""
    document = json.loads(render_json(failing))
    assert list(document) == ["schema_version", "root", "mode", "summary", "results"]
    assert document["summary"] == {"error": 0, "fail": 1, "not_applicable": 0, "pass": 0}
    (result,) = document["results"]
    assert result == {
        "name": "undo",
        "type": "regex",
        "severity": "error",
        "status": "fail",
        "message": "M",
        "code": "AR9H1",
        "target": {"kind": "rule", "id": "store", "path": ".ai-rulez/rules/store.md", "line": 3},
        "fix": "F",
        "source": ".ai-rulez/verifiers/t.toml",
        "findings": [{"file": "db/1.ddl", "message": "pattern `(?m)^-- undo` not found"}],
    }


@pytest.mark.case("verifiers:A15.5")
def test_explain(bench: Workbench) -> None:
    """What is checked, what it enforces, how to fix it."""
    bench.spec(
        head("x", when=["*.ddl", "*.sql"], exclude=["old/"], fix="F", description="D")
        + predicate("forbid", regex="DROP")
    )
    declarations = bench.declarations()
    assert explain_text(find_declared(declarations, "x"), "reqfile verifiers test") == (
        "x (warning)\n"
        "  D\n"
        '  enforces: rule "store" (.ai-rulez/rules/store.md)\n'
        "  declared in: .ai-rulez/verifiers/t.toml\n"
        "  scope: changed files matching *.ddl, *.sql\n"
        "  excluding: old/\n"
        "  requires:\n"
        "    forbid `DROP` in same-file\n"
        "  fix: F\n"
        "  examples: 0 (run `reqfile verifiers test x`)\n"
    )
    assert list_rows(declarations)[0].target == "rule:store"
    with pytest.raises(Exception, match='unknown verifier "y"'):
        find_declared(declarations, "y")


@pytest.mark.case("verifiers:A15.6")
@pytest.mark.parametrize(("fail_on", "code"), [("error", 0), ("warning", 2), ("info", 2), ("none", 0)])
def test_lowest_failing_severity(fail_on: FailOn, code: int) -> None:
    """A warning fails from ``warning`` down."""
    assert _report((_result("w", "fail", severity="warning"),), fail_on).exit_code == code


@pytest.mark.case("verifiers:A15.8")
def test_run_error() -> None:
    """A run that could not start is no success in any form."""
    report = VerifierReport(run_error="resolve changed files: no")
    (invocation,) = _sarif(report)["invocations"]
    assert invocation["executionSuccessful"] is False
    (note,) = invocation["toolExecutionNotifications"]
    assert note["message"]["text"] == "run failed: resolve changed files: no"
    assert report.exit_code == 1
    assert _junit(report).get("errors") == "1"


@pytest.mark.case("verifiers:A15.9")
def test_flat_sarif(bench: Workbench) -> None:
    """Flat results have the bare name as rule, and no rule text speaks of a file."""
    bench.write("lib/a.go", "package a\n// XXX\n\n// XXX\n")
    bench.config(
        flat("todo", "forbid", glob="lib/*.go", pattern="XXX") + flat("license", "file_exists", path="LICENSE")
    )
    run = _sarif(_report(bench.results()))
    assert [result["ruleId"] for result in run["results"]] == ["todo", "todo", "license"]
    assert all(len(result["locations"]) == 1 for result in run["results"])
    prints = {result["partialFingerprints"]["aiRulezVerifier/v1"] for result in run["results"]}
    assert len(prints) == 3
    first = run["results"][0]["locations"][0]["physicalLocation"]
    assert (first["artifactLocation"]["uri"], first["region"]["startLine"]) == ("lib/a.go", 2)
    texts = json.dumps(run["tool"]["driver"]["rules"])
    assert "forbidden pattern" not in texts
    assert "verifier todo (forbid)" in texts


@pytest.mark.case("verifiers:A1.37")
def test_two_flat_results(bench: Workbench) -> None:
    """A pass and a failure, without a mode."""
    bench.config(flat("none", "file_absent", path="nothing") + flat("some", "file_exists", path="nothing"))
    report = _report(bench.results(), mode=None)
    assert "\n1 passed, 1 failed, 0 could not run\n" in render_text(report)
    document = json.loads(render_json(report))
    assert "mode" not in document
    assert (document["summary"]["pass"], document["summary"]["fail"], len(document["results"])) == (1, 1, 2)


@pytest.mark.case("verifiers:A13.6")
def test_inactive_and_skipped() -> None:
    """Two statuses that never fail a run, visible in every form."""
    skipped = _result("l", "skipped", code="AR9H4", message="LLM use is off", severity="info", advisory=True)
    report = _report((_result("i", "inactive", message="not active"), skipped), "info")
    assert "1 skipped, 1 inactive (all)" in render_text(report)
    (invocation,) = _sarif(report)["invocations"]
    assert invocation["executionSuccessful"] is True
    assert invocation["toolExecutionNotifications"][0]["message"]["text"] == "AR9H4 l: LLM use is off"
    assert "<skipped" in render_junit(report)
    assert json.loads(render_json(report))["summary"]["inactive"] == 1
    assert report.exit_code == 0


@pytest.mark.case("verifiers:A13.7")
def test_coded_error() -> None:
    """An error with a code is a result of its own, and could not run."""
    report = _report((_result("c", "error", code="AR9H3", message="refused", fix="F"),))
    assert "\nAR9H3 c\n  fix: F\n" in render_text(report)
    run = _sarif(report)
    assert [(r["ruleId"], r["level"]) for r in run["results"]] == [("AR9H3/c", "error")]
    assert report.exit_code == 1


def test_failure_outranks_error() -> None:
    """Exit 1 never hides a failure."""
    failed = _result("f", "fail", findings=(Finding(message="m"),))
    assert _report((_result("e", "error", message="x"), failed)).exit_code == 2


@pytest.mark.case("verifiers:D-30")
def test_flat_failure_in_text(bench: Workbench) -> None:
    """A flat failure has no code in front of its name; notes are never printed."""
    bench.write("a.txt", "XXX\n")
    bench.config(flat("f", "forbid", glob="a.txt", pattern="XXX") + flat("none", "regex", glob="*.zig", pattern="x"))
    text = render_text(_report(bench.results()))
    assert '\n\n f\n  a.txt:1  forbidden pattern "XXX"  [XXX]\n\n' in text
    assert "none  no files match *.zig" in text


@pytest.mark.case("verifiers:D-31")
def test_levels_and_places() -> None:
    """Info is a note; an invalid inline declaration is at config.toml."""
    info = _result("i", "fail", severity="info", code="AR9H1", findings=(Finding(message="m", file="a b.txt", line=2),))
    invalid = _result("x", "error", type="invalid", code="AR9H2", message="bad", source="config.toml")
    first, second = _sarif(_report((info, invalid)))["results"]
    assert first["level"] == "note"
    assert first["locations"][0]["physicalLocation"]["artifactLocation"]["uri"] == "a%20b.txt"
    assert second["locations"][0]["physicalLocation"]["artifactLocation"]["uri"] == "config.toml"


@pytest.mark.case("verifiers:D-36")
def test_fingerprint_vector() -> None:
    """The fingerprints of spec 12, the second occurrence too."""
    prints = Fingerprints()
    identity = collapsed('print(  "x")')
    assert [prints.of("no-print", "app/a.py", identity) for _ in range(2)] == [
        "34362a682ffe784a9606455e613ce3f84acb7f26f8a6f88031498a103e07e9f6",
        "f417ca44c5c1ebd1464ce1e26c79f1d2d86e0fd3d1e712242161072f23552f15",
    ]


def test_below_the_failing_severity() -> None:
    """A failure that does not gate is a pass with its text as output in JUnit."""
    warning = _result("w", "fail", severity="warning", code="AR9H1", findings=(Finding(message="m", file="a"),))
    root = _junit(_report((warning,)))
    assert root.get("failures") == "0"
    output = root.find("./testsuite/testcase/system-out")
    assert output is not None
    assert output.text == "warning: a  m"


def test_hostile_texts() -> None:
    """Nothing that a file name or message holds reaches the terminal or breaks a document."""
    name = "a\x1b[31m\n\u202e.txt"
    finding = Finding(message="x\x07y", file=name, line=1, match="m\x1b")
    report = _report((_result("f", "fail", message=f"at {name}", findings=(finding,), notes=("n\x1b",)),))
    for text in (render_text(report), render_json(report), render_sarif(report, "1"), render_junit(report)):
        assert not {"\x1b", "\x07", "\u202e"} & set(text)
    assert r"a\x1b[31m\x0a\u202e.txt:1  x\x07y  [m\x1b]" in render_text(report)
    ElementTree.fromstring(render_junit(report))


def test_empty() -> None:
    """Nothing was selected."""
    assert render_text(_report(())) == "No verifiers configured.\n"
    assert _report(()).exit_code == 0
