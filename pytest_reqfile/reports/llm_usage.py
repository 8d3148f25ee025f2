"""What a run used of models, added up over its outcomes (seed 000 "Cache and cost"; spec/verifiers.md 9.2, 9.3)."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from pytest_reqfile.outcome import Outcome

_PREFIX = "llm_"


@dataclass(frozen=True, slots=True, kw_only=True)
class ModelUse:
    """``calls`` were answered, ``cached`` of them from the cache; ``unpriced`` ones cost nobody knows how much.

    ``max_cost_usd`` is the cap of the run in US dollars, 0 for none. ``estimated``: nothing was sent.
    """

    calls: int
    cached: int
    prompt_tokens: int
    completion_tokens: int
    cost_usd: float
    max_cost_usd: float
    unpriced: int
    estimated: bool

    @property
    def used(self) -> bool:
        """Whether a model was reached: a call without an answer may cost as well."""
        return self.calls > 0 or self.cost_usd > 0

    @property
    def document(self) -> dict[str, object]:
        """The ``llm`` object of JSON reports."""
        found: dict[str, object] = {
            "calls": self.calls,
            "cached": self.cached,
            "prompt_tokens": self.prompt_tokens,
            "completion_tokens": self.completion_tokens,
            "cost_usd": round(self.cost_usd, 9),
            "max_cost_usd": self.max_cost_usd,
        }
        return found | ({"unpriced": self.unpriced} if self.unpriced else {})

    @property
    def line(self) -> str:
        """The line of text reports."""
        cap = f" of ${self.max_cost_usd:.2f}" if self.max_cost_usd else ""
        unpriced = f" (no price is known for {self.unpriced} of them)" if self.unpriced else ""
        return (
            f"llm: {self.calls} call(s), {self.cached} from cache, "
            f"{self.prompt_tokens} prompt + {self.completion_tokens} completion tokens, "
            f"about ${self.cost_usd:.4f}{cap}{unpriced}"
        )


def model_use(outcomes: Iterable[Outcome]) -> ModelUse | None:
    """What all outcomes together used; None where no model was reached, nor an estimate made."""
    found = [outcome for outcome in outcomes if f"{_PREFIX}calls" in outcome.details]
    if not found:
        return None
    return ModelUse(
        calls=int(sum(_amounts(found, "calls"))),
        cached=int(sum(_amounts(found, "cached"))),
        prompt_tokens=int(sum(_amounts(found, "prompt_tokens"))),
        completion_tokens=int(sum(_amounts(found, "completion_tokens"))),
        cost_usd=sum(_amounts(found, "cost_usd")),
        max_cost_usd=max(_amounts(found, "max_cost_usd")),
        unpriced=int(sum(_amounts(found, "unpriced"))),
        estimated=any(is_estimate(outcome) for outcome in found),
    )


def is_estimate(outcome: Outcome) -> bool:
    """Whether the outcome says what would be sent."""
    return outcome.details.get(f"{_PREFIX}estimated") is True


def _amounts(outcomes: Iterable[Outcome], key: str) -> list[float]:
    found = (outcome.details.get(_PREFIX + key) for outcome in outcomes)
    return [value for value in found if isinstance(value, int | float)]
