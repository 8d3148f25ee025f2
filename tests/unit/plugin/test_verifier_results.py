"""plugin/verifier_results.py: verifiers that are looked up in batches (issue 4 item 7)."""

from __future__ import annotations

from pytest_reqfile.outcome import Location, Outcome
from pytest_reqfile.plugin.verifier_results import BatchedResults
from pytest_reqfile.verifiers.values import FlatVerifier, PathCheck, Verifier

HERE = Location(path="config.toml", line=1)


def verifier(number: int) -> FlatVerifier:
    return FlatVerifier(name=f"v{number}", check=PathCheck(path="x", present=True), declared=HERE)


def test_each_outcome_is_its_own_and_worked_out_once() -> None:
    """In any order, a batch at a time; what was not expected, or is asked for again, is left to the caller."""
    asked: list[str] = []

    def evaluate(each: Verifier) -> Outcome:
        assert isinstance(each, FlatVerifier)
        asked.append(each.name)
        return Outcome(subject="verifier", owner=each.name, check="", status="pass", declared=HERE, looked_at=1)

    results = BatchedResults(evaluate)
    verifiers = [verifier(number) for number in range(250)]
    results.expect(verifiers)
    first = results.outcome(verifiers[120])
    assert first is not None
    assert (first.owner, asked[:2], len(asked)) == ("v120", ["v120", "v0"], 100)
    found = [results.outcome(each) for each in verifiers]
    assert [each.owner for each in found if each is not None] == [v.name for v in verifiers if v.name != "v120"]
    assert (len(asked), len(set(asked))) == (250, 250)
    assert results.outcome(verifiers[3]) is None
    assert results.outcome(verifier(999)) is None
