"""What tokens cost: the user's own price first, then a kept table, else unknown (issue 9; spec/verifiers.md 5.6)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

from pytest_reqfile.verifiers.models import split_model

_MILLION: Final = 1_000_000
# The table's name of a provider where it is not ours.
_TABLE_NAMES: Final = {"gemini": "google"}


@dataclass(frozen=True, slots=True, kw_only=True)
class Price:
    """US dollars per million tokens."""

    input_per_mtok: float
    output_per_mtok: float

    def cost(self, prompt_tokens: int, completion_tokens: int) -> float:
        """In US dollars."""
        return (prompt_tokens * self.input_per_mtok + completion_tokens * self.output_per_mtok) / _MILLION


@dataclass(frozen=True, slots=True, kw_only=True)
class Prices:
    """The prices of a run. ``own`` is what the user's config says about the user's own ``model``, and no other."""

    model: str
    own: Price | None = None

    def cost(self, model: str, prompt_tokens: int, completion_tokens: int) -> float | None:
        """What a call to ``model`` (in full) costs in US dollars; None where nobody knows."""
        if self.own is not None and model == self.model:
            return self.own.cost(prompt_tokens, completion_tokens)
        return table_cost(model, prompt_tokens, completion_tokens)


def table_cost(model: str, prompt_tokens: int, completion_tokens: int) -> float | None:
    """The cost by the table of the extra ``pytest-reqfile[llm]``; None without it, and for a model it has not."""
    try:
        import genai_prices
    except ImportError:
        return None
    provider, name = split_model(model)
    tokens = genai_prices.Usage(input_tokens=prompt_tokens, output_tokens=completion_tokens)
    try:
        found = genai_prices.calc_price(tokens, model_ref=name, provider_id=_TABLE_NAMES.get(provider, provider))
    except (LookupError, ValueError):
        return None
    return float(found.total_price)


def table_hint() -> str:
    """What brings the table, for messages about a price that nobody knows; nothing where it is installed."""
    try:
        import genai_prices  # noqa: F401
    except ImportError:
        return 'pip install "pytest-reqfile[llm]" brings a table of prices'
    return ""
