"""``verifiers list`` and ``verifiers explain``: what is declared, without evaluating it (spec/verifiers.md 9.6)."""

from __future__ import annotations

import json
import shlex
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Final

from pytest_reqfile.errors import UsageError
from pytest_reqfile.verifiers.predicates import (
    AllOf,
    AnyOf,
    Checklist,
    Command,
    FileCount,
    FileExists,
    Leaf,
    Not,
    Paired,
    Predicate,
    TextMatch,
)
from pytest_reqfile.verifiers.values import CONFIG_SOURCE, Declarations, FlatVerifier, SpecVerifier
from pytest_reqfile.verifiers.words import go_quoted, sanitized

NOTHING: Final = "No verifiers configured."
_HEADER: Final = ("NAME", "TYPE", "SEVERITY", "ENFORCES", "DESCRIPTION")


@dataclass(frozen=True, slots=True, kw_only=True)
class ListRow:
    """One declaration; ``invalid`` says why it cannot be used."""

    name: str
    type: str
    severity: str
    description: str = ""
    target: str = ""
    source: str = CONFIG_SOURCE
    invalid: str = ""


def list_rows(declarations: Declarations) -> tuple[ListRow, ...]:
    """Flat verifiers, specs, and what is invalid, each in declaration order."""
    flat = [
        ListRow(name=v.name, type=v.check.type, severity=v.severity, description=v.description)
        for v in declarations.flat
    ]
    specs = [
        ListRow(
            name=v.id,
            type=v.require.kind,
            severity=v.severity,
            description=v.description,
            target=f"{v.target.kind}:{v.target.id}",
            source=v.source,
        )
        for v in declarations.specs
    ]
    invalid = [
        ListRow(name=sanitized(i.name), type="invalid", severity="error", source=i.source, invalid=sanitized(i.message))
        for i in declarations.invalid
    ]
    return (*flat, *specs, *invalid)


def list_cells(rows: Sequence[ListRow]) -> list[tuple[str, ...]]:
    """The table of the text form, header included."""
    cells = [(row.name, row.type, row.severity, row.target or "-", row.description) for row in rows]
    return [_HEADER, *(tuple(map(sanitized, row)) for row in cells)]


def list_json(rows: Sequence[ListRow]) -> str:
    """``{schema_version, items: [...]}``; keys that have nothing to say are left out."""
    keys = ("name", "type", "severity", "description", "target", "source", "invalid")
    items = [{key: value for key in keys if (value := getattr(row, key))} for row in rows]
    return json.dumps({"schema_version": 1, "items": items}, indent=2, ensure_ascii=False) + "\n"


def find_declared(declarations: Declarations, name: str) -> FlatVerifier | SpecVerifier:
    """The usable verifier of that name. Raises UsageError for an unknown or invalid one."""
    for flat in declarations.flat:
        if flat.name == name:
            return flat
    for spec in declarations.specs:
        if spec.id == name:
            return spec
    raise UsageError(f"unknown verifier {go_quoted(name)}")


def explain_text(verifier: FlatVerifier | SpecVerifier, test_command: str) -> str:
    """What the verifier checks, what it enforces, how to fix a failure."""
    lines = _flat_lines(verifier) if isinstance(verifier, FlatVerifier) else _spec_lines(verifier, test_command)
    return "".join(f"{sanitized(line)}\n" for line in lines)


def explain_json(verifier: FlatVerifier | SpecVerifier, test_command: str) -> str:
    """The same as a document, its text included."""
    spec = verifier if isinstance(verifier, SpecVerifier) else None
    target = spec.target if spec else None
    found: dict[str, object] = {
        "schema_version": 1,
        "name": spec.id if spec else verifier.name if isinstance(verifier, FlatVerifier) else "",
        "severity": verifier.severity,
        "type": verifier.check.type if isinstance(verifier, FlatVerifier) else None,
        "description": verifier.description or None,
        "enforces": _without_none({"kind": target.kind, "id": target.id, "path": target.path, "line": target.line})
        if target
        else None,
        "declared_in": spec.source if spec else CONFIG_SOURCE,
        "when_changed": [glob.text for glob in spec.when_changed] if spec else [],
        "exclude": [glob.text for glob in spec.exclude] if spec else [],
        "message": (spec.message or None) if spec else None,
        "fix": (spec.fix or None) if spec else None,
        "examples": len(spec.examples) if spec else 0,
        "text": explain_text(verifier, test_command),
    }
    return json.dumps(_without_none(found), indent=2, ensure_ascii=False) + "\n"


def _without_none(values: dict[str, object]) -> dict[str, object]:
    return {key: value for key, value in values.items() if value is not None}


def _flat_lines(verifier: FlatVerifier) -> Iterator[str]:
    yield f"{verifier.name} ({verifier.severity})"
    if verifier.description:
        yield f"  {verifier.description}"
    yield f"  type: {verifier.check.type}"
    yield "  declared in: config.toml [[verifiers]]"
    yield "  scope: the whole repository (runs on every invocation)"
    yield "  a flat verifier names no rule or skill"


def _spec_lines(verifier: SpecVerifier, test_command: str) -> Iterator[str]:
    target = verifier.target
    place = f" ({target.path}{f':{target.line}' if target.line else ''})" if target.path else ""
    yield f"{verifier.id} ({verifier.severity})"
    if verifier.description:
        yield f"  {verifier.description}"
    yield f'  enforces: {target.kind} "{target.id}"{place}'
    yield f"  declared in: {verifier.source}"
    if verifier.when_changed:
        yield f"  scope: changed files matching {', '.join(glob.text for glob in verifier.when_changed)}"
    else:
        yield "  scope: the whole repository (runs on every invocation)"
    if verifier.exclude:
        yield f"  excluding: {', '.join(glob.text for glob in verifier.exclude)}"
    yield "  requires:"
    for line in _tree_lines(verifier.require):
        yield f"    {line}"
    if verifier.message:
        yield f"  message: {verifier.message}"
    if verifier.fix:
        yield f"  fix: {verifier.fix}"
    yield f"  examples: {len(verifier.examples)} (run `{test_command} {verifier.id}`)"


def _tree_lines(predicate: Predicate) -> Iterator[str]:
    match predicate:
        case Not():
            yield from _branch("not:", (predicate.member,))
        case AllOf():
            yield from _branch("all of:", predicate.members)
        case AnyOf():
            yield from _branch("any of:", predicate.members)
        case _:
            yield from _leaf_lines(predicate)


def _leaf_lines(predicate: Leaf) -> Iterator[str]:
    match predicate:
        case TextMatch():
            files = f" ({predicate.files.text})" if predicate.files else ""
            yield f"{predicate.kind} `{predicate.pattern}` in {predicate.where}{files}"
        case FileExists():
            yield f"file {predicate.path} {'exists' if predicate.exists else 'does not exist'}"
        case Paired():
            what = "changed" if predicate.must_change else "existing"
            yield f"paired: for each {predicate.for_each}, require {what}: {predicate.derived}"
        case FileCount():
            yield f"glob_count {predicate.files.text} min={_bound(predicate.minimum)} max={_bound(predicate.maximum)}"
        case Command():
            argv = shlex.join(predicate.argv)
            yield f"command `{argv}` must exit {predicate.expect_exit} (runs only with --allow-exec)"
        case Checklist():
            yield "llm checklist (advisory, runs only with --allow-llm; the changed lines are sent to the model):"
            for number, item in enumerate(predicate.checklist, 1):
                yield f"  {number}. {item}"


def _branch(title: str, members: Sequence[Predicate]) -> Iterator[str]:
    yield title
    for member in members:
        for line in _tree_lines(member):
            yield f"  {line}"


def _bound(value: int | None) -> str:
    return "-" if value is None else str(value)
