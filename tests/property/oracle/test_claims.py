"""Whatever the claims hold and whatever the budget: they parse, fit, and lose what matters least first."""

from __future__ import annotations

import json
import re

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from pytest_reqfile.oracle.budget import by_priority, fit
from pytest_reqfile.oracle.claims import Claim, Draft, Unit
from pytest_reqfile.oracle.profiles import PROFILES
from pytest_reqfile.oracle.results import Verdict
from pytest_reqfile.oracle.tokens import Counter, count_bytes, estimate
from tests.support.claims import artifact, check

VERDICTS: st.SearchStrategy[Verdict] = st.sampled_from(("pass", "fail", "blocked"))
TEXT = st.text(min_size=1, max_size=200) | st.text("語字測", min_size=1, max_size=80) | st.just("x " * 500)
PREFIX = re.compile(r"\[(pass|fail|blocked)\] \(confidence: (high|medium|low)\) .+")


@st.composite
def units(draw: st.DrawFn) -> Unit:
    """A claim with up to two checks, or checks no claim uses."""
    identifier = draw(st.text(min_size=1, max_size=30).filter(str.strip))
    verdict: Verdict = draw(VERDICTS)
    names = draw(st.lists(st.integers(0, 9), max_size=2, unique=True))
    checks = tuple(check(f"oracle/{number}", str(number), draw(st.none() | st.integers(0, 255))) for number in names)
    claim = Claim(
        id=identifier,
        verdict=verdict,
        confidence=draw(st.sampled_from(("high", "medium", "low"))),
        text=draw(TEXT),
        explanation=draw(TEXT),
        receipts=tuple(one.receipt for one in checks),
        cited=tuple(artifact(f"file{number}:1") for number in range(draw(st.integers(0, 2)))),
    )
    return Unit(id=identifier, verdict=verdict, claim=claim if draw(st.booleans()) else None, checks=checks)


@st.composite
def drafts(draw: st.DrawFn) -> Draft:
    """Any draft."""
    return Draft(
        units=tuple(draw(st.lists(units(), max_size=12))),
        observations=tuple(draw(st.lists(TEXT, max_size=4))),
        limitations=tuple(draw(st.lists(TEXT, max_size=4))),
        notes=artifact("notes.json", "e"),
        review=artifact("review-evidence.json", "b"),
        profile=draw(st.sampled_from(PROFILES)),
    )


COUNTERS = st.sampled_from((estimate, count_bytes))


@settings(max_examples=300, deadline=None)
@given(whole=drafts(), budget=st.integers(1, 6000), count=COUNTERS)
@pytest.mark.case("oracle:9.13")
def test_claims_parse_and_fit(whole: Draft, budget: int, count: Counter) -> None:
    """Never cut; never over the budget but for the smallest document; the count told is the count."""
    fitted = fit(whole, budget, count)
    document = json.loads(fitted.text)
    assert list(document) == ["claims", "observations", "checks", "limitations"]
    assert fitted.tokens == count(fitted.text)
    if fitted.over_budget:
        assert (document["claims"], document["observations"], document["checks"]) == ([], [], [])
        assert len(document["limitations"]) == 1
    else:
        assert fitted.tokens <= budget
    for claim in document["claims"]:
        assert PREFIX.fullmatch(claim["text"])
        assert claim["text"].isprintable()


@settings(max_examples=300, deadline=None)
@given(whole=drafts(), budget=st.integers(1, 6000), count=COUNTERS)
def test_what_matters_least_is_lost_first(whole: Draft, budget: int, count: Counter) -> None:
    """What is kept is a prefix of the order of priority; no fail goes while a pass stays; what goes is told."""
    fitted = fit(whole, budget, count)
    document = json.loads(fitted.text)
    ordered = by_priority(whole.units)
    kept = ordered[: len(ordered) - len(fitted.omitted)]
    assert (*kept, *fitted.omitted) == ordered
    wanted = [unit.claim.id for unit in whole.units if unit.claim is not None and any(unit is one for one in kept)]
    assert [claim["id"] for claim in document["claims"]] == wanted
    if any(unit.verdict == "pass" for unit in kept):
        assert all(unit.verdict == "pass" for unit in fitted.omitted)
    names = {check["checkId"] for check in document["checks"]}
    assert names == {one.check_id for unit in kept for one in unit.checks}
    partial = [line for line in document["limitations"] if line.startswith("partial: omitted ")]
    if fitted.omitted:
        assert "review-evidence.json sha256:" in partial[0]


@settings(max_examples=100, deadline=None)
@given(whole=drafts(), budget=st.integers(100, 3000), more=st.integers(0, 3000))
def test_a_larger_budget_never_loses_a_claim(whole: Draft, budget: int, more: int) -> None:
    """With more room at least as many units are kept."""
    small, large = fit(whole, budget, count_bytes), fit(whole, budget + more, count_bytes)
    assert len(large.omitted) <= len(small.omitted)


@settings(max_examples=200, deadline=None)
@given(text=st.text())
def test_the_estimate_is_below_the_sure_bound(text: str) -> None:
    """Nothing is estimated to cost more than its bytes, nor is any text free."""
    assert bool(text) <= estimate(text) <= count_bytes(text)
