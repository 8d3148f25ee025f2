"""SARIF text → findings: what counts, and what is refused (spec reqfile.md 3.4)."""

from __future__ import annotations

import json

import pytest

from pytest_reqfile.outcome import Finding
from pytest_reqfile.reqfile.sarif_input import ProbabilityError, SarifError, SarifResult, read_sarif, sarif_findings
from pytest_reqfile.reqfile.values import Thresholds


def sarif(*results: object) -> bytes:
    return json.dumps({"version": "2.1.0", "runs": [{"tool": {}, "results": list(results)}]}).encode()


def result(**fields: object) -> dict[str, object]:
    return {"message": {"text": "It is wrong."}, **fields}


def located(*physical: object) -> dict[str, object]:
    return result(locations=[{"physicalLocation": place} for place in physical])


def one(value: object) -> SarifResult:
    (read,) = read_sarif(sarif(value))
    return read


def findings(*results: object) -> tuple[Finding, ...]:
    return sarif_findings(read_sarif(sarif(*results)), Thresholds(), "hint", lambda uri: f"at/{uri}")


def test_every_run_is_read_and_unknown_fields_are_not() -> None:
    """``level``, ``baselineState`` and the like change nothing."""
    text = {
        "$schema": "x",
        "runs": [{}, {"results": [result(level="none", baselineState="absent", rank=1)]}, {"results": []}],
    }
    assert read_sarif(json.dumps(text).encode()) == (SarifResult(text="It is wrong."),)
    assert read_sarif(b"\xef\xbb\xbf" + sarif(result())) == (SarifResult(text="It is wrong."),)


def test_the_first_physical_location_is_the_place() -> None:
    """A line without a file is none; line 0 is no line."""
    place = {"artifactLocation": {"uri": "a.py"}, "region": {"startLine": 3}}
    assert (one(located(None, place, {"artifactLocation": {"uri": "b.py"}})).uri, one(located(place)).line) == (
        "a.py",
        3,
    )
    assert one(located({"region": {"startLine": 3}}, place)).uri is None
    assert one(located({"artifactLocation": None, "region": None})) == SarifResult(text="It is wrong.")
    assert one(located({"artifactLocation": {"uri": "a.py"}, "region": {"startLine": 0}})).line is None
    assert one(result(locations=[{"logicalLocations": []}])).uri is None
    assert findings(located({"artifactLocation": {"uri": ""}, "region": {"startLine": 3}}))[0].file is None


@pytest.mark.parametrize(
    ("text", "rule", "message"),
    [
        ("", None, "(no message)"),
        (" \n", "E1", "(no message) (E1)"),
        ("wrong", "E1", "wrong (E1)"),
        ("E1 is wrong", "E1", "E1 is wrong"),
        ("wrong", None, "wrong"),
        ("wrong", "", "wrong"),
    ],
)
def test_the_rule_is_added_unless_the_text_names_it(text: str, rule: str | None, message: str) -> None:
    """In brackets after the text."""
    assert findings({"message": {"text": text}, "ruleId": rule})[0].message == message


@pytest.mark.parametrize(
    ("fields", "kind"),
    [
        ({}, "violation"),
        ({"kind": "fail"}, "violation"),
        ({"kind": "review"}, None),
        ({"kind": "review", "properties": {"probability": 0.81}}, "violation"),
        ({"kind": "pass", "properties": {"probability": 0.8}}, "uncertain"),
        ({"properties": {"probability": 0.2}}, "uncertain"),
        ({"properties": {"probability": 0.19}}, None),
        ({"properties": {"probability": 1}}, "violation"),
        ({"properties": {"probability": None}}, "violation"),
        ({"properties": {"tags": []}}, "violation"),
        ({"properties": {"probability": 0.9}, "suppressions": [{"kind": "inSource"}]}, None),
        ({"suppressions": [{"kind": "inSource", "status": "rejected"}]}, "violation"),
        ({"suppressions": [{"kind": "external", "status": "rejected"}, {"kind": "external"}]}, None),
    ],
)
def test_kind_suppressions_and_probability_decide(fields: dict[str, object], kind: str | None) -> None:
    """Equality with a threshold is uncertain."""
    assert [finding.kind for finding in findings(result(**fields))] == ([kind] if kind else [])


def test_read_plainly_every_result_is_a_failure() -> None:
    """Edition 0.1 knows no kinds, suppressions and probabilities, however they are written (spec 10)."""
    fields = {"kind": "pass", "suppressions": [{}], "properties": {"probability": 7}}
    assert read_sarif(sarif(result(**fields)), plain=True) == (SarifResult(text="It is wrong."),)


AT = "runs[0].results[0]"
WRONG: list[tuple[object, str]] = [
    ([], f"{AT} must be an object, found an array"),
    ({}, f"{AT}.message must be an object, found null"),
    ({"message": {"id": "m"}}, f"{AT}.message.text must be a string, found null"),
    ({"message": {"text": 1}}, f"{AT}.message.text must be a string, found a number"),
    ({"message": {"text": "\ud800"}}, f"{AT}.message.text has half of a surrogate pair"),
    (result(ruleId=[]), f"{AT}.ruleId must be a string, found an array"),
    (result(locations={}), f"{AT}.locations must be an array, found an object"),
    (result(locations=["x"]), f"{AT}.locations[0] must be an object, found a string"),
    (located([]), f"{AT}.locations[0].physicalLocation must be an object, found an array"),
    (
        located({"artifactLocation": {}}),
        f"{AT}.locations[0].physicalLocation.artifactLocation.uri must be a string, found null",
    ),
    (
        located({"region": {"startLine": -1}}),
        f"{AT}.locations[0].physicalLocation.region.startLine must be a line number, found -1",
    ),
    (
        located({"region": {"startLine": True}}),
        f"{AT}.locations[0].physicalLocation.region.startLine must be a line number, found True",
    ),
    (
        located({"region": {"startLine": 1.5}}),
        f"{AT}.locations[0].physicalLocation.region.startLine must be a line number, found 1.5",
    ),
    (result(kind=None), f"{AT}.kind must be one of fail, informational, notApplicable, open, pass, review, found None"),
    (
        result(kind="Fail"),
        f"{AT}.kind must be one of fail, informational, notApplicable, open, pass, review, found 'Fail'",
    ),
    (result(suppressions=None), f"{AT}.suppressions must be an array, found null"),
    (result(suppressions=[{"kind": "x"}]), f"{AT}.suppressions[0].kind must be inSource or external, found 'x'"),
    (
        result(suppressions=[{"kind": "inSource"}, {"kind": "inSource", "status": 1}]),
        f"{AT}.suppressions[1].status must be accepted, underReview or rejected, found 1",
    ),
    (result(properties=None), f"{AT}.properties must be an object, found null"),
    (result(properties={"probability": "0.5"}), f"{AT}.properties.probability must be a number, found a string"),
    (result(properties={"probability": True}), f"{AT}.properties.probability must be a number, found a boolean"),
]


@pytest.mark.parametrize(("value", "message"), WRONG, ids=range(len(WRONG)))
def test_what_is_malformed_is_refused_with_its_place(value: object, message: str) -> None:
    """A result that cannot be read must not vanish."""
    with pytest.raises(SarifError) as caught:
        read_sarif(sarif(value))
    assert str(caught.value) == message


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (b"", "Expecting value: line 1 column 1 (char 0)"),
        (b"null", "the log must be an object, found null"),
        (b"{}", "runs must be an array, found missing"),
        (b'{"runs": {}}', "runs must be an array, found an object"),
        (b'{"runs": [1]}', "runs[0] must be an object, found a number"),
        (b'{"runs": [{"results": null}]}', "runs[0].results must be an array, found null"),
        (b'{"runs": [], "runs": []}', "duplicate field `runs`"),
        (b'{"runs": [], "x": Infinity}', "Infinity is not a JSON number"),
        (b'{"runs": []} trailing', "Extra data: line 1 column 14 (char 13)"),
        (b"\xff", "'utf-8' codec can't decode byte 0xff in position 0: invalid start byte"),
        (b"[" * 100_000, "nested too deeply"),
    ],
)
def test_what_is_no_sarif_log_is_refused(text: bytes, message: str) -> None:
    """Never an exception of another kind."""
    with pytest.raises(SarifError) as caught:
        read_sarif(text)
    assert str(caught.value) == message


@pytest.mark.parametrize(
    ("number", "shown"), [("1.5", "1.5"), ("2", "2"), ("-1.0", "-1"), ("1e999", "inf"), ("1.0000001", "1.0000001")]
)
def test_a_probability_outside_of_its_range_is_named(number: str, shown: str) -> None:
    """Whole numbers without a point."""
    text = f'{{"runs": [{{"results": [{{"message": {{"text": "x"}}, "properties": {{"probability": {number}}}}}]}}]}}'
    with pytest.raises(ProbabilityError) as caught:
        read_sarif(text.encode())
    assert str(caught.value) == f"a SARIF result has probability {shown}, outside 0 to 1"
