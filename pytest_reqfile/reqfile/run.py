"""Evaluating planned checks, commands in parallel, results in plan order (spec reqfile.md 3.2; design 2.5)."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from typing import Protocol

from pytest_reqfile.outcome import Outcome
from pytest_reqfile.reqfile.command import CommandContext, evaluate_command
from pytest_reqfile.reqfile.outcomes import left_out, not_judged
from pytest_reqfile.reqfile.plan import PlannedCheck
from pytest_reqfile.reqfile.values import CommandCheck, DecisionCheck
from pytest_reqfile.workspace.processes import Cancellation, result_of


class Observer(Protocol):
    """Told when a check starts and ends; called from several threads."""

    def started(self, planned: PlannedCheck) -> None:
        """The check is running now."""

    def ended(self, planned: PlannedCheck, outcome: Outcome) -> None:
        """The check has its outcome."""


Judge = Callable[[Sequence[PlannedCheck]], Sequence[Outcome]]
"""Judges decision checks that are to run, all of them together, so that each code unit is asked about once."""


def evaluate_check(planned: PlannedCheck, context: CommandContext, judge: Judge | None = None) -> Outcome:
    """The outcome of one planned check; one that is not to run says why."""
    if planned.state != "run":
        return left_out(planned)
    if isinstance(planned.check, CommandCheck):
        return evaluate_command(planned, context)
    return not_judged(planned, context.edition) if judge is None else judge((planned,))[0]


def evaluate_checks(
    planned: Sequence[PlannedCheck],
    context: CommandContext,
    *,
    workers: int,
    judge: Judge | None = None,
    observer: Observer | None = None,
) -> tuple[Outcome, ...]:
    """The outcomes in the order of ``planned``; at most ``workers`` commands run at a time, beside the judge.

    An interrupt stops every running command and is raised again once none is left; the judge is told by the context's
    cancellation.
    """
    cancellation = context.cancellation or Cancellation()
    run = _Run(planned, replace(context, cancellation=cancellation), judge, observer or _Nobody())
    groups = run.groups()
    pool = ThreadPoolExecutor(max_workers=workers + run.judges, thread_name_prefix="reqfile")
    try:  # an interrupt may come while the first check runs and the others are still being handed over
        found: dict[int, Outcome] = {}
        for future in [pool.submit(run.evaluate, group) for group in groups]:
            outcomes = result_of(future)
            found |= outcomes
        return tuple(found[index] for index in range(len(planned)))
    except BaseException:
        pool.shutdown(wait=False, cancel_futures=True)
        cancellation.cancel()
        raise
    finally:
        pool.shutdown()


class _Nobody:
    """Watches nothing."""

    def started(self, planned: PlannedCheck) -> None:
        del planned

    def ended(self, planned: PlannedCheck, outcome: Outcome) -> None:
        del planned, outcome


class _Run:
    """Checks in groups that are evaluated at once: the decision checks as one, each other check by itself."""

    def __init__(
        self, planned: Sequence[PlannedCheck], context: CommandContext, judge: Judge | None, observer: Observer
    ) -> None:
        self._planned = planned
        self._context = context
        self._judge = judge
        self._observer = observer
        self._together = [i for i, check in enumerate(planned) if judge is not None and _is_decision(check)]

    @property
    def judges(self) -> bool:
        """Whether a group is for the judge."""
        return bool(self._together)

    def groups(self) -> list[list[int]]:
        """Places in the plan; what is judged goes first, as it mostly waits."""
        together = frozenset(self._together)
        alone = [[index] for index in range(len(self._planned)) if index not in together]
        return [self._together, *alone] if self._together else alone

    def evaluate(self, group: Sequence[int]) -> dict[int, Outcome]:
        """The outcomes of one group."""
        checks = [self._planned[index] for index in group]
        runs = [check for check in checks if check.state == "run"]
        for check in runs:
            self._observer.started(check)
        if self._judge is not None and group is self._together:
            outcomes = self._judge(checks)
        else:
            outcomes = [evaluate_check(check, self._context) for check in checks]
        for check, outcome in zip(checks, outcomes, strict=True) if runs else ():
            self._observer.ended(check, outcome)
        return dict(zip(group, outcomes, strict=True))


def _is_decision(check: PlannedCheck) -> bool:
    return check.state == "run" and isinstance(check.check, DecisionCheck)
