"""``--changed``: which files each requirement's checks look at (seed 004 SELECTION; spec reqfile.md 5.2, 5.3)."""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Final, Protocol, Self

from pytest_reqfile.reqfile.bases import find_merge_bases
from pytest_reqfile.reqfile.discovery import is_declaration
from pytest_reqfile.reqfile.plan import Candidates, Selection
from pytest_reqfile.reqfile.repository import Repository
from pytest_reqfile.reqfile.scopes import Scopes
from pytest_reqfile.reqfile.values import Edition, Requirement
from pytest_reqfile.workspace.git import TrackedChange
from pytest_reqfile.workspace.paths import byte_order

WIRE_VERSION: Final = 2


@dataclass(frozen=True, slots=True, kw_only=True)
class ChangeSet:
    """The candidates of every requirement that a changed-only run looks at; equal lists are held once.

    ``places`` maps a requirement's key to its entry of ``lists``; ``touched`` are the keys of the requirements that
    changed, or of which a labeled example did.
    """

    lists: tuple[Candidates, ...]
    places: Mapping[str, int]
    touched: frozenset[str] = frozenset()

    def candidates(self, requirement: Requirement) -> Candidates:
        """What the requirement's file-based checks look at. A requirement nobody asked about is a bug: KeyError."""
        return self.lists[self.places[_key(requirement)]]

    def touches_examples(self, requirement: Requirement) -> bool:
        """Whether its labeled examples may say something new: the requirement, its files, settings or examples changed.

        Decided for all of them at once, since the checks that they try are the same. A requirement nobody asked about
        is a bug: KeyError.
        """
        key = _key(requirement)
        return key in self.touched if key in self.places else bool(self.places[key])

    def narrow(self, selection: Selection) -> Selection:
        """The selection, of which only what changed is looked at."""
        return replace(selection, candidates=self.candidates, examples=self.touches_examples)

    def to_wire(self) -> dict[str, Any]:
        """Builtin types only, for the workers of pytest-xdist; paths as bytes, since they need not be UTF-8."""
        lists = [(_joined(candidates.existing), _joined(candidates.deleted)) for candidates in self.lists]
        return {"v": WIRE_VERSION, "lists": lists, "places": dict(self.places), "touched": sorted(self.touched)}

    @classmethod
    def from_wire(cls, wire: Mapping[str, Any]) -> Self:
        """The inverse of ``to_wire``. Raises ValueError for a wire form of another version."""
        if wire.get("v") != WIRE_VERSION:
            raise ValueError(f"expected a change set of wire version {WIRE_VERSION}, found {wire.get('v')!r}")
        lists = tuple(Candidates(existing=_split(a), deleted=_split(b)) for a, b in wire["lists"])
        return cls(lists=lists, places=dict(wire["places"]), touched=frozenset(wire["touched"]))


class Redefinition(Protocol):
    """Which unchanged files a change of requirements and settings makes candidates."""

    def widened(self, requirement: Requirement, scope: Scopes) -> tuple[str, ...]:
        """Targets in the requirement's scope, in byte order."""

    def touches_examples(self, requirement: Requirement) -> bool:
        """Whether the requirement changed, or one of its labeled examples."""


def change_set(repository: Repository, selection: Selection, base: str | None, edition: Edition) -> ChangeSet:
    """What to look at for the requirements of ``selection``, compared with where HEAD left its base.

    ``base`` is a revision; None takes each folder's own: the nearest config's, then ``origin/HEAD``. A requirement
    of which no check runs needs none. git is asked once for each distinct base. Raises UsageError or FormatError with
    a message for every base that cannot be used: a run must never look at nothing because of one.
    """
    asked = _asked(repository, selection)
    commits = find_merge_bases(repository, asked, base)
    untracked = repository.listing.untracked if commits else ()
    groups: dict[str, list[Requirement]] = {}
    for requirement in asked:
        groups.setdefault(commits[requirement.folder], []).append(requirement)
    scopes = Scopes(repository.catalog)
    made = _Collected()
    for commit, requirements in groups.items():
        tracked = _tracked(repository, commit)
        made.add_all(requirements, _Change(repository, commit, tracked, untracked, edition, scopes))
    return made.change_set()


def staged_set(repository: Repository, selection: Selection, edition: Edition) -> ChangeSet:
    """What to look at when only what is staged for the next commit is checked; untracked files are not."""
    made = _Collected()
    head, tracked = repository.git.head(), repository.git.staged_changes()
    change = _Change(repository, head, tracked, (), edition, Scopes(repository.catalog))
    made.add_all(_asked(repository, selection), change)
    return made.change_set()


def _tracked(repository: Repository, commit: str) -> tuple[TrackedChange, ...]:
    """What differs from a commit, files included of which git does not tell."""
    tracked = repository.diffs.changes(commit)
    if not repository.listing.unwatched:
        return tracked
    from pytest_reqfile.reqfile.unwatched import with_unwatched

    return with_unwatched(repository, commit, tracked)


def _asked(repository: Repository, selection: Selection) -> tuple[Requirement, ...]:
    return tuple(
        requirement
        for requirement in repository.catalog.requirements
        if selection.takes(requirement) and any(selection.runs(check) for check in requirement.checks)
    )


class _Collected:
    """Candidates by requirement, equal ones kept once."""

    def __init__(self) -> None:
        self._lists: dict[Candidates, int] = {}
        self._places: dict[str, int] = {}
        self._touched: set[str] = set()

    def add_all(self, requirements: Sequence[Requirement], change: _Change) -> None:
        for requirement in requirements:
            candidates = change.candidates(requirement)
            self._places[_key(requirement)] = self._lists.setdefault(candidates, len(self._lists))
            if change.touches_examples(requirement):
                self._touched.add(_key(requirement))

    def change_set(self) -> ChangeSet:
        return ChangeSet(lists=tuple(self._lists), places=self._places, touched=frozenset(self._touched))


class _Change:
    """What differs between one commit and the working tree, and what that means for a requirement."""

    def __init__(
        self,
        repository: Repository,
        commit: str | None,
        tracked: Sequence[TrackedChange],
        untracked: Sequence[str],
        edition: Edition,
        scopes: Scopes,
    ) -> None:
        self._scopes = scopes
        discovery = repository.catalog.discovery
        present = {change.path for change in tracked if not change.gone}.union(untracked)
        self._existing = _in_byte_order(path for path in present if discovery.is_target(path))
        existing = frozenset(self._existing)
        lost = (change.path for change in tracked if change.was_file and change.path not in existing)
        self._deleted = tuple(path for path in lost if discovery.could_be_target(path))
        paths = frozenset(change.path for change in tracked).union(untracked)
        self._redefinition = _redefinition(repository, commit, paths, edition)

    def candidates(self, requirement: Requirement) -> Candidates:
        in_scope = self._scopes.in_scope
        existing = in_scope(requirement, self._existing)
        widened = self._redefinition.widened(requirement, self._scopes) if self._redefinition is not None else ()
        if widened:
            existing = _in_byte_order({*existing, *widened}) if set(existing) - set(widened) else widened
        return Candidates(existing=existing, deleted=in_scope(requirement, self._deleted))

    def touches_examples(self, requirement: Requirement) -> bool:
        return self._redefinition is not None and self._redefinition.touches_examples(requirement)


def _redefinition(
    repository: Repository, commit: str | None, changed: frozenset[str], edition: Edition
) -> Redefinition | None:
    """What the edition makes of changed Reqfiles and settings; None where only other files changed."""
    if not any(is_declaration(path) for path in changed):
        return None
    from pytest_reqfile.reqfile.redefinition import BlockComparison, WholeRequirement

    if edition == "0.1":
        return WholeRequirement(repository, commit, changed)
    return BlockComparison(repository, commit, changed)


def _key(requirement: Requirement) -> str:
    return f"{requirement.location.path}#{requirement.id}"


def _in_byte_order(paths: Iterable[str]) -> tuple[str, ...]:
    return tuple(sorted(paths, key=byte_order))


def _joined(paths: tuple[str, ...]) -> bytes:
    return b"\0".join(map(os.fsencode, paths))


def _split(data: bytes) -> tuple[str, ...]:
    return tuple(map(os.fsdecode, data.split(b"\0"))) if data else ()
