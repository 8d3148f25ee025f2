"""The locks of a pytest run: each compared once, also under xdist, and never written (issue 6.6)."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any, Final

import pytest

from pytest_reqfile.errors import FormatError, GitError, WorkspaceError
from pytest_reqfile.lock.changes import Report
from pytest_reqfile.lock.check import Tools, check_project
from pytest_reqfile.lock.file import LOCK_NAME, LockFile
from pytest_reqfile.lock.opening import leaf_cache, lock_file, open_tools
from pytest_reqfile.lock.remotes import remote_sources
from pytest_reqfile.lock.requirements import REQFILE_LOCK, check_requirements, requirements_lock
from pytest_reqfile.lock.severities import lenient_codes
from pytest_reqfile.lock.state import PART_CODES, LockState, parts_of, state_from_wire, state_to_wire, take_state
from pytest_reqfile.lock.values import Lock
from pytest_reqfile.lock.vouching import must_be_vouched, vouched
from pytest_reqfile.outcome import Outcome
from pytest_reqfile.plugin import marks, options
from pytest_reqfile.plugin.names import is_lock_file, is_project_file, project_root
from pytest_reqfile.plugin.plans import ItemPlan, load_plan
from pytest_reqfile.plugin.workers import run_folder_of
from pytest_reqfile.project.load import load_config, load_project
from pytest_reqfile.project.manifest import NAME as MANIFEST
from pytest_reqfile.project.places import find_project, project_at
from pytest_reqfile.project.resources import GitView
from pytest_reqfile.project.values import Place
from pytest_reqfile.reqfile.lockable import lockables
from pytest_reqfile.reqfile.repository import Repository, open_repository
from pytest_reqfile.workspace.clock import SystemClock, utc_now
from pytest_reqfile.workspace.environment import Environment, cache_folder
from pytest_reqfile.workspace.git import is_inside_repository, nearest_repository, refuse_unanswered
from pytest_reqfile.workspace.leaf_cache import LeafCache
from pytest_reqfile.workspace.paths import canonical
from pytest_reqfile.workspace.run_folder import shared_once

HANDED_OVER: Final = "reqfile_locks"
"""The key of ``workerinput`` that holds the states the controller took, by the absolute path of the lock."""
_CONFIG: Final = "config.toml"
_KEY: Final = pytest.StashKey["Locks"]()


def locks_of(config: pytest.Config) -> Locks:
    """The locks of the run that ``config`` belongs to."""
    if _KEY not in config.stash:
        config.stash[_KEY] = Locks(config)
    return config.stash[_KEY]


class Locks:
    """Finds locks, plans their items from their text alone, and compares each at first need."""

    def __init__(self, config: pytest.Config) -> None:
        self._config = config
        self._environment = Environment.current()
        self._states: dict[Path, LockState] = {}
        self._repositories: dict[Path, Repository | None] = {}
        self._given: dict[str, Any] = getattr(config, "workerinput", {}).get(HANDED_OVER, {})

    def plans(self, path: Path) -> Iterator[ItemPlan]:
        """The items of a lock: one for each part that applies; ``load`` where the lock cannot be read."""
        found = self._file(path)
        if found is None:
            return
        file, place = found
        base = str(file.walk.root)
        try:
            lock = file.read()
        except FormatError as error:
            yield load_plan(file.path, error.problems, base)
            return
        demands = _demands(place, lock)
        if lock is None and not demands.blocks("lock"):
            return
        generates = place is not None and file.walk.kind(f"{place.folder}/{MANIFEST}") is not None
        parts = parts_of(lock, has_remotes=demands.has_remotes, generates=generates) if lock is not None else ("lock",)
        for part in parts:
            blocks = demands.blocks(part)
            mode = marks.BLOCKING if blocks else marks.ADVISORY
            evaluate = partial(self._evaluate, path, part, blocking=blocks)
            yield ItemPlan(name=part, line=1, markers=(pytest.mark.lock, mode), evaluate=evaluate, base=base)

    def _evaluate(self, path: Path, part: str, *, blocking: bool) -> Outcome:
        return self.state(path).outcome(part, blocking=blocking)

    def required(self, config_file: Path) -> Path | None:
        """The lock that a project's configuration demands and that is not there."""
        place = self._place(config_file)
        if place is None:
            return None
        file = lock_file(place)
        try:
            missing = file.read() is None
        except FormatError:
            return None  # it is there, and tells itself what is wrong
        return file.walk.root / file.path if missing and _demands(place, None).blocks("lock") else None

    def state(self, path: Path) -> LockState:
        """The state of the lock at ``path``: what the controller found, or what the first worker here finds."""
        path = _canonical(path)
        if path not in self._states:
            self._states[path] = self._shared(path)
        return self._states[path]

    def _shared(self, path: Path) -> LockState:
        given = self._given.get(str(path))
        if given is not None:
            return state_from_wire(given)
        folder = run_folder_of(self._config)
        if folder is None:
            return self._take(path)
        name = f"lock-{hashlib.sha256(str(path).encode('utf-8', 'surrogateescape')).hexdigest()}"
        wire = shared_once(folder, name, lambda: json.dumps(state_to_wire(self._take(path))).encode())
        return state_from_wire(json.loads(wire))

    def main(self) -> LockState:
        """The lock of the project that the root folder belongs to; without a project, of the repository's Reqfiles.

        Raises FormatError for a layout that is not read.
        """
        root = self._config.rootpath
        place = find_project(root, top=nearest_repository(root))
        if place is not None:
            return self.state(place.root / place.folder / LOCK_NAME)
        return self.state(canonical(nearest_repository(root)) / REQFILE_LOCK)

    def for_workers(self) -> dict[str, Any]:
        """The states that workers are given: those of the project of the root folder, taken before anything runs."""
        if self._config.option.collectonly or options.is_on(self._config, "off"):
            return {}
        root = self._config.rootpath
        try:
            place = find_project(root, top=nearest_repository(root))
            if place is None or lock_file(place).read() is None:
                return {}
        except FormatError:
            return {}  # told by the file that is wrong
        path = place.root / place.folder / LOCK_NAME
        return {str(path): state_to_wire(self.state(path))}

    def files(self, root: Path, listed: tuple[str, ...]) -> Iterator[Path]:
        """The locks of a repository: those among its files, and those that a configuration demands."""
        for path in listed:
            if path == REQFILE_LOCK or (path.endswith(LOCK_NAME) and is_lock_file(Path(path))):
                yield root / path
            elif path.endswith(f"/{_CONFIG}") and is_project_file(Path(path)):
                required = self.required(root / path)
                if required is not None:
                    yield required

    def _take(self, path: Path) -> LockState:
        found = self._file(path)
        if found is None:
            return LockState(path=path.name, exists=False)
        file, place = found
        if place is None:
            return take_state(file, partial(self._compare_requirements, file.walk.root))
        cache = self._cache(place.root)
        state = take_state(file, partial(self._compare_project, place, cache))
        if cache is not None:
            cache.save()
        return state

    def _file(self, path: Path) -> tuple[LockFile, Place | None] | None:
        """The lock at ``path`` and its project; None where it is none that anything reads."""
        if path.name == LOCK_NAME:
            place = self._place(path)
            return (lock_file(place), place) if place is not None else None
        root = canonical(path.parent.parent)
        is_top = is_inside_repository(root) and nearest_repository(root) == root
        return (requirements_lock(root), None) if is_top else None

    def _place(self, path: Path) -> Place | None:
        root = project_root(path)
        try:
            return project_at(root, top=nearest_repository(canonical(root)))
        except FormatError:
            return None  # told by the file that is wrong

    def _compare_project(self, place: Place, cache: LeafCache | None, lock: Lock | None) -> Report:
        project = load_project(place)
        report = check_project(project, lock, self._tools(place.root, cache))
        return vouched(report, project, lock, utc_now(SystemClock()))

    def _compare_requirements(self, root: Path, lock: Lock | None) -> Report:
        repository = self._repository(root)
        assert repository is not None  # where there is a .git, git answers or raises
        catalog = repository.catalog
        return check_requirements(lockables(catalog), catalog.problems, root, self._tools(root, None).hasher, lock)

    def _tools(self, root: Path, cache: LeafCache | None) -> Tools:
        repository = self._repository(nearest_repository(root))
        view = None
        if repository is not None:
            view = GitView(git=repository.git, listed=frozenset(repository.snapshot.listed))
        return open_tools(self._environment, view, cache)

    def _repository(self, top: Path) -> Repository | None:
        """The repository at ``top`` as a lock sees it: what is not in the cache is not fetched.

        None outside of git. Raises ``GitError`` where git does not answer: what it ignores would be pinned.
        """
        if top not in self._repositories:
            try:
                self._repositories[top] = open_repository(top, self._environment, cached_only=True)
            except GitError as error:
                refuse_unanswered(top, error)
                self._repositories[top] = None
        return self._repositories[top]

    def _cache(self, root: Path) -> LeafCache | None:
        if options.is_on(self._config, "lock_no_cache"):
            return None
        try:
            return leaf_cache(root, cache_folder(self._environment))
        except WorkspaceError:
            return None


def _canonical(path: Path) -> Path:
    """The lock's path with its project's folder resolved; a symlink below that folder is not followed to a lock."""
    root = project_root(path) if path.name == LOCK_NAME else path.parent.parent
    return canonical(root) / path.relative_to(root)


@dataclass(frozen=True, slots=True, kw_only=True)
class _Demands:
    """What a configuration says of its lock: ``enforced`` makes differences fail the run, but for those of ``lenient``
    codes, ``vouched`` (approvals or signatures are asked for) those of the lock itself."""

    enforced: bool
    lenient: frozenset[str] = frozenset()
    vouched: bool = False
    has_remotes: bool = False

    def blocks(self, part: str) -> bool:
        fails = self.enforced and PART_CODES[part] not in self.lenient
        return fails or (self.vouched and part == "lock")


def _demands(place: Place | None, lock: Lock | None) -> _Demands:
    """A configuration that cannot be read leaves everything on: the comparison says what is wrong."""
    if place is None:
        return _Demands(enforced=lock is not None)
    try:
        config = load_config(place).config
        asked_for, lenient = must_be_vouched(config), lenient_codes(config)
    except FormatError:
        return _Demands(enforced=lock is not None)
    enforce = config.lock.enforce
    return _Demands(
        enforced=lock is not None if enforce is None else enforce,
        lenient=lenient,
        vouched=asked_for,
        has_remotes=bool(remote_sources(config)),
    )
