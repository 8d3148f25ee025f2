"""One constraint in the text of config.toml (seed 001 "Taking a new major version"; spec/lock.md 6.10).

By our own positions rather than with tomlkit, which moves the tables of an array that others stand between.
"""

from __future__ import annotations

import re
from itertools import accumulate
from typing import Final

from pytest_reqfile.errors import FormatError, ReqfileError
from pytest_reqfile.project.values import SourceTable
from pytest_reqfile.syntax.nodes import Node
from pytest_reqfile.syntax.toml import parse_toml, read_toml

CONFIG: Final = "config.toml"
_UNSAFE: Final = re.compile(r"[\"'\\\r\n]")
_STRING: Final = re.compile(r"'(?!'')[^'\r\n]*'|\"(?!\"\")(?:[^\"\\\r\n]|\\[^\r\n])*\"")
_HEADER: Final = "[["


class PatchError(ReqfileError):
    """A constraint that people must change by hand; nothing was changed."""


def with_constraint(text: str, table: SourceTable, name: str, constraint: str) -> str:
    """``text`` with the constraint of the source ``name`` set to ``constraint``, and nothing else changed.

    The value of its ``version``, else of ``ref``, in the quotes it has. Raises ``PatchError``.
    """
    if not constraint.strip() or _UNSAFE.search(constraint):
        raise PatchError(f"the constraint {constraint!r} cannot be written to {CONFIG}")
    try:
        root = read_toml(text, CONFIG)
    except FormatError as error:
        raise PatchError(f"{CONFIG} cannot be rewritten: {error}") from error
    starts = [0, *accumulate(len(line) + 1 for line in text.split("\n"))]

    def offset(node: Node) -> int:
        return starts[node.line - 1] + node.column - 1

    found = root.get(table)
    items = found.items if found is not None and found.kind == "list" else ()
    entries = [n for n, one in enumerate(items) if text.startswith(_HEADER, offset(one)) and _is_named(one, name)]
    index = _only(entries, table, name)
    key, value = _constraint(items[index], table, name)
    written = _STRING.match(text, offset(value))
    if written is None:
        raise PatchError(f'the constraint of "{name}" spans lines in {CONFIG}; edit it by hand')
    quote = written[0][0]
    patched = f"{text[: written.start()]}{quote}{constraint}{quote}{text[written.end() :]}"
    _verify(text, patched, (table, index, key), constraint)
    return patched


def _is_named(entry: Node, name: str) -> bool:
    node = entry.get("name") if entry.kind == "mapping" else None
    return node is not None and node.value == name


def _only(places: list[int], table: SourceTable, name: str) -> int:
    """The place of the one ``[[table]]`` of that name; an inline array has none."""
    if not places:
        raise PatchError(f'no [[{table}]] entry named "{name}" in {CONFIG}; edit it by hand')
    if len(places) > 1:
        raise PatchError(f'{len(places)} [[{table}]] entries are named "{name}" in {CONFIG}; edit it by hand')
    return places[0]


def _constraint(entry: Node, table: SourceTable, name: str) -> tuple[str, Node]:
    """The key of the constraint, and its value."""
    found = next(((key, node) for key in ("version", "ref") if (node := entry.get(key)) is not None), None)
    if found is None or found[1].kind != "string":
        raise PatchError(f'the [[{table}]] entry named "{name}" has no constraint in {CONFIG}; edit it by hand')
    return found


def _verify(before: str, after: str, place: tuple[str, int, str], constraint: str) -> None:
    """Whether both texts say the same but for that one value, whatever we believe to know of positions."""
    table, index, key = place
    old, new = parse_toml(before, CONFIG), parse_toml(after, CONFIG)
    entries = old[table]
    assert isinstance(entries, list)
    entries[index][key] = constraint
    if repr(old) != repr(new):
        raise PatchError(f"{CONFIG} cannot be rewritten without changing more than the constraint; edit it by hand")
