"""The report is built from the brief, whatever was reported (spec oracle.md 5.2; 9.19)."""

from __future__ import annotations

import json

import pytest

from pytest_reqfile.oracle.assembly import assemble
from pytest_reqfile.oracle.classify import blocked
from pytest_reqfile.oracle.opening import open_session
from pytest_reqfile.oracle.session import OracleOptions
from pytest_reqfile.oracle.sink import open_sink
from pytest_reqfile.outcome import Outcome, from_wire, to_wire
from tests.support import Repo
from tests.support.missions import criterion, entry, mission, verify

WHAT = mission(
    entry("true"),
    entry("false", check_id="F"),
    entry("true", check_id="L"),
    criteria=[criterion(), criterion("AC-2", "F"), criterion("AC-3", "L")],
    mustNotRegress=["C"],
    review={"rounds": 2, "findings": [{"id": "R-1"}]},
    head="abc",
)


@pytest.mark.parametrize("reached", [0, 1, 2, 3])
@pytest.mark.case("oracle:9.19")
def test_what_was_not_reached_is_blocked(repo: Repo, reached: int) -> None:
    """-x, -k, --deselect, Ctrl-C, a crashed worker: never left out, each with a receipt of its own."""
    verified = verify(repo, WHAT)
    again = assemble(WHAT, verified.outcomes[:reached], verified.sink, repo.root)
    results = list(again.results.values())
    assert [result.blocked for result in results[reached:]] == ["not-run"] * (4 - reached)
    assert again.overall == ("fail" if reached >= 2 else "blocked")
    for result in results:
        assert result.receipt is not None
        assert verified.sink.holds(result.receipt)
    review = json.loads(verified.sink.read("review-evidence.json"))
    assert [row["exitCode"] for row in review["oracleResults"]] == [0, 1, 0, 0][:reached] + [None] * (4 - reached)


@pytest.mark.case("oracle:9.19")
def test_a_retry_cannot_hide_a_failure(repo: Repo) -> None:
    """Several outcomes of one item: the worst counts, in any order, across processes."""
    what = mission(entry("test -e $FLAG"), criteria=[criterion()])
    sink = open_sink(repo.home / "sink", repo.root)
    options = OracleOptions(passed=("FLAG",))
    outcomes = []
    for flag in ("/nowhere", "/"):
        env = repo.environment.updated({"FLAG": flag})
        with open_session(what, repo.root, sink, env, options) as session:
            outcomes.append(from_wire(to_wire(session.evaluate(session.items[0]))))
    assert [outcome.status for outcome in outcomes] == ["fail", "pass"]
    kept = from_wire(to_wire(outcomes[0]) | {"details": {**outcomes[0].details, **_receipt(outcomes[1])}})
    for order in ((kept, outcomes[1]), (outcomes[1], kept)):
        assert assemble(what, order, sink, repo.root).overall == "fail"
    # The second evaluation replaced the first one's receipt, which alone makes the first no longer provable.
    assert assemble(what, outcomes, sink, repo.root).overall == "blocked"


@pytest.mark.case("oracle:9.19")
def test_an_item_runs_once(repo: Repo) -> None:
    """A rerun plugin gets the outcome there was."""
    what = mission(entry("test -e x && exit 0; touch x; exit 1"))
    sink = open_sink(repo.home / "sink", repo.root)
    with open_session(what, repo.root, sink, repo.environment, OracleOptions()) as session:
        first, second = session.evaluate(session.items[0]), session.evaluate(session.items[0])
    assert first == second
    assert first.status == "fail"


def _receipt(outcome: Outcome) -> dict[str, str | int | float | bool | None]:
    return {key: outcome.details[key] for key in ("receipt", "receipt_digest", "receipt_size")}


def test_a_taint_blocks_all_of_the_run(repo: Repo) -> None:
    """Found at the end, it holds for what passed before."""
    verified = verify(repo, WHAT)
    taint = blocked("source-drift", "changed: a")
    again = assemble(WHAT, verified.outcomes, verified.sink, repo.root, taint=taint)
    assert {(result.verdict, result.blocked) for result in again.results.values()} == {("blocked", "source-drift")}
    assert again.overall == "blocked"
    assert again.results["oracle/F"].exit_code == 1


def test_the_binding_and_the_rounds_are_preserved(repo: Repo) -> None:
    """seed 003: required review rounds, findings and head/lineage binding; only oracleResults is ours."""
    verified = verify(repo, WHAT)
    review = json.loads(verified.sink.read("review-evidence.json"))
    assert (review["head"], review["review"]) == ("abc", {"rounds": 2, "findings": [{"id": "R-1"}]})
    assert set(review) == {"head", "review", "oracleResults"}
    assert set(verified.claims) == {"claims", "observations", "checks", "limitations"}


def test_the_claims_are_written_last(repo: Repo) -> None:
    """Whoever finds claims finds all they refer to."""
    verified = verify(repo, WHAT)
    for claim in verified.claims["claims"]:
        for evidence in claim["evidence"]:
            artifact = verified.sink.artifact(evidence["ref"])
            assert artifact is not None
            assert artifact.digest == evidence["digest"]
    newest = max(verified.sink.folder.rglob("*.json"), key=lambda path: path.stat().st_mtime_ns)
    assert newest.name == "worker-claims.json"
