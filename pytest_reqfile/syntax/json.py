"""JSON with positions, strictly as RFC 8259 has it."""

from __future__ import annotations

import re
from bisect import bisect_right
from itertools import accumulate
from json.decoder import scanstring  # type: ignore[attr-defined]  # the stubs leave it out
from math import isinf
from typing import Final, NoReturn

from pytest_reqfile.errors import FormatError, Problem
from pytest_reqfile.syntax.nodes import Entry, Node, NodeKind

# One level costs one frame of Python's stack, which holds a thousand.
MAX_DEPTH: Final = 200

_MARK = re.compile(r"[ \t\n\r]*(.?)[ \t\n\r]*", re.DOTALL)
_NUMBER = re.compile(r"-?(?:0|[1-9][0-9]*)(\.[0-9]+)?([eE][-+]?[0-9]+)?")
_WORD = re.compile(r"true|false|null")
_WORDS: Final[dict[str, tuple[NodeKind, object]]] = {
    "true": ("boolean", True),
    "false": ("boolean", False),
    "null": ("null", None),
}
_SURROGATE = re.compile("[\ud800-\udfff]")
# Python converts no longer ones.
_MAX_DIGITS: Final = 4300


def read_json(text: str, path: str) -> Node:
    """The one value of ``text``.

    Raises ``FormatError`` with every duplicate key up to the first syntax error. Refuses what cannot be written back
    as JSON text: NaN, numbers beyond the range of a double, unpaired surrogates.
    """
    return _Reader(text, path).read()


class _Stop(Exception):  # noqa: N818
    """Nothing after the problem just recorded can be read."""


class _Reader:
    def __init__(self, text: str, path: str) -> None:
        self._text = text
        self._path = path
        self._problems: list[Problem] = []
        self._starts = [0, *accumulate(len(line) + 1 for line in text.split("\n"))]

    def read(self) -> Node:
        root = Node(kind="null", value=None, line=1, column=1)
        try:
            start = self._mark(0).start(1)
            root, end = self._value(start, 1)
            after = self._mark(end)
            if after[1]:
                self._expected("the end of the file", after.start(1))
        except _Stop:
            pass
        if self._problems:
            raise FormatError(sorted(self._problems, key=lambda problem: problem.line or 0))
        return root

    def _mark(self, place: int) -> re.Match[str]:
        """The next character that is no space (group 1), and the space around it."""
        found = _MARK.match(self._text, place)
        assert found, "the pattern matches everywhere"
        return found

    def _value(self, place: int, depth: int) -> tuple[Node, int]:
        first = self._text[place : place + 1]
        line = bisect_right(self._starts, place)
        column = place - self._starts[line - 1] + 1
        kind: NodeKind
        value: object
        if first == '"':
            kind, (value, end) = "string", self._string(place)
        elif first in ("{", "["):
            if depth > MAX_DEPTH:
                self._stop(f"JSON nested deeper than {MAX_DEPTH} levels is not read", place)
            kind = "mapping" if first == "{" else "list"
            value, end = self._members(place + 1, depth) if first == "{" else self._items(place + 1, depth)
        else:
            kind, value, end = self._word(place)
        return Node(kind=kind, value=value, line=line, column=column), end

    def _items(self, place: int, depth: int) -> tuple[tuple[Node, ...], int]:
        items: list[Node] = []
        mark = self._mark(place)
        if mark[1] == "]":
            return (), mark.end(1)
        place = mark.start(1)
        while True:
            item, place = self._value(place, depth + 1)
            items.append(item)
            mark = self._mark(place)
            if mark[1] == "]":
                return tuple(items), mark.end(1)
            if mark[1] != ",":
                self._expected("`,` or `]`", mark.start(1))
            place = mark.end()

    def _members(self, place: int, depth: int) -> tuple[tuple[Entry, ...], int]:
        entries: dict[str, Entry] = {}
        mark = self._mark(place)
        if mark[1] == "}":
            return (), mark.end(1)
        place = mark.start(1)
        while True:
            entry, place = self._member(place, depth)
            before = entries.setdefault(entry.key, entry)
            if before is not entry:
                self._add(f"duplicate key `{entry.key}` (first defined at line {before.line})", entry.line)
            mark = self._mark(place)
            if mark[1] == "}":
                return tuple(entries.values()), mark.end(1)
            if mark[1] != ",":
                self._expected("`,` or `}`", mark.start(1))
            place = mark.end()

    def _member(self, place: int, depth: int) -> tuple[Entry, int]:
        if not self._text.startswith('"', place):
            self._expected("a key in double quotes", place)
        line = bisect_right(self._starts, place)
        column = place - self._starts[line - 1] + 1
        key, end = self._string(place)
        mark = self._mark(end)
        if mark[1] != ":":
            self._expected("`:`", mark.start(1))
        value, end = self._value(mark.end(), depth + 1)
        return Entry(key=key, line=line, column=column, value=value), end

    def _string(self, place: int) -> tuple[str, int]:
        try:
            value, end = scanstring(self._text, place + 1, True)
        except ValueError as error:
            self._stop(f"invalid JSON: {getattr(error, 'msg', error)}", getattr(error, "pos", place))
        if _SURROGATE.search(value):
            self._stop("invalid JSON: unpaired surrogate in a string", place)
        return value, end

    def _word(self, place: int) -> tuple[NodeKind, object, int]:
        word = _WORD.match(self._text, place)
        if word:
            return *_WORDS[word.group()], word.end()
        number = _NUMBER.match(self._text, place)
        if not number:
            self._expected("a value", place)
        spelling, end = number.group(), number.end()
        kind: NodeKind = "integer" if number.lastindex is None else "number"
        if kind == "number" or len(spelling) > _MAX_DIGITS:
            if isinf(float(spelling)):
                self._stop("invalid JSON: the number is out of range", place)
            return "number", float(spelling), end
        return kind, int(spelling), end

    def _expected(self, what: str, place: int) -> NoReturn:
        found = self._text[place : place + 1]
        self._stop(f"invalid JSON: expected {what}, found {_shown(found)}", place)

    def _stop(self, message: str, place: int) -> NoReturn:
        self._add(message, bisect_right(self._starts, min(place, len(self._text))))
        raise _Stop

    def _add(self, message: str, line: int) -> None:
        self._problems.append(Problem(path=self._path, line=line, message=message))


def _shown(character: str) -> str:
    if not character:
        return "the end of the file"
    return f"`{character}`" if character.isprintable() else f"U+{ord(character):04X}"
