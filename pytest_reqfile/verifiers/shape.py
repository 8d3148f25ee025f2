"""Which keys and types a declaration may have: read strictly, so that a misspelt key is never ignored (seed 000).

TOML has no null: an empty string or list counts as not set, as in the tool these files come from.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping

from pytest_reqfile.errors import Problem
from pytest_reqfile.syntax.nodes import Node

Check = Callable[[Node, str, str], Iterator[Problem]]
"""What is wrong with the value of a key in a file: ``(node, key, path)``."""
Shape = Mapping[str, Check]


def check_table(node: Node, shape: Shape, what: str, path: str) -> Iterator[Problem]:
    """Everything of the wrong name or type in one table, ``what`` being its label."""
    if node.kind != "mapping":
        yield Problem(message=f"{what} must be a table, found {node.describe()}", path=path, line=node.line)
        return
    for entry in node.entries:
        check = shape.get(entry.key)
        if check is None:
            yield Problem(message=f"unknown key `{entry.key}` in {what}", path=path, line=entry.line)
        else:
            yield from check(entry.value, entry.key, path)


def of_kind(kind: str, expected: str) -> Check:
    """A scalar of one kind."""

    def check(node: Node, key: str, path: str) -> Iterator[Problem]:
        if node.kind != kind:
            yield _wrong(node, key, expected, path)

    return check


def strings(node: Node, key: str, path: str) -> Iterator[Problem]:
    """A list of strings."""
    if node.kind != "list" or any(item.kind != "string" for item in node.items):
        yield _wrong(node, key, "a list of strings", path)


def string_map(node: Node, key: str, path: str) -> Iterator[Problem]:
    """A table of strings under free keys."""
    if node.kind != "mapping" or any(entry.value.kind != "string" for entry in node.entries):
        yield _wrong(node, key, "a table of strings", path)


def table_of(shape: Shape, what: str) -> Check:
    """One table."""

    def check(node: Node, key: str, path: str) -> Iterator[Problem]:
        del key
        yield from check_table(node, shape, what, path)

    return check


def tables_of(shape: Shape, what: str) -> Check:
    """An array of tables."""

    def check(node: Node, key: str, path: str) -> Iterator[Problem]:
        if node.kind != "list":
            yield _wrong(node, key, "an array of tables", path)
            return
        for item in node.items:
            yield from check_table(item, shape, what, path)

    return check


def _wrong(node: Node, key: str, expected: str, path: str) -> Problem:
    inside = {"list": " of other values", "mapping": " of other values"} if expected.endswith("strings") else {}
    found = node.describe() + inside.get(node.kind, "")
    return Problem(message=f"`{key}` must be {expected}, found {found}", path=path, line=node.line)


string = of_kind("string", "a string")
integer = of_kind("integer", "an integer")
boolean = of_kind("boolean", "true or false")


class Table:
    """The values of one table whose shape was checked; what is absent reads as empty."""

    __slots__ = ("_values", "node")

    def __init__(self, node: Node) -> None:
        self.node = node
        self._values = {entry.key: entry.value for entry in node.entries}

    def __contains__(self, key: object) -> bool:
        return key in self._values

    def is_set(self, key: str) -> bool:
        """Whether ``key`` says something: an empty string, list or table does not."""
        node = self._values.get(key)
        return node is not None and node.value not in ("", ())

    def line(self, key: str | None = None) -> int:
        """The line of the value of ``key``, or of the table."""
        node = self._values.get(key) if key else None
        return node.line if node else self.node.line

    def text(self, key: str) -> str:
        node = self._values.get(key)
        return node.value if node is not None and isinstance(node.value, str) else ""

    def texts(self, key: str) -> tuple[str, ...]:
        return tuple(item.value for item in self._items(key) if isinstance(item.value, str))

    def text_map(self, key: str) -> tuple[tuple[str, str], ...]:
        node = self._values.get(key)
        entries = node.entries if node is not None else ()
        return tuple((entry.key, entry.value.value) for entry in entries if isinstance(entry.value.value, str))

    def number(self, key: str) -> int | None:
        node = self._values.get(key)
        return node.value if node is not None and isinstance(node.value, int) else None

    def flag(self, key: str, default: bool) -> bool:
        node = self._values.get(key)
        return node.value if node is not None and isinstance(node.value, bool) else default

    def table(self, key: str) -> Table | None:
        node = self._values.get(key)
        return Table(node) if node is not None else None

    def tables(self, key: str) -> tuple[Table, ...]:
        return tuple(map(Table, self._items(key)))

    def _items(self, key: str) -> tuple[Node, ...]:
        node = self._values.get(key)
        return node.items if node is not None else ()
