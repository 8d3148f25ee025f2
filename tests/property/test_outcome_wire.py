"""Outcome → wire → outcome is the identity over builtin types, and every outcome fits into every report."""

from __future__ import annotations

import execnet
import pytest
from hypothesis import HealthCheck, assume, given, settings
from hypothesis import strategies as st

from pytest_reqfile.outcome import NOT_LOOKED_AT, STATUSES, Finding, Location, Outcome, from_wire, to_wire
from pytest_reqfile.reports.html import html_report
from pytest_reqfile.reports.junit import junit_report, properties
from pytest_reqfile.reports.run_json import json_report
from pytest_reqfile.reports.run_report import run_report
from pytest_reqfile.reports.sarif import sarif_report
from tests.support.reports import item, outcome, read_html, read_json, read_junit, read_sarif

BUILTIN = {str, bytes, int, float, bool, type(None)}

# Hypothesis leaves lone surrogates out of text unless asked: they are undecodable bytes of file names.
texts = st.text(st.characters() | st.sampled_from("\x00\x1b\r\n\ud800\udcff￾<&]>\u202e"), max_size=20)
filled = texts.filter(str.strip)
lines = st.integers(1, 2**40)
optional_texts = st.none() | texts
# execnet cannot carry integers below -2**31; nothing of ours counts so far down.
numbers = st.integers(-(2**31), 2**63 - 1) | st.floats(allow_nan=False)
details = st.dictionaries(st.text(max_size=8), st.none() | st.booleans() | numbers | texts, max_size=4)
locations = st.builds(Location, path=filled, line=lines, column=st.none() | lines)


@st.composite
def findings(draw: st.DrawFn) -> Finding:
    """A finding with or without a place."""
    file = draw(st.none() | filled)
    return Finding(
        message=draw(texts),
        kind=draw(st.sampled_from(("violation", "advisory", "uncertain"))),
        file=file,
        line=None if file is None else draw(st.none() | lines),
        column=draw(st.none() | lines),
        fix_hint=draw(optional_texts),
        rule=draw(optional_texts),
        match=draw(optional_texts),
        probability=draw(st.none() | st.floats(0, 1)),
        model=draw(optional_texts),
    )


@st.composite
def outcomes(draw: st.DrawFn) -> Outcome:
    """Any outcome that can be built."""
    status = draw(st.sampled_from(STATUSES))
    needs_reason = status == "error" or status in NOT_LOOKED_AT
    return Outcome(
        subject=draw(st.sampled_from(("requirement", "verifier", "example", "lock", "oracle", "load"))),
        owner=draw(filled),
        check=draw(texts),
        status=status,
        declared=draw(locations),
        findings=tuple(draw(st.lists(findings(), min_size=int(status in {"fail", "advisory"}), max_size=3))),
        reason=draw(filled if needs_reason else optional_texts),
        blocking=draw(st.booleans()),
        severity=draw(st.sampled_from(("error", "warning", "info"))),
        looked_at=draw(st.integers(int(status == "pass"), 1000)),
        seconds=draw(st.floats(0, 1e6)),
        title=draw(texts),
        why=draw(texts),
        fix_hint=draw(optional_texts),
        details=draw(details),
    )


def only_builtins(value: object) -> bool:
    """Whether ``value`` is made of builtin types, subclasses not counted (anchors.md L3)."""
    if type(value) is dict:
        return all(type(key) is str and only_builtins(each) for key, each in value.items())
    if type(value) is list:
        return all(map(only_builtins, value))
    return type(value) in BUILTIN


@given(outcomes())
def test_the_wire_is_an_inverse(found: Outcome) -> None:
    """Also after execnet has carried it, which takes nothing but builtin types and no lone surrogate."""
    wire = to_wire(found)
    assert only_builtins(wire)
    assert from_wire(wire) == found
    assert from_wire(execnet.loads(execnet.dumps(wire))) == found


def test_another_version_is_refused() -> None:
    """A worker of another version must not be misread."""
    with pytest.raises(ValueError, match="expected an outcome of wire version 1, found 2"):
        from_wire(to_wire(outcome()) | {"v": 2})


@settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(st.lists(outcomes(), max_size=4, unique_by=lambda found: found.name))
def test_every_outcome_fits_into_every_report(found: list[Outcome]) -> None:
    """Whatever text an outcome holds, each report is valid and holds the item once."""
    assume(all(entry.owner.strip() for entry in found))
    report = run_report("1.2.3", map(item, found))
    read_sarif(sarif_report(report).text)
    assert len(list(read_junit(junit_report(report)).iter("testcase"))) == len(found)
    assert len(read_json(json_report(report))["items"]) == len(found)
    assert read_html(html_report(report)).tags.count("details") == len(found)


@given(outcomes())
def test_properties_are_fit_for_xml_and_the_wire(found: Outcome) -> None:
    """pytest writes them as they are."""
    told = properties(found)
    assert [tuple(map(str, pair)) for pair in execnet.loads(execnet.dumps(told))] == told
    assert all(value.isprintable() or set(value) & set("\n\t") for _, value in told)
