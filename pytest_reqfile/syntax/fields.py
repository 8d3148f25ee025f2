"""The typed getters: every message about a wrong, missing or unknown field is made here (spec/reqfile.md 1.0).

A getter records what is wrong and returns a stand-in of the right type, so that one load reports every problem.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TypeVar, cast

from pytest_reqfile.errors import FormatError, Problem
from pytest_reqfile.syntax.nodes import Node, NodeKind

Word = TypeVar("Word", bound=str)
Value = TypeVar("Value")
StandIn = TypeVar("StandIn")

NON_EMPTY_STRING = "a non-empty string"
BOOLEAN = "true or false"
INTEGER = "an integer"
NUMBER = "a number"
LIST = "a list"


class Problems:
    """Collects what is wrong with one file."""

    __slots__ = ("_found", "path")

    def __init__(self, path: str) -> None:
        self.path = path
        self._found: list[Problem] = []

    def add(self, line: int | None, message: str) -> None:
        """Record a problem at ``line`` (1-based), or of the file as a whole (None)."""
        self._found.append(Problem(path=self.path, line=line, message=message))

    @property
    def found(self) -> tuple[Problem, ...]:
        """All problems in line order; those of one line stay in the order they were added."""
        return tuple(sorted(self._found, key=lambda problem: problem.line or 0))

    def __len__(self) -> int:
        return len(self._found)

    def raise_if_any(self) -> None:
        """Raise one ``FormatError`` that carries all of them."""
        if self._found:
            raise FormatError(self.found)


@dataclass(frozen=True, slots=True, kw_only=True)
class Wording:
    """The templates of the messages; other formats than Reqfile's have their own.

    Placeholders: ``{key}``, ``{what}`` (the label), ``{keys}`` (allowed keys), ``{expected}``, ``{kind}`` (found).
    """

    unknown_key: str = "unknown key `{key}` in {what} (expected one of: {keys})"
    missing: str = "{what} is missing the required field `{key}`"
    wrong_type: str = "`{key}` must be {expected}, found {kind}"
    not_a_mapping: str = "{what} must be a mapping, found {kind}"


REQFILE_WORDING = Wording()


class Fields:
    """The fields of one mapping.

    ``what`` is the label of messages (``a command check``, ``the Reqfile``), ``keys`` the allowed keys in message
    order. Creating it reports a node that is no mapping, and every unknown key; after that a getter per field.
    Getters of a node that is no mapping are silent: the one problem is already told.
    """

    __slots__ = ("_before", "_given", "_mapping", "_wording", "problems", "usable", "what")

    def __init__(
        self,
        node: Node,
        what: str,
        keys: Sequence[str],
        problems: Problems,
        *,
        wording: Wording = REQFILE_WORDING,
    ) -> None:
        self._mapping = node
        self.what = what
        self.problems = problems
        self.usable = node.kind == "mapping"
        self._wording = wording
        self._before = len(problems)
        self._given: dict[str, Node] = {}
        if not self.usable:
            problems.add(node.line, wording.not_a_mapping.format(what=what, kind=node.describe()))
            return
        for entry in node.entries:
            self._given[entry.key] = entry.value
            if entry.key not in keys:
                allowed = ", ".join(keys)
                problems.add(entry.line, wording.unknown_key.format(key=entry.key, what=what, keys=allowed))

    @property
    def failed(self) -> bool:
        """Whether any problem was recorded since this mapping was begun: its own, or of what was read inside it."""
        return len(self.problems) > self._before

    @property
    def mapping_line(self) -> int:
        """The line of the mapping itself."""
        return self._mapping.line

    def relabel(self, what: str) -> None:
        """Use another label from now on, such as ``requirement ID`` once the id is known."""
        self.what = what

    def refuse(self, key: str | None, message: str) -> None:
        """Record a problem of the subject's own: at the value of ``key`` if that is given, else at the mapping."""
        self.problems.add(self.line(key) if key else self._mapping.line, message)

    def __contains__(self, key: object) -> bool:
        return key in self._given

    def node(self, key: str) -> Node | None:
        """The value as it is, unchecked."""
        return self._given.get(key)

    def kind_of(self, key: str) -> NodeKind | None:
        """The kind of the value of ``key``; None where the key is absent."""
        node = self._given.get(key)
        return node.kind if node else None

    def line(self, key: str) -> int:
        """The line of the value of ``key``; of the mapping where the key is absent."""
        node = self._given.get(key)
        return node.line if node else self._mapping.line

    def required(self, key: str) -> Node | None:
        """The value of a required field, unchecked; None (and a problem) where it is missing."""
        node = self._given.get(key)
        if node is None and self.usable:
            self.problems.add(self._mapping.line, self._wording.missing.format(what=self.what, key=key))
        return node

    def string(self, key: str) -> str:
        """A required string; empty and whitespace-only ones are refused. Kept as written."""
        return self._read(self.required(key), key, NON_EMPTY_STRING, _string, "")

    def optional_string(self, key: str) -> str | None:
        """As ``string``, or None where the key is absent. An explicit null is a wrong type."""
        return self._read(self._given.get(key), key, NON_EMPTY_STRING, _string, None)

    def boolean(self, key: str, default: bool) -> bool:
        """An optional boolean."""
        return self._read(self._given.get(key), key, BOOLEAN, _boolean, default)

    def integer(self, key: str, default: int | None = None) -> int:
        """An integer; required unless there is a default."""
        node = self.required(key) if default is None else self._given.get(key)
        return self._read(node, key, INTEGER, _integer, default or 0)

    def optional_integer(self, key: str) -> int | None:
        """An integer, or None where the key is absent."""
        return self._read(self._given.get(key), key, INTEGER, _integer, None)

    def number(self, key: str, default: float | None = None) -> float:
        """A number, integers included; required unless there is a default."""
        node = self.required(key) if default is None else self._given.get(key)
        return self._read(node, key, NUMBER, _number, default or 0.0)

    def optional_number(self, key: str) -> float | None:
        """A number, integers included, or None where the key is absent."""
        return self._read(self._given.get(key), key, NUMBER, _number, None)

    def list(self, key: str) -> tuple[Node, ...]:
        """The items of a required list, which may be empty."""
        return self._read(self.required(key), key, LIST, _list, ())

    def optional_list(self, key: str) -> tuple[Node, ...]:
        """The items of a list, or () where the key is absent."""
        return self._read(self._given.get(key), key, LIST, _list, ())

    def strings(self, key: str) -> tuple[str, ...]:
        """A required list of strings, which may be empty."""
        return tuple(self._read(item, key, NON_EMPTY_STRING, _string, "") for item in self.list(key))

    def optional_strings(self, key: str) -> tuple[str, ...]:
        """A list of strings, or () where the key is absent."""
        return tuple(self._read(item, key, NON_EMPTY_STRING, _string, "") for item in self.optional_list(key))

    def string_or_strings(self, key: str) -> tuple[str, ...]:
        """One string or a list of them (`files` of a unit, spec/reqfile.md 1.3); () where the key is absent."""
        node = self._given.get(key)
        if node is not None and node.kind != "list":
            return (self._read(node, key, NON_EMPTY_STRING, _string, ""),)
        return self.optional_strings(key)

    def integers(self, key: str, default: tuple[int, ...] = ()) -> tuple[int, ...]:
        """A list of integers, or ``default`` where the key is absent."""
        if key not in self:
            return default
        return tuple(self._read(item, key, INTEGER, _integer, 0) for item in self.optional_list(key))

    def mapping(self, key: str) -> Node | None:
        """A required mapping, unread; None (and a problem) where it is missing or another type."""
        return self._mapping_of(key, self.required(key))

    def optional_mapping(self, key: str) -> Node | None:
        """A mapping, unread; None where the key is absent or (with a problem) another type."""
        return self._mapping_of(key, self._given.get(key))

    def choice(self, key: str, choices: Sequence[Word], default: Word | None, message: str) -> Word:
        """One of ``choices``; required unless there is a default. ``{x}`` in ``message`` becomes the value found."""
        node = self.required(key) if default is None else self._given.get(key)
        stand_in = choices[0] if default is None else default
        found = self._read(node, key, NON_EMPTY_STRING, _string, "")
        for known in choices:
            if found == known:
                return known
        if found:
            self.refuse(key, message.replace("{x}", found))
        return stand_in

    def _read(
        self,
        node: Node | None,
        key: str,
        expected: str,
        convert: Callable[[Node], Value | None],
        stand_in: StandIn,
    ) -> Value | StandIn:
        if node is None:
            return stand_in
        found = convert(node)
        if found is None:
            message = self._wording.wrong_type.format(key=key, expected=expected, kind=node.describe())
            self.problems.add(node.line, message)
            return stand_in
        return found

    def _mapping_of(self, key: str, node: Node | None) -> Node | None:
        if node is None or node.kind == "mapping":
            return node
        self.problems.add(node.line, self._wording.not_a_mapping.format(what=key, kind=node.describe()))
        return None


def _string(node: Node) -> str | None:
    return node.value if isinstance(node.value, str) and node.value.strip() else None


def _boolean(node: Node) -> bool | None:
    return node.value if isinstance(node.value, bool) else None


def _integer(node: Node) -> int | None:
    return cast("int", node.value) if node.kind == "integer" else None


def _number(node: Node) -> float | None:
    return float(cast("float", node.value)) if node.kind in ("integer", "number") else None


def _list(node: Node) -> tuple[Node, ...] | None:
    return node.items if node.kind == "list" else None
