"""What a run came to, in lines for people; the conductor reads the claims (spec oracle.md 5.7 "the terminal line")."""

from __future__ import annotations

from pytest_reqfile.oracle.assembly import Assembled
from pytest_reqfile.oracle.claims import one_line
from pytest_reqfile.oracle.mission import Mission
from pytest_reqfile.oracle.sink import CLAIMS


def summary_lines(mission: Mission, assembled: Assembled, folder: str) -> tuple[str, ...]:
    """One line per item and per criterion, then what the claims cost and where they are, then the verdict."""
    items = (f"{result.verdict:7} {name}: {one_line(result.explanation)}" for name, result in assembled.results.items())
    criteria = (
        f"{one.verdict:7} criterion {one_line(one.criterion.id)} ({one.confidence})" for one in assembled.judged
    )
    fitted = assembled.fitted
    over = ", over the budget: even the smallest valid document is larger" if fitted.over_budget else ""
    left_out = f", {len(fitted.omitted)} left out for the budget" if fitted.omitted else ""
    return (
        *items,
        *criteria,
        f"claims: {folder}/{CLAIMS} ({fitted.tokens} of {mission.budget} tokens{left_out}{over})",
        f"oracle: {assembled.overall}",
    )
