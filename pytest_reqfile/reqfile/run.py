"""Evaluating planned checks, commands in parallel, results in plan order (spec reqfile.md 3.2; design 2.5)."""

from __future__ import annotations

from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import Protocol

from pytest_reqfile.outcome import Outcome
from pytest_reqfile.reqfile.command import CommandContext, evaluate_command
from pytest_reqfile.reqfile.outcomes import left_out, not_judged
from pytest_reqfile.reqfile.plan import PlannedCheck
from pytest_reqfile.reqfile.values import CommandCheck


class Observer(Protocol):
    """Told when a check starts and ends; called from several threads."""

    def started(self, planned: PlannedCheck) -> None:
        """The check is running now."""

    def ended(self, planned: PlannedCheck, outcome: Outcome) -> None:
        """The check has its outcome."""


def evaluate_check(planned: PlannedCheck, context: CommandContext) -> Outcome:
    """The outcome of one planned check; one that is not to run says why."""
    if planned.state != "run":
        return left_out(planned)
    if isinstance(planned.check, CommandCheck):
        return evaluate_command(planned, context)
    return not_judged(planned, context.edition)


def evaluate_checks(
    planned: Sequence[PlannedCheck], context: CommandContext, *, workers: int, observer: Observer | None = None
) -> tuple[Outcome, ...]:
    """The outcomes in the order of ``planned``; at most ``workers`` checks run at a time.

    An interrupt stops every running command and is raised again once none is left.
    """

    def evaluate(check: PlannedCheck) -> Outcome:
        if observer is not None and check.state == "run":
            observer.started(check)
        outcome = evaluate_check(check, context)
        if observer is not None and check.state == "run":
            observer.ended(check, outcome)
        return outcome

    if workers == 1 or sum(check.state == "run" for check in planned) <= 1:
        return tuple(map(evaluate, planned))
    with ThreadPoolExecutor(max_workers=workers, thread_name_prefix="reqfile") as pool:
        futures = [pool.submit(evaluate, check) for check in planned]
        try:
            return tuple(future.result() for future in futures)
        except BaseException:
            pool.shutdown(wait=False, cancel_futures=True)
            if context.cancellation is not None:
                context.cancellation.cancel()
            raise
