"""From a mission and whatever outcomes there are to the files of the sink (seed 003; spec oracle.md 5.1 step 7 and 8).

Built from the brief, not from what happened to be reported: an item without an outcome was not run, and says so.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from pathlib import Path

from pytest_reqfile.oracle.budget import Fitted, fit
from pytest_reqfile.oracle.citations import cite
from pytest_reqfile.oracle.claims import Check, Claim, Draft, Unit, one_line
from pytest_reqfile.oracle.classify import Ending, blocked
from pytest_reqfile.oracle.digests import Artifact
from pytest_reqfile.oracle.mission import Mission
from pytest_reqfile.oracle.plan import PlannedItem, plan_mission
from pytest_reqfile.oracle.profiles import PROFILES, Profile, worker_artifact
from pytest_reqfile.oracle.receipts import Circumstances, Execution, recorded_streams, write_receipt
from pytest_reqfile.oracle.results import TAINTS, Result, from_outcome
from pytest_reqfile.oracle.schema import ClaimsSchema
from pytest_reqfile.oracle.sink import CLAIMS, ENVIRONMENT, NOTES, REVIEW, Sink
from pytest_reqfile.oracle.source import UNKNOWN
from pytest_reqfile.oracle.stops import blocked_by_mission
from pytest_reqfile.oracle.tokens import Counter, estimate
from pytest_reqfile.oracle.verdicts import WORST_FIRST, Judged, Overall, judge, overall
from pytest_reqfile.outcome import Outcome
from pytest_reqfile.workspace.clock import Clock, SystemClock
from pytest_reqfile.workspace.machine import this_machine

NOT_RUN = "was not run"


@dataclass(frozen=True, slots=True, kw_only=True)
class Assembled:
    """What was written. ``overall`` is not part of the claims: it is the exit code and the line people read.

    ``results`` are by item name, one for every planned item; ``mismatches`` is what the user's schema refuses.
    """

    overall: Overall
    judged: tuple[Judged, ...]
    results: Mapping[str, Result]
    fitted: Fitted
    claims: Artifact
    review: Artifact
    profile: Profile
    mismatches: tuple[str, ...] = ()


def assemble(  # noqa: PLR0913 - independent inputs
    mission: Mission,
    outcomes: Iterable[Outcome],
    sink: Sink,
    root: Path,
    *,
    taint: Ending | None = None,
    schema: ClaimsSchema | None = None,
    profile: Profile | None = None,
    count: Counter = estimate,
    clock: Clock | None = None,
) -> Assembled:
    """Write ``review-evidence.json``, ``notes.json`` and, last, ``worker-claims.json`` within the mission's budget.

    ``taint`` is what ``OracleSession.final_check`` found. Without a ``profile`` the first one that ``schema`` accepts
    is taken. Raises ``FileError`` where the sink cannot be written.
    """
    items = plan_mission(mission)
    results = _results(items, mission, outcomes, sink, taint, clock or SystemClock())
    judged = judge(mission, items, results)
    draft = _draft(mission, items, results, judged, sink, root)
    chosen, fitted, mismatches = _fitting(draft, mission.budget, count, schema, profile)
    claims = sink.write(CLAIMS, (fitted.text + "\n").encode("utf-8"))
    verdict = overall(judged, results, partial=bool(fitted.omitted))
    if mismatches and verdict in ("pass", "partial"):
        verdict = "blocked"
    return Assembled(
        overall=verdict,
        judged=judged,
        results=results,
        fitted=fitted,
        claims=claims,
        review=draft.review,
        profile=chosen,
        mismatches=mismatches,
    )


def _fitting(
    draft: Draft, budget: int, count: Counter, schema: ClaimsSchema | None, profile: Profile | None
) -> tuple[Profile, Fitted, tuple[str, ...]]:
    first: tuple[Profile, Fitted, tuple[str, ...]] | None = None
    for candidate in (profile,) if profile is not None else PROFILES:
        fitted = fit(replace(draft, profile=candidate), budget, count)
        mismatches = schema.mismatches(fitted.text) if schema is not None else ()
        if not mismatches:
            return candidate, fitted, ()
        first = first or (candidate, fitted, mismatches)
    assert first is not None
    return first


# Results: one for every item


def _results(
    items: tuple[PlannedItem, ...],
    mission: Mission,
    outcomes: Iterable[Outcome],
    sink: Sink,
    taint: Ending | None,
    clock: Clock,
) -> dict[str, Result]:
    reported: defaultdict[str, list[Result]] = defaultdict(list)
    for outcome in outcomes:
        reported[outcome.name].append(_intact(from_outcome(outcome), sink))
    results = {
        item.name: _worst(reported[item.name]) if reported[item.name] else _not_run(item, mission, sink, clock)
        for item in items
    }
    taint = taint or next((_as_ending(r) for r in results.values() if r.blocked in TAINTS), None)
    return results if taint is None else {name: _tainted(result, taint) for name, result in results.items()}


def _worst(results: list[Result]) -> Result:
    """Of a repeated item the worst counts: a retry that passes must not hide a failed oracle (spec 5.2)."""
    return min(results, key=lambda result: WORST_FIRST.index(result.verdict))


def _intact(result: Result, sink: Sink) -> Result:
    """A result whose evidence is no longer what was written proves nothing."""
    if result.receipt is None or recorded_streams(sink, result.receipt) is not None:
        return result
    text = f"the evidence {result.receipt.ref} was changed or removed after it was written"
    return _tainted(result, blocked("workspace-written", text))


def _as_ending(result: Result) -> Ending:
    assert result.blocked is not None
    return blocked(result.blocked, result.explanation)


def _tainted(result: Result, taint: Ending) -> Result:
    if result.verdict == "blocked":
        return result
    return replace(
        result, verdict="blocked", blocked=taint.blocked, explanation=taint.explanation, confidence="high", doubts=()
    )


def _not_run(item: PlannedItem, mission: Mission, sink: Sink, clock: Clock) -> Result:
    ending = blocked_by_mission(item, mission) or blocked("not-run", NOT_RUN)
    around = Circumstances(
        mission_digest=mission.digest,
        machine=this_machine(),
        shell="",
        isolation=None,
        source=UNKNOWN,
    )
    now = clock.now_ms()
    execution = Execution(command=item.given, expected=item.expected, started_ms=now, ended_ms=now)
    return Result(
        name=item.name,
        check_id=item.check_id,
        verdict="blocked",
        blocked=ending.blocked,
        explanation=ending.explanation,
        expected=execution.expected,
        receipt=write_receipt(sink, item, execution, ending, around),
    )


# The draft of the claims


def _draft(
    mission: Mission,
    items: tuple[PlannedItem, ...],
    results: Mapping[str, Result],
    judged: tuple[Judged, ...],
    sink: Sink,
    root: Path,
) -> Draft:
    checks = {item.name: _check(results[item.name], sink) for item in items}
    used = {result.name for one in judged for result in one.results}
    unused = tuple(item for item in items if item.name not in used and item.kind != "absent")
    claims, observations = _claims(judged, root)
    units = [
        Unit(id=one.criterion.id, verdict=one.verdict, claim=claim, checks=tuple(checks[r.name] for r in one.results))
        for one, claim in zip(judged, claims, strict=True)
    ]
    units += (
        Unit(id=item.check_id, verdict=results[item.name].verdict, claim=None, checks=(checks[item.name],))
        for item in unused
    )
    observations += tuple(line for result in results.values() for line in result.observations)
    limitations = tuple(dict.fromkeys(_limitations(mission, items, results, judged, unused)))
    return Draft(
        units=tuple(units),
        observations=observations,
        limitations=limitations,
        notes=_write_notes(sink, observations, limitations),
        review=_write_review(mission, items, results, sink),
    )


def _write_notes(sink: Sink, observations: tuple[str, ...], limitations: tuple[str, ...]) -> Artifact:
    """Everything the claims may have to leave out, and the record of the environment that no claim needs."""
    environment = sink.artifact(ENVIRONMENT)
    evidence = [] if environment is None else [worker_artifact(environment, "seed")]
    notes = {"observations": list(observations), "limitations": list(limitations), "environment": evidence}
    return sink.write_json(NOTES, notes)


def _check(result: Result, sink: Sink) -> Check:
    assert result.receipt is not None
    return Check(
        name=result.name,
        check_id=result.check_id,
        exit_code=result.exit_code,
        environment=result.environment,
        receipt=result.receipt,
        streams=recorded_streams(sink, result.receipt) or (),
    )


def _claims(judged: tuple[Judged, ...], root: Path) -> tuple[tuple[Claim, ...], tuple[str, ...]]:
    claims: list[Claim] = []
    observations: list[str] = []
    for one in judged:
        cited, unusable = cite(one.criterion, root)
        observations += unusable
        receipts = tuple(dict.fromkeys(r.receipt for r in one.results if r.receipt is not None))
        claims.append(
            Claim(
                id=one.criterion.id,
                verdict=one.verdict,
                confidence=one.confidence,
                text=one.criterion.text,
                explanation=_why(one),
                receipts=receipts,
                cited=cited,
            )
        )
    return tuple(claims), tuple(observations)


def _why(one: Judged) -> str:
    """Of what is blocked the kind of reason: the prerequisite itself is a limitation (seed 003)."""
    reasons = [result.blocked for result in one.results if result.blocked is not None]
    return str(reasons[0]) if one.verdict == "blocked" and reasons else one.explanation


def _limitations(
    mission: Mission,
    items: tuple[PlannedItem, ...],
    results: Mapping[str, Result],
    judged: tuple[Judged, ...],
    unused: tuple[PlannedItem, ...],
) -> list[str]:
    """Open questions, failed attempts and prerequisites (seed 003), worst first."""
    found = [one_line(f"invalid mission: {problem}") for problem in mission.problems]
    if not mission.problems and not mission.criteria:
        found.append("the mission has no acceptanceCriteria, so nothing is claimed")
    found += (_left_over(item, results[item.name]) for item in unused if results[item.name].verdict != "pass")
    found += (f"no oracle for {one.criterion.id}" for one in judged if not one.results and not mission.problems)
    if not mission.problems:
        told = {item.name for item in unused}
        found += (_prerequisite(r) for r in results.values() if r.verdict == "blocked" and r.name not in told)
    found += (one_line(f"{result.check_id}: {doubt}") for result in results.values() for doubt in result.doubts)
    return found


def _left_over(item: PlannedItem, result: Result) -> str:
    what = "mustNotRegress" if item.guard is not None else "oracle command without a criterion"
    return one_line(f"{what} {result.check_id}: {result.verdict}: {result.explanation}")


def _prerequisite(result: Result) -> str:
    return one_line(f"{result.check_id}: blocked ({result.blocked}): {result.explanation}")


def _write_review(
    mission: Mission, items: tuple[PlannedItem, ...], results: Mapping[str, Result], sink: Sink
) -> Artifact:
    """``WorkerReviewEvidence.oracleResults``, with the binding of the brief as given; unbudgeted."""
    rows = []
    for item in items:
        result = results[item.name]
        assert result.receipt is not None
        artifacts = (result.receipt, *(recorded_streams(sink, result.receipt) or ()))
        command = item.given
        rows.append(
            {
                "command": command if isinstance(command, str) else list(command),
                "exitCode": result.exit_code,
                "evidence": [worker_artifact(artifact, "seed") for artifact in artifacts],
            }
        )
    return sink.write_json(REVIEW, {**mission.binding, "oracleResults": rows})
