"""Decision checks judged together: units, questions, verdicts (seed 004 DECISION_CHECK; spec reqfile.md 4)."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Final, Literal

from pytest_reqfile.outcome import Finding, FindingKind, Outcome, Status
from pytest_reqfile.reqfile.asking import Answer, Asking, Failure, Replies, Reply, Request
from pytest_reqfile.reqfile.decision import Decision, fingerprint
from pytest_reqfile.reqfile.decision_reading import DecidedCheck
from pytest_reqfile.reqfile.discovery import Tree
from pytest_reqfile.reqfile.outcomes import check_outcome, left_out
from pytest_reqfile.reqfile.selecting import Selected, select_units
from pytest_reqfile.reqfile.units import UNIT_LIMIT, Unit
from pytest_reqfile.reqfile.values import Edition
from pytest_reqfile.syntax.printable import visible

AdvisoryErrors = Literal["fail", "report"]
"""What an advisory decision check that could not run does to the run (design 3)."""

_ENCODER: Final = json.JSONEncoder(ensure_ascii=False, separators=(",", ":"), sort_keys=True)
_SUBJECT: Final = "the code in `unit`"
_SUBJECT_INSIDE: Final = "the code in `unit`, which is part of `enclosing_function`"


@dataclass(frozen=True, slots=True, kw_only=True)
class UnsetKey:
    """A variable without which no code is judged; ``blocking`` if one of the requirements would gate."""

    variable: str
    requirements: tuple[str, ...]
    blocking: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class Judged:
    """A check with what was said of each of its units; ``error`` where its units are not known."""

    check: DecidedCheck
    replies: tuple[tuple[Unit, Reply], ...] = ()
    error: str | None = None


def default_advisory_errors(edition: Edition) -> AdvisoryErrors:
    """Edition 0.1 ends a run whose advisory decision check could not be judged with 3 (seed 004 NO_FALSE_GREEN)."""
    return "fail" if edition == "0.1" else "report"


def judge(checks: Sequence[DecidedCheck], tree: Tree, asking: Asking) -> tuple[Judged, ...]:
    """Ask about every unit of the checks, each unit once for all of them that share their settings."""
    selected = select_units(checks, tree, asking.is_cancelled)
    replies: list[dict[Unit, Reply]] = [{} for _ in checks]
    for settings in dict.fromkeys(check.settings for check in checks):
        _ask_group(
            [index for index, c in enumerate(checks) if c.settings == settings], checks, selected, replies, asking
        )
    return tuple(
        Judged(check=check, replies=tuple((unit, found[unit]) for unit in chosen.units), error=chosen.error)
        for check, chosen, found in zip(checks, selected, replies, strict=True)
    )


def _ask_group(
    group: Sequence[int],
    checks: Sequence[DecidedCheck],
    selected: Sequence[Selected],
    replies: Sequence[dict[Unit, Reply]],
    asking: Asking,
) -> None:
    """Checks of one id never look into the same file: the nearest block applies (seed 004 CASCADE)."""
    questions = {(i, inside): question_of(checks[i].decision, inside=inside) for i in group for inside in (False, True)}
    asked: dict[str, dict[str, str]] = {}
    refusals: dict[str, str] = {}
    states: list[tuple[int, Unit, str]] = []
    for index in group:
        for unit in selected[index].units:
            state = state_of(unit)
            states.append((index, unit, state))
            identifier = checks[index].planned.requirement.id
            asked.setdefault(state, {})[identifier] = questions[index, unit.enclosing is not None]
            if unit.size > UNIT_LIMIT:
                refusals[state] = _too_large(unit)
    requests = [Request(state=s, questions=about, refusal=refusals.get(s)) for s, about in asked.items()]
    answered = dict(zip(asked, asking.ask(checks[group[0]].settings, requests), strict=True))
    for index, unit, state in states:
        found: Replies = answered[state]
        replies[index][unit] = found[checks[index].planned.requirement.id]


def state_of(unit: Unit) -> str:
    """What a model sees, as the JSON text that also keys the cache (spec 4.2, 4.5)."""
    state = {"language": unit.language, "path": visible(unit.path, kept=frozenset()), "unit": unit.source}
    if unit.enclosing is not None:
        state["enclosing_function"] = unit.enclosing
    return canonical_json(state)


def question_of(decision: Decision, *, inside: bool) -> str:
    """The question as JSON text; fix hint and thresholds are not the model's business."""
    return yes_no(
        subject=_SUBJECT_INSIDE if inside else _SUBJECT,
        question=decision.question,
        yes=decision.violation_when,
        no=decision.ok_when,
    )


def yes_no(*, subject: str, question: str, yes: str, no: str) -> str:
    """A question answered by the probability of yes."""
    return canonical_json(
        {
            "type": "noul",
            "instructions": {"subject": subject, "question": question},
            "criteria": {"true": yes, "false": no},
        }
    )


def canonical_json(value: object) -> str:
    """Compact JSON with sorted keys, as the original writes it."""
    return _ENCODER.encode(value)


def _too_large(unit: Unit) -> str:
    return f"the unit is too large for Jev to judge ({unit.size} characters of code, at most {UNIT_LIMIT}); split it"


def outcome_of(judged: Judged, advisory_errors: AdvisoryErrors) -> Outcome:
    """The outcome of one check: its findings, and one error for all units that could not be judged."""
    planned, decision = judged.check.planned, judged.check.decision
    if judged.error is None and not judged.replies:
        return left_out(replace(planned, state="nothing_to_check"))
    answers = [(unit, reply) for unit, reply in judged.replies if isinstance(reply, Answer)]
    findings = tuple(found for unit, answer in answers if (found := _finding(unit, answer, judged.check)) is not None)
    reason = judged.error or _failures(judged.replies)
    gates = planned.check.mode == "blocking"
    return check_outcome(
        planned,
        _status(findings, reason),
        findings=findings,
        reason=reason,
        blocking=gates or (reason is not None and advisory_errors == "fail"),
        fix_hint=decision.fix_hint,
        details={
            "units": len(answers),
            "cached": sum(answer.cached for _, answer in answers),
            "unset": next((r.unset for _, r in judged.replies if isinstance(r, Failure)), None),
            "model": ", ".join(dict.fromkeys(answer.model for _, answer in answers)) or None,
        },
    )


def unset_keys(judged: Iterable[Judged]) -> tuple[UnsetKey, ...]:
    """Which variables should hold a key and do not, each with the requirements that wait for it (spec 8.2)."""
    waiting: dict[str, list[DecidedCheck]] = {}
    for each in judged:
        unset = {reply.unset for _, reply in each.replies if isinstance(reply, Failure)} - {None}
        for variable in unset:
            waiting.setdefault(str(variable), []).append(each.check)
    return tuple(
        UnsetKey(
            variable=variable,
            requirements=tuple(dict.fromkeys(check.planned.requirement.id for check in checks)),
            blocking=any(check.planned.check.mode == "blocking" for check in checks),
        )
        for variable, checks in waiting.items()
    )


def _finding(unit: Unit, answer: Answer, check: DecidedCheck) -> Finding | None:
    verdict = check.decision.thresholds.verdict(answer.probability)
    if verdict == "pass":
        return None
    return Finding(
        message=check.decision.violation_when if verdict == "violation" else check.decision.question,
        kind=_kind(verdict, check),
        file=unit.path,
        line=unit.line,
        fix_hint=check.decision.fix_hint,
        probability=answer.probability,
        model=answer.model,
    )


def _kind(verdict: Literal["violation", "uncertain"], check: DecidedCheck) -> FindingKind:
    return "advisory" if verdict == "violation" and check.planned.check.mode == "advisory" else verdict


def _status(findings: Sequence[Finding], reason: str | None) -> Status:
    if reason is not None:
        return "error"
    if any(finding.kind == "violation" for finding in findings):
        return "fail"
    return "advisory" if findings else "pass"


def _failures(replies: Sequence[tuple[Unit, Reply]]) -> str | None:
    failed = [(unit, reply.reason) for unit, reply in replies if isinstance(reply, Failure)]
    if not failed:
        return None
    unit, reason = failed[0]
    return f"{len(failed)} of {len(replies)} units could not be judged, first at {unit.path}:{unit.line}: {reason}"


def unit_lines(judged: Judged) -> Iterator[dict[str, object]]:
    """A line of the run log for each unit, clean ones included (seed 004 RUN_LOG; spec 8.6)."""
    question = judged.check.decision.fingerprint
    for unit, reply in judged.replies:
        line: dict[str, object] = {
            "kind": "decision_unit",
            "requirement": judged.check.planned.requirement.id,
            "file": unit.path,
            "line": unit.line,
            "language": unit.language,
            "unit_fingerprint": fingerprint(unit.source),
            "unit_source": unit.source,
            "has_enclosing": unit.enclosing is not None,
            "question_fingerprint": question,
            "blocking": judged.check.planned.check.mode == "blocking",
        }
        yield line | _said(reply, judged.check)


def _said(reply: Reply, check: DecidedCheck) -> dict[str, object]:
    if isinstance(reply, Failure):
        return {"verdict": "error", "error": reply.reason}
    verdict = check.decision.thresholds.verdict(reply.probability)
    return {
        "verdict": "pass" if verdict == "pass" else _kind(verdict, check),
        "probability": reply.probability,
        "model": reply.model,
        "cached": reply.cached,
    }
