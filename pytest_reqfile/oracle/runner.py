"""Running one command exactly as specified, and noticing when the workspace is no longer what it was (spec 5.5)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

from pytest_reqfile.errors import ReqfileError
from pytest_reqfile.oracle.classify import Ending, blocked, classify
from pytest_reqfile.oracle.mission import Command
from pytest_reqfile.oracle.preflight import first_program
from pytest_reqfile.oracle.receipts import Execution
from pytest_reqfile.oracle.source import UNKNOWN, SourceState, covered_paths, source_state
from pytest_reqfile.oracle.variables import Shell
from pytest_reqfile.workspace.clock import Clock
from pytest_reqfile.workspace.environment import Environment
from pytest_reqfile.workspace.git import Git
from pytest_reqfile.workspace.isolation import IsolatedRun, IsolatedWorkspace
from pytest_reqfile.workspace.machine import find_program
from pytest_reqfile.workspace.paths import contains
from pytest_reqfile.workspace.processes import OUTPUT_LIMIT, Cancellation

_MOST_PATHS: Final = 20
_PREFLIGHT_SECONDS: Final = 20.0


@dataclass(frozen=True, slots=True, kw_only=True)
class Runnable:
    """A command that passed the gate. ``allowed`` is the rule it was let through against, ``baseline`` a commit to
    compare a failure with.
    """

    command: Command
    expected: int
    defaulted: bool = False
    cwd: str = ""
    timeout_ms: int | None = None
    variables: tuple[tuple[str, str], ...] = ()
    baseline: str | None = None
    allowed: str | None = None

    @property
    def shown(self) -> str:
        return self.command if isinstance(self.command, str) else " ".join(self.command)


@dataclass(frozen=True, slots=True, kw_only=True)
class Runner:
    """Everything a command needs; ``source`` is the state everything is about."""

    workspace: IsolatedWorkspace
    env: Environment
    git: Git
    shell: Shell
    variables: dict[str, str]
    source: SourceState
    timeout_ms: int
    clock: Clock
    cancel: Cancellation | None

    def argv(self, command: Command) -> tuple[str, ...]:
        """A text goes to the shell unmodified, words are executed as they are."""
        return (self.shell.path, "-c", command) if isinstance(command, str) else command

    def missing_program(self, runnable: Runnable) -> str | None:
        """The program a shell text begins with, if PATH does not have it and no earlier command can have made it."""
        if not isinstance(runnable.command, str):
            return None
        program = first_program(runnable.command)
        search = dict(runnable.variables).get("PATH", self.variables["PATH"])
        if program is None or find_program(program, search) is not None:
            return None
        writable = (str(self.workspace.folder), self.workspace.temporary)
        made = (
            not folder.startswith("/") or any(contains(w, folder) for w in writable) for folder in search.split(":")
        )
        return program if not any(made) or self._is_missing_inside(program, runnable) else None

    def _is_missing_inside(self, program: str, runnable: Runnable) -> bool:
        run = self.workspace.run(
            self.argv(f"command -v {program}"),
            cwd=runnable.cwd,
            env={**self.variables, **dict(runnable.variables)},
            timeout=_PREFLIGHT_SECONDS,
            limit=0,
            cancel=self.cancel,
        )
        return run.result.exit == 1 and not (run.prevented or run.not_started or run.no_folder)

    def run(self, runnable: Runnable, workspace: IsolatedWorkspace | None = None) -> tuple[Execution, Ending]:
        """Run it in the run's workspace, or another one, and judge how it ended."""
        workspace = workspace or self.workspace
        argv = self.argv(runnable.command)
        variables = {**self.variables, **dict(runnable.variables)}
        started = self.clock.now_ms()
        run = workspace.run(
            argv,
            cwd=runnable.cwd,
            env=variables,
            timeout=(runnable.timeout_ms or self.timeout_ms) / 1000,
            limit=OUTPUT_LIMIT,
            cancel=self.cancel,
        )
        after, ending = self._judge(run, runnable, argv[0], workspace)
        execution = Execution(
            command=runnable.command,
            expected=runnable.expected,
            argv=argv,
            cwd=str(workspace.folder / runnable.cwd),
            variables=variables,
            started_ms=started,
            ended_ms=self.clock.now_ms(),
            run=run,
            after=after,
        )
        return execution, ending

    def _judge(
        self, run: IsolatedRun, runnable: Runnable, program: str, workspace: IsolatedWorkspace
    ) -> tuple[SourceState, Ending]:
        shell = isinstance(runnable.command, str)
        ending = classify(run, runnable.expected, program, workspace.isolation, shell=shell, folder=runnable.cwd or ".")
        after, drift = self._drift(run.changed, during=True)
        return after, drift or ending

    def drift(self) -> Ending | None:
        """Whether the reviewed workspace differs from when the run began, found between commands."""
        return self._drift(self.workspace.changed(), during=False)[1]

    def _state_now(self) -> SourceState:
        try:
            return source_state(self.workspace.root, self.env)
        except ReqfileError:  # the workspace is gone, or no longer readable
            return UNKNOWN

    def _are_covered(self, changed: tuple[str, ...]) -> bool:
        """Whether the state tells that these are what they were; of ignored files and git data it tells nothing."""
        open_ = [path for path in changed if not self.workspace.is_bookkeeping(path)]
        return not open_ or covered_paths(self.workspace.root, self.env, open_) == frozenset(open_)

    def _drift(self, changed: tuple[str, ...], *, during: bool) -> tuple[SourceState, Ending | None]:
        """Where the kernel keeps commands out, only content counts, and somebody else changed it; else any write."""
        if not changed:
            return self.source, None
        now = self._state_now()
        kernel = self.workspace.isolation.enforced == "kernel"
        if kernel and now == self.source and self._are_covered(changed):
            return now, None
        listed = ", ".join(changed[:_MOST_PATHS]) + (", …" if len(changed) > _MOST_PATHS else "")
        if kernel or not during:
            return now, blocked(
                "source-drift", f"the reviewed workspace was changed by somebody else meanwhile: {listed}"
            )
        return now, blocked("workspace-written", f"the reviewed workspace was written to: {listed}")
