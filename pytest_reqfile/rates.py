"""Rates with their 95 % Wilson interval: how much a few labeled examples really say (spec reqfile.md 6.4)."""

from __future__ import annotations

from math import floor, sqrt
from typing import Final

_Z: Final = 1.96


def wilson_interval(hits: int, total: int) -> tuple[float, float]:
    """The interval of ``hits`` of ``total``, both ends in 0..1; all of it when nothing was counted."""
    if total == 0:
        return 0.0, 1.0
    rate, square = hits / total, _Z * _Z
    center = (rate + square / (2 * total)) / (1 + square / total)
    half = _Z * sqrt(rate * (1 - rate) / total + square / (4 * total * total)) / (1 + square / total)
    return max(0.0, center - half), min(1.0, center + half)


def wilson(hits: int, total: int) -> tuple[int, int] | None:
    """The interval in percent, rounded half away from zero; None when nothing was counted."""
    if total == 0:
        return None
    low, high = wilson_interval(hits, total)
    return floor(low * 100 + 0.5), floor(high * 100 + 0.5)
