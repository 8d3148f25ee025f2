"""Claims within the return budget: never cut JSON, what matters least goes first (seed 003; spec oracle.md 6)."""

from __future__ import annotations

from collections import Counter as Tally
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import groupby
from typing import Final

from pytest_reqfile.oracle.claims import Detail, Draft, Unit, serialised
from pytest_reqfile.oracle.tokens import Counter
from pytest_reqfile.oracle.verdicts import WORST_FIRST

_LEVELS: Final = (
    Detail(),
    Detail(streams=False),
    Detail(streams=False, all_observations=False),
    Detail(streams=False, all_observations=False, cited=False),
    Detail(streams=False, all_observations=False, cited=False, passing_texts=False),
    Detail(streams=False, all_observations=False, cited=False, passing_texts=False, full_texts=False),
    Detail(
        streams=False,
        all_observations=False,
        cited=False,
        passing_texts=False,
        full_texts=False,
        all_limitations=False,
    ),
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Fitted:
    """The claims as text, compact and complete. ``omitted`` are units that are not in it, most important first;
    ``over_budget`` says that not even the smallest valid document fits, which is then written anyway.
    """

    text: str
    tokens: int
    omitted: tuple[Unit, ...] = ()
    over_budget: bool = False


def fit(draft: Draft, budget: int, count: Counter) -> Fitted:
    """The most that fits, the same bytes for the same input."""
    for detail in _LEVELS:
        text = serialised(draft.document(draft.units, detail))
        if count(text) <= budget:
            return Fitted(text=text, tokens=count(text))
    return _partial(draft, budget, count)


def by_priority(units: tuple[Unit, ...]) -> tuple[Unit, ...]:
    """fail, blocked, pass; claims before checks no claim uses; brief order within."""
    return tuple(sorted(units, key=lambda unit: (WORST_FIRST.index(unit.verdict), unit.claim is None)))


def _partial(draft: Draft, budget: int, count: Counter) -> Fitted:
    """Bisects how many units, most important first, fit with a line that names the others."""
    ordered = by_priority(draft.units)
    best, low, high = None, 0, len(ordered)
    while low < high:
        middle = (low + high) // 2
        fitted = _keeping(draft, ordered, middle, budget, count)
        if fitted is not None:
            best, low = fitted, middle + 1
        else:
            high = middle
    return best or _smallest(draft, ordered, budget, count)


def _keeping(draft: Draft, ordered: tuple[Unit, ...], number: int, budget: int, count: Counter) -> Fitted | None:
    wanted = {id(unit) for unit in ordered[:number]}
    kept = tuple(unit for unit in draft.units if id(unit) in wanted)
    omitted = ordered[number:]
    for line in _omission_lines(draft, omitted):
        text = serialised(draft.document(kept, _LEVELS[-1], (line,)))
        tokens = count(text)
        if tokens <= budget:
            return Fitted(text=text, tokens=tokens, omitted=omitted)
    return None


def _smallest(draft: Draft, ordered: tuple[Unit, ...], budget: int, count: Counter) -> Fitted:
    """A valid document beats a cut one, even over the budget; what it leaves out is in the review evidence."""
    *_, line = _omission_lines(draft, ordered)
    text = serialised({"claims": [], "observations": [], "checks": [], "limitations": [line]})
    tokens = count(text)
    return Fitted(text=text, tokens=tokens, omitted=ordered, over_budget=tokens > budget)


def _omission_lines(draft: Draft, omitted: tuple[Unit, ...]) -> Iterator[str]:
    """The same said ever shorter: every id with its verdict, runs of ids with counts, counts alone."""
    where = f"evidence {draft.review.ref} {draft.review.digest}"
    tally = Tally(unit.verdict for unit in omitted)
    counts = ", ".join(f"{tally[verdict]} {verdict}" for verdict in WORST_FIRST if tally[verdict])
    names = ", ".join(f"{unit.id} ({unit.verdict})" for unit in omitted)
    yield f"partial: omitted criteria {names}; {where}"
    if len(omitted) > 1:
        yield f"partial: omitted criteria {_runs(draft.units, omitted)} ({counts}); {where}"
    yield f"partial: omitted {len(omitted)} criteria ({counts}); {where}"


def _runs(units: tuple[Unit, ...], omitted: tuple[Unit, ...]) -> str:
    """Ids in brief order, neighbours as ``first..last``: no id that was kept lies between them."""
    left_out = {id(unit) for unit in omitted}
    groups = (tuple(group) for is_out, group in groupby(units, lambda unit: id(unit) in left_out) if is_out)
    return ", ".join(group[0].id if len(group) == 1 else f"{group[0].id}..{group[-1].id}" for group in groups)
