"""The report of ``lock --outdated`` (seed 001 "lock --outdated"; spec/lock.md 6.9)."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final, Literal, get_args

from pytest_reqfile.lock.remotes import redacted, requested_ref
from pytest_reqfile.lock.standing import Standing, Status
from pytest_reqfile.project.tables import loose_fields
from pytest_reqfile.project.values import Config
from pytest_reqfile.syntax.fields import Problems
from pytest_reqfile.syntax.gojson import indented

Severity = Literal["info", "warning", "error"]

OUTDATED: Final = "AR734"
_FAILING: Final[frozenset[Status]] = frozenset({"tag-moved", "tag-missing", "unsatisfiable", "invalid"})
_PHRASES: Final[dict[Status, str]] = {
    "up-to-date": "up to date within the constraint",
    "updatable": "update available",
    "not-locked": "not locked; run `reqfile lock`",
}
_COLUMNS: Final = ("SOURCE", "KIND", "CONSTRAINT", "LOCKED", "ALLOWED", "LATEST", "NOTE")
_ABSENT: Final = "-"


def outdated_severity(config: Config) -> Severity | None:
    """``[lint.severity] AR734``: how a source with an allowed update is reported; None (the default) where it is not.

    A severity that nobody knows reports nothing, as in the original (case V13).
    """
    declared = config.tables.get("lint")
    if declared is None:
        return None
    problems = Problems(declared.path)
    severities = loose_fields(declared.node, "[lint]", problems).optional_mapping("severity")
    node = severities.get(OUTDATED) if severities is not None else None
    found = next((severity for severity in get_args(Severity) if node is not None and node.value == severity), None)
    problems.raise_if_any()
    return found


@dataclass(frozen=True, slots=True, kw_only=True)
class OutdatedReport:
    """The sources that were looked at, and whether one with an allowed update is a finding."""

    standings: tuple[Standing, ...]
    severity: Severity | None = None

    @property
    def updatable(self) -> int:
        return self._count("updatable")

    @property
    def errors(self) -> int:
        """Moved and deleted tags, constraints that cannot be met or read, and findings of severity ``error``."""
        failing = sum(standing.status in _FAILING for standing in self.standings)
        return failing + (self.updatable if self.severity == "error" else 0)

    def as_json(self) -> str:
        """The document of the original's ``schema/lock-outdated.schema.json``."""
        sources = [dict(self._members(standing)) for standing in self.standings]
        return indented({"schema_version": 1, "sources": sources, "summary": self._summary()})

    def lines(self) -> tuple[str, ...]:
        """A table and the summary."""
        if not self.standings:
            return ("no source uses a version constraint",)
        counts = self._summary()
        summary = (
            f"{counts['total']} source(s): {counts['updatable']} updatable, {counts['major_available']} with a newer "
            f"major, {counts['tag_moved']} moved tag(s), {counts['errors']} error(s)"
        )
        if counts["held_back"]:
            summary += f", {counts['held_back']} held back"
        return (*_table([_COLUMNS, *(self._row(standing) for standing in self.standings)]), summary)

    def _summary(self) -> dict[str, int]:
        return {
            "total": len(self.standings),
            "updatable": self.updatable,
            "major_available": sum(standing.newer_major is not None for standing in self.standings),
            "tag_moved": self._count("tag-moved"),
            "errors": self.errors,
            "held_back": sum(len(standing.held) for standing in self.standings),
        }

    def _count(self, status: Status) -> int:
        return sum(standing.status == status for standing in self.standings)

    def _is_finding(self, standing: Standing) -> bool:
        return self.severity is not None and standing.status == "updatable"

    def _code(self, standing: Standing) -> str:
        return OUTDATED if self._is_finding(standing) else standing.code

    def _members(self, standing: Standing) -> Iterator[tuple[str, object]]:
        selection = standing.selection
        members: tuple[tuple[str, object], ...] = (
            ("kind", standing.table),
            ("name", standing.source.name),
            ("source", redacted(standing.source.source)),
            ("constraint", requested_ref(standing.source)),
            ("locked", standing.locked),
            ("allowed", selection.tag.name if selection is not None else ""),
            ("latest", selection.latest.tag.name if selection is not None else ""),
            ("status", standing.status),
            ("code", self._code(standing)),
            ("severity", self.severity if self._is_finding(standing) else None),
            ("held_back", [held.as_json() for held in standing.held]),
            ("note", standing.note),
            ("downgrade", standing.is_downgrade),
            ("major_available", standing.newer_major is not None),
        )
        return (member for member in members if member[1])

    def _row(self, standing: Standing) -> tuple[str, ...]:
        selection = standing.selection
        return (
            standing.source.name,
            standing.table,
            requested_ref(standing.source),
            standing.locked or _ABSENT,
            selection.tag.name if selection is not None else _ABSENT,
            selection.latest.tag.name if selection is not None else _ABSENT,
            self._text(standing),
        )

    def _text(self, standing: Standing) -> str:
        major = "newer major available" if standing.newer_major is not None else ""
        parts = (_PHRASES.get(standing.status, ""), self._code(standing), standing.note, major)
        return "; ".join(part for part in (*parts, *map(str, standing.held)) if part)


def _table(rows: list[tuple[str, ...]]) -> Iterator[str]:
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    for row in rows:
        yield "  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)).rstrip()
