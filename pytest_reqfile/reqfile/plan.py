"""Which checks a run looks at, and with which files (seed 004 SELECTION, FAST_PATH; spec reqfile.md 3.1, 5)."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Literal

from pytest_reqfile.errors import UsageError
from pytest_reqfile.reqfile.catalog import Catalog
from pytest_reqfile.reqfile.values import Check, CommandCheck, Requirement
from pytest_reqfile.syntax.globs import Glob, GlobSet
from pytest_reqfile.workspace.paths import below

State = Literal["run", "nothing_to_check", "deferred"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Candidates:
    """The files a requirement's file-based checks may look at, as repository paths in byte order.

    ``deleted`` ones are gone from disk: they trigger commands but are never passed or judged.
    """

    existing: tuple[str, ...]
    deleted: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Selection:
    """What a run is narrowed to. ``candidates`` is None for a full run: every target in a requirement's scope.

    ``examples`` says whether a change touches a requirement's labeled examples; None for a full run.
    """

    only: frozenset[str] | None = None
    fast: bool = False
    candidates: Callable[[Requirement], Candidates] | None = None
    examples: Callable[[Requirement], bool] | None = None

    def takes(self, requirement: Requirement) -> bool:
        """Whether the requirement is among those listed with ``--only``."""
        return self.only is None or requirement.id in self.only

    def runs(self, check: Check) -> bool:
        """Whether the check is not left for a full run (seed 004 FAST_PATH)."""
        return check.fast or not self.fast

    def runs_examples(self, requirement: Requirement) -> bool:
        """Whether the requirement's labeled examples could come to anything they did not come to before the change."""
        return self.examples is None or self.examples(requirement)


@dataclass(frozen=True, slots=True, kw_only=True)
class PlannedCheck:
    """One check of one requirement and what it will look at.

    ``files`` are the repository paths that match a command's ``files``, or a decision check's candidates; deleted ones
    only as triggers of a command that takes no files.
    """

    requirement: Requirement
    name: str
    check: Check
    state: State
    files: tuple[str, ...] = ()

    @property
    def arguments(self) -> tuple[str, ...]:
        """What the command receives: the files below its folder, so written that none reads as an option."""
        if not (isinstance(self.check, CommandCheck) and self.check.pass_files):
            return ()
        relative = (below(path, self.requirement.folder) or path for path in self.files)
        return tuple(f"./{path}" if path.startswith("-") else path for path in relative)


def parse_only(values: Iterable[str]) -> frozenset[str] | None:
    """The ids of ``--only A,B``, which may be repeated; None when it was not given.

    Raises UsageError for one that lists nothing: an empty variable in a script must not run everything.
    """
    given = tuple(values)
    ids = frozenset(part.strip() for value in given for part in value.split(",") if part.strip())
    if given and not ids:
        raise UsageError("--only lists no requirement id")
    return ids if given else None


def refuse_unknown_ids(catalog: Catalog, only: frozenset[str] | None) -> None:
    """Raise UsageError naming each listed id that no requirement has; nothing runs then (spec 5.4)."""
    known = {requirement.id for requirement in catalog.requirements}
    unknown = sorted((only or frozenset()) - known)
    if unknown:
        raise UsageError(*(f"--only: no requirement has the id {identifier}" for identifier in unknown))


def plan_checks(catalog: Catalog, selection: Selection) -> tuple[PlannedCheck, ...]:
    """Every check of every selected requirement, in Reqfile and declaration order."""
    requirements = [r for r in catalog.requirements if selection.takes(r)]
    index = _FileIndex(catalog, selection, requirements)
    return tuple(
        _plan_check(requirement, name, check, selection, index)
        for requirement in requirements
        for name, check in requirement.named_checks()
    )


def _plan_check(
    requirement: Requirement, name: str, check: Check, selection: Selection, index: _FileIndex
) -> PlannedCheck:
    if not selection.runs(check):
        return PlannedCheck(requirement=requirement, name=name, check=check, state="deferred")
    if isinstance(check, CommandCheck) and check.files is None:
        return PlannedCheck(requirement=requirement, name=name, check=check, state="run")
    with_deleted = isinstance(check, CommandCheck) and not check.pass_files
    files = index.files(requirement, check.files if isinstance(check, CommandCheck) else None, with_deleted)
    state: State = "run" if files else "nothing_to_check"
    return PlannedCheck(requirement=requirement, name=name, check=check, state=state, files=files)


class _FileIndex:
    """Matches every glob of a folder's checks against every candidate path once, not per check."""

    def __init__(self, catalog: Catalog, selection: Selection, requirements: Sequence[Requirement]) -> None:
        self._catalog = catalog
        self._selection = selection
        self._globs: defaultdict[str, dict[str, Glob]] = defaultdict(dict)
        self._matches: dict[str, dict[str, tuple[str, ...]]] = {}
        self._union = self._narrowed(requirements)
        for requirement in requirements:
            for check in requirement.checks:
                if isinstance(check, CommandCheck) and check.files is not None and selection.runs(check):
                    self._globs[requirement.folder][check.files.text] = check.files

    def files(self, requirement: Requirement, glob: Glob | None, with_deleted: bool) -> tuple[str, ...]:
        """The requirement's candidates that match ``glob`` (all of them without one), existing ones first."""
        matching = self._below(requirement.folder) if glob is None else self._matching(requirement.folder, glob)
        if self._selection.candidates is None:
            return tuple(p for p in matching if self._catalog.in_scope(requirement, p) and self._is_regular(p))
        candidates = self._selection.candidates(requirement)
        wanted = frozenset(matching)
        existing = tuple(p for p in candidates.existing if p in wanted)
        return existing + (tuple(p for p in candidates.deleted if p in wanted) if with_deleted else ())

    def _is_regular(self, path: str) -> bool:
        return self._catalog.discovery.tree.is_regular(path)

    def _narrowed(self, requirements: Sequence[Requirement]) -> tuple[str, ...]:
        """Every path a run may look at: all candidate targets, or the union of what a change selects."""
        if self._selection.candidates is None:
            return self._catalog.discovery.candidates
        paths: dict[str, None] = {}
        for requirement in requirements:
            if any(self._selection.runs(check) for check in requirement.checks):
                candidates = self._selection.candidates(requirement)
                paths.update(dict.fromkeys(candidates.existing + candidates.deleted))
        return tuple(paths)

    def _below(self, folder: str) -> tuple[str, ...]:
        return tuple(path for path in self._union if below(path, folder) is not None)

    def _matching(self, folder: str, glob: Glob) -> tuple[str, ...]:
        if folder not in self._matches:
            self._matches[folder] = self._match_folder(folder)
        return self._matches[folder][glob.text]

    def _match_folder(self, folder: str) -> dict[str, tuple[str, ...]]:
        globs = self._globs[folder]
        texts = tuple(globs)
        inside = [(path, relative) for path in self._union if (relative := below(path, folder)) is not None]
        if not inside:  # as in most folders after an edit: no automaton is built for nothing
            return dict.fromkeys(texts, ())
        found: list[list[str]] = [[] for _ in texts]
        patterns = GlobSet(tuple(globs.values()))
        for path, relative in inside:
            for index in patterns.matches(relative):
                found[index].append(path)
        return {text: tuple(paths) for text, paths in zip(texts, found, strict=True)}
