"""One project against its lock: the comparison behind ``--check``, ``--diff``, pytest and the fixture (spec 5.4)."""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from typing import Final

from pytest_reqfile.errors import UsageError
from pytest_reqfile.lock.changes import Change, Report, sorted_changes
from pytest_reqfile.lock.compare import Present, compare_content, compare_items, compare_outputs
from pytest_reqfile.lock.directories import Hasher
from pytest_reqfile.lock.file import LOCK_NAME
from pytest_reqfile.lock.outputs import Outputs, pin_outputs
from pytest_reqfile.lock.pins import Pins, pin_sources
from pytest_reqfile.lock.remote_pins import RemoteCheck, check_remotes
from pytest_reqfile.lock.remotes import FindCached
from pytest_reqfile.lock.roles import RenderRole, compare_roles
from pytest_reqfile.lock.served import ServedDigests, check_served, may_be_served
from pytest_reqfile.lock.unpinned import unpinned_keys, unpinned_sources
from pytest_reqfile.lock.values import Lock
from pytest_reqfile.project.resources import GitView
from pytest_reqfile.project.selection import select
from pytest_reqfile.project.values import Project

_NO_PINS: Final = Pins(items=(), problems=())


def renders_no_role(role: str) -> None:
    """The answer where no generator is at hand."""
    del role


def serves_unknown(view: str) -> None:
    """The answer where nobody knows what a server returns."""
    del view


@dataclass(frozen=True, slots=True, kw_only=True)
class Tools:
    """What the lock asks others: files, git, the cache of remote content, and what only a generator knows."""

    hasher: Hasher
    view: GitView | None
    find_cached: FindCached
    render_role: RenderRole = renders_no_role
    served: ServedDigests = serves_unknown


@dataclass(frozen=True, slots=True, kw_only=True)
class CheckOptions:
    """``profile`` is asserted only where it is given; ``roles``, if any, narrow the comparison of role pins.

    ``diff`` asks for what a new lock would change: the files of a role's rendering, everything where there is no lock.
    """

    profile: str | None = None
    roles: tuple[str, ...] = ()
    sources_only: bool = False
    diff: bool = False


def is_enforced(project: Project, lock: Lock | None) -> bool:
    """``[lock] enforce``; not set, it is on where there is a lock (spec/lock.md 5.1)."""
    enforce = project.config.lock.enforce
    return lock is not None if enforce is None else enforce


def check_project(project: Project, lock: Lock | None, tools: Tools, options: CheckOptions | None = None) -> Report:
    """Every difference between ``lock`` and what is there now, without the network and without writing.

    Raises ``UsageError`` for a role the lock does not pin and for a profile that is not defined,
    ``FormatError`` and ``FileError`` where something cannot be looked at.
    """
    options = options or CheckOptions()
    if options.profile:
        select(project, profile=options.profile)
    remotes = check_remotes(project.config, lock, tools.find_cached, tools.hasher)
    changes = [*remotes.changes, *_unfetched(project, remotes)]
    notes = [*remotes.notes, *unpinned_sources(project), *unpinned_keys(project)]
    counts = {"lock": 1, "remote": remotes.compared, "source": 0, "output": 0, "served": 0}
    if lock is None:
        changes += _without_lock(project, tools, options)
    else:
        present = _present(project, lock, tools, options)
        changes += compare_content(lock, LOCK_NAME, present)
        changes += _profile_changes(project, lock, options)
        counts["source"] = len({pin.key for pin in (*lock.items, *present.pins.items)})
        counts["output"] = len(_paths(lock, present.outputs))
        if lock.has_content_pins and not options.sources_only:
            role_changes, role_notes, compared = compare_roles(
                project.config, lock, tools.render_role, options.roles, with_files=options.diff
            )
            changes += role_changes
            notes += role_notes
            counts["output"] += compared
        served_changes, served_notes, counts["served"] = check_served(
            lock, tools.served, partial(may_be_served, project=project)
        )
        changes += served_changes
        notes += served_notes
    return Report(
        name=LOCK_NAME,
        changes=sorted_changes(changes),
        notes=tuple(notes),
        no_content_pins=lock is not None and not lock.has_content_pins,
        lock_version=lock.version if lock is not None else 0,
        lock_ai_rulez_version=lock.ai_rulez_version if lock is not None else "",
        looked_at=counts,
    )


def _present(project: Project, lock: Lock | None, tools: Tools, options: CheckOptions) -> Present:
    settings = project.config.lock
    if lock is not None and not lock.has_content_pins:
        return Present(pins=_NO_PINS)
    present = Present(
        pins=pin_sources(project, tools.hasher, tools.view, settings.scope),
        scope=settings.scope,
        include_outputs=settings.include_outputs,
        sources_only=options.sources_only,
        profile=options.profile,
    )
    if not present.outputs_pinned or options.sources_only or (lock is not None and not lock.outputs_pinned):
        return present
    outputs = pin_outputs(project, lock.default_outputs if lock is not None else ())
    return Present(
        pins=present.pins,
        scope=present.scope,
        include_outputs=present.include_outputs,
        outputs=outputs,
        profile=present.profile,
    )


def _unfetched(project: Project, remotes: RemoteCheck) -> list[Change]:
    """Where the configuration insists on the lock, includes that nobody could look at (seed 001 "lock --check")."""
    if not project.config.lock.enforce or all(source.table != "includes" for source in remotes.uncached):
        return []
    detail = (
        "remote includes are not in the local cache, so their content was not compared and [lock] enforce = true; run "
        "`reqfile lock --fetch` to bring them"
    )
    return [Change(scope="lock", change="changed", detail=detail)]


def _profile_changes(project: Project, lock: Lock, options: CheckOptions) -> list[Change]:
    """That the outputs were pinned under a profile which nobody can render any more."""
    if not lock.profile or not lock.outputs_pinned or options.profile is not None or options.sources_only:
        return []
    try:
        select(project, profile=lock.profile)
    except UsageError as error:
        detail = f'the lock pins outputs of profile "{lock.profile}": {error}'
        return [Change(scope="lock", change="changed", detail=detail)]
    return []


def _without_lock(project: Project, tools: Tools, options: CheckOptions) -> list[Change]:
    """That there is none, where there must be one; for a diff what a first one would pin."""
    changes: list[Change] = []
    if is_enforced(project, None):
        detail = f"{LOCK_NAME} does not exist but [lock] enforce = true; run `reqfile lock`"
        changes.append(Change(scope="lock", change="added", detail=detail))
    if options.diff:
        present = _present(project, None, tools, options)
        changes += compare_items((), present.pins.items)
        if present.outputs is not None:
            changes += compare_outputs(Lock(), present.outputs)
    return changes


def _paths(lock: Lock, outputs: Outputs | None) -> set[str]:
    if outputs is None:
        return set()
    return {pin.path for pin in (*lock.default_outputs, *outputs.pins)}
