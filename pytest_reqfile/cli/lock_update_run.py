"""What ``reqfile lock update`` does: plan, fetch, scan, and only then write (seed 001 "update")."""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from contextlib import AbstractContextManager, nullcontext
from dataclasses import replace
from typing import Final

from pytest_reqfile.cli.lock_around import Surroundings
from pytest_reqfile.cli.lock_places import Online, online, project_here
from pytest_reqfile.cli.lock_remotes import refusal
from pytest_reqfile.cli.terminal import Terminal
from pytest_reqfile.errors import FileError, UsageError
from pytest_reqfile.lock.file import LockFile
from pytest_reqfile.lock.majors import Major, majors_of
from pytest_reqfile.lock.opening import lock_file
from pytest_reqfile.lock.scan_settings import scan_settings
from pytest_reqfile.lock.standing import Standing, look_up, range_sources
from pytest_reqfile.lock.toptree import EditedLockError, refuse_edited
from pytest_reqfile.lock.update import Consent, Moved, Plan, move_pins, plan_update
from pytest_reqfile.lock.update_report import UpdateReport
from pytest_reqfile.lock.values import EntryTable, Lock
from pytest_reqfile.project.config import check_config
from pytest_reqfile.project.load import MAX_CONFIG_BYTES, load_config
from pytest_reqfile.project.overlay import shared_only
from pytest_reqfile.project.values import Config, Place
from pytest_reqfile.syntax.printable import braced
from pytest_reqfile.syntax.toml import read_toml
from pytest_reqfile.workspace.environment import Environment
from pytest_reqfile.workspace.files import replaced_file
from pytest_reqfile.workspace.walk import Walk

REFUSED: Final = 2
NOTHING: Final = "nothing was written"


def run_update(arguments: argparse.Namespace, terminal: Terminal) -> int:
    """Move the pins: 0 moved or nothing to move, 2 refused (nothing is written then), 1 could not run."""
    around = Surroundings(environment=Environment.current())
    place = project_here(around)
    config = load_config(place).config
    with online(place, config.lock, around.environment) as remotes:
        return _Update(arguments, terminal, place, config, remotes).run()


class _Update:
    """One call: the project and its lock, as they are when it begins."""

    def __init__(
        self, flags: argparse.Namespace, terminal: Terminal, place: Place, config: Config, remotes: Online
    ) -> None:
        self._flags = flags
        self._terminal = terminal
        self._place = place
        self._config = config
        self._remotes = remotes
        self._file: LockFile = lock_file(place)
        self._lock: Lock | None = self._file.read()
        self._consent = Consent(
            downgrade=flags.allow_downgrade, moved_tag=flags.accept_moved_tag, findings=flags.accept_findings
        )
        self._report = UpdateReport(dry_run=flags.dry_run, accepted=flags.accept_findings)

    def run(self) -> int:
        flags = self._flags
        try:
            refuse_edited(self._lock, self._file.name)
        except EditedLockError as error:
            self._terminal.error(str(error))
            return REFUSED
        standings = self._look_up(self._config, flags.names, flags.kind)
        if not flags.major:
            return self._apply(plan_update(standings, self._consent), None)
        majors = majors_of(standings)
        self._report = replace(self._report, majors=majors)
        plan = plan_update(standings, self._consent)
        if plan.blocked or not flags.write_config or not majors:
            return self._show_majors(plan, majors)
        patched = self._patched(majors)
        names = {(major.standing.table, major.standing.source.name) for major in majors}
        anew = [one for one in self._look_up(patched.config, (), None) if (one.table, one.source.name) in names]
        return self._apply(plan_update(anew, self._consent), patched)

    def _look_up(self, config: Config, names: Sequence[str], kind: EntryTable | None) -> tuple[Standing, ...]:
        sources = range_sources(config, names, kind)
        return look_up(sources, self._lock, self._remotes.fetcher.tags, self._remotes.gates)

    def _show_majors(self, plan: Plan, majors: tuple[Major, ...]) -> int:
        """Suggestions only; what blocks an update is told here, too."""
        self._report = replace(self._report, blocked=plan.blocked)
        if not majors and not plan.blocked and self._flags.format != "json":
            self._terminal.write("no source has a newer major version\n")
            return 0
        return self._show(refused=bool(plan.blocked))

    def _apply(self, plan: Plan, patched: _Patched | None) -> int:
        """Everything that can fail is done before the first byte is written."""
        self._report = replace(self._report, blocked=plan.blocked, unchanged=plan.unchanged, notes=plan.notes)
        if plan.blocked:
            return self._show(refused=True)
        moved = move_pins(
            plan,
            self._lock,
            self._remotes.fetcher,
            self._remotes.hasher,
            scan_settings(self._config),
            accepted=self._consent.findings,
        )
        self._report = replace(self._report, moves=moved.moves, notes=(*plan.notes, *moved.notes))
        if moved.refused:
            code = self._show(refused=True)
            self._terminal.error(refusal(moved.refused))
            return code
        if not self._flags.dry_run and (moved.moves or patched is not None):
            self._write(moved, patched)
            self._report = replace(self._report, written=patched is not None)
        return self._show(refused=False)

    def _write(self, moved: Moved, patched: _Patched | None) -> None:
        with patched.written() if patched is not None else nullcontext():
            if self._file.read() != self._lock:
                raise FileError(f"{self._file.path} has changed meanwhile; {NOTHING}, run it again")
            self._file.write(moved.lock)

    def _patched(self, majors: Sequence[Major]) -> _Patched:
        """config.toml with the new constraints, read as it will be."""
        walk = Walk(self._place.root, border=self._place.top)
        path = self._place.config
        if walk.kind(path) != "file":
            raise UsageError(f"{path} is a symbolic link: --write-config does not follow it, edit it by hand")
        before = walk.read(path, MAX_CONFIG_BYTES)
        text = before.decode("utf-8")
        for major in majors:
            text = major.patched(text)
        config = check_config(shared_only(read_toml(text, path), path)).config
        return _Patched(walk, path, before, text.encode(), config)

    def _show(self, *, refused: bool) -> int:
        report = self._report
        for left in report.blocked:
            self._terminal.error(braced(f"{left.standing.label}: {left.reason}"))
        if self._flags.format == "json":
            self._terminal.write(report.as_json())
        else:
            for note in (*(f"warning: {note}" for note in report.notes), *report.scan_lines()):
                self._terminal.note(braced(note))
            self._terminal.write("".join(f"{braced(line)}\n" for line in report.lines(refused=refused)))
        if report.blocked:
            self._terminal.error(f"{len(report.blocked)} source(s) cannot be updated; {NOTHING}")
        return REFUSED if refused else 0


class _Patched:
    """config.toml as it is to be: ``config`` is what it says then."""

    def __init__(self, walk: Walk, path: str, before: bytes, after: bytes, config: Config) -> None:
        self._walk = walk
        self._path = path
        self._before = before
        self._after = after
        self.config = config

    def written(self) -> AbstractContextManager[None]:
        """Writes it; if the block fails, the file is back as it was. Raises ``FileError``."""
        if self._walk.read(self._path, MAX_CONFIG_BYTES) != self._before:
            raise FileError(f"{self._path} has changed meanwhile; {NOTHING}, run it again")
        return replaced_file(self._walk.root / self._path, self._after)
