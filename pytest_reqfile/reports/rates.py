"""Rates with their 95 % Wilson interval: how much a few labeled examples really say (spec reqfile.md 6.4)."""

from __future__ import annotations

from math import floor, sqrt
from typing import Final

_Z: Final = 1.96


def wilson(hits: int, total: int) -> tuple[int, int] | None:
    """The interval of ``hits`` of ``total`` in percent, rounded half away from zero; None when nothing was counted."""
    if total == 0:
        return None
    rate, square = hits / total, _Z * _Z
    center = (rate + square / (2 * total)) / (1 + square / total)
    half = sqrt(square * (rate * (1 - rate) / total + square / (4 * total * total))) / (1 + square / total)
    return _percent(center - half), _percent(center + half)


def _percent(rate: float) -> int:
    return floor(min(1.0, max(0.0, rate)) * 100 + 0.5)
