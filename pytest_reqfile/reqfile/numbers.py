"""Numbers as the original writes them, so that files and fingerprints of both are the same (spec reqfile.md 4.5)."""

from __future__ import annotations

from decimal import Decimal


def shortest(number: float) -> str:
    """The shortest decimal that reads back as ``number``, never with an exponent: ``0.05``, ``1``."""
    text = repr(number)
    if "e" in text:
        text = format(Decimal(text), "f")
    return text.removesuffix(".0")
