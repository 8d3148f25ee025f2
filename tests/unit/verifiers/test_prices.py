"""What a call costs: the user's price, the table of the extra, or nobody knows (issue 9; spec/verifiers.md 5.6)."""

from __future__ import annotations

import sys

import pytest

from pytest_reqfile.errors import UsageError
from pytest_reqfile.verifiers.chat import ChatMessage, ChatRequest
from pytest_reqfile.verifiers.costs import (
    Limits,
    estimated_tokens,
    prompt_tokens,
    read_max_cost,
    unknown_price,
    worst_case,
)
from pytest_reqfile.verifiers.estimates import cost_words
from pytest_reqfile.verifiers.prices import Price, Prices


def test_the_users_price_is_for_the_users_model() -> None:
    """A repository that names a dearer model does not get it at the user's price."""
    prices = Prices(model="openai-compatible/mine", own=Price(input_per_mtok=1, output_per_mtok=2))
    assert prices.cost("openai-compatible/mine", 1_000_000, 500_000) == 2.0
    assert prices.cost("openai-compatible/other", 1, 1) is None


@pytest.mark.parametrize("model", ["openai/gpt-4o", "anthropic/claude-sonnet-4-5", "gemini/gemini-2.5-flash-lite"])
def test_table(model: str) -> None:
    """Known models of each protocol have a price that grows with tokens."""
    pytest.importorskip("genai_prices", reason="the extra pytest-reqfile[llm] is not installed")
    prices = Prices(model="")
    small, large = prices.cost(model, 1000, 100), prices.cost(model, 2000, 200)
    assert small is not None
    assert large is not None
    assert 0 < small < large < 1


def test_unknown_model() -> None:
    """A model that the table has not has no price."""
    assert Prices(model="").cost("openai/no-such-model-1", 1, 1) is None
    assert Prices(model="").cost("ollama/x", 1, 1) is None


def test_without_the_extra(monkeypatch: pytest.MonkeyPatch) -> None:
    """Without the table a price is unknown, not zero."""
    monkeypatch.setitem(sys.modules, "genai_prices", None)
    assert Prices(model="").cost("openai/gpt-4o", 1000, 100) is None
    hint = 'pip install "pytest-reqfile[llm]" brings a table of prices'
    assert cost_words(None) == f"cost unknown (no price for the model; {hint})"
    assert unknown_price("--max-cost", "openai/m") == (
        "--max-cost is set but no price is known for openai/m "
        f"(set [llm] price_input_per_mtok and price_output_per_mtok; {hint})"
    )


def test_estimates() -> None:
    """Tokens are a third of the bytes, rounded up, and something for each message and the schema."""
    assert [estimated_tokens(text) for text in ("", "a", "abc", "abcd", "ü€")] == [0, 1, 1, 2, 2]
    messages = (ChatMessage(role="system", content="abc"), ChatMessage(role="user", content="abcdef"))
    request = ChatRequest(messages=messages, max_tokens=1500, schema_name="n", schema="{}", prompt_version="p")
    assert prompt_tokens(request) == 3 + (1 + 4) + (2 + 4) + 1 + 1 + 16
    prices = Prices(model="m", own=Price(input_per_mtok=1, output_per_mtok=10))
    assert worst_case(request, "m", prices).cost_usd == pytest.approx((32 + 15000) / 1e6)


@pytest.mark.parametrize(("text", "cost"), [(None, 0.5), ("0", 0.0), ("0.25", 0.25), ("1e-3", 0.001)])
def test_max_cost(text: str | None, cost: float) -> None:
    """Dollars; 0 removes the cap."""
    assert read_max_cost(text, "--max-cost") == cost


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("-1", "--max-cost must not be negative"),
        ("nan", '--max-cost must be a number of US dollars, found "nan"'),
        ("inf", '--max-cost must be a number of US dollars, found "inf"'),
        ("$1", '--max-cost must be a number of US dollars, found "$1"'),
        ("", '--max-cost must be a number of US dollars, found ""'),
    ],
)
def test_wrong_max_cost(text: str, message: str) -> None:
    """Anything else is refused before anything runs."""
    with pytest.raises(UsageError) as error:
        read_max_cost(text, "--max-cost")
    assert str(error.value) == message


def test_limits() -> None:
    """Of two limits the tighter one holds, and 0 is none."""
    users = Limits(max_cost_usd=1.0, max_tokens=0, max_calls=5)
    both = users.tightened(Limits(max_cost_usd=2.0, max_tokens=7, max_calls=3))
    assert both == Limits(max_cost_usd=1.0, max_tokens=7, max_calls=3)
