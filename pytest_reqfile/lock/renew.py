"""A new lock from an old one and what is there now (spec/lock.md 5.2)."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from typing import Final

from pytest_reqfile.errors import FormatError, Problem, ReqfileError, UsageError
from pytest_reqfile.lock.check import Tools
from pytest_reqfile.lock.file import LOCK_NAME
from pytest_reqfile.lock.outputs import Outputs, pin_outputs
from pytest_reqfile.lock.pins import content_problems, pin_sources
from pytest_reqfile.lock.records import refuse_denied, without_orphans
from pytest_reqfile.lock.remote_pins import covers
from pytest_reqfile.lock.remotes import remote_sources, table_of
from pytest_reqfile.lock.roles import pin_roles, wanted_roles
from pytest_reqfile.lock.served import KEPT, may_be_served
from pytest_reqfile.lock.toptree import refuse_edited, tree_of
from pytest_reqfile.lock.unpinned import unpinned_files, unpinned_keys, unpinned_sources
from pytest_reqfile.lock.values import Entry, EntryTable, Lock, ordered
from pytest_reqfile.project.selection import select
from pytest_reqfile.project.values import Project, Source

Resolve = Callable[[Source, Entry | None], Entry]
"""Pins a remote source anew, given its old pin. Raises ``ReqfileError`` with the reason where it cannot."""

AI_RULEZ_VERSION: Final = "5.0.0"
"""The release whose format and scheme we write; a lock that names another one keeps it."""

UNPINNABLE: Final = "cannot pin part of the configuration; `reqfile lock --check` will fail until it is fixed"


class RefusedError(ReqfileError):
    """A source was looked at, and may not be pinned as it is: a moved tag, or no tag that will do."""


class UnresolvedError(ReqfileError):
    """Remote sources that cannot be pinned; nothing was written. ``refused`` says that all were looked at."""

    def __init__(self, message: str, *, refused: bool = False) -> None:
        self.refused = refused
        super().__init__(message)


@dataclass(frozen=True, slots=True, kw_only=True)
class LockRequest:
    """What ``reqfile lock`` is asked for: everything; with ``names`` or ``kind`` only those entries; or
    ``content_only``: authored content and outputs, remote pins as they are."""

    names: tuple[str, ...] = ()
    kind: EntryTable | None = None
    content_only: bool = False
    profile: str | None = None
    roles: tuple[str, ...] = ()
    all_roles: bool = False

    @property
    def is_partial(self) -> bool:
        return bool(self.names) or self.kind is not None

    @property
    def keeps_pins(self) -> bool:
        """Whether some pins stay as they are without a look at what they pin."""
        return self.is_partial or self.content_only

    def asks_for_served(self, name: str) -> bool:
        """Whether a served skill is to be pinned anew; ``content_only`` is about those of local skills, too."""
        return self.kind in {None, "served"} and (not self.names or name in self.names)

    def asks_for(self, table: EntryTable, name: str) -> bool:
        """Whether an entry is to be resolved anew."""
        return (not self.names or name in self.names) and self.kind in {None, table} and not self.content_only


@dataclass(frozen=True, slots=True, kw_only=True)
class Renewed:
    """A lock to write, and what people should know about it."""

    lock: Lock
    warnings: tuple[str, ...]


def cannot_fetch(source: Source, old: Entry | None) -> Entry:
    """The answer where nothing can be fetched."""
    del old
    raise UsageError(
        f'{table_of(source)} "{source.name}" could not be resolved: remote sources are not fetched here; '
        "`reqfile lock --content-only` keeps their pins"
    )


def renew_lock(
    project: Project, current: Lock | None, request: LockRequest, tools: Tools, resolve: Resolve = cannot_fetch
) -> Renewed:
    """The lock that ``request`` makes of ``current``; ``tools`` must hash without a cache.

    Raises ``FormatError`` for content that is wrong, ``UsageError`` for names nobody has, for a profile that is not
    defined and for denied digests (AR717), ``UnresolvedError`` for remote sources, ``EditedLockError`` where pins
    are to be kept of which somebody edited some. Nothing is written.
    """
    if problems := tuple(content_problems(project)):
        raise FormatError(problems)
    if request.keeps_pins:
        refuse_edited(current, LOCK_NAME)
    _refuse_unknown(project, current, request)
    _refuse_undefined(project, request, current)
    lock = _with_entries(project, current or Lock(), request, tools, resolve)
    warnings: tuple[str, ...] = ()
    if not request.is_partial:
        lock, warnings = _with_content(project, lock, request, tools)
        lock, orphaned = without_orphans(lock)
        lock, scanned = _with_scans(lock, current)
        warnings += orphaned + scanned
    elif lock.has_content_pins:
        lock = replace(lock, tree=tree_of(lock))
    refuse_denied(lock)
    if kept := sum(request.asks_for_served(entry.name) for entry in lock.served):
        warnings += (KEPT.format(count=kept),)
    return Renewed(lock=ordered(lock), warnings=warnings)


def _with_entries(project: Project, lock: Lock, request: LockRequest, tools: Tools, resolve: Resolve) -> Lock:
    if not request.content_only:
        found = _resolved(project, lock, request, tools, resolve)
        lock = replace(lock, includes=found["include"], skills=found["skill"], sources=found["source"])
    served = tuple(entry for entry in lock.served if may_be_served(entry, project))
    return replace(lock, served=served)


def _resolved(
    project: Project, lock: Lock, request: LockRequest, tools: Tools, resolve: Resolve
) -> dict[EntryTable, tuple[Entry, ...]]:
    found: dict[EntryTable, tuple[Entry, ...]] = {"include": (), "skill": (), "source": ()}
    problems: list[str] = []
    refused = True
    for source in remote_sources(project.config):
        table = table_of(source)
        old = lock.entry(table, source.name)
        keeps = old is not None and not request.asks_for(table, source.name) and covers(old, source)
        try:
            entry = old if keeps and old is not None else resolve(source, old)
        except ReqfileError as error:
            problems.extend(error.messages)
            refused = refused and isinstance(error, RefusedError)
            continue
        found[table] = (*found[table], entry)
    if problems:
        lines = "".join(f"\n  {problem}" for problem in problems)
        raise UnresolvedError(f"cannot write {LOCK_NAME}:{lines}", refused=refused)
    return found


def _with_content(project: Project, lock: Lock, request: LockRequest, tools: Tools) -> tuple[Lock, tuple[str, ...]]:
    settings = project.config.lock
    pins = pin_sources(project, tools.hasher, tools.view, settings.scope)
    pinned = settings.include_outputs and settings.scope == "all"
    outputs = pin_outputs(project, lock.default_outputs) if pinned else None
    if outputs is not None and outputs.unread:
        raise FormatError(Problem(path=path, message=reason) for path, reason in outputs.unread)
    roles = wanted_roles(project.config, lock, request.roles, every=request.all_roles)
    role_pins = pin_roles(project.config, roles, tools.render_role)
    renewed = replace(
        lock,
        ai_rulez_version=lock.ai_rulez_version or AI_RULEZ_VERSION,
        profile=lock.profile if request.profile is None else request.profile,
        scope=settings.scope,
        outputs_pinned=pinned,
        items=pins.items,
        outputs=(*(outputs.pins if outputs is not None else ()), *role_pins),
    )
    warnings = (UNPINNABLE, *(f"  {problem}" for problem in pins.problems)) if pins.problems else ()
    files = unpinned_files(project, in_git=tools.view is not None)
    loose = (*unpinned_sources(project), *files, *unpinned_keys(project))
    return replace(renewed, tree=tree_of(renewed)), (*warnings, *loose, *_output_warnings(outputs))


def _output_warnings(outputs: Outputs | None) -> Iterator[str]:
    if outputs is None:
        return
    for path in outputs.missing:
        yield f"output {path} is not pinned: {outputs.listed} names it, but it is not on disk; run `ai-rulez generate`"
    for path in outputs.left_out:
        yield f"output {path} is not pinned: a settings document, of which users may own a part"


def _with_scans(lock: Lock, current: Lock | None) -> tuple[Lock, tuple[str, ...]]:
    """A scan record speaks of the content it was made for; we start no scanner, so it goes when that changes."""
    if not lock.scans or (current is not None and current.tree == lock.tree):
        return lock, ()
    dropped = tuple(f"scan record of {scan.scanner} dropped: the content has changed since" for scan in lock.scans)
    return replace(lock, scans=()), dropped


def _refuse_undefined(project: Project, request: LockRequest, current: Lock | None) -> None:
    """A profile that is not there has no outputs to pin; a partial run keeps what the lock has."""
    if request.profile:
        select(project, profile=request.profile)
    elif current is not None and current.profile and not request.is_partial:
        try:
            select(project, profile=current.profile)
        except UsageError as error:
            raise UsageError(f"{error}; the lock pins its outputs: name another with --profile") from error


def _refuse_unknown(project: Project, current: Lock | None, request: LockRequest) -> None:
    known = {(table_of(source), source.name) for source in remote_sources(project.config)}
    known |= {("served", entry.name) for entry in current.served} if current is not None else set()
    folder = project.place.root / project.place.folder
    for name in request.names:
        kinds = {table for table, one in known if one == name}
        if not kinds:
            raise UsageError(
                f'"{name}" is not a remote include, installed skill, skill source or served skill in {folder}'
            )
        if request.kind is not None and request.kind not in kinds:
            raise UsageError(f'"{name}" is not of kind {request.kind} in {folder}')
