"""Differences between a lock and what it pins, as people and programs read them (spec/lock.md 5.4)."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, fields, replace
from typing import Any, Final, Literal

from pytest_reqfile.syntax.gojson import indented
from pytest_reqfile.syntax.printable import visible

Scope = Literal["lock", "remote", "served", "source", "output", "approval"]
Verb = Literal["added", "removed", "changed"]

KindLimit = Literal["content", "include", "skill", "source", "served"]

SCHEMA_VERSION: Final = 1
_ORDER: Final[dict[Scope, int]] = {"lock": 0, "remote": 1, "served": 2, "source": 3, "output": 4, "approval": 5}
_VERB_COLUMN: Final = 15
_KEPT: Final = frozenset("\t")


@dataclass(frozen=True, slots=True, kw_only=True)
class Change:
    """One difference. ``old`` and ``new`` are digests; ``files`` are those of a role's rendering, with their digests.

    ``path`` is relative to the configuration folder for sources, to the project for outputs. ``code`` is set where
    the difference has one of its own; ``detail`` then begins with it.
    """

    scope: Scope
    change: Verb
    kind: str = ""
    id: str = ""
    domain: str = ""
    path: str = ""
    old: str = ""
    new: str = ""
    detail: str = ""
    files: tuple[tuple[str, str], ...] = ()
    code: str = ""

    def __str__(self) -> str:
        """The line of ``--check`` and ``--diff``; a name with a line break in it cannot make two of it."""
        return visible(self._line, kept=_KEPT)

    @property
    def _line(self) -> str:
        detail = f": {self.detail}" if self.detail else ""
        if self.scope == "lock":
            return f"lock{detail}"
        if self.scope == "served":
            return f"served {self.id}{detail}"
        if self.scope in {"remote", "approval"}:
            return f"{self.scope} {self.kind} {self._name}{detail}"
        verb = f"{self.scope} {self.change}".ljust(_VERB_COLUMN)
        return f"{verb} {self._what}{detail}"

    @property
    def _name(self) -> str:
        return f"{self.domain}/{self.id}" if self.domain else self.id

    @property
    def _what(self) -> str:
        if self.kind == "role" and self.scope == "output":
            return f"outputs of role {self.id}"
        if self.scope == "output":
            return f"output {self.path}"
        return f"{self.kind} {self._name} ({self.path})" if self.path else f"{self.kind} {self._name}"

    def as_json(self) -> dict[str, object]:
        """The change in the key order of ``--format json``; empty keys are left out."""
        plain: dict[str, object] = {"scope": self.scope, "change": self.change}
        for key in ("kind", "id", "domain", "path", "old", "new", "detail"):
            if value := getattr(self, key):
                plain[key] = value
        if self.files:
            plain["files"] = dict(sorted(self.files))
        return plain


VOUCHING_HINT: Final = (
    "approve with `ai-rulez approve` what is right, or sign the lock's subject anew; `reqfile lock` does neither"
)


def are_of_vouching(changes: Iterable[Change]) -> bool:
    """Whether a new lock would help nothing: only approvals (AR71x) and signatures (AR72x) are wrong."""
    return all(change.code.startswith(("AR71", "AR72")) for change in changes)


def sorted_changes(changes: Iterable[Change]) -> tuple[Change, ...]:
    """By scope, then kind, domain, id and path, in byte order."""

    def key(change: Change) -> tuple[int, list[bytes]]:
        names = (change.kind, change.domain, change.id, change.path)
        return _ORDER[change.scope], [name.encode("utf-8", "surrogateescape") for name in names]

    return tuple(sorted(changes, key=key))


@dataclass(frozen=True, slots=True, kw_only=True)
class Report:
    """What a check or diff found. ``looked_at`` counts what was compared, by scope.

    ``lock_version`` is 0 without a lock. ``notes`` never fail a check. ``errors`` are what could not be looked at.
    """

    name: str
    changes: tuple[Change, ...] = ()
    notes: tuple[str, ...] = ()
    no_content_pins: bool = False
    lock_version: int = 0
    lock_ai_rulez_version: str = ""
    looked_at: Mapping[str, int]
    errors: tuple[str, ...] = ()

    @property
    def in_sync(self) -> bool:
        return not self.changes and not self.errors

    def limited_to(self, kind: KindLimit) -> Report:
        """Only changes of content, or of one kind of entries; what is wrong with the lock itself concerns all."""
        return replace(self, changes=tuple(change for change in self.changes if _is_of(change, kind)))

    @property
    def lines(self) -> tuple[str, ...]:
        """The changes and the notes, as text below a heading."""
        return (*(f"  {change}" for change in self.changes), *(f"  note: {note}" for note in self.notes))

    def as_json(self, lock: str = "") -> str:
        """The document of ``--format json``, in Go's spelling; ``lock`` names the file where there are several."""
        document: dict[str, object] = {"schema_version": SCHEMA_VERSION, **({"lock": lock} if lock else {})}
        document["in_sync"] = self.in_sync
        if self.no_content_pins:
            document["no_content_pins"] = True
        document["lock_version"] = self.lock_version
        if self.lock_ai_rulez_version:
            document["lock_ai_rulez_version"] = self.lock_ai_rulez_version
        document["changes"] = [change.as_json() for change in self.changes]
        if self.notes:
            document["notes"] = list(self.notes)
        return indented(document)


def _is_of(change: Change, kind: KindLimit) -> bool:
    if change.scope in {"lock", "approval"}:
        return True
    if change.scope == "served":
        return kind == "served"
    return change.kind == kind if change.scope == "remote" else kind == "content"


def report_to_wire(report: Report) -> dict[str, Any]:
    """The report as builtin values, to cross processes."""
    wire = {field.name: getattr(report, field.name) for field in fields(report)}
    wire["changes"] = [{f.name: getattr(change, f.name) for f in fields(change)} for change in report.changes]
    for change in wire["changes"]:
        change["files"] = [list(pair) for pair in change["files"]]
    wire["notes"] = list(report.notes)
    wire["errors"] = list(report.errors)
    wire["looked_at"] = dict(report.looked_at)
    return wire


def report_from_wire(wire: Mapping[str, Any]) -> Report:
    """The inverse of ``report_to_wire``."""
    changes = tuple(
        Change(**{**change, "files": tuple((path, digest) for path, digest in change["files"])})
        for change in wire["changes"]
    )
    return Report(**{**wire, "changes": changes, "notes": tuple(wire["notes"]), "errors": tuple(wire["errors"])})
