"""Words and widths of reports."""

from __future__ import annotations

import unicodedata


def counted(number: int, noun: str) -> str:
    """``1 check``, ``2 checks``: singular exactly for 1."""
    return f"{number} {noun}" if number == 1 else f"{number} {noun}s"


def duration(seconds: float) -> str:
    """``0.4s``, ``59.9s``, ``1m 05s``."""
    if round(seconds, 1) < 60:
        return f"{seconds:.1f}s"
    minutes, rest = divmod(round(seconds), 60)
    return f"{minutes}m {rest:02d}s"


def columns(text: str) -> int:
    """How many columns of a terminal ``text`` takes: two for wide characters, none for combining ones."""
    if text.isascii():
        return len(text)
    return sum(_columns_of(char) for char in text)


def padded(text: str, width: int) -> str:
    """``text`` and the spaces that fill ``width`` columns."""
    return text + " " * (width - columns(text))


def shortened(text: str, width: int) -> str:
    """``text`` in at most ``width`` columns, cut with ``…``."""
    used = 0
    fitting = 0
    for index, char in enumerate(text):
        used += _columns_of(char)
        if used > width:
            return f"{text[:fitting].rstrip()}…"
        if used < width:
            fitting = index + 1
    return text


def _columns_of(char: str) -> int:
    if unicodedata.combining(char):
        return 0
    return 2 if unicodedata.east_asian_width(char) in {"W", "F"} else 1
