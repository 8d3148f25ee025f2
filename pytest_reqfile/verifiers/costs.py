"""What calls cost, and the caps that are looked at before each of them (spec/verifiers.md 5.6)."""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Final

from pytest_reqfile.errors import UsageError
from pytest_reqfile.verifiers.chat import DEFAULT_MAX_COST, ChatError, ChatReply, ChatRequest
from pytest_reqfile.verifiers.prices import Prices, table_hint
from pytest_reqfile.verifiers.words import go_quoted

_BYTES_PER_TOKEN: Final = 3
_PER_REQUEST: Final = 3
_PER_MESSAGE: Final = 4
_PER_SCHEMA: Final = 16


def estimated_tokens(text: str) -> int:
    """How many tokens ``text`` has, on the high side for source code: a third of its bytes, rounded up."""
    return -(-len(text.encode("utf-8", "surrogateescape")) // _BYTES_PER_TOKEN)


def prompt_tokens(request: ChatRequest) -> int:
    """What the prompt counts for, by ``estimated_tokens``."""
    messages = sum(estimated_tokens(message.content) + _PER_MESSAGE for message in request.messages)
    return (
        _PER_REQUEST + messages + estimated_tokens(request.schema_name) + estimated_tokens(request.schema) + _PER_SCHEMA
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class Worst:
    """The most that one call may use; ``cost_usd`` is None where ``model`` (in full) has no known price."""

    model: str
    prompt_tokens: int
    completion_tokens: int
    cost_usd: float | None

    @property
    def tokens(self) -> int:
        return self.prompt_tokens + self.completion_tokens


def worst_case(request: ChatRequest, model: str, prices: Prices) -> Worst:
    """The most that ``request`` to ``model`` may use and cost."""
    prompt = prompt_tokens(request)
    cost = prices.cost(model, prompt, request.max_tokens)
    return Worst(model=model, prompt_tokens=prompt, completion_tokens=request.max_tokens, cost_usd=cost)


@dataclass(frozen=True, slots=True, kw_only=True)
class Limits:
    """The budget of ``[llm]``; 0 is no limit."""

    max_cost_usd: float = 0.0
    max_tokens: int = 0
    max_calls: int = 0

    def tightened(self, other: Limits) -> Limits:
        """The tighter of both, limit by limit: a repository may only tighten what the user set."""
        return Limits(
            max_cost_usd=_tighter(self.max_cost_usd, other.max_cost_usd),
            max_tokens=int(_tighter(self.max_tokens, other.max_tokens)),
            max_calls=int(_tighter(self.max_calls, other.max_calls)),
        )


NO_LIMITS: Final = Limits()


def _tighter(first: float, second: float) -> float:
    return min(first, second) if first and second else first or second


def read_max_cost(text: str | None, flag: str) -> float:
    """The value of ``--max-cost`` in US dollars, 0 for no cap. Raises UsageError."""
    if text is None:
        return DEFAULT_MAX_COST
    try:
        found = float(text)
    except ValueError:
        found = math.nan
    if not math.isfinite(found):
        raise UsageError(f"{flag} must be a number of US dollars, found {go_quoted(text)}")
    if found < 0:
        raise UsageError(f"{flag} must not be negative")
    return found


class Spending:
    """What a run has spent so far; shared by everything in it that asks models."""

    def __init__(self) -> None:
        self.cost_usd = 0.0
        self.tokens = 0
        self.calls = 0

    def add(self, cost_usd: float | None, tokens: int) -> None:
        """Count one call that reached the provider, answered or not."""
        self.cost_usd += cost_usd or 0.0
        self.tokens += tokens
        self.calls += 1


@dataclass(frozen=True, slots=True, kw_only=True)
class Caps:
    """What a run may spend: ``--max-cost`` (0 for no cap; ``cost_flag`` is its name here) and the ``[llm]`` budget."""

    max_cost_usd: float = DEFAULT_MAX_COST
    cost_flag: str = "--max-cost"
    limits: Limits = NO_LIMITS

    def admit(self, worst: Worst, spent: Spending) -> None:
        """Raise ChatError where a call could cost more than is left; an unknown price under a cap is refused."""
        if self.max_cost_usd:
            if worst.cost_usd is None:
                raise ChatError("cost", unknown_price(self.cost_flag, worst.model))
            if spent.cost_usd + worst.cost_usd > self.max_cost_usd:
                raise ChatError("cost", _too_dear(self.cost_flag, worst.cost_usd, self.max_cost_usd, spent.cost_usd))
        limits = self.limits
        if limits.max_cost_usd:
            if worst.cost_usd is None:
                raise ChatError("budget", unknown_price("[llm] max_cost_usd", worst.model))
            if spent.cost_usd + worst.cost_usd > limits.max_cost_usd:
                message = _too_dear("[llm] max_cost_usd", worst.cost_usd, limits.max_cost_usd, spent.cost_usd)
                raise ChatError("budget", message)
        if limits.max_calls and spent.calls >= limits.max_calls:
            raise ChatError("budget", f"[llm] max_calls = {limits.max_calls} is used up")
        if limits.max_tokens and spent.tokens + worst.tokens > limits.max_tokens:
            raise ChatError(
                "budget",
                f"the call could use {worst.tokens} tokens, more than [llm] max_tokens = {limits.max_tokens} leaves "
                f"({spent.tokens} spent)",
            )


def unknown_price(cap: str, model: str) -> str:
    """Why a call under ``cap`` is refused whose price nobody knows."""
    hint = table_hint()
    how = "set [llm] price_input_per_mtok and price_output_per_mtok" + (f"; {hint}" if hint else "")
    return f"{cap} is set but no price is known for {model} ({how})"


def _too_dear(cap: str, worst: float, limit: float, spent: float) -> str:
    return f"the worst-case cost ${worst:.4f} would exceed {cap} ${limit:.2f} (${spent:.4f} spent)"


@dataclass(frozen=True, slots=True, kw_only=True)
class LlmUsage:
    """What verifiers used of models: the ``llm`` object of reports.

    ``calls`` were answered, from the cache or not, usable or not; ``unpriced`` ones cost nobody knows how much.
    ``max_cost_usd`` is the cap of the run, 0 for none. ``estimated`` says that nothing was sent.
    """

    calls: int = 0
    cached: int = 0
    prompt_tokens: int = 0
    completion_tokens: int = 0
    cost_usd: float = 0.0
    max_cost_usd: float = 0.0
    unpriced: int = 0
    estimated: bool = False


def usage_of(reply: ChatReply) -> LlmUsage:
    """What one reply used; a kept one costs nothing."""
    return LlmUsage(
        calls=1,
        cached=int(reply.cached),
        prompt_tokens=reply.usage.prompt_tokens,
        completion_tokens=reply.usage.completion_tokens,
        cost_usd=reply.cost_usd or 0.0,
        unpriced=int(reply.cost_usd is None),
    )


def total_usage(usages: Iterable[LlmUsage | None]) -> LlmUsage | None:
    """All together; None where there is none."""
    found = [usage for usage in usages if usage is not None]
    if not found:
        return None
    return LlmUsage(
        calls=sum(usage.calls for usage in found),
        cached=sum(usage.cached for usage in found),
        prompt_tokens=sum(usage.prompt_tokens for usage in found),
        completion_tokens=sum(usage.completion_tokens for usage in found),
        cost_usd=sum(usage.cost_usd for usage in found),
        max_cost_usd=max(usage.max_cost_usd for usage in found),
        unpriced=sum(usage.unpriced for usage in found),
        estimated=any(usage.estimated for usage in found),
    )
