"""One constraint in the text of config.toml (seed 001 "Taking a new major version"; spec/lock.md 6.10)."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Final

from pytest_reqfile.errors import FormatError, ReqfileError
from pytest_reqfile.project.values import SourceTable
from pytest_reqfile.syntax.toml import parse_toml

if TYPE_CHECKING:
    from tomlkit.items import Table

CONFIG: Final = "config.toml"
_UNSAFE: Final = re.compile(r"[\"'\\\r\n]")
_LINES: Final = re.compile(r"[\r\n]")


class PatchError(ReqfileError):
    """A constraint that people must change by hand; nothing was changed."""


def with_constraint(text: str, table: SourceTable, name: str, constraint: str) -> str:
    """``text`` with the constraint of the source ``name`` set to ``constraint``, and nothing else changed.

    The value of its ``version``, else of ``ref``, in the quotes it has. Raises ``PatchError``.
    """
    if not constraint.strip() or _UNSAFE.search(constraint):
        raise PatchError(f"the constraint {constraint!r} cannot be written to {CONFIG}")
    from tomlkit import parse, string
    from tomlkit.exceptions import TOMLKitError

    try:
        document = parse(text)
        index, entry = _entry(document.get(table), table, name)
        key, quote = _constraint(entry, table, name)
        entry[key] = string(constraint, literal=quote == "'")
        patched = document.as_string()
    except TOMLKitError as error:
        raise PatchError(f"{CONFIG} cannot be rewritten: {error}; edit it by hand") from error
    _verify(text, patched, (table, index, key), constraint)
    return patched


def _entry(found: object, table: SourceTable, name: str) -> tuple[int, Table]:
    """The one ``[[table]]`` of that name, and its place among them; an inline array has none."""
    from tomlkit.items import AoT

    tables = list(found.body) if isinstance(found, AoT) else []
    places = [index for index, entry in enumerate(tables) if entry.get("name") == name]
    if not places:
        raise PatchError(f'no [[{table}]] entry named "{name}" in {CONFIG}; edit it by hand')
    if len(places) > 1:
        raise PatchError(f'{len(places)} [[{table}]] entries are named "{name}" in {CONFIG}; edit it by hand')
    return places[0], tables[places[0]]


def _constraint(entry: Table, table: SourceTable, name: str) -> tuple[str, str]:
    """The key of the constraint, and the quote around its value."""
    from tomlkit.items import String

    key = next((key for key in ("version", "ref") if key in entry), None)
    item = entry.item(key) if key is not None else None
    if key is None or not isinstance(item, String):
        raise PatchError(f'the [[{table}]] entry named "{name}" has no constraint in {CONFIG}; edit it by hand')
    written = item.as_string()
    if _LINES.search(written) or written.startswith(('"""', "'''")):
        raise PatchError(f'the constraint of "{name}" spans lines in {CONFIG}; edit it by hand')
    return key, written[0]


def _verify(before: str, after: str, place: tuple[str, int, str], constraint: str) -> None:
    """Whether the two texts differ within one line, and say the same but for that one value."""
    start = next((n for n, (one, other) in enumerate(zip(before, after, strict=False)) if one != other), 0)
    shared = min(len(before), len(after)) - start
    end = next((n for n in range(shared) if before[-1 - n] != after[-1 - n]), shared)
    changed = before[start : len(before) - end] + after[start : len(after) - end]
    if _LINES.search(changed) or not _says(before, after, place, constraint):
        raise PatchError(f"{CONFIG} cannot be rewritten without changing more than the constraint; edit it by hand")


def _says(before: str, after: str, place: tuple[str, int, str], constraint: str) -> bool:
    table, index, key = place
    try:
        old, new = parse_toml(before, CONFIG), parse_toml(after, CONFIG)
        entries = old[table]
        assert isinstance(entries, list)
        entries[index][key] = constraint
    except (FormatError, KeyError, IndexError):
        return False
    return old == new
