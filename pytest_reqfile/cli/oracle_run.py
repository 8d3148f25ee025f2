"""Verifying a mission from the command line: run, assemble, say what came of it (seed 003)."""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import Final

from pytest_reqfile.cli.session import absolute
from pytest_reqfile.cli.terminal import Terminal
from pytest_reqfile.errors import UsageError
from pytest_reqfile.oracle.assembly import Assembled, assemble
from pytest_reqfile.oracle.mission import Mission
from pytest_reqfile.oracle.opening import open_session
from pytest_reqfile.oracle.reading import read_mission
from pytest_reqfile.oracle.schema import find_schema
from pytest_reqfile.oracle.session import OracleOptions, OracleSession
from pytest_reqfile.oracle.sink import Sink, open_sink
from pytest_reqfile.oracle.standard_forms import write_ctrf, write_statement
from pytest_reqfile.oracle.summary import summary_lines
from pytest_reqfile.oracle.tokens import COUNTERS
from pytest_reqfile.oracle.verdicts import EXIT_CODES
from pytest_reqfile.syntax.printable import visible
from pytest_reqfile.workspace.clock import SystemClock
from pytest_reqfile.workspace.environment import Environment
from pytest_reqfile.workspace.git import nearest_repository
from pytest_reqfile.workspace.machine import is_folder, read_if_there
from pytest_reqfile.workspace.paths import canonical
from pytest_reqfile.workspace.program import current_folder, imports_from

BAD_MISSION: Final = 2


def run_oracle(arguments: argparse.Namespace, terminal: Terminal) -> int:
    """Verify, write the sink, print the verdicts: 0 all pass, 3 fail, 4 blocked or partial, 2 nothing could be asked.

    A bad mission and an interrupted run still leave claims that say so.
    """
    env = Environment.current()
    root = _workspace(arguments)
    mission = _mission(arguments.mission)
    schema, note = find_schema(env, absolute(arguments.schema) if arguments.schema else None)
    sink = open_sink(absolute(arguments.sink), root)
    session, interrupted = _verify(mission, root, sink, env, arguments)
    assembled = assemble(
        mission,
        session.outcomes,
        sink,
        root,
        taint=session.final_taint,
        schema=schema,
        profile=arguments.profile,
        count=COUNTERS[arguments.tokenizer],
    )
    _write_more(arguments, mission, assembled, sink)
    _tell(mission, assembled, sink, note, terminal)
    if interrupted is not None:
        raise interrupted
    return BAD_MISSION if mission.problems else EXIT_CODES[assembled.overall]


def _workspace(arguments: argparse.Namespace) -> Path:
    if arguments.workspace is None:
        return canonical(nearest_repository(current_folder()))  # git would believe ``core.worktree``
    folder = absolute(arguments.workspace)
    if not is_folder(folder):
        raise UsageError(f"--workspace {arguments.workspace}: expected a folder, found none")
    return canonical(folder)


def _mission(path: str) -> Mission:
    data = read_if_there(absolute(path))
    if data is None:
        raise UsageError(f"{path}: no such mission")
    return read_mission(data, path)


def _verify(
    mission: Mission, root: Path, sink: Sink, env: Environment, arguments: argparse.Namespace
) -> tuple[OracleSession, KeyboardInterrupt | None]:
    """What was evaluated is in the session; and what interrupted it before all was: the rest is reported as not run."""
    options = OracleOptions(
        isolation=arguments.isolation,
        allow=frozenset(arguments.allow),
        passed=tuple(arguments.pass_env),
        require_exit_codes=arguments.require_exit_codes,
        timeout_ms=round(arguments.timeout * 1000),
        inside_reviewed=imports_from(root),
    )
    with open_session(mission, root, sink, env, options) as session:
        interrupted = None
        try:
            for item in session.items:
                session.evaluate(item)
        except KeyboardInterrupt as stop:
            interrupted = stop
        session.final_check()
    return session, interrupted


def _write_more(arguments: argparse.Namespace, mission: Mission, assembled: Assembled, sink: Sink) -> None:
    if arguments.statement:
        write_statement(mission, assembled, sink)
    if arguments.ctrf:
        write_ctrf(assembled, sink, SystemClock())


def _tell(mission: Mission, assembled: Assembled, sink: Sink, note: str | None, terminal: Terminal) -> None:
    if mission.problems:
        terminal.error("\n".join(map(str, mission.problems)))
    for mismatch in assembled.mismatches:
        terminal.error(f"the claims do not fit the schema: {mismatch}")
    if note is not None:
        terminal.note(visible(note))
    lines = summary_lines(mission, assembled, str(sink.folder))
    terminal.write(visible("\n".join(lines) + "\n"))
