"""Preparing a run: the isolated workspace, the variables and the shell its commands share (spec oracle.md 5.1)."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import replace
from pathlib import Path

from pytest_reqfile.errors import ReqfileError
from pytest_reqfile.oracle.mission import Mission
from pytest_reqfile.oracle.receipts import Circumstances
from pytest_reqfile.oracle.runner import Runner
from pytest_reqfile.oracle.session import OracleOptions, OracleSession
from pytest_reqfile.oracle.sink import ENVIRONMENT, Sink
from pytest_reqfile.oracle.source import UNKNOWN, source_state, tracked_paths
from pytest_reqfile.oracle.variables import Shell, command_variables, find_shell, own_environment
from pytest_reqfile.workspace.clock import Clock, SystemClock
from pytest_reqfile.workspace.environment import Environment
from pytest_reqfile.workspace.git import Git
from pytest_reqfile.workspace.isolation import IsolatedWorkspace, isolated_workspace
from pytest_reqfile.workspace.machine import editable_installs, python_prefixes, this_machine
from pytest_reqfile.workspace.paths import canonical
from pytest_reqfile.workspace.processes import Cancellation


@contextmanager
def open_session(
    mission: Mission,
    root: Path,
    sink: Sink,
    env: Environment,
    options: OracleOptions,
    *,
    clock: Clock | None = None,
    cancel: Cancellation | None = None,
) -> Iterator[OracleSession]:
    """Prepare an isolated workspace for ``root`` and verify in it; nothing of it is left afterwards.

    Without isolation, or where the workspace cannot be read, every item is blocked and says why; nothing is raised.
    A mission with problems, or without commands and guards, prepares nothing. Raises ``FileError`` only where the sink
    cannot be written.
    """
    clock, root = clock or SystemClock(), canonical(root)
    shell = find_shell(own_environment(env, root))
    around = _unprepared(mission, shell)
    runner, refused = None, ""
    with ExitStack() as stack:
        if not mission.problems and (mission.commands or mission.guards):
            try:
                workspace = stack.enter_context(isolated_workspace(root, own_environment(env, root), options.isolation))
                around = _prepared(around, workspace, own_environment(env, root))
                runner = _runner(workspace, around, shell, env, options, clock, cancel)
            except ReqfileError as error:
                refused = str(error)
        if runner is not None:
            _write_environment(sink, around, shell.path, runner.variables)
        yield OracleSession(mission, sink, around, options, runner, refused, clock)


def _unprepared(mission: Mission, shell: Shell) -> Circumstances:
    return Circumstances(
        mission_digest=mission.digest,
        machine=this_machine(),
        shell=shell.version or shell.path,
        isolation=None,
        source=UNKNOWN,
    )


def _prepared(around: Circumstances, workspace: IsolatedWorkspace, env: Environment) -> Circumstances:
    """With the state of the source, read after the workspace began to be watched: what changes later is noticed."""
    prefixes = (env.get("VIRTUAL_ENV") or "", *python_prefixes(env.get("PATH") or ""))
    elsewhere = workspace.folder != workspace.root
    return replace(
        around,
        isolation=workspace.isolation,
        source=source_state(workspace.root, env),
        tracked=tracked_paths(workspace.root, env),
        bypasses=editable_installs(workspace.root, prefixes) if elsewhere else (),
    )


def _runner(
    workspace: IsolatedWorkspace,
    around: Circumstances,
    shell: Shell,
    env: Environment,
    options: OracleOptions,
    clock: Clock,
    cancel: Cancellation | None,
) -> Runner:
    ours = own_environment(env, workspace.root)
    variables = command_variables(
        env,
        home=workspace.home,
        temporary=workspace.temporary,
        ceiling=str(workspace.folder.parent),
        passed=options.passed,
    )
    return Runner(
        workspace=workspace,
        env=ours,
        git=Git(workspace.root, ours),
        shell=shell,
        variables=variables,
        source=around.source,
        timeout_ms=options.timeout_ms,
        clock=clock,
        cancel=cancel,
    )


def _write_environment(sink: Sink, around: Circumstances, shell: str, variables: dict[str, str]) -> None:
    isolation, machine = around.isolation, around.machine
    assert isolation is not None
    sink.write_json(
        ENVIRONMENT,
        {
            "briefDigest": around.mission_digest,
            "platform": machine.platform,
            "arch": machine.arch,
            "python": machine.python,
            "shell": {"path": shell, "version": around.shell},
            "variables": sorted(variables),
            "isolation": {"mode": isolation.mode, "enforced": isolation.enforced, "network": isolation.network},
            "source": {
                "head": around.source.head,
                "clean": around.source.clean,
                "tree": around.source.tree,
                "snapshotHash": around.source.snapshot_hash,
            },
        },
    )
