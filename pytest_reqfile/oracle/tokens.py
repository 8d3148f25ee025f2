"""How many tokens a text costs, without a tokenizer (spec oracle.md 6, measured there)."""

from __future__ import annotations

import math
import re
from collections.abc import Callable
from typing import Final, Literal

Counter = Callable[[str], int]
"""Tokens of a text; any exact tokenizer fits."""
TokenizerName = Literal["estimate", "bytes"]

_HEX: Final = re.compile(r"[0-9a-fA-F]{16,}")
_MIXED: Final = re.compile(r"(?=[A-Za-z0-9+/=_-]*[0-9])(?=[A-Za-z0-9+/=_-]*[A-Z])[A-Za-z0-9+/=_-]{24,}")


def estimate(text: str) -> int:
    """An estimate that is above what common tokenizers count on claims, prose, paths and code.

    It is below on long random printable text, where only ``count_bytes`` is a sure bound.
    """
    hexadecimal, rest = _taken_out(_HEX, text)
    mixed, rest = _taken_out(_MIXED, rest)
    foreign = [char for char in rest if not char.isascii()]
    plain = len(rest) - len(foreign)
    wide = len("".join(foreign).encode("utf-8", "surrogatepass"))
    return math.ceil(hexadecimal / 1.6 + mixed / 1.35 + plain / 2.4 + wide)


def _taken_out(pattern: re.Pattern[str], text: str) -> tuple[int, str]:
    rest = pattern.sub("", text)
    return len(text) - len(rest), rest


def count_bytes(text: str) -> int:
    """The sure upper bound: every token of a byte-level tokenizer covers at least one byte."""
    return len(text.encode("utf-8", "surrogatepass"))


COUNTERS: Final[dict[TokenizerName, Counter]] = {"estimate": estimate, "bytes": count_bytes}
