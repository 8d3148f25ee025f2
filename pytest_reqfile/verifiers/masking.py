"""What findings quote of a file, with credential-looking text hidden (seed 000 "Matching"; spec/verifiers.md 2.8)."""

from __future__ import annotations

from typing import Final

from pytest_reqfile.syntax.credentials import masked
from pytest_reqfile.verifiers.words import sanitized

EXCERPT_LENGTH: Final = 120


def excerpt(text: str) -> str:
    """The first line of ``text`` as findings quote it: masked, at most 120 characters, nothing unprintable."""
    line = masked(text.partition("\n")[0].strip())
    return sanitized(line if len(line) <= EXCERPT_LENGTH else line[:EXCERPT_LENGTH] + "...")
