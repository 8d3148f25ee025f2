"""Rule-linked declarations, validated one by one; the first thing wrong is its AR9H2 (spec/verifiers.md 2.2, 2.3)."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass
from typing import Final

from pytest_reqfile.outcome import Location, Severity
from pytest_reqfile.project.values import Item
from pytest_reqfile.syntax.globs import Glob, GlobError, verifier_glob
from pytest_reqfile.verifiers.predicate_format import (
    PREDICATE_SHAPE,
    PredicateError,
    read_predicate,
    refuse_checklists,
)
from pytest_reqfile.verifiers.predicates import Predicate
from pytest_reqfile.verifiers.shape import Shape, Table, string, string_map, strings, table_of, tables_of
from pytest_reqfile.verifiers.values import (
    EXPECTATIONS,
    SEVERITIES,
    TARGET_KINDS,
    Example,
    Expectation,
    SpecVerifier,
    Target,
    TargetKind,
)
from pytest_reqfile.verifiers.words import MIB
from pytest_reqfile.workspace.paths import normalised

MAX_EXAMPLE_BYTES: Final = MIB
_ID: Final = re.compile(r"[a-z0-9._-]+")
_EXAMPLE: Final[Shape] = {"name": string, "files": string_map, "changed": strings, "expect": string}
_COMMON: Final[Shape] = {
    "description": string,
    "rule": string,
    "skill": string,
    "agent": string,
    "command": string,
    "anchor": string,
    "severity": string,
    "message": string,
    "fix": string,
    "when_changed": strings,
    "exclude": strings,
    "require": table_of(PREDICATE_SHAPE, "[verifiers.require]"),
    "examples": tables_of(_EXAMPLE, "[[verifiers.examples]]"),
}
FILE_ENTRY: Final[Shape] = {"id": string, **_COMMON}
DECLARATION_FILE: Final[Shape] = {"verifiers": tables_of(FILE_ENTRY, "[[verifiers]]")}
SPEC_FIELDS: Final = (
    *("rule", "skill", "agent", "command", "anchor", "message", "fix", "when_changed", "require", "examples"),
)


class SpecError(ValueError):
    """Why a declaration cannot be used (AR9H2), and the line to look at."""

    def __init__(self, message: str, line: int) -> None:
        super().__init__(message)
        self.line = line


@dataclass(frozen=True, slots=True, kw_only=True)
class SpecPlace:
    """Where a declaration stands: ``path`` of its file, ``source`` in the words of reports, ``id_key`` of its id."""

    path: str
    source: str
    id_key: str = "id"


FindTarget = Callable[[TargetKind, str], Item | None]


def read_spec(table: Table, place: SpecPlace, find: FindTarget, hint: str = "") -> SpecVerifier:
    """The verifier in ``table``, whose shape was checked. Raises SpecError; ``hint`` goes behind a missing target."""
    identifier = table.text(place.id_key)
    if not _ID.fullmatch(identifier):
        message = f"invalid id \"{identifier}\": use lowercase letters, digits, '.', '_' and '-'"
        raise SpecError(message, table.line(place.id_key))
    severity = _severity(table)
    target = _target(table, find, hint)
    when_changed, exclude = _globs(table, "when_changed"), _globs(table, "exclude")
    require = _require(table)
    if require.needs_scope and not when_changed:
        raise SpecError("this predicate checks the changed files, so the verifier needs when_changed", table.line())
    return SpecVerifier(
        id=identifier,
        description=table.text("description"),
        target=target,
        severity=severity,
        message=table.text("message"),
        fix=table.text("fix"),
        when_changed=when_changed,
        exclude=exclude,
        require=require,
        examples=tuple(_example(example, number) for number, example in enumerate(table.tables("examples"))),
        source=place.source,
        declared=Location(path=place.path, line=table.line()),
    )


def named_targets(table: Table) -> tuple[TargetKind, ...]:
    """The kinds of item the declaration names; exactly one is right."""
    return tuple(kind for kind in TARGET_KINDS if table.is_set(kind))


def _severity(table: Table) -> Severity:
    text = table.text("severity") or "warning"
    for known in SEVERITIES:
        if text == known:
            return known
    raise SpecError(f'invalid severity "{text}": use error, warning or info', table.line("severity"))


def _target(table: Table, find: FindTarget, hint: str) -> Target:
    kinds = named_targets(table)
    if len(kinds) != 1:
        message = "set exactly one of rule, skill, agent or command: the item this verifier enforces"
        raise SpecError(message, table.line())
    kind = kinds[0]
    name = table.text(kind)
    item = find(kind, name)
    if item is None:
        message = f'the {kind} "{name}" does not exist (a verifier must name the item it enforces){hint}'
        raise SpecError(message, table.line(kind))
    anchor = table.text("anchor")
    line = item.document.line_of(anchor) if anchor else None
    if anchor and line is None:
        raise SpecError(f'anchor "{anchor}" is not a heading line of {kind} "{name}"', table.line("anchor"))
    return Target(kind=kind, id=name, path=item.path, line=line)


def _globs(table: Table, key: str) -> tuple[Glob, ...]:
    found = []
    for text in table.texts(key):
        try:
            found.append(verifier_glob(text))
        except GlobError as error:
            raise SpecError(f'invalid glob "{text}": {error}', table.line(key)) from None
    return tuple(found)


def _require(table: Table) -> Predicate:
    require = table.table("require")
    if require is None or not require.node.entries:
        raise SpecError("needs a [verifiers.require] predicate", table.line())
    try:
        predicate = read_predicate(require)
        refuse_checklists(predicate, require.line())
    except PredicateError as error:
        raise SpecError(str(error), error.line) from None
    return predicate


def _example(table: Table, number: int) -> Example:
    files = table.text_map("files")
    expect = _expectation(table, number)
    for path, content in files:
        if not normalised(path.replace("\\", "/")):
            raise SpecError(f'examples[{number}] has a file path outside the fixture: "{path}"', table.line("files"))
        if len(content.encode("utf-8", "surrogatepass")) > MAX_EXAMPLE_BYTES:
            raise SpecError(f'examples[{number}] file "{path}" is too large', table.line("files"))
    return Example(
        name=table.text("name"), files=files, changed=table.texts("changed"), expect=expect, line=table.line()
    )


def _expectation(table: Table, number: int) -> Expectation:
    text = table.text("expect")
    for known in EXPECTATIONS:
        if text == known:
            return known
    message = f"examples[{number}].expect must be pass, fail or not_applicable"
    raise SpecError(message, table.line("expect"))
