"""The scan of a remote tree before it is pinned (seed 001 "Scan before pinning"; spec/lock.md 6.8).

Its rules are ours: what ai-rulez finds may differ at the edges.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final

from pytest_reqfile.errors import FileError
from pytest_reqfile.lock.directories import BOOKKEEPING
from pytest_reqfile.lock.remotes import FindCached, table_of
from pytest_reqfile.lock.scan_rules import LISTED, FileScan, Match, RuleSet
from pytest_reqfile.lock.scan_settings import ScanCode, ScanSettings, ScanSeverity, scan_settings
from pytest_reqfile.lock.values import Entry, EntryTable, Lock
from pytest_reqfile.project.values import Source
from pytest_reqfile.syntax.printable import braced
from pytest_reqfile.workspace.hashing import list_tree
from pytest_reqfile.workspace.walk import Walk

__all__ = [
    "ScanFinding",
    "ScanResult",
    "ScanSettings",
    "Scanned",
    "report_lines",
    "scan_changed",
    "scan_settings",
    "scan_tree",
]

MAX_FILES: Final = 2000
MAX_BYTES: Final = 512 * 1024
SHOWN: Final = 20
TOO_MANY: Final = f"more than {MAX_FILES} files: the rest are not listed or scanned"
NOT_CACHED: Final = "its content is not on this machine, so it was not scanned"
_NAMED: Final = 3
_SKIPPED: Final = frozenset({".git"})
_RANK: Final[dict[ScanSeverity, int]] = {"error": 0, "warning": 1, "info": 2}


@dataclass(frozen=True, slots=True, kw_only=True)
class ScanFinding:
    """``file`` is relative to the tree, ``line`` 1-based; secrets in ``message`` are masked."""

    code: ScanCode
    severity: ScanSeverity
    file: str
    line: int
    message: str

    def __str__(self) -> str:
        """The line of a report; characters that hide or reorder text are shown as ``\\u{HEX}``."""
        return braced(f"{self.code} {self.severity} {self.file}:{self.line} {self.message}")


@dataclass(frozen=True, slots=True, kw_only=True)
class ScanResult:
    """What a scan found, errors first. ``notes`` say what was not looked at."""

    findings: tuple[ScanFinding, ...] = ()
    notes: tuple[str, ...] = ()

    @property
    def errors(self) -> int:
        return sum(finding.severity == "error" for finding in self.findings)

    @property
    def warnings(self) -> int:
        return sum(finding.severity == "warning" for finding in self.findings)

    @property
    def refuses(self) -> bool:
        """Whether the tree may be pinned only with ``--accept-findings``."""
        return self.errors > 0


@dataclass(frozen=True, slots=True, kw_only=True)
class Scanned:
    """The scan of one entry that is pinned to something new."""

    table: EntryTable
    name: str
    result: ScanResult

    @property
    def label(self) -> str:
        """``include shared``, as reports name it."""
        return f"{self.table} {self.name}"


def scan_changed(
    old: Lock | None, new: Lock, sources: Iterable[Source], find: FindCached, settings: ScanSettings
) -> tuple[Scanned, ...]:
    """Scan every tree of ``sources`` that ``new`` pins anew: no entry in ``old``, or another commit or digest."""
    rules = RuleSet(settings)
    scanned: list[Scanned] = []
    for source in sources:
        table = table_of(source)
        entry = new.entry(table, source.name)
        if entry is None or _is_same(entry, old.entry(table, source.name) if old is not None else None):
            continue
        cached = find(source, entry)
        result = ScanResult(notes=(NOT_CACHED,)) if cached is None else _scan(cached.folder, rules)
        scanned.append(Scanned(table=table, name=source.name, result=result))
    return tuple(scanned)


def _is_same(new: Entry, old: Entry | None) -> bool:
    return old is not None and (old.commit, old.digest) == (new.commit, new.digest)


def scan_tree(folder: Path, settings: ScanSettings) -> ScanResult:
    """Look at the regular files below ``folder``: at most 2000, each at most 512 KiB, in byte order of paths."""
    return _scan(folder, RuleSet(settings))


def _scan(folder: Path, rules: RuleSet) -> ScanResult:
    listed = list_tree(folder, skipped=_SKIPPED)
    files = [path for path, kind in listed if kind == "file" and path not in BOOKKEEPING]
    walk = Walk(folder)
    findings: list[ScanFinding] = []
    findings += (_finding(path, match) for path, _ in listed if (match := rules.scan_name(path)) is not None)
    left = _LeftOut()
    for path in files[:MAX_FILES]:
        try:
            if walk.size(path) > MAX_BYTES:
                left.large.append(path)
                continue
            scan = rules.scan(path, walk.read(path, MAX_BYTES))
        except FileError:
            left.unread.append(path)
            continue
        findings += (_finding(path, match) for match in scan.matches)
        left.note(path, scan)
    findings.sort(key=lambda finding: _RANK[finding.severity])
    notes = (TOO_MANY,) if len(files) > MAX_FILES else ()
    return ScanResult(findings=tuple(findings), notes=(*notes, *left.notes()))


def _finding(path: str, match: Match) -> ScanFinding:
    return ScanFinding(code=match.code, severity=match.severity, file=path, line=match.line, message=match.message)


@dataclass(slots=True, kw_only=True)
class _LeftOut:
    """Files that were not looked at, or not wholly."""

    large: list[str] = field(default_factory=list)
    unread: list[str] = field(default_factory=list)
    binary: list[str] = field(default_factory=list)
    cut: list[str] = field(default_factory=list)

    def note(self, path: str, scan: FileScan) -> None:
        if scan.binary:
            self.binary.append(path)
        if scan.cut:
            self.cut.append(path)

    def notes(self) -> Iterator[str]:
        """One line of each kind that there is."""
        kinds = (
            (self.large, "are larger than 512 KiB and were not scanned"),
            (self.unread, "cannot be read and were not scanned"),
            (self.binary, "are binary: hidden characters were not looked for"),
            (self.cut, f"have more than {LISTED} findings of one code, of which the first are listed"),
        )
        for paths, what in kinds:
            if paths:
                named = ", ".join(paths[:_NAMED]) + (", ..." if len(paths) > _NAMED else "")
                yield braced(f"{len(paths)} file(s) {what}: {named}")


def report_lines(label: str, result: ScanResult, *, accepted: bool) -> tuple[str, ...]:
    """The report of one tree, for people: none where nothing was found and everything was looked at.

    ``label`` is ``<kind> <name>``; ``accepted`` says that ``--accept-findings`` was given.
    """
    lines = [f"  note: {note}" for note in result.notes]
    if result.findings:
        lines[:0] = _findings(result)
    if not lines:
        return ()
    counts = f"{result.errors} error(s), {result.warnings} warning(s)"
    verdict = ""
    if result.refuses:
        verdict = ": accepted with --accept-findings" if accepted else ": refused"
    return (braced(f"{label}: the security scan found {counts}{verdict}"), *lines)


def _findings(result: ScanResult) -> list[str]:
    lines = [f"  {finding}" for finding in result.findings[:SHOWN]]
    if len(result.findings) > SHOWN:
        lines.append(f"  and {len(result.findings) - SHOWN} more")
    return lines
