"""What the three formats become: values that remember where they stand."""

from __future__ import annotations

import datetime
from dataclasses import dataclass
from typing import Literal, TypeAlias, cast

NodeKind: TypeAlias = Literal["null", "boolean", "integer", "number", "string", "list", "mapping", "datetime"]

# The words of spec/reqfile.md 1.0 (`{kind}`); `datetime` exists only in TOML.
_DESCRIPTIONS: dict[NodeKind, str] = {
    "null": "null",
    "boolean": "a boolean",
    "integer": "an integer",
    "number": "a number",
    "string": "a string",
    "list": "a list",
    "mapping": "a mapping",
    "datetime": "a date or time",
}

# Looked up by exact type, so that a boolean is no integer.
KINDS: dict[type, NodeKind] = {
    type(None): "null",
    bool: "boolean",
    int: "integer",
    float: "number",
    str: "string",
    datetime.datetime: "datetime",
    datetime.date: "datetime",
    datetime.time: "datetime",
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Node:
    """One value of a file. ``line`` and ``column`` are 1-based, columns in characters.

    ``value`` is a scalar, a tuple of ``Node`` (list) or a tuple of ``Entry`` (mapping), as ``kind`` says.
    """

    kind: NodeKind
    value: object
    line: int
    column: int

    @property
    def items(self) -> tuple[Node, ...]:
        """The items of a list; asking anything else is a bug."""
        assert self.kind == "list", f"not a list: {self.describe()}"
        return cast("tuple[Node, ...]", self.value)

    @property
    def entries(self) -> tuple[Entry, ...]:
        """The entries of a mapping in file order; asking anything else is a bug."""
        assert self.kind == "mapping", f"not a mapping: {self.describe()}"
        return cast("tuple[Entry, ...]", self.value)

    def get(self, key: str) -> Node | None:
        """The value at ``key`` of a mapping, or None where the key is absent (an explicit null is a node)."""
        return next((entry.value for entry in self.entries if entry.key == key), None)

    def describe(self) -> str:
        """The kind in the words of error messages, such as ``an integer`` (spec/reqfile.md 1.0)."""
        return _DESCRIPTIONS[self.kind]


@dataclass(frozen=True, slots=True, kw_only=True)
class Entry:
    """One key of a mapping; ``line`` and ``column`` are those of the key."""

    key: str
    line: int
    column: int
    value: Node


def plain(node: Node) -> object:
    """The same value in builtin dicts, lists and scalars; of a repeated key the last value stays.

    Recursive: readers refuse files nested deeper than their cap, which Python's stack holds.
    """
    if node.kind == "list":
        return [plain(item) for item in node.items]
    if node.kind == "mapping":
        return {entry.key: plain(entry.value) for entry in node.entries}
    return node.value
