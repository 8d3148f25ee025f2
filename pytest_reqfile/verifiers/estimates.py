"""``--estimate``: what llm verifiers would send and cost; nothing is sent (seed 000 "Cache and cost"; spec 5.7)."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace
from typing import Final

from pytest_reqfile.verifiers.checklist import Call, Shown, over_hunks, skipped
from pytest_reqfile.verifiers.costs import LlmUsage, Worst, worst_case
from pytest_reqfile.verifiers.evidence import Evidence
from pytest_reqfile.verifiers.hunks import packed
from pytest_reqfile.verifiers.models import full_model
from pytest_reqfile.verifiers.predicates import Checklist
from pytest_reqfile.verifiers.prices import Prices, table_hint
from pytest_reqfile.verifiers.prompts import checklist_request
from pytest_reqfile.verifiers.values import SpecVerifier
from pytest_reqfile.verifiers.verdicts import Verdict, unique

DEFAULT_MODEL: Final = "the default model"


class Estimate:
    """Evaluates checklists without a model; needs no permission. Costs add up over the run, as under the cap.

    ``model`` is the user's, in full, or empty; ``max_cost_usd`` the cap (0 for none), ``cost_flag`` its name here.
    """

    def __init__(self, *, model: str, prices: Prices, max_cost_usd: float, cost_flag: str = "--max-cost") -> None:
        self._model = model
        self._prices = prices
        self._max_cost_usd = max_cost_usd
        self._cost_flag = cost_flag
        self._total: float | None = 0.0

    def evaluate(
        self, verifier: SpecVerifier, checklist: Checklist, files: tuple[str, ...], evidence: Evidence
    ) -> Verdict:
        """Skipped, with the number of calls and the bound on their cost, and a note for each file of each call."""
        del verifier
        return over_hunks(checklist, files, evidence, lambda shown: self._estimated(checklist, shown))

    def _estimated(self, checklist: Checklist, shown: Shown) -> Verdict:
        calls = packed(shown.hunks, checklist.max_diff_bytes)
        model = full_model(checklist.model, self._model) if self._model else checklist.model
        worst = [worst_case(checklist_request(checklist, call), model, self._prices) for call in calls]
        cost = total_cost(worst)
        self._total = None if cost is None or self._total is None else self._total + cost
        tokens = sum(one.prompt_tokens for one in worst)
        message = (
            f"estimate: {len(calls)} call(s) to {model or DEFAULT_MODEL}, about {tokens} prompt tokens, "
            f"{cost_words(cost)}{self._refusal()} (nothing was sent)"
        )
        usage = LlmUsage(max_cost_usd=self._max_cost_usd, estimated=True)
        return replace(skipped(message, unique((*_manifest(calls), *shown.notes))), usage=usage)

    def _refusal(self) -> str:
        cap = self._max_cost_usd
        if cap and (self._total is None or self._total > cap):
            return f"; a real run would be refused by {self._cost_flag} ${cap:.2f}"
        return ""


def total_cost(worst: Iterable[Worst]) -> float | None:
    """The most that all calls cost; None if one has no known price."""
    costs = [one.cost_usd for one in worst]
    known = [cost for cost in costs if cost is not None]
    return sum(known) if len(known) == len(costs) else None


def cost_words(cost: float | None) -> str:
    """A bound on a cost as estimates say it."""
    if cost is not None:
        return f"up to ${cost:.4f}"
    hint = table_hint()
    return f"cost unknown (no price for the model{f'; {hint}' if hint else ''})"


def _manifest(calls: Sequence[Call]) -> Iterable[str]:
    """Each file of each call with its bytes, never content."""
    for number, call in enumerate(calls, start=1):
        sizes: dict[str, int] = {}
        for hunk in call:
            sizes[hunk.file] = sizes.get(hunk.file, 0) + hunk.size
        yield from (f"would send {file}: {size} bytes in call {number}" for file, size in sizes.items())
