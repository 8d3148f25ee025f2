"""What an update did or would do, as text and JSON (seed 001 "update"; spec/lock.md 6.10)."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Final

from pytest_reqfile.lock.majors import Major
from pytest_reqfile.lock.security_scan import ScanFinding, ScanResult, report_lines
from pytest_reqfile.lock.standing import Standing
from pytest_reqfile.lock.update import Left, Move
from pytest_reqfile.syntax.gojson import indented

_COMMIT_SHOWN: Final = 12
_NEXT: Final = (
    "run `ai-rulez generate`, then `reqfile lock` (it refreshes the output pins and the served-skill pins, which stay "
    "stale until then)"
)
Member = tuple[str, object]


@dataclass(frozen=True, slots=True, kw_only=True)
class UpdateReport:
    """``written`` says that config.toml has the constraints of ``majors`` now; ``accepted`` that findings are."""

    dry_run: bool
    moves: tuple[Move, ...] = ()
    blocked: tuple[Left, ...] = ()
    notes: tuple[str, ...] = ()
    unchanged: tuple[Left, ...] = ()
    majors: tuple[Major, ...] = ()
    accepted: bool = False
    written: bool = False

    def as_json(self) -> str:
        """The document of the original's ``schema/update.schema.json``."""
        members: tuple[Member, ...] = (
            ("blocked", [_left(one) for one in self.blocked] or None),
            ("notes", list(self.notes) or None),
            ("unchanged", [_left(one) for one in self.unchanged] or None),
            ("major", [self._major(one) for one in self.majors] or None),
        )
        always = {
            "schema_version": 1,
            "dry_run": self.dry_run,
            "updates": [self._update(move) for move in self.moves],
        }
        return indented(always | _present(members))

    def lines(self, *, refused: bool) -> tuple[str, ...]:
        """The report for people; ``refused`` says that nothing was written, though something was to be."""
        found = [line for move in self.moves for line in self._move_lines(move)]
        if self.moves and not refused:
            found.append(f"  {_NEXT}")
        found += (line for one in self.unchanged for line in _left_lines(one))
        found += map(self._major_line, self.majors)
        if not refused and (self.moves or not self.majors):
            verb = "would update" if self.dry_run else "updated"
            found.append(f"{verb} {len(self.moves)} source(s)")
        return tuple(found)

    def scan_lines(self) -> tuple[str, ...]:
        """The findings of the security scan, in the words of ``reqfile lock``."""
        return tuple(
            line
            for move in self.moves
            if move.scan is not None
            for line in report_lines(move.standing.label, move.scan, accepted=self.accepted)
        )

    def _update(self, move: Move) -> dict[str, object]:
        pin, new = move.standing.pin, move.new
        members: tuple[Member, ...] = (
            ("from", move.standing.locked),
            ("to", new.tag),
            ("digest_old", pin.digest if pin is not None else ""),
            ("digest_new", new.digest),
            ("files", _files(move)),
            ("held_back", _held(move.standing)),
            ("released", new.released),
            ("released_from", new.released_from),
            ("scan", self._scan(move.scan) if move.scan is not None else None),
        )
        return _named(move.standing) | _present(members)

    def _scan(self, scan: ScanResult) -> dict[str, object]:
        members: tuple[Member, ...] = (
            ("findings", [_finding(found) for found in scan.findings] or None),
            ("refused", scan.refuses and not self.accepted),
            ("accepted", scan.refuses and self.accepted),
            ("note", "; ".join(scan.notes)),
        )
        return {"errors": scan.errors, "warnings": scan.warnings} | _present(members)

    def _major(self, major: Major) -> dict[str, object]:
        members = (("from", major.current), ("to", major.constraint), ("latest", major.latest))
        return _named(major.standing) | _present((*members, ("written", self.written)))

    def _move_lines(self, move: Move) -> Iterator[str]:
        pin, new = move.standing.pin, move.new
        yield f"{move.standing.label}: {move.standing.locked or '-'} -> {new.tag} ({new.commit[:_COMMIT_SHOWN]})"
        for path, state in move.files or ():
            yield f"  {state}  {path}"
        yield f"  tree {pin.digest if pin is not None else '-'} -> {new.digest}"
        for held in move.standing.held:
            yield f"  {held}"

    def _major_line(self, major: Major) -> str:
        version = f'version = "{major.constraint}"'
        if self.written:
            return f'{major.standing.label}: newer major {major.latest}: {version} written (was "{major.current}")'
        how = "`reqfile lock update --major --write-config` applies it"
        return f'{major.standing.label}: newer major {major.latest}: {version} (now "{major.current}"); {how}'


def _left_lines(one: Left) -> Iterator[str]:
    yield f"{one.standing.label}: {one.standing.locked or '-'}: {one.reason}"
    for held in one.standing.held:
        yield f"  {held}"


def _named(standing: Standing) -> dict[str, object]:
    return {"kind": standing.table, "name": standing.source.name}


def _present(members: Sequence[Member]) -> dict[str, object]:
    """An object of the members that say something; an empty list does."""
    return {key: value for key, value in members if value not in (None, "", False)}


def _files(move: Move) -> list[dict[str, object]] | None:
    """Nothing where the old content is unknown."""
    return [{"path": path, "change": state} for path, state in move.files] if move.files is not None else None


def _held(standing: Standing) -> list[dict[str, object]] | None:
    return [held.as_json() for held in standing.held] or None


def _left(one: Left) -> dict[str, object]:
    selection = one.standing.selection
    members: tuple[Member, ...] = (
        ("from", one.standing.locked),
        ("to", selection.tag.name if selection is not None else ""),
        ("reason", one.reason),
        ("held_back", _held(one.standing)),
    )
    return _named(one.standing) | _present(members)


def _finding(found: ScanFinding) -> dict[str, object]:
    return {
        "code": found.code,
        "severity": found.severity,
        "file": found.file,
        "line": found.line,
        "message": found.message,
    }
