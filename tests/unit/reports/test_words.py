"""Number words, durations and widths."""

from __future__ import annotations

import pytest

from pytest_reqfile.reports.words import columns, counted, duration, padded, shortened


@pytest.mark.parametrize(("number", "text"), [(0, "0 checks"), (1, "1 check"), (2, "2 checks")])
def test_one_is_singular(number: int, text: str) -> None:
    """And nothing else is."""
    assert counted(number, "check") == text


@pytest.mark.parametrize(
    ("seconds", "text"),
    [(0.04, "0.0s"), (0.4, "0.4s"), (59.94, "59.9s"), (59.96, "1m 00s"), (65.4, "1m 05s"), (3600, "60m 00s")],
)
def test_durations_are_short(seconds: float, text: str) -> None:
    """Tenths of a second up to a minute, then seconds."""
    assert duration(seconds) == text


@pytest.mark.parametrize(
    ("text", "width"), [("", 0), ("abc", 3), ("日本", 4), ("é", 1), ("e\u0301", 1), ("ｗ", 2), ("✗", 1)]
)
def test_columns_are_those_of_a_terminal(text: str, width: int) -> None:
    """Wide characters take two, combining ones none."""
    assert columns(text) == width
    assert columns(padded(text, 6)) == 6


@pytest.mark.parametrize(
    ("text", "width", "short"),
    [
        ("abc", 3, "abc"),
        ("abcd", 3, "ab…"),
        ("ab cd", 4, "ab…"),
        ("日本語", 6, "日本語"),
        ("日本語", 5, "日本…"),
        ("日本語", 4, "日…"),
        ("", 1, ""),
    ],
)
def test_long_text_is_cut_to_its_column(text: str, width: int, short: str) -> None:
    """Never wider than asked for, the mark included."""
    assert shortened(text, width) == short
    assert columns(short) <= width
