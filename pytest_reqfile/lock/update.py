"""Which range pins move, and what they move to (seed 001 "update"; spec/lock.md 6.10). Nothing is written here."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Final, Literal

from pytest_reqfile.lock.directories import Hasher
from pytest_reqfile.lock.fetching import Fetcher
from pytest_reqfile.lock.records import refuse_denied
from pytest_reqfile.lock.remote_pins import altered
from pytest_reqfile.lock.resolving import Resolver, entry_of
from pytest_reqfile.lock.scan_settings import ScanSettings
from pytest_reqfile.lock.security_scan import ScanResult, scan_changed
from pytest_reqfile.lock.selection import Selection, downgrade_refusal
from pytest_reqfile.lock.standing import Standing, Status
from pytest_reqfile.lock.toptree import tree_of
from pytest_reqfile.lock.values import Entry, EntryTable, Lock, ordered

FileState = Literal["A", "M", "D"]
FileChange = tuple[str, FileState]
"""A path in the content folder, and what became of it."""

_NEEDS_DOWNGRADE: Final[frozenset[Status]] = frozenset({"locked-non-version", "downgrade-only"})


@dataclass(frozen=True, slots=True, kw_only=True)
class Consent:
    """What whoever runs the update has agreed to."""

    downgrade: bool = False
    moved_tag: bool = False
    findings: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Left:
    """A source whose pin does not move, and why."""

    standing: Standing
    reason: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Plan:
    """What is to be done. With anything ``blocked`` nothing is written for any source."""

    moves: tuple[Standing, ...]
    blocked: tuple[Left, ...]
    unchanged: tuple[Left, ...]
    notes: tuple[str, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Move:
    """A pin that moves to ``new``. ``files`` is None where the old content is not on this machine."""

    standing: Standing
    new: Entry
    files: tuple[FileChange, ...] | None
    scan: ScanResult | None = None

    @property
    def selection(self) -> Selection:
        assert self.standing.selection is not None, "a pin moves to a tag that was selected"
        return self.standing.selection


@dataclass(frozen=True, slots=True, kw_only=True)
class Moved:
    """The lock with every move in it; ``refused`` counts those that the scan does not let pass."""

    lock: Lock
    moves: tuple[Move, ...]
    notes: tuple[str, ...]
    refused: int


def plan_update(standings: Iterable[Standing], consent: Consent) -> Plan:
    """Sort the sources into what moves, what must not be touched, and what stays."""
    moves: list[Standing] = []
    blocked: list[Left] = []
    unchanged: list[Left] = []
    notes: list[str] = []
    for standing in standings:
        refusal = _blocking(standing, consent)
        reason = _staying(standing, consent)
        if standing.status == "tag-missing":
            notes.append(f"{standing.label}: AR735 {standing.note}")
        if refusal is not None:
            blocked.append(Left(standing=standing, reason=refusal))
        elif reason is not None:
            unchanged.append(Left(standing=standing, reason=reason))
        else:
            moves.append(standing)
            notes += _notes_of(standing)
    return Plan(moves=tuple(moves), blocked=tuple(blocked), unchanged=tuple(unchanged), notes=tuple(notes))


def _blocking(standing: Standing, consent: Consent) -> str | None:
    """Why nothing at all may be written; None where this source is no obstacle."""
    if standing.error is not None:
        return str(standing.error)
    if standing.status != "tag-moved" or standing.pin is None or standing.selection is None:
        return None
    if not consent.moved_tag:
        return (
            f"AR732 tag {standing.locked} was pinned at {standing.pin.commit} but now points to {standing.current}; "
            "review the new commit, then pass --accept-moved-tag"
        )
    if consent.downgrade:
        return None
    refusal = downgrade_refusal(standing.source, standing.locked, standing.selection)
    return f"{refusal}; pass --allow-downgrade" if refusal is not None else None


def _staying(standing: Standing, consent: Consent) -> str | None:
    """Why the pin stays where it is; None where it moves."""
    if standing.status == "up-to-date":
        return "up to date within the constraint"
    if consent.downgrade or standing.status == "tag-moved" or standing.selection is None:
        return None
    if standing.is_downgrade:
        refusal = downgrade_refusal(standing.source, standing.locked, standing.selection)
        return f"{refusal}; pass --allow-downgrade"
    if standing.status in _NEEDS_DOWNGRADE:
        return f"the pinned tag {standing.locked} is no version; pass --allow-downgrade to move it"
    return None


def _notes_of(standing: Standing) -> list[str]:
    found = [f"{standing.label}: {note}" for note in (standing.selection.notes if standing.selection else ())]
    if standing.status == "tag-moved":
        found.append(f"{standing.label}: accepted the moved tag {standing.locked}")
    return found


def move_pins(
    plan: Plan, lock: Lock | None, fetcher: Fetcher, hasher: Hasher, settings: ScanSettings, *, accepted: bool
) -> Moved:
    """Fetch what the pins move to, compare it with what they were, and scan it.

    Content pins and outputs are kept, as are the approvals. Raises ``ReqfileError`` where something cannot be fetched
    or is denied (AR717).
    """
    resolver = Resolver(fetcher, hasher)
    moves = [_move(standing, resolver, fetcher, hasher) for standing in plan.moves]
    new = _with_entries(lock or Lock(), moves)
    refuse_denied(new)
    scanned = scan_changed(lock, new, [move.standing.source for move in moves], fetcher.cached, settings)
    results = {(one.table, one.name): one.result for one in scanned}
    refused = 0 if accepted else sum(one.result.refuses for one in scanned)
    done = tuple(replace(move, scan=results.get((move.standing.table, move.new.name))) for move in moves)
    return Moved(lock=ordered(new), moves=done, notes=tuple(resolver.notes), refused=refused)


def _move(standing: Standing, resolver: Resolver, fetcher: Fetcher, hasher: Hasher) -> Move:
    selection = standing.selection
    assert selection is not None, "a pin moves to a tag that was selected"
    source, pin = standing.source, standing.pin
    tree, digest = resolver.content(source, selection.tag.commit, pin)
    old = fetcher.cached(source, pin) if pin is not None else None
    files = None
    if pin is not None and old is not None and altered(source, pin, old, hasher) is None:
        files = _changes(hasher.files(old.folder), hasher.files(tree.folder))
    return Move(standing=standing, new=entry_of(source, tree, digest, selection), files=files)


def _changes(old: dict[bytes, bytes], new: dict[bytes, bytes]) -> tuple[FileChange, ...]:
    states: dict[bytes, FileState] = {path: "D" for path in old if path not in new}
    states |= {path: "M" if path in old else "A" for path in new if old.get(path) != new[path]}
    return tuple((path.decode("utf-8", "surrogateescape"), states[path]) for path in sorted(states))


def _with_entries(lock: Lock, moves: Sequence[Move]) -> Lock:
    """The lock with the entries of the moves; matched by table and name, everything else as it is."""

    def entries(table: EntryTable) -> tuple[Entry, ...]:
        new = {move.new.name: move.new for move in moves if move.standing.table == table}
        return (*(one for one in lock.entries(table) if one.name not in new), *new.values())

    changed = replace(lock, includes=entries("include"), skills=entries("skill"), sources=entries("source"))
    return replace(changed, tree=tree_of(changed)) if changed.has_content_pins else changed
