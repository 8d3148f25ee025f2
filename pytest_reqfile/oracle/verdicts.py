"""Which verdict each acceptance criterion has, and the run as a whole (seed 003; spec oracle.md 5.7)."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final, Literal

from pytest_reqfile.oracle.mission import Criterion, Mission
from pytest_reqfile.oracle.plan import PlannedItem
from pytest_reqfile.oracle.results import Confidence, Result, Verdict, lowest

Overall = Literal["pass", "partial", "blocked", "fail"]
EXIT_CODES: Final[Mapping[Overall, int]] = {"pass": 0, "fail": 3, "blocked": 4, "partial": 4}
"""What ``reqfile oracle run`` returns (design 2.5)."""
WORST_FIRST: Final[tuple[Verdict, ...]] = ("fail", "blocked", "pass")


@dataclass(frozen=True, slots=True, kw_only=True)
class Judged:
    """A criterion with its verdict and the results behind it, none where no oracle belongs to it."""

    criterion: Criterion
    verdict: Verdict
    confidence: Confidence
    explanation: str
    results: tuple[Result, ...] = ()


def judge(mission: Mission, items: tuple[PlannedItem, ...], results: Mapping[str, Result]) -> tuple[Judged, ...]:
    """The verdict of every criterion in brief order; ``results`` has one for each item, by name."""
    used: dict[str, int] = {}
    for criterion in mission.criteria:
        for item in _items_of(criterion, mission, items):
            used[item.name] = used.get(item.name, 0) + 1
    return tuple(_judge(criterion, mission, items, results, used) for criterion in mission.criteria)


def _judge(
    criterion: Criterion,
    mission: Mission,
    items: tuple[PlannedItem, ...],
    results: Mapping[str, Result],
    used: Mapping[str, int],
) -> Judged:
    own = tuple(results[item.name] for item in _items_of(criterion, mission, items))
    if not own:
        text = f"no oracle for {criterion.id}"
        if mission.problems:
            text = f"the mission is invalid: {mission.problems[0]}"
        return Judged(criterion=criterion, verdict="blocked", confidence="high", explanation=text)
    worst = min(own, key=lambda result: WORST_FIRST.index(result.verdict))
    shared = any(used[result.name] > 1 for result in own) or criterion.check_id is None
    doubt: tuple[Confidence, ...] = ("medium",) if shared and worst.verdict != "blocked" else ()
    relevant = tuple(result.confidence for result in own if result.verdict == worst.verdict)
    return Judged(
        criterion=criterion,
        verdict=worst.verdict,
        confidence=lowest(relevant + doubt),
        explanation=worst.explanation,
        results=own,
    )


def _items_of(criterion: Criterion, mission: Mission, items: tuple[PlannedItem, ...]) -> tuple[PlannedItem, ...]:
    """The commands with the criterion's checkId; a lone command without one belongs to a lone criterion without."""
    commands = tuple(item for item in items if item.command is not None)
    if criterion.check_id is not None:
        return tuple(item for item in commands if item.check_id == criterion.check_id)
    lone = len(mission.criteria) == 1 and len(commands) == 1
    return commands if lone and commands[0].command is not None and not commands[0].command.named else ()


def overall(judged: tuple[Judged, ...], results: Mapping[str, Result], *, partial: bool) -> Overall:
    """fail > blocked > partial > pass, over criteria, unused commands and guards alike; nothing at all is blocked."""
    verdicts = {one.verdict for one in judged} | {result.verdict for result in results.values()}
    if "fail" in verdicts:
        return "fail"
    if "blocked" in verdicts or not verdicts:
        return "blocked"
    return "partial" if partial else "pass"
