"""Names of people made fit for item names: ``A-Z a-z 0-9 _ - .`` only, none twice (design 2.1, 2.6)."""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import Final

_OTHERS: Final = re.compile(r"[^A-Za-z0-9_.-]+")


def slugs(names: Iterable[str], *, empty: str = "example") -> tuple[str, ...]:
    """A slug for each name, in order; one that is taken gets ``-2``, ``-3``, and one without a letter is ``empty``."""
    taken: dict[str, None] = {}
    for name in names:
        slug = _OTHERS.sub("-", name).strip("-.") or empty
        number = 1
        chosen = slug
        while chosen in taken:
            number += 1
            chosen = f"{slug}-{number}"
        taken[chosen] = None
    return tuple(taken)
