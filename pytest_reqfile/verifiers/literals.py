"""A text that every match of a pattern contains: looking for it is many times faster than looking for the pattern.

Only plain cases are read; where a pattern has anything else, the answer is that nothing is known.
"""

from __future__ import annotations

import re
from typing import Final

# One part of a pattern: what matches itself, what ends a run of such characters, and what repeats the part before it.
_PART: Final = re.compile(
    r"""
    (?P<flags>\(\?[msU]+\)) |
    (?P<group>\((?!\?) | \(\?: | \(\?P?<\w+>) |
    (?P<close>\)) |
    (?P<literal>\\[^\w\s] | [^\\^$.|?*+()\[\]{}]) |
    (?P<edge>\\[bBAz] | [$^.] | \\[dDwWsS] | \[\^?\]?(?:\\.|[^\]\\\[])*\]) |
    (?P<repeat>[*?]\?? | \{\d+(?:,\d*)?\}\??) |
    (?P<more>\+\??)
    """,
    re.VERBOSE | re.DOTALL,
)


def required_literal(pattern: str) -> bytes:
    """The longest text found that every match of the RE2 ``pattern`` contains; empty where none is known."""
    runs = [""]
    depth, at = 0, 0
    while at < len(pattern):
        part = _PART.match(pattern, at)
        if part is None:  # an alternation, other flags, an escape with a meaning of its own
            return b""
        at = part.end()
        kind = part.lastgroup
        if kind == "group":
            depth += 1
        elif kind == "close":
            depth -= 1
        if kind == "literal" and depth == 0:
            runs[-1] += part[0][-1]
        elif kind == "repeat" and depth == 0:
            runs[-1] = runs[-1][:-1]
            runs.append("")
        elif kind != "flags":
            runs.append("")
    return max(runs, key=len).encode("utf-8", "surrogatepass")
