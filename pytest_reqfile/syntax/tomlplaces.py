"""Where each key and value of a valid TOML text stands."""

from __future__ import annotations

import re
from typing import NamedTuple, TypeAlias, cast

_SPACE = re.compile(r"(?:[ \t\r\n]+|#[^\n]*)*")
_SEPARATORS = re.compile(r"(?:[ \t\r\n,]+|#[^\n]*)*")
_KEY = re.compile(r"""([A-Za-z0-9_-]+)|"((?:[^"\\]|\\.)*)"|'([^']*)'""")
_DOT = re.compile(r"[ \t]*(\.?)[ \t]*")
_EQUALS = re.compile(r"[ \t]*=[ \t]*")
# The closing quotes of a multi-line string may be preceded by one or two more that belong to it.
_SCALAR = re.compile(
    r'"""(?:[^"\\]++|\\.|"{1,2}(?!"))*+"{3,5}'
    r"|'''(?:[^']++|'{1,2}(?!'))*+'{3,5}"
    r'|"(?:[^"\\]++|\\.)*+"'
    r"|'[^']*'"
    r"|[^,\]}#\r\n]+",
    re.DOTALL,
)
# A whole line with a bare key and a simple value, which most lines are: one match instead of six.
_PLAIN_LINE = re.compile(
    r"""([A-Za-z0-9_-]+)[ \t]*=[ \t]*("[^"\\\n]*+"(?!")|'[^'\n]*+'(?!')|[A-Za-z0-9+:._-]++)[ \t\r]*\n[ \t\r\n]*"""
)


class Place:
    """Where a table or list starts, as an index into the text, and the places inside it."""

    __slots__ = ("items", "keys", "start")

    def __init__(self, start: int) -> None:
        self.start = start
        self.keys: dict[str, tuple[int, Where]] = {}
        self.items: list[Where] = []


# A scalar's place is its index alone.
Where: TypeAlias = Place | int


class _Key(NamedTuple):
    text: str
    start: int


def find_places(text: str) -> Place:
    """The place of the top-level table of ``text``, which tomli has accepted."""
    return _Scanner(text).scan()


class _Scanner:
    def __init__(self, text: str) -> None:
        self._text = text
        self._at = 0

    def scan(self) -> Place:
        self._take(_SPACE)
        root = Place(self._at if self._at < len(self._text) else 0)
        table = root
        while self._at < len(self._text):
            while plain := _PLAIN_LINE.match(self._text, self._at):
                table.keys[plain.group(1)] = plain.start(), plain.start(2)
                self._at = plain.end()
            if self._text.startswith("[", self._at):
                table = self._header(root)
            elif self._text[self._at : self._at + 1] not in ("", "#"):
                self._pair(table)
            self._take(_SPACE)
        return root

    def _take(self, pattern: re.Pattern[str]) -> str:
        found = pattern.match(self._text, self._at)
        assert found, f"no {pattern.pattern} at {self._at} of text that tomli accepted"
        self._at = found.end()
        return found.group()

    def _header(self, root: Place) -> Place:
        start = self._at
        repeated = self._text.startswith("[[", start)
        self._at += 1 + repeated
        self._take(_SPACE)
        *outer, last = self._keys()
        table = _descend(root, outer)
        inner = _inner(table, last, start)
        if repeated:
            table = Place(start)
            inner.items.append(table)
        else:
            table = inner
            table.start = start
        self._take(_SPACE)
        self._at += 1 + repeated
        return table

    def _keys(self) -> list[_Key]:
        keys = []
        while True:
            start = self._at
            found = _KEY.match(self._text, start)
            assert found, f"no key at {start} of text that tomli accepted"
            bare, basic, literal = found.groups()
            keys.append(_Key(bare or literal or _unescaped(basic or ""), start))
            self._at = found.end()
            dot = _DOT.match(self._text, self._at)
            if not dot or not dot.group(1):
                return keys
            self._at = dot.end()

    def _pair(self, table: Place) -> None:
        *outer, last = self._keys()
        self._take(_EQUALS)
        _descend(table, outer).keys[last.text] = (last.start, self._value())

    def _value(self) -> Where:
        start = self._at
        first = self._text[start]
        if first not in "[{":
            self._take(_SCALAR)
            return start
        place = Place(start)
        self._at += 1
        self._take(_SEPARATORS)
        while self._text[self._at] not in "]}":
            if first == "[":
                place.items.append(self._value())
            else:
                self._pair(place)
            self._take(_SEPARATORS)
        self._at += 1
        return place


def _descend(table: Place, keys: list[_Key]) -> Place:
    """The table at dotted ``keys``; of an array of tables it is the last so far."""
    for key in keys:
        table = _inner(table, key, key.start)
        table = cast("Place", table.items[-1]) if table.items else table
    return table


def _inner(table: Place, key: _Key, start: int) -> Place:
    """The table or array of tables at ``key``, made where this is its first mention."""
    return cast("Place", table.keys.setdefault(key.text, (key.start, Place(start)))[1])


def _unescaped(basic: str) -> str:
    if "\\" not in basic:
        return basic
    from tomli import loads

    return str(loads(f'key = "{basic}"')["key"])
