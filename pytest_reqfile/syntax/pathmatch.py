"""Go's ``path.Match``: the patterns of roles and of bundle filters (spec/airulez-project.md 2.5, 3.3)."""

from __future__ import annotations

import re
from functools import lru_cache

# One element of a pattern; what fits none of these makes the pattern bad.
_RANGE = r"(?:\\.|[^\\\]\-])(?:-(?:\\.|[^\\\]\-]))?"
_TOKEN = re.compile(
    rf"(?s:(?P<star>\*+)|(?P<any>\?)|\[(?P<not>\^)?(?P<set>(?:{_RANGE})+)\]|\\(?P<escaped>.)|(?P<one>[^\\\[]))"
)
_ITEM = re.compile(r"(?s:\\?(.)(?:-\\?(.))?)")


def path_match(pattern: str, name: str) -> bool:
    """Whether ``pattern`` matches all of ``name``; ``*`` and ``?`` stop at ``/``, a bad pattern matches nothing."""
    compiled = _compiled(pattern)
    return compiled is not None and compiled.fullmatch(name) is not None


@lru_cache(maxsize=512)
def _compiled(pattern: str) -> re.Pattern[str] | None:
    parts: list[str] = []
    place = 0
    while place < len(pattern):
        token = _TOKEN.match(pattern, place)
        if token is None:
            return None
        parts.append(_translated(token))
        place = token.end()
    return re.compile("".join(parts), re.DOTALL)


def _translated(token: re.Match[str]) -> str:
    if token["star"]:
        return "[^/]*+" if token.end() == len(token.string) else "[^/]*?"
    if token["any"]:
        return "[^/]"
    if token["set"]:
        ranges = "".join(_class_item(first, last) for first, last in _ITEM.findall(token["set"]))
        return f"[{'^' if token['not'] else ''}{ranges}]" if ranges else "(?!)" if not token["not"] else "[\\s\\S]"
    return re.escape(token["escaped"] or token["one"])


def _class_item(first: str, last: str) -> str:
    """``a`` or ``a-z`` in a class; a range that runs backwards holds nothing."""
    if not last:
        return re.escape(first)
    return f"{re.escape(first)}-{re.escape(last)}" if first <= last else ""
