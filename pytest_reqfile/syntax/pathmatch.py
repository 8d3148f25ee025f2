"""Go's ``path.Match``: the patterns of roles and of bundle filters (spec/airulez-project.md 2.5, 3.3)."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Final

_RANGE: Final = r"(?:\\.|[^\\\]\-])(?:-(?:\\.|[^\\\]\-]))?"
# One element of a pattern; text that none of them fits makes the pattern bad.
_ELEMENT: Final = re.compile(
    rf"(?P<star>\*+)|(?P<any>\?)|\[(?P<negated>\^?)(?P<ranges>(?:{_RANGE})+)\]|\\(?P<escaped>.)|(?P<plain>[^\\\[])",
    re.DOTALL,
)
_BOUNDS: Final = re.compile(r"\\?(.)(?:-\\?(.))?", re.DOTALL)


@dataclass(frozen=True, slots=True, kw_only=True)
class _One:
    """Stands for one character: inside of one of ``ranges``, or outside of all where ``negated``."""

    ranges: tuple[tuple[str, str], ...]
    negated: bool = False

    def fits(self, character: str) -> bool:
        return any(low <= character <= high for low, high in self.ranges) is not self.negated


_STAR: Final = None
_NOT_SLASH: Final = _One(ranges=(("/", "/"),), negated=True)


def path_match(pattern: str, name: str) -> bool:
    """Whether ``pattern`` matches all of ``name``; ``*`` and ``?`` stop at ``/``, a bad pattern matches nothing.

    Takes at most ``len(pattern) * len(name)`` steps, whatever the pattern.
    """
    elements = _elements(pattern)
    return elements is not None and _matches(elements, name)


@lru_cache(maxsize=512)
def _elements(pattern: str) -> tuple[_One | None, ...] | None:
    found: list[_One | None] = []
    place = 0
    while place < len(pattern):
        element = _ELEMENT.match(pattern, place)
        if element is None:
            return None
        found.append(_read(element))
        place = element.end()
    return tuple(found)


def _read(element: re.Match[str]) -> _One | None:
    if element["star"]:
        return _STAR
    if element["any"]:
        return _NOT_SLASH
    if element["ranges"]:
        bounds = _BOUNDS.findall(element["ranges"])
        return _One(ranges=tuple((low, high or low) for low, high in bounds), negated=bool(element["negated"]))
    character = element["escaped"] or element["plain"]
    return _One(ranges=((character, character),))


def _matches(elements: Sequence[_One | None], name: str) -> bool:
    """Only the last star is ever widened: no star crosses ``/``, so the leftmost fit of what is before it is best."""
    at = element = 0
    star: tuple[int, int] | None = None
    while at < len(name) or element < len(elements):
        current = elements[element] if element < len(elements) else False
        if current is _STAR:
            star = (element, at)
            element += 1
        elif isinstance(current, _One) and at < len(name) and current.fits(name[at]):
            at, element = at + 1, element + 1
        elif star is not None and star[1] < len(name) and name[star[1]] != "/":
            star = (star[0], star[1] + 1)
            at, element = star[1], star[0] + 1
        else:
            return False
    return True
