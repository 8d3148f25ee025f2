"""Readers of reports that refuse what the official schemas refuse, and a run that holds one outcome of each kind."""

from __future__ import annotations

import json
from collections.abc import Iterator
from functools import lru_cache
from html.parser import HTMLParser
from importlib.resources import files
from pathlib import Path
from typing import Any
from urllib.parse import unquote

import jsonschema
from lxml import etree

from pytest_reqfile.outcome import STATUSES, Finding, FindingKind, Location, Outcome
from pytest_reqfile.reports.run_report import ItemResult, KnownRequirement, LinkedTest, RunReport, run_report

SCHEMAS = Path(__file__).parents[3] / "shared" / "schemas"
"""The official schemas are files of others and no part of this repository; without them our own checks remain."""

SUITE_ATTRIBUTES = {"name", "tests", "failures", "errors", "skipped", "time", "timestamp", "hostname"}
CASE_ATTRIBUTES = {"name", "classname", "time"}
VOID = {"meta", "br"}


@lru_cache
def _sarif_validator() -> Any:
    path = SCHEMAS / "sarif-2.1.0.json"
    return jsonschema.Draft7Validator(json.loads(path.read_text("utf-8"))) if path.exists() else None


@lru_cache
def _junit_schema() -> Any:
    path = SCHEMAS / "junit-10.xsd"
    return etree.XMLSchema(etree.parse(path)) if path.exists() else None


@lru_cache
def _report_validator() -> jsonschema.Draft202012Validator:
    text = files("pytest_reqfile.reports").joinpath("schema/report-1.schema.json").read_text("utf-8")
    schema = json.loads(text)
    jsonschema.Draft202012Validator.check_schema(schema)
    return jsonschema.Draft202012Validator(schema)


def read_sarif(text: str) -> dict[str, Any]:
    """The one run of a SARIF log; fails on anything the schema or code scanning would refuse."""
    log = json.loads(text.encode("utf-8"))
    validator = _sarif_validator()
    if validator is not None:
        validator.validate(log)
    assert log["version"] == "2.1.0"
    (run,) = log["runs"]
    rules = run["tool"]["driver"]["rules"]
    assert len({rule["id"] for rule in rules}) == len(rules)
    for rule in rules:
        for key in ("shortDescription", "fullDescription", "help"):
            assert rule[key]["text"], rule
        assert max(len(rule[key]["text"]) for key in ("shortDescription", "fullDescription")) <= 1024
        assert len(rule["name"]) <= 255
    for result in run["results"]:
        assert rules[result["ruleIndex"]]["id"] == result["ruleId"]
        assert result["locations"]
    prints = [result["partialFingerprints"]["reqfile/v1"] for result in run["results"]]
    assert len(set(prints)) == len(prints)
    for place in physical_locations(run):
        _check_uri(place["artifactLocation"])
        assert place.get("region", {"startLine": 1})["startLine"] >= 1
    found: dict[str, Any] = run
    return found


def physical_locations(value: object) -> Iterator[dict[str, Any]]:
    """Every place that a part of a SARIF log names."""
    if isinstance(value, dict):
        if "physicalLocation" in value:
            yield value["physicalLocation"]
        value = list(value.values())
    if isinstance(value, list):
        for item in value:
            yield from physical_locations(item)


def _check_uri(place: dict[str, str]) -> None:
    uri = place["uri"]
    assert uri.isascii()
    assert not set(uri) & set(' \\"<>^`{|}')
    if place.get("uriBaseId") == "%SRCROOT%":
        assert not uri.startswith(("/", "./"))
        assert ".." not in uri.split("/")
        assert ":" not in uri.partition("/")[0]
        assert unquote(uri, errors="surrogateescape")
    else:
        assert uri.startswith("file:///")


def read_junit(text: str, *, case_properties: bool = False) -> etree._Element:
    """The root of a JUnit document; fails on anything the Jenkins schema would refuse.

    ``case_properties`` says that it is pytest's own, whose properties of test cases that schema does not know yet.
    """
    root = etree.fromstring(text.encode("utf-8"))
    if case_properties:
        for case in root.iter("testcase"):
            for properties in case.findall("properties"):
                case.remove(properties)
    schema = _junit_schema()
    if schema is not None:
        schema.assertValid(root)
    assert root.tag == "testsuites"
    for suite in root:
        cases = suite.findall("testcase")
        assert set(suite.attrib) <= SUITE_ATTRIBUTES
        assert int(suite.get("tests", "")) == len(cases)
        assert int(suite.get("failures", "")) == len(suite.findall("testcase/failure"))
        assert int(suite.get("errors", "")) == len(suite.findall("testcase/error"))
        assert all(set(case.attrib) <= CASE_ATTRIBUTES for case in cases)
    return root


def read_json(text: str) -> dict[str, Any]:
    """The JSON report; fails on anything the schema in the package does not describe."""
    assert text.isascii()
    document: dict[str, Any] = json.loads(text)
    _report_validator().validate(document)
    json.dumps(document, ensure_ascii=False).encode("utf-8")  # no lone surrogate
    assert sum(document["counts"].values()) == len(document["items"])
    assert document["unverified"] == [each["id"] for each in document["requirements"] if not each["verified"]]
    return document


class Page(HTMLParser):
    """An HTML page whose tags are balanced and that needs nothing but itself."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.open: list[str] = []
        self.tags: list[str] = []
        self.texts: list[str] = []
        self.ids: list[str] = []
        self.labels: list[str] = []
        self.feed(text)
        self.close()
        assert self.open == []
        assert set(self.labels) <= set(self.ids)
        assert not {"script", "img", "link", "iframe", "object"} & set(self.tags)

    @property
    def text(self) -> str:
        """What is read on the page."""
        return " ".join(" ".join(self.texts).split())

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append(tag)
        named = dict(attrs)
        assert not {name for name in named if name.startswith("on") or name in {"src", "href"}}
        self.ids += [str(named["id"])] if "id" in named else []
        self.labels += [str(named["aria-labelledby"])] if "aria-labelledby" in named else []
        if tag not in VOID:
            self.open.append(tag)

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag

    def handle_data(self, data: str) -> None:
        if self.open and self.open[-1] not in {"style", "title"}:
            self.texts.append(data)


def read_html(text: str) -> Page:
    """The HTML page; fails on unbalanced tags, scripts and anything outside of the file."""
    text.encode("utf-8")
    assert text.startswith("<!DOCTYPE html>")
    return Page(text)


def outcome(status: str = "fail", **fields: Any) -> Outcome:
    """An outcome of the requirement FAIL_FAST, completed so that ``status`` allows it."""
    assert status in STATUSES
    given: dict[str, Any] = {
        "subject": "requirement",
        "owner": "FAIL_FAST",
        "check": "command-1",
        "status": status,
        "declared": Location(path="Reqfile.yaml", line=8),
        "title": "Errors stop the program.",
        "why": "A hidden error is found by the customer.",
        "fix_hint": "Raise it.",
        "details": {"kind": "code", "command": "ruff check"},
    }
    if status in {"fail", "advisory"}:
        kind: FindingKind = "violation" if status == "fail" else "advisory"
        given["findings"] = (
            Finding(message="bare except", kind=kind, file="src/a b.py", line=4, fix_hint="Catch one."),
        )
    elif status == "pass":
        given["looked_at"] = 1
    else:
        given["reason"] = "there is a reason"
    return Outcome(**given | fields)


def item(found: Outcome, file: str = "Reqfile.yaml") -> ItemResult:
    """The item of an outcome, in a Reqfile at the root unless said otherwise."""
    return ItemResult(nodeid=f"{file}::{found.name}", file=file, outcome=found)


def every_kind() -> RunReport:
    """A run with an outcome of each status and subject, findings with and without place, and a linked test."""
    spec = {
        "type": "regex",
        "code": "AR9H1",
        "target_kind": "rule",
        "target_id": "database",
        "target_path": ".ai-rulez/rules/database.md",
        "target_line": 3,
        "message": "Every migration needs a down section.",
        "stated": True,
    }
    spec_file = ".ai-rulez/verifiers/db.toml"
    judged = Finding(message="too vague", kind="uncertain", file="src/b.py", line=2, probability=0.5, model="acme/m-1")
    twice = tuple(Finding(message="print( used", file="src/c.py", line=line, column=5, rule="T201") for line in (3, 9))
    outcomes = (
        item(outcome()),
        item(outcome(check="command-2", findings=twice, fix_hint=None)),
        item(outcome("advisory", check="decision", findings=(judged,), blocking=False)),
        item(outcome("error", owner="BREAKS", reason="`x` failed with exit code 7\nboom", title="X <b>")),
        item(outcome("error", owner="LAX", reason="cannot be judged", blocking=False)),
        item(outcome("pass", owner="PASSES", title="All is well.", declared=Location(path="Reqfile.yaml", line=30))),
        item(outcome("nothing_to_check", owner="QUIET", reason="nothing to check: no matching file")),
        item(outcome("deferred", owner="SLOW", reason="left for a full run")),
        item(outcome("fail", subject="example", check="examples/ok-quiet", findings=(Finding(message="false alarm"),))),
        item(
            outcome(
                subject="verifier",
                owner="migrations-have-down",
                check="",
                declared=Location(path=spec_file, line=1),
                findings=(Finding(message="pattern `-- down` not found", file="db/1.sql", match="CREATE TABLE"),),
                title="Every migration needs a down section.",
                why="rule database",
                details=spec,
            ),
            spec_file,
        ),
        item(
            outcome(
                "skipped",
                subject="verifier",
                owner="actionable",
                check="",
                declared=Location(path=spec_file, line=20),
                reason="needs --allow-llm",
                title="",
                details={**spec, "code": "AR9H4"},
            ),
            spec_file,
        ),
        item(
            outcome(
                "error", subject="load", owner="app/Reqfile.yaml", check="load", title="", why="", fix_hint=None,
                declared=Location(path="app/Reqfile.yaml", line=3), reason="app/Reqfile.yaml:3: unknown key `x`",
            ),
            "app/Reqfile.yaml",
        ),
    )  # fmt: skip
    known = ("FAIL_FAST", "PASSES", "UNSEEN")
    return run_report(
        "1.2.3",
        outcomes,
        tests=(LinkedTest(nodeid="tests/test_a.py::test_x", requirements=("FAIL_FAST",), result="passed"),),
        requirements=tuple(
            KnownRequirement(
                id=name, kind="code", declared=Location(path="Reqfile.yaml", line=line), must=f"Be {name}."
            )
            for line, name in enumerate(known, 3)
        ),
        started=1_767_322_000.25,
        seconds=61.5,
    )
