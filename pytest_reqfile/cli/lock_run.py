"""``reqfile lock``: writes, checks, compares, or prints the subject (seed 001 "Commands"; spec/lock.md 5.2 to 5.6)."""

from __future__ import annotations

import argparse
from collections.abc import Callable
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Final

from pytest_reqfile.cli.lock_around import Surroundings
from pytest_reqfile.cli.lock_targets import find_targets
from pytest_reqfile.cli.session import absolute
from pytest_reqfile.cli.terminal import Terminal
from pytest_reqfile.errors import FileError, FormatError, ReqfileError, UsageError
from pytest_reqfile.lock.changes import VOUCHING_HINT, Report, are_of_vouching
from pytest_reqfile.lock.check import CheckOptions, Tools, check_project, renders_no_role
from pytest_reqfile.lock.file import LockFile, LockFormatError
from pytest_reqfile.lock.opening import lock_file, open_tools
from pytest_reqfile.lock.remotes import remote_sources
from pytest_reqfile.lock.renew import LockRequest, Renewed, UnresolvedError, renew_lock
from pytest_reqfile.lock.requirements import check_requirements, renew_requirements, requirements_lock
from pytest_reqfile.lock.roles import RenderRole
from pytest_reqfile.lock.statement import signable_subject, statement, subject_line
from pytest_reqfile.lock.toptree import EditedLockError, refuse_edited
from pytest_reqfile.lock.values import ENTRY_TABLES, Lock
from pytest_reqfile.lock.vouching import must_exist, vouched
from pytest_reqfile.project.load import load_project
from pytest_reqfile.project.values import Place, Project
from pytest_reqfile.syntax.printable import visible
from pytest_reqfile.workspace.clock import SystemClock, utc_now
from pytest_reqfile.workspace.files import write_atomic
from pytest_reqfile.workspace.paths import canonical, relative_to_root
from pytest_reqfile.workspace.program import current_folder

if TYPE_CHECKING:
    from pytest_reqfile.lock.fetching import Answers, Fetcher

COULD_NOT_RUN: Final = 1
DIFFERS: Final = 2
_SEVERITY: Final = (COULD_NOT_RUN, DIFFERS, 3, 0)
_COMMIT_SHOWN: Final = 12
_KEPT: Final = frozenset("\t")
_REFRESH: Final = "run `reqfile lock` to refresh it (after reviewing the change with `reqfile lock --diff`)"


def run_lock(arguments: argparse.Namespace, terminal: Terminal, around: Surroundings) -> int:
    """Do it for every lock that is meant: 0 in sync or written, 1 could not run, 2 differences or refused.

    Of several locks the worst code counts: 1, then 2, then 3.
    """
    targets = find_targets(arguments, around)
    run = _Run(arguments, terminal, around, name_each=targets.are_several)
    codes = [_attempt(partial(run.project, place), terminal, _below_here(place)) for place in targets.places]
    if targets.requirements:
        codes.append(_attempt(run.requirements, terminal))
    return _worst(*codes)


def _attempt(run: Callable[[], int], terminal: Terminal, folder: str = "") -> int:
    try:
        return run()
    except ReqfileError as error:
        for message in _messages(error, folder):
            terminal.error(message)
        return DIFFERS if _is_refusal(error) else COULD_NOT_RUN


def _is_refusal(error: ReqfileError) -> bool:
    """Whether everything was looked at, and the answer is no (design 3)."""
    return isinstance(error, EditedLockError) or (isinstance(error, UnresolvedError) and error.refused)


def _worst(*codes: int) -> int:
    return next(code for code in _SEVERITY if code in codes)


def _messages(error: ReqfileError, folder: str) -> tuple[str, ...]:
    """What to print; paths below ``folder``, a project's (empty: the current one), are so for people, too."""
    if not folder:
        return tuple(error.messages)
    if isinstance(error, FormatError):
        places = ((f"{folder}/" if problem.path else f"{folder}: ", problem) for problem in error.problems)
        return tuple(f"{place}{problem}" for place, problem in places)
    return tuple(f"{folder}: {message}" for message in error.messages)


def _below_here(place: Place) -> str:
    return relative_to_root(canonical(current_folder()), place.root) or ""


class _Run:
    """One call: its flags, and what each kind of lock does with them."""

    def __init__(
        self, arguments: argparse.Namespace, terminal: Terminal, around: Surroundings, *, name_each: bool
    ) -> None:
        self._name_each = name_each
        self._flags = arguments
        self._terminal = terminal
        self._around = around
        self._answers: Answers = {}

    def project(self, place: Place) -> int:
        """The lock of an ai-rulez project."""
        file = lock_file(place)
        if self._flags.subject:
            return self._subject(file)
        project = load_project(place)
        if self._flags.check or self._flags.diff:
            lock = file.read()
            if self._flags.check and lock is None and not must_exist(project):
                return self._no_lock(file)
            options = CheckOptions(profile=self._flags.profile, roles=tuple(self._flags.role), diff=self._flags.diff)
            with_cache = self._tools(project, cached=not self._flags.no_cache)
            report = check_project(project, lock, with_cache.tools, options)
            with_cache.save()
            report = vouched(report, project, lock, utc_now(SystemClock()), with_signatures=self._flags.check)
            if self._flags.kind is not None:
                report = report.limited_to(self._flags.kind)
            moved = _attempt(partial(self._verify_tags, project, lock), self._terminal, _below_here(place))
            return _worst(moved, self._show(report, file, has_lock=lock is not None, and_more=moved != 0))
        return self._write_project(project, file)

    def _verify_tags(self, project: Project, lock: Lock | None) -> int:
        """Ask the remotes about pinned tags, where that is wanted: 2 for one that has moved (seed 001)."""
        wanted = self._flags.verify_tags or (project.config.lock.verify_tags and not self._flags.offline)
        if not wanted or not self._flags.check or lock is None:
            return 0
        from pytest_reqfile.lock.pinned_tags import verify_tags

        found = verify_tags(project.config, lock, self._fetcher(project))
        for line in found.missing:
            self._terminal.note(_line(f"warning: {line}"))
        for line in found.moved:
            self._terminal.note(_line(line))
        return DIFFERS if found.moved else 0

    def requirements(self) -> int:
        """The lock of the repository's requirements."""
        from pytest_reqfile.reqfile.lockable import lockables

        reads = self._flags.check or self._flags.diff
        repository = self._around.repository(cached_only=reads)
        file = requirements_lock(Path(repository.root))
        if self._flags.subject:
            return self._subject(file)
        catalog = repository.catalog
        things = lockables(catalog)
        hasher = open_tools(self._around.environment, None).hasher
        if not reads:
            lock = renew_requirements(things, catalog.problems, Path(repository.root), hasher, self._current(file))
            file.write(lock)
            self._say(*self._heading(file), f"pinned {len(lock.items)} item(s), tree {lock.tree}")
            return 0
        current = file.read()
        if current is None and self._flags.check:
            return self._no_lock(file)
        report = check_requirements(things, catalog.problems, Path(repository.root), hasher, current)
        return self._show(report, file, has_lock=current is not None)

    def _tools(self, project: Project, *, cached: bool) -> _WithCache:
        around = self._around
        cache = around.cache(project.place.root) if cached else None
        render: RenderRole = renders_no_role
        if self._flags.generator is not None:
            from pytest_reqfile.lock.generator import render_with

            render = render_with(self._flags.generator, project, around.environment, around.view)
        tools = open_tools(around.environment, around.view, cache, render)
        return _WithCache(tools, cache.save if cache is not None else lambda: None)

    def _write_project(self, project: Project, file: LockFile) -> int:
        flags = self._flags
        request = LockRequest(
            names=tuple(flags.names),
            kind=next((table for table in ENTRY_TABLES if table == flags.kind), None),
            content_only=flags.content_only,
            profile=flags.profile,
            roles=tuple(flags.role),
            all_roles=flags.roles,
        )
        current, environment = self._current(file), self._around.environment
        tools = self._tools(project, cached=False).tools
        if not remote_sources(project.config):
            return self._save(file, renew_lock(project, current, request, tools))
        from pytest_reqfile.cli.lock_remotes import open_resolver, refusal, scan_new_pins

        resolver = open_resolver(project, environment, tools.hasher, self._fetcher(project))
        renewed = renew_lock(project, current, request, tools, resolver)
        if resolver.keeps_unseen:
            refuse_edited(current, file.name)
        lines, refused = scan_new_pins(project, environment, current, renewed.lock, accepted=flags.accept_findings)
        for line in lines:
            self._terminal.note(_line(line))
        if refused:
            self._terminal.error(refusal(refused))
            return DIFFERS
        if _now(file) not in (current, renewed.lock):  # another lock or update was faster than the remotes
            raise FileError(f"{file.path} has changed meanwhile; nothing was written, run it again")
        return self._save(file, replace(renewed, warnings=(*resolver.notes, *renewed.warnings)))

    def _fetcher(self, project: Project) -> Fetcher:
        """Asks the remotes of the project; what they say is shared with the other projects of the run."""
        from pytest_reqfile.lock.fetching import Fetcher

        root, offline = project.place.root, self._flags.offline
        return Fetcher(self._around.environment, root, offline=offline, answers=self._answers)

    def _save(self, file: LockFile, renewed: Renewed) -> int:
        file.write(renewed.lock)
        for warning in renewed.warnings:
            self._terminal.note(_line(f"warning: {warning}"))
        self._say(*self._heading(file), *_written_lines(renewed.lock))
        return 0

    def _current(self, file: LockFile) -> Lock | None:
        """The lock before it is written anew; a symlink in its place is not followed, and replaced (design 3)."""
        try:
            return file.read()
        except LockFormatError as error:
            if not error.is_link:
                raise
            self._terminal.note(f"warning: {file.path} was a symbolic link: it is replaced, and its pins were not read")
            return None

    def _no_lock(self, file: LockFile) -> int:
        what = f"no {file.name} in {file.place.parent}: nothing to check; run `reqfile lock` to create it"
        self._terminal.error(visible(what))
        return COULD_NOT_RUN

    def _show(self, report: Report, file: LockFile, *, has_lock: bool, and_more: bool = False) -> int:
        """Print it; ``and_more`` says that something else is wrong, so that being in sync is not all."""
        if self._flags.format == "json":
            self._terminal.write(report.as_json(str(file.place) if self._name_each else ""))
        elif self._flags.check and not (report.in_sync and and_more):
            self._show_check(report, file.place.parent)
        elif self._flags.check:
            self._say(*report.lines)
        else:
            self._show_diff(report, file, has_lock=has_lock)
        for error in report.errors:
            self._terminal.error(_line(error))
        if self._flags.diff:
            return 0
        return COULD_NOT_RUN if report.errors else DIFFERS if report.changes else 0

    def _show_check(self, report: Report, folder: Path) -> None:
        if report.in_sync:
            self._say(f"Lock file is up to date ({folder})", *report.lines)
            return
        if report.changes:
            self._say(f"{report.name} does not match {folder}:", *report.lines)
            self._terminal.note(VOUCHING_HINT if are_of_vouching(report.changes) else _REFRESH)
        else:
            self._say(*report.lines)

    def _show_diff(self, report: Report, file: LockFile, *, has_lock: bool) -> None:
        heading = self._heading(file)
        if not has_lock:
            self._say(f"no {report.name} in {file.place.parent}; `reqfile lock` would pin:", *report.lines)
        elif report.in_sync:
            self._say(*heading, f"{report.name} matches the sources and outputs", *report.lines)
        else:
            self._say(*heading, *report.lines)

    def _heading(self, file: LockFile) -> tuple[str, ...]:
        """Which lock the lines below speak of, where there are several."""
        return (f"{file.place}:",) if self._name_each else ()

    def _subject(self, file: LockFile) -> int:
        subject = signable_subject(file.read(), file.name)
        output, text = self._flags.output, statement(subject)
        if output is not None:
            if file.is_at(absolute(output)):
                raise UsageError(f"--output {output} is the lock itself: name another file")
            write_atomic(absolute(output), text.encode())
            self._terminal.note(visible(f"wrote {output}"))
        if self._flags.format == "json":
            self._terminal.write(text)
        else:
            self._say(*self._heading(file), subject_line(subject))
        return 0

    def _say(self, *lines: str) -> None:
        self._terminal.write("".join(f"{_line(line)}\n" for line in lines))


def _now(file: LockFile) -> Lock | None:
    """The lock as it is when it is about to be written; a symlink is none, it will be replaced."""
    try:
        return file.read()
    except LockFormatError as error:
        if not error.is_link:
            raise
        return None


def _line(text: str) -> str:
    """``text`` as one line of a terminal, whatever the names in it."""
    return visible(text, kept=_KEPT)


class _WithCache:
    """Tools and what keeps the digests they took for the next time."""

    def __init__(self, tools: Tools, save: Callable[[], None]) -> None:
        self.tools = tools
        self.save = save


def _written_lines(lock: Lock) -> list[str]:
    lines = [
        f"locked {entry.label} {entry.commit[:_COMMIT_SHOWN]} {entry.digest}"
        for table in ENTRY_TABLES
        for entry in lock.entries(table)
    ]
    if lock.has_content_pins:
        counts = f"{len(lock.items)} item(s) and {len(lock.default_outputs)} output(s)"
        lines.append(f"pinned {counts}, tree {lock.tree}")
        lines += [f"pinned outputs of role {pin.role} {pin.digest}" for pin in lock.role_pins]
    return lines
