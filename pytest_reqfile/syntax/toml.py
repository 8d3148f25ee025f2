"""TOML with positions: tomli says what the text means, a scanner of our own where each key and value stands."""

from __future__ import annotations

import re
from bisect import bisect_right
from itertools import accumulate
from typing import Final, cast

from pytest_reqfile.errors import FormatError, Problem
from pytest_reqfile.syntax.nodes import KINDS, Entry, Node
from pytest_reqfile.syntax.scalars import I64
from pytest_reqfile.syntax.tomlplaces import Place, Where, find_places

MAX_DEPTH: Final = 64

_NESTED_TOO_DEEPLY: Final = f"TOML nested deeper than {MAX_DEPTH} levels is not read"
_TOO_BIG: Final = "invalid TOML: the integer does not fit into 64 bits"
# tomli converts integers with int(), which refuses more digits than this without saying where.
_HUGE_INTEGER = re.compile(r"[0-9_]{4300,}")


def read_toml(text: str, path: str) -> Node:
    """The top-level table of ``text`` (TOML 1.1); tables stand at their header, implicit ones at their first key.

    Raises ``FormatError`` for the first syntax error or repeated key, else for every integer beyond 64 bits.
    """
    values = parse_toml(text, path)
    builder = _Builder(text, path)
    root = builder.table(values, find_places(text), 0)
    if builder.problems:
        raise FormatError(builder.problems)
    return root


def parse_toml(text: str, path: str) -> dict[str, object]:
    """The values alone, ten times as fast; raises ``FormatError`` for the first syntax error or repeated key."""
    from tomli import TOMLDecodeError, loads

    try:
        return loads(text)
    except TOMLDecodeError as error:
        message = error.msg.removesuffix(f" (at line {error.lineno}, column {error.colno})")
        # what is missing at the end is told at the last line that has text
        line = min(error.lineno, 1 + text.rstrip().count("\n"))
        raise _refused(path, line, f"invalid TOML: {message}") from None
    except RecursionError:
        raise _refused(path, 1, _NESTED_TOO_DEEPLY) from None
    except ValueError:
        found = _HUGE_INTEGER.search(text)
        line = 1 + text.count("\n", 0, found.start() if found else 0)
        raise _refused(path, line, _TOO_BIG) from None


def _refused(path: str, line: int, message: str) -> FormatError:
    return FormatError([Problem(path=path, line=line, message=message)])


class _Builder:
    def __init__(self, text: str, path: str) -> None:
        self.problems: list[Problem] = []
        self._path = path
        self._starts = [0, *accumulate(len(line) + 1 for line in text.split("\n"))]

    def table(self, values: dict[str, object], place: Place, depth: int) -> Node:
        line, column = self._line_and_column(place.start)
        if depth > MAX_DEPTH:
            raise _refused(self._path, line, _NESTED_TOO_DEEPLY)
        entries = []
        for key, value in values.items():
            start, where = place.keys[key]
            key_line, key_column = self._line_and_column(start)
            node = self._node(value, where, depth + 1)
            entries.append(Entry(key=key, line=key_line, column=key_column, value=node))
        return Node(kind="mapping", value=tuple(entries), line=line, column=column)

    def _node(self, value: object, where: Where, depth: int) -> Node:
        if isinstance(where, Place) and isinstance(value, dict):
            return self.table(value, where, depth)
        if isinstance(where, Place):
            return self._list(cast("list[object]", value), where, depth)
        line, column = self._line_and_column(where)
        if type(value) is int and value not in I64:
            self.problems.append(Problem(path=self._path, line=line, message=_TOO_BIG))
        return Node(kind=KINDS[type(value)], value=value, line=line, column=column)

    def _list(self, values: list[object], place: Place, depth: int) -> Node:
        line, column = self._line_and_column(place.start)
        if depth > MAX_DEPTH:
            raise _refused(self._path, line, _NESTED_TOO_DEEPLY)
        items = [self._node(value, where, depth + 1) for value, where in zip(values, place.items, strict=True)]
        return Node(kind="list", value=tuple(items), line=line, column=column)

    def _line_and_column(self, start: int) -> tuple[int, int]:
        line = bisect_right(self._starts, start)
        return line, start - self._starts[line - 1] + 1
