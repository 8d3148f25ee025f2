"""Files of the user's own, read as Go reads them for ``key_equals`` (spec/verifiers.md 1.9)."""

from __future__ import annotations

import datetime
import re
from typing import Final

from pytest_reqfile.errors import FormatError, Problem
from pytest_reqfile.syntax.events import CORE_TAG, Event, EventReader
from pytest_reqfile.syntax.nodes import Entry, Node
from pytest_reqfile.syntax.scalars import BOOLEANS, I64, NOT_FINITE, NULLS, Reading
from pytest_reqfile.syntax.toml import parse_toml

_SPACE = re.compile(r"[ \t\n\r]*")
_SURROGATE = re.compile("[\ud800-\udfff]")
_SURROGATE_ESCAPE = re.compile(r"\\u[dD][89a-fA-F]")
_FLOAT = re.compile(r"[-+]?(\.[0-9]+|[0-9]+(\.[0-9]*)?)([eE][-+]?[0-9]+)?")
_INTEGER = re.compile(r"([-+]?)(0[xX][0-9a-fA-F]+|0[oO]?[0-7]+|0[bB][01]+|0|[1-9][0-9]{0,19})")
_BASES: Final = {"x": 16, "o": 8, "b": 2}
_U64_END: Final = 2**64
_CLOCK = r"([0-9]{1,2}):([0-9]{1,2}):([0-9]{1,2})(?:[.,]([0-9]+))?"
_TIMESTAMP = re.compile(
    rf"([0-9]{{4}})-([0-9]{{1,2}})-([0-9]{{1,2}})(?:[Tt]{_CLOCK}(Z|[-+][0-9]{{2}}:[0-9]{{2}})| {_CLOCK})?"
)
_MERGE_NEEDS: Final = "map merge requires map or sequence of maps as the value"


class Spelling(str):
    """A JSON number as it is written, since ``key_equals`` compares spellings: ``1.0`` is not ``1``."""

    __slots__ = ()


class PlainDate(datetime.date):
    """A YAML date without a time, ``2024-01-02``, which yaml.v3 takes for its first moment in UTC."""

    __slots__ = ()


def load_plain_json(text: str, path: str) -> object:
    """The first JSON value, whatever follows; numbers are ``Spelling``; of a repeated key the last counts.

    Raises ``FormatError`` for syntax errors; NaN and infinities are such.
    """
    from json import JSONDecodeError, JSONDecoder

    decoder = JSONDecoder(parse_float=Spelling, parse_int=Spelling, parse_constant=_refuse_constant)
    space = _SPACE.match(text)
    try:
        value, _ = decoder.raw_decode(text, space.end() if space else 0)
        return _without_surrogates(value) if _SURROGATE_ESCAPE.search(text) else value
    except JSONDecodeError as error:
        raise FormatError([Problem(path=path, line=error.lineno, message=f"invalid JSON: {error.msg}")]) from None
    except _ConstantError as error:
        line = 1 + text.count("\n", 0, max(text.find(str(error)), 0))
        message = f"invalid JSON: {error} is not a number of JSON"
        raise FormatError([Problem(path=path, line=line, message=message)]) from None
    except RecursionError:
        raise FormatError([Problem(path=path, line=1, message="JSON nested too deeply is not read")]) from None


def load_plain_toml(text: str, path: str) -> dict[str, object]:
    """The table of a TOML file, with dates and times as ``datetime`` objects."""
    return parse_toml(text, path)


def load_plain_yaml(text: str, path: str) -> object:
    """The first document as yaml.v3 decodes it: anchors, merge keys, timestamps (in UTC where no offset is given).

    A date alone is a ``PlainDate``. Keys are text. Raises ``FormatError`` for syntax errors, duplicate keys and unknown
    anchors.
    """
    from yaml import __with_libyaml__

    return _shared_plain(_TargetReader(text, path, pure=not __with_libyaml__).read(), {})


class _ConstantError(Exception):
    pass


def _refuse_constant(word: str) -> object:
    raise _ConstantError(word)


def _without_surrogates(value: object) -> object:
    """Go puts U+FFFD for an unpaired surrogate."""
    if isinstance(value, dict):
        return {str(_without_surrogates(key)): _without_surrogates(inner) for key, inner in value.items()}
    if isinstance(value, list):
        return [_without_surrogates(item) for item in value]
    return _SURROGATE.sub("\ufffd", value) if type(value) is str else value


def _shared_plain(node: Node, made: dict[int, object]) -> object:
    """As ``nodes.plain``, but what aliases share stays shared, so that a bomb of aliases stays small."""
    if id(node) in made:
        return made[id(node)]
    value = node.value
    if node.kind == "list":
        value = [_shared_plain(item, made) for item in node.items]
    elif node.kind == "mapping":
        value = {entry.key: _shared_plain(entry.value, made) for entry in node.entries}
    made[id(node)] = value
    return value


class _TargetReader(EventReader):
    max_depth = 150

    def __init__(self, text: str, path: str, *, pure: bool) -> None:
        super().__init__(text, path, pure=pure)
        self._anchored: dict[str, Node] = {}
        self._merges: set[tuple[int, int]] = set()

    def reading(self, event: Event) -> Reading | None:
        if event.tag is None or event.tag == "!":
            if event.style:
                return "string", event.value
            if event.value == "<<":
                self._merges.add((event.start_mark.line + 1, event.start_mark.column + 1))
            return _resolved(event.value)
        tag = event.tag.removeprefix(CORE_TAG) if event.tag.startswith(CORE_TAG) else ""
        return _tagged(tag, event.value)

    def key_text(self, reading: Reading) -> str | None:
        kind, value = reading
        if kind in ("list", "mapping"):
            return None
        if kind == "boolean":
            return "true" if value else "false"
        if isinstance(value, datetime.date):
            return value.isoformat().replace("+00:00", "Z")
        if kind == "number":
            return str(value).removesuffix(".0")
        return "null" if kind == "null" else str(value)

    def alias(self, event: Event) -> Node:
        node = self._anchored.get(event.anchor or "")
        if node is None:
            self.stop(event.start_mark.line + 1, f"unknown anchor '{event.anchor}' referenced")
        return node

    def finish(self, anchor: str | None, node: Node) -> Node:
        if anchor is not None:
            self._anchored[anchor] = node
        return node

    def mapping(self, entries: list[Entry], line: int, column: int) -> Node:
        merge = next((entry for entry in entries if (entry.line, entry.column) in self._merges), None)
        if merge is None:
            return super().mapping(entries, line, column)
        merged = {entry.key: entry for entry in entries if entry is not merge}
        for source in merge.value.items if merge.value.kind == "list" else (merge.value,):
            if source.kind != "mapping":
                self.stop(merge.line, _MERGE_NEEDS)
            self.count(len(source.entries), merge.line)
            for entry in source.entries:
                merged.setdefault(entry.key, entry)
        return super().mapping(list(merged.values()), line, column)


def _tagged(tag: str, text: str) -> Reading | None:
    if tag == "float":
        kind, value = _resolved(text)
        if isinstance(value, int) and kind == "integer":
            return "number", float(value)
        return (kind, value) if kind == "number" else None
    wanted = {"bool": "boolean", "int": "integer", "null": "null", "timestamp": "datetime"}.get(tag)
    if wanted is None:
        return "string", text
    reading = _resolved(text)
    return reading if reading[0] == wanted else None


def _resolved(text: str) -> Reading:
    if text in NULLS:
        return "null", None
    if text in BOOLEANS:
        return "boolean", BOOLEANS[text]
    if text in NOT_FINITE:
        return "number", NOT_FINITE[text]
    if text[0] not in "0123456789+-.":
        return "string", text
    return _timestamp(text) or _number(text.replace("_", "")) or ("string", text)


def _number(text: str) -> Reading | None:
    found = _INTEGER.fullmatch(text)
    if found:
        sign, digits = found.groups()
        base = _BASES.get(digits[1:2].lower(), 8 if digits.startswith("0") else 10)
        value = int(digits.lstrip("0xXoObB") or "0", base) if base != 16 else int(digits, 16)
        value = -value if sign == "-" else value
        if value in I64 or (not sign and value < _U64_END):
            return "integer", value
    return ("number", float(text)) if _FLOAT.fullmatch(text) else None


def _timestamp(text: str) -> Reading | None:
    found = _TIMESTAMP.fullmatch(text)
    if not found:
        return None
    year, month, day, *zoned, offset = found.groups()[:8]
    clock = zoned if offset else found.groups()[8:]
    fraction = int((clock[3] or "").ljust(6, "0")[:6])
    try:
        date = PlainDate(int(year), int(month), int(day))
        if clock[0] is None:
            return "datetime", date
        zone = datetime.UTC if offset in (None, "Z") else _zone(offset)
        hour, minute, second = map(int, clock[:3])
        return "datetime", datetime.datetime.combine(date, datetime.time(hour, minute, second, fraction, zone))
    except ValueError:
        return None


def _zone(offset: str) -> datetime.timezone:
    minutes = int(offset[1:3]) * 60 + int(offset[4:])
    return datetime.timezone(datetime.timedelta(minutes=-minutes if offset[0] == "-" else minutes))
