"""Number words of reports."""

from __future__ import annotations


def counted(number: int, noun: str) -> str:
    """``1 check``, ``2 checks``: singular exactly for 1."""
    return f"{number} {noun}" if number == 1 else f"{number} {noun}s"
