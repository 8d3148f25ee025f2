"""Nodes from the event stream of a YAML parser; the two dialects (Reqfile's and the verifiers') refine it."""

from __future__ import annotations

import re
from collections.abc import Callable
from itertools import chain
from typing import Final, NoReturn, Protocol, cast

from pytest_reqfile.errors import FormatError, Problem
from pytest_reqfile.syntax.nodes import Entry, Node
from pytest_reqfile.syntax.scalars import Reading

# A Reqfile nests to about ten, an ast-grep rule seldom to thirty; more is an attack or a mistake.
MAX_DEPTH: Final = 64
MAX_NODES: Final = 1_000_000
MAX_PROBLEMS: Final = 1_000

CORE_TAG: Final = "tag:yaml.org,2002:"
BAD_KEY: Final = "mapping keys must be plain strings"

_NOT_PRINTABLE = re.compile("[^\t\n\r\x20-\x7e\x85\xa0-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")
_SURROGATE = re.compile("[\ud800-\udfff]")
_BREAK = re.compile(r"\r\n|\r|\n")
# Breaks of YAML 1.1 that are ordinary characters in YAML 1.2; the parsers underneath end lines at them.
_OLD_BREAKS = "\x85\u2028\u2029"
# What may stand between the mark of an event and the value itself: anchors, tags, comments, space.
_PROPERTIES = re.compile(r"(?:&[^\s,\[\]{}]*|!<[^>]*>|![^\s,\[\]{}]*|\s+|(?<=\s)#[^\n\r]*)*")


class Mark(Protocol):
    """A place in the text, all 0-based, in characters."""

    line: int
    column: int
    index: int


class Event(Protocol):
    """PyYAML's events as one type; only scalars have ``value`` and ``style``, and aliases have no ``tag``."""

    start_mark: Mark
    anchor: str | None
    tag: str | None
    value: str
    style: str | None


class Stop(Exception):  # noqa: N818
    """Nothing after the problem just recorded can be read."""


class EventReader:
    """Reads one document. ``pure`` takes PyYAML's Python parser instead of libyaml."""

    max_depth = MAX_DEPTH

    def __init__(self, text: str, path: str, *, pure: bool) -> None:
        from yaml import events

        self.path = path
        self.problems: list[Problem] = []
        self._text = text.removeprefix("\ufeff")
        self._pure = pure
        self._nodes = 0
        self._lines = 0
        self._restore: dict[int, str] = {}
        self._scalar_start: type[object] = events.ScalarEvent
        self._alias_start: type[object] = events.AliasEvent
        self._mapping_start: type[object] = events.MappingStartEvent
        self._mapping_end: type[object] = events.MappingEndEvent
        self._list_end: type[object] = events.SequenceEndEvent
        self.document_start: type[object] = events.DocumentStartEvent
        self._stream_end: type[object] = events.StreamEndEvent

    def read(self) -> Node:
        """The root node; raises ``FormatError`` with every problem found."""
        from yaml.error import MarkedYAMLError

        root = Node(kind="null", value=None, line=1, column=1)
        try:
            self._open()
            root = self._document() or root
        except MarkedYAMLError as error:
            mark = error.problem_mark or error.context_mark
            words = ", ".join(part for part in (error.context, error.problem) if part)
            self.add(min(mark.line + 1, self._last_line()) if mark else 1, f"invalid YAML: {words}")
        except Stop:
            pass
        if self.problems:
            raise FormatError(sorted(self.problems, key=lambda problem: problem.line or 0))
        return root

    def add(self, line: int, message: str) -> None:
        """Record a problem; a file that has a thousand is not read on."""
        self.problems.append(Problem(path=self.path, line=line, message=message))
        if len(self.problems) >= MAX_PROBLEMS:
            raise Stop

    def stop(self, line: int, message: str) -> NoReturn:
        """Record a problem after which nothing can be read."""
        self.add(line, message)
        raise Stop

    def count(self, nodes: int, line: int) -> None:
        """Bound the memory one file may take."""
        self._nodes += nodes
        if self._nodes > MAX_NODES:
            self.stop(line, f"YAML with more than {MAX_NODES} values is not read")

    # What a dialect decides

    def reading(self, event: Event) -> Reading | None:
        """The meaning of a scalar whose text is ``event.value``; None if it does not fit its tag."""
        raise NotImplementedError

    def key_text(self, reading: Reading) -> str | None:
        """The text of a scalar key; None if it cannot be a key."""
        raise NotImplementedError

    def alias(self, event: Event) -> Node:
        """The node an alias stands for."""
        raise NotImplementedError

    def finish(self, anchor: str | None, node: Node) -> Node:
        """See every complete node with the anchor it declares."""
        return node

    def after_document(self, following: Callable[[], Event]) -> None:
        """Look at what is behind the document."""

    # Events

    def _open(self) -> None:
        import yaml

        found = _NOT_PRINTABLE.search(self._text)
        if found:
            line = 1 + len(_BREAK.findall(self._text, 0, found.start()))
            self.stop(line, f"invalid YAML: character U+{ord(found.group()):04X} is not allowed")
        stand_ins = _stand_ins(self._text)
        self._restore = {ord(new): old for old, new in stand_ins.items()}
        self._text = (
            self._text.translate({ord(old): new for old, new in stand_ins.items()}) if stand_ins else self._text
        )
        loader = (yaml.SafeLoader if self._pure else yaml.CSafeLoader)(self._text)
        self._next = cast("Callable[[], Event]", loader.get_event)
        self._next()

    def _document(self) -> Node | None:
        if type(self._next()) is self._stream_end:
            return None
        root = self._node(self._next(), 1)
        self._next()
        self.after_document(self._next)
        return root

    def _node(self, event: Event, depth: int) -> Node:
        self.count(1, event.start_mark.line + 1)
        kind = type(event)
        if kind is self._scalar_start:
            return self._scalar(event)
        if kind is self._alias_start:
            return self.alias(event)
        if depth > self.max_depth:
            self.stop(event.start_mark.line + 1, f"YAML nested deeper than {self.max_depth} levels is not read")
        return self._mapping(event, depth) if kind is self._mapping_start else self._list(event, depth)

    def _scalar(self, event: Event) -> Node:
        line, column = self._place(event)
        if not event.value and line > self._last_line():
            line, column = self._last_line(), 1
        reading = self._scalar_reading(event)
        return self.finish(event.anchor, Node(kind=reading[0], value=reading[1], line=line, column=column))

    def _scalar_reading(self, event: Event) -> Reading:
        if self._restore:
            event.value = event.value.translate(self._restore)
        if event.style == '"' and _SURROGATE.search(event.value):
            self.stop(event.start_mark.line + 1, "invalid YAML: found invalid Unicode character escape code")
        reading = self.reading(event)
        if reading is None:
            self.add(self._place(event)[0], "invalid scalar for its tag")
            return "string", event.value
        return reading

    def _list(self, event: Event, depth: int) -> Node:
        line, column = self._place(event)
        items = []
        end, following = self._list_end, self._next
        while type(item := following()) is not end:
            items.append(self._node(item, depth + 1))
        return self.finish(event.anchor, Node(kind="list", value=tuple(items), line=line, column=column))

    def _mapping(self, event: Event, depth: int) -> Node:
        line, column = self._place(event)
        entries: list[Entry] = []
        first: dict[str, int] = {}
        end, following = self._mapping_end, self._next
        while type(start := following()) is not end:
            key_line, key_column = self._place(start)
            key = self._key(start, depth)
            value = self._node(following(), depth + 1)
            if key is None:
                continue
            if key in first:
                self.add(key_line, f"duplicate key `{key}` (first defined at line {first[key]})")
            first.setdefault(key, key_line)
            entries.append(Entry(key=key, line=key_line, column=key_column, value=value))
        return self.finish(event.anchor, self.mapping(entries, line, column))

    def mapping(self, entries: list[Entry], line: int, column: int) -> Node:
        """The node of a mapping with these entries."""
        return Node(kind="mapping", value=tuple(entries), line=line, column=column)

    def _key(self, event: Event, depth: int) -> str | None:
        before = len(self.problems)
        if type(event) is self._scalar_start and event.anchor is None:
            key = self.key_text(self._scalar_reading(event))
        else:
            node = self._node(event, depth + 1)
            key = self.key_text((node.kind, node.value))
        if key is None and len(self.problems) == before:
            self.add(self._place(event)[0], BAD_KEY)
        return key

    def _last_line(self) -> int:
        """The last line that has text; the parsers place what is missing at the end one line later."""
        if self._lines == 0:
            self._lines = 1 + len(_BREAK.findall(self._text.rstrip("\r\n")))
        return self._lines

    def _place(self, event: Event) -> tuple[int, int]:
        mark = event.start_mark
        line, column = mark.line + 1, mark.column + 1
        if event.anchor is None and getattr(event, "tag", None) is None:
            return line, column
        if type(event) is self._alias_start or (type(event) is self._scalar_start and not event.value):
            return line, column
        start, skipped = mark.index, _PROPERTIES.match(self._text, mark.index)
        end = skipped.end() if skipped else start
        breaks = list(_BREAK.finditer(self._text, start, end))
        return line + len(breaks), end - breaks[-1].end() + 1 if breaks else column + end - start


def _stand_ins(text: str) -> dict[str, str]:
    """For each old line break in ``text`` a private-use character that is not in it."""
    old = [mark for mark in _OLD_BREAKS if mark in text]
    if not old:
        return {}
    free = (chr(code) for code in chain(range(0xE000, 0xF900), range(0xF0000, 0xFFFFE)) if chr(code) not in text)
    return dict(zip(old, free, strict=False))
