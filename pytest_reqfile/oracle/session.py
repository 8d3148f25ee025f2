"""Verifying a mission item by item in one prepared workspace (seed 003; spec oracle.md 5)."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Final

from pytest_reqfile.errors import FileError, GitError
from pytest_reqfile.oracle.baseline import run_at_baseline
from pytest_reqfile.oracle.claims import one_line
from pytest_reqfile.oracle.classify import Ending, blocked
from pytest_reqfile.oracle.doubts import confidence_of
from pytest_reqfile.oracle.gate import refusal
from pytest_reqfile.oracle.guarded_paths import Comparison, compare_paths
from pytest_reqfile.oracle.mission import Guard, Mission, OracleCommand
from pytest_reqfile.oracle.plan import PlannedItem, plan_mission
from pytest_reqfile.oracle.receipts import Circumstances, Execution, write_receipt
from pytest_reqfile.oracle.results import TAINTS, Result, to_outcome
from pytest_reqfile.oracle.runner import Runnable, Runner
from pytest_reqfile.oracle.sink import Sink
from pytest_reqfile.oracle.stops import blocked_by_mission
from pytest_reqfile.outcome import Outcome
from pytest_reqfile.workspace.clock import Clock
from pytest_reqfile.workspace.isolation import Request

_MOST_PATHS: Final = 10


@dataclass(frozen=True, slots=True, kw_only=True)
class OracleOptions:
    """What the conductor decides. ``allow`` are checkIds that run though the gate refuses them (each a limitation),
    ``passed`` names of further variables commands may see. ``inside_reviewed`` says that whoever calls us was
    loaded under the reviewed project's own configuration or imports from it, which lowers confidence (spec 5.2).
    """

    isolation: Request = "auto"
    allow: frozenset[str] = frozenset()
    passed: tuple[str, ...] = ()
    require_exit_codes: bool = False
    timeout_ms: int = 600_000
    inside_reviewed: bool = False


class OracleSession:
    """One run over one mission. Items are evaluated one at a time; a later one sees what earlier ones built."""

    def __init__(
        self,
        mission: Mission,
        sink: Sink,
        around: Circumstances,
        options: OracleOptions,
        runner: Runner | None,
        refused: str,
        clock: Clock,
    ) -> None:
        self.mission = mission
        self.items = plan_mission(mission)
        self.sink = sink
        self.around = around
        self._options = options
        self._runner = runner
        self._refused = refused
        self._clock = clock
        self._results: dict[str, Result] = {}
        self._taint: Ending | None = None

    @property
    def results(self) -> tuple[Result, ...]:
        """What was evaluated so far, in that order."""
        return tuple(self._results.values())

    def evaluate(self, item: PlannedItem) -> Outcome:
        """The outcome of one item, its receipt written. Never raises for what a command does.

        An item runs once: asked again it has the outcome it had, so that no retry hides a failed oracle (spec 5.2).
        """
        if item.name not in self._results:
            try:
                self._results[item.name] = self._result(item)
            except KeyboardInterrupt:
                nothing = Execution(command=item.given, expected=item.expected)
                stop = blocked("interrupted", "was interrupted, so there is no exit code")
                self._results[item.name] = self._conclude(item, nothing, stop)
                raise
        return to_outcome(item, self._results[item.name])

    @property
    def outcomes(self) -> tuple[Outcome, ...]:
        """Of everything evaluated so far, the item that was interrupted included."""
        return tuple(to_outcome(item, self._results[item.name]) for item in self.items if item.name in self._results)

    def final_check(self) -> Ending | None:
        """Looks once more, now that all is over, whether the reviewed workspace is as it was; gives ``final_taint``."""
        if self._runner is not None and self._taint is None:
            self._taint = self._runner.drift()
        return self._taint

    @property
    def final_taint(self) -> Ending | None:
        """What was found to hold for the whole run: a changed workspace. For ``assemble``."""
        return self._taint

    def _result(self, item: PlannedItem) -> Result:
        nothing = Execution(command=item.given, expected=item.expected)
        stop = self._stop(item)
        if stop is not None:
            return self._conclude(item, nothing, stop)
        if item.guard is not None and item.guard.kind == "check":
            return self._of_checks(item, item.guard)
        if item.guard is not None and item.guard.kind == "prose":
            text = f"mustNotRegress '{one_line(item.guard.check_id)}' has no executable check"
            return self._conclude(item, nothing, blocked("prerequisite-missing", text))
        if item.guard is not None and item.guard.kind == "paths":
            return self._conclude(item, *self._of_paths(item.guard, nothing))
        runnable = self._runnable(item)
        if isinstance(runnable, Ending):
            return self._conclude(item, nothing, runnable)
        execution, ending = self._execute(item, runnable)
        return self._conclude(item, execution, ending, runnable)

    def _stop(self, item: PlannedItem) -> Ending | None:
        """Why nothing may be run for this item at all."""
        stop = blocked_by_mission(item, self.mission)
        if stop is not None:
            return stop
        if self._runner is None:
            return blocked("isolation-missing", self._refused)
        return self._taint

    def _runnable(self, item: PlannedItem) -> Runnable | Ending:
        """What to run for the item, or why it is refused."""
        assert self._runner is not None
        runnable = _of_command(item.command) if item.command else self._of_guard(item.guard)
        if isinstance(runnable, Ending):
            return runnable
        unsafe = refusal(runnable.command)
        if unsafe is not None and item.check_id not in self._options.allow:
            text = f"refused to run `{one_line(runnable.shown)}`: {unsafe}; the conductor may allow it by its checkId"
            return blocked("oracle-unsafe", text)
        if runnable.defaulted and self._options.require_exit_codes:
            return blocked("oracle-invalid", f"needs an expectedExitCode for {item.check_id}")
        missing = self._runner.missing_program(runnable)
        if missing is not None:
            return blocked("prerequisite-missing", f"needs `{missing}`, which is not on PATH")
        return replace(runnable, allowed=unsafe)

    def _of_guard(self, guard: Guard | None) -> Runnable | Ending:
        assert guard is not None
        assert self._runner is not None
        commit = None if guard.baseline is None else self._revision(guard.baseline)
        if isinstance(commit, Ending):
            return commit
        return Runnable(command=guard.command, expected=guard.expected, defaulted=guard.defaulted, baseline=commit)

    def _revision(self, name: str) -> str | Ending:
        assert self._runner is not None
        try:
            return self._runner.git.resolve(name)
        except GitError as error:
            return blocked("prerequisite-missing", f"needs the revision {name}: {error}")

    def _of_paths(self, guard: Guard, nothing: Execution) -> tuple[Execution, Ending]:
        """Paths that may not differ from the baseline: no command is run for them, so there is no exit code."""
        assert self._runner is not None
        assert guard.baseline is not None
        commit = self._revision(guard.baseline)
        stop = commit if isinstance(commit, Ending) else self._runner.drift()
        if stop is not None or isinstance(commit, Ending):
            return nothing, stop or blocked("prerequisite-missing", "needs a baseline")
        try:
            found = compare_paths(self._runner.git, self._runner.env, commit, guard.paths)
        except (FileError, GitError) as error:
            return nothing, blocked("prerequisite-missing", f"the paths could not be compared: {error}")
        return replace(nothing, found=found.report(commit)), _compared_paths(found, guard.baseline)

    def _execute(self, item: PlannedItem, runnable: Runnable) -> tuple[Execution, Ending]:
        assert self._runner is not None
        drift = self._runner.drift()
        if drift is not None:
            return Execution(command=runnable.command, expected=runnable.expected), drift
        execution, ending = self._runner.run(runnable)
        if ending.verdict == "fail" and runnable.baseline is not None:
            base, ending = run_at_baseline(self._runner, runnable, ending)
            if base is not None:
                write_receipt(self.sink, item, *base, self.around, suffix="-baseline")
        return execution, ending

    def _conclude(
        self, item: PlannedItem, execution: Execution, ending: Ending, runnable: Runnable | None = None
    ) -> Result:
        now = self._clock.now_ms()
        if execution.run is None:
            execution = replace(execution, started_ms=now, ended_ms=now)
        if ending.blocked in TAINTS and self._taint is None:
            self._taint = ending
        receipt = write_receipt(self.sink, item, execution, ending, self.around)
        confidence, doubts = confidence_of(ending, execution, runnable, self.around, self._options.inside_reviewed)
        return Result(
            name=item.name,
            check_id=item.check_id,
            verdict=ending.verdict,
            explanation=ending.explanation,
            expected=execution.expected,
            exit_code=ending.exit_code,
            signal=ending.signal,
            blocked=ending.blocked,
            confidence=confidence,
            doubts=doubts,
            observations=_observations(item, execution),
            environment=self.around.summary,
            receipt=receipt,
            seconds=execution.run.result.seconds if execution.run else 0.0,
        )

    def _of_checks(self, item: PlannedItem, guard: Guard) -> Result:
        """A guard that names a check has that check's verdict and evidence (spec 5.6)."""
        found = [r for r in self._results.values() if r.check_id == guard.check_id and r.name.startswith("oracle/")]
        wanted = [i for i in self.items if i.command is not None and i.command.check_id == guard.check_id]
        nothing = Execution(command=guard.check_id, expected=0)
        if not wanted:
            text = f"no oracle command has the checkId {guard.check_id}"
            return self._conclude(item, nothing, blocked("prerequisite-missing", text))
        if len(found) < len(wanted):
            return self._conclude(item, nothing, blocked("not-run", f"the check {guard.check_id} was not run"))
        worst = min(found, key=lambda result: ("fail", "blocked", "pass").index(result.verdict))
        return replace(worst, name=item.name, check_id=item.check_id, observations=(), seconds=0.0)


def _of_command(command: OracleCommand) -> Runnable:
    return Runnable(
        command=command.command,
        expected=command.expected,
        defaulted=command.defaulted,
        cwd=command.cwd,
        timeout_ms=command.timeout_ms,
        variables=command.environment,
    )


def _compared_paths(found: Comparison, baseline: str) -> Ending:
    if found.missing:
        text = f"needs {', '.join(found.missing)} at {baseline}, where it is not"
        return blocked("prerequisite-missing", text)
    if found.changed:
        text = f"changed since the baseline: {', '.join(found.changed[:_MOST_PATHS])}"
        return Ending(verdict="fail", explanation=text)
    return Ending(verdict="pass", explanation="unchanged since the baseline", doubt=found.doubt)


def _observations(item: PlannedItem, execution: Execution) -> tuple[str, ...]:
    run = execution.run
    if run is None:
        return ()
    found = []
    if run.writes:
        shown = ", ".join(run.writes[:3]) + (", …" if len(run.writes) > 3 else "")
        found.append(f"{item.check_id} wrote {len(run.writes)} paths in the disposable workspace: {one_line(shown)}")
    if run.result.dropped or run.result.dropped_stderr:
        found.append(f"{item.check_id}: output kept only in part")
    return tuple(found)
