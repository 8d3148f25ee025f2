"""Characters that nobody sees (seed 000 "What is sent")."""

from __future__ import annotations

import pytest

from pytest_reqfile.syntax.hidden import hidden_character, without_hidden

HIDDEN = (
    *(0x00, 0x1B, 0x7F, 0x9B, 0xAD, 0x034F, 0x061C, 0x115F, 0x17B4, 0x180B, 0x180E, 0x200B, 0x200D, 0x2028, 0x202E),
    *(0x2060, 0x2065, 0x2066, 0x3164, 0xD800, 0xFE00, 0xFE0F, 0xFEFF, 0xFFA0, 0xFFF0, 0xFFFB, 0x1BCA0, 0x1D173),
    *(0xE0001, 0xE0041, 0xE0080, 0xE0100, 0xE01EF, 0xE01F0, 0xE0FFF),
)


@pytest.mark.parametrize("code", HIDDEN, ids=hex)
def test_hidden(code: int) -> None:
    """Zero-width, bidirectional, control, fillers, selectors, tags, and what is kept free for more of them."""
    assert hidden_character(f"a{chr(code)}b") == chr(code)
    assert without_hidden(f"a{chr(code)}b") == "ab"


@pytest.mark.parametrize(
    "text", ["\tplain", "ünï", "日本", "e\u0301", "\u26a0\ufe0f", "1\ufe0f\u20e3", "\u00a9\ufe0e", "\u3000"]
)
def test_seen(text: str) -> None:
    """Letters of any script, marks over them, symbols with their style, wide spaces."""
    assert hidden_character(text) is None


def test_styles_carry_nothing() -> None:
    """One selector behind a symbol chooses its look; behind a letter, or a second one, says what nobody sees."""
    assert hidden_character("a\ufe0f") == "\ufe0f"
    assert hidden_character("\u26a0\ufe0f\ufe0e") == "\ufe0e"
    assert hidden_character("\ufe0f") == "\ufe0f"


def test_without_hidden_keeps_lines() -> None:
    """And tabs."""
    assert without_hidden("a\n\tb\u200b\x1b\n") == "a\n\tb\n"
