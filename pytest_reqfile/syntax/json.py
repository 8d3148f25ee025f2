"""JSON with positions: strict (RFC 8259), or as Go reads files of the user (spec/verifiers.md 1.9)."""

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

_SPACE = re.compile(r"[ \t\n\r]*")
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
    return _Reader(text, path, strict=True).read()


def read_first_json(text: str, path: str) -> Node:
    """As Go's decoder reads: one value, whatever follows; of a repeated key the last counts.

    ``value`` of a number is its spelling in the file, since that is what ``key_equals`` compares.
    """
    return _Reader(text, path, strict=False).read()


class _Stop(Exception):  # noqa: N818
    """Nothing after the problem just recorded can be read."""


class _Reader:
    def __init__(self, text: str, path: str, *, strict: bool) -> None:
        self._text = text
        self._path = path
        self._strict = strict
        self._problems: list[Problem] = []
        self._starts = [0, *accumulate(len(line) + 1 for line in text.split("\n"))]

    def read(self) -> Node:
        root = Node(kind="null", value=None, line=1, column=1)
        try:
            root, end = self._value(self._skip(0), 1)
            end = self._skip(end)
            if self._strict and end < len(self._text):
                self._expected("the end of the file", end)
        except _Stop:
            pass
        if self._problems:
            raise FormatError(sorted(self._problems, key=lambda problem: problem.line or 0))
        return root

    def _skip(self, place: int) -> int:
        found = _SPACE.match(self._text, place)
        return found.end() if found else place

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
        place = self._skip(place)
        if self._text.startswith("]", place):
            return (), place + 1
        while True:
            item, place = self._value(place, depth + 1)
            items.append(item)
            place = self._skip(place)
            if self._text.startswith("]", place):
                return tuple(items), place + 1
            if not self._text.startswith(",", place):
                self._expected("`,` or `]`", place)
            place = self._skip(place + 1)

    def _members(self, place: int, depth: int) -> tuple[tuple[Entry, ...], int]:
        entries: dict[str, Entry] = {}
        place = self._skip(place)
        if self._text.startswith("}", place):
            return (), place + 1
        while True:
            entry, place = self._member(place, depth)
            before = entries.get(entry.key)
            if before and self._strict:
                self._add(f"duplicate key `{entry.key}` (first defined at line {before.line})", entry.line)
            entries[entry.key] = entry
            place = self._skip(place)
            if self._text.startswith("}", place):
                return tuple(entries.values()), place + 1
            if not self._text.startswith(",", place):
                self._expected("`,` or `}`", place)
            place = self._skip(place + 1)

    def _member(self, place: int, depth: int) -> tuple[Entry, int]:
        if not self._text.startswith('"', place):
            self._expected("a key in double quotes", place)
        line = bisect_right(self._starts, place)
        column = place - self._starts[line - 1] + 1
        key, end = self._string(place)
        end = self._skip(end)
        if not self._text.startswith(":", end):
            self._expected("`:`", end)
        value, end = self._value(self._skip(end + 1), depth + 1)
        return Entry(key=key, line=line, column=column, value=value), end

    def _string(self, place: int) -> tuple[str, int]:
        try:
            value, end = scanstring(self._text, place + 1, True)
        except ValueError as error:
            self._stop(f"invalid JSON: {getattr(error, 'msg', error)}", getattr(error, "pos", place))
        if _SURROGATE.search(value):
            if self._strict:
                self._stop("invalid JSON: unpaired surrogate in a string", place)
            value = _SURROGATE.sub("\ufffd", value)
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
        if not self._strict:
            return kind, spelling, end
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
