"""Evaluating many checks: order, how many at a time, and the end by a signal (spec reqfile.md 3.2)."""

from __future__ import annotations

import signal
import threading
import time
from dataclasses import replace
from pathlib import Path

import pytest

from pytest_reqfile.outcome import Outcome
from pytest_reqfile.reqfile.command import CommandContext
from pytest_reqfile.reqfile.plan import PlannedCheck
from pytest_reqfile.reqfile.run import evaluate_check, evaluate_checks
from pytest_reqfile.workspace.environment import Environment
from pytest_reqfile.workspace.processes import Cancellation
from tests.support.memory_tree import plan_of
from tests.support.processes import is_alive, pid_in
from tests.support.requirements import OK, command, req, say


@pytest.fixture
def context(tmp_path: Path) -> CommandContext:
    """Commands run in the test's own folder."""
    environment = Environment(variables={"PATH": "/usr/local/bin:/usr/bin:/bin"})
    return CommandContext(
        root=str(tmp_path), environment=environment, edition="0.1", program="reqfile", cancellation=Cancellation()
    )


class Watcher:
    """Remembers how many checks ran at once; may interrupt the run when one ends."""

    def __init__(self, interrupt: bool = False) -> None:
        self._lock = threading.Lock()
        self._interrupt = interrupt
        self._now = 0
        self.most = 0
        self.ended_names: list[str] = []

    def started(self, planned: PlannedCheck) -> None:
        with self._lock:
            self._now += 1
            self.most = max(self.most, self._now)

    def ended(self, planned: PlannedCheck, outcome: Outcome) -> None:
        with self._lock:
            self._now -= 1
            self.ended_names.append(f"{planned.name}: {outcome.status}")
        if self._interrupt:
            raise KeyboardInterrupt


@pytest.mark.parametrize("workers", [1, 2, 8])
def test_outcomes_come_in_plan_order_whatever_ends_first(context: CommandContext, workers: int) -> None:
    """And no more run at a time than there are workers; checks that do not run are not announced."""
    slow = command("sleep 0.2; exit 1")
    checks = [slow, OK, command("true", files="*.none"), say("quick")]
    watcher = Watcher()
    outcomes = evaluate_checks(plan_of({"Reqfile.yaml": req(R1=checks)}), context, workers=workers, observer=watcher)
    assert [(outcome.check, outcome.status) for outcome in outcomes] == [
        ("command-1", "fail"),
        ("command-2", "pass"),
        ("command-3", "nothing_to_check"),
        ("command-4", "fail"),
    ]
    assert watcher.most <= workers
    assert len(watcher.ended_names) == 3


def test_commands_run_beside_each_other(context: CommandContext, tmp_path: Path) -> None:
    """Each of two waits for the other, so one after the other would never end."""
    meet = "touch {0}; for i in $(seq 500); do test -e {1} && exit 0; sleep 0.01; done; exit 1"
    checks = [command(meet.format("a", "b"), timeout=10), command(meet.format("b", "a"), timeout=10)]
    outcomes = evaluate_checks(plan_of({"Reqfile.yaml": req(R1=checks)}), context, workers=2)
    assert [outcome.status for outcome in outcomes] == ["pass", "pass"]


@pytest.mark.parametrize("workers", [1, 2])
def test_an_interrupt_stops_every_running_command(context: CommandContext, tmp_path: Path, workers: int) -> None:
    """And is raised again once none is left."""
    checks = [OK, command("echo > started; sleep 60"), command("sleep 9; echo > late")]
    start = time.monotonic()
    with pytest.raises(KeyboardInterrupt):
        evaluate_checks(
            plan_of({"Reqfile.yaml": req(R1=checks)}), context, workers=workers, observer=Watcher(interrupt=True)
        )
    assert time.monotonic() - start < 20
    assert not (tmp_path / "late").exists()


@pytest.mark.parametrize("checks", [1, 2])
def test_ctrl_c_is_noticed_whichever_thread_the_system_hands_it_to(
    context: CommandContext, tmp_path: Path, checks: int
) -> None:
    """A signal that reaches another thread does not wake the main one, which waits."""

    def strike() -> None:
        pid_in(tmp_path / "pid")
        signal.pthread_kill(threading.get_ident(), signal.SIGINT)

    run = f"echo $$ > {tmp_path}/pid; exec sleep 60"
    planned = plan_of({"Reqfile.yaml": req(R1=[command(run), *[command("sleep 60")] * (checks - 1)])})
    threading.Thread(target=strike).start()
    start = time.monotonic()
    with pytest.raises(KeyboardInterrupt):
        evaluate_checks(planned, context, workers=checks)
    assert time.monotonic() - start < 20
    assert not is_alive(pid_in(tmp_path / "pid"))


def test_a_bug_in_one_check_is_not_swallowed(context: CommandContext) -> None:
    """Bugs keep their traceback; running commands are stopped first."""

    class Broken(Watcher):
        def ended(self, planned: PlannedCheck, outcome: Outcome) -> None:
            raise ZeroDivisionError(planned.name)

    with pytest.raises(ZeroDivisionError):
        evaluate_checks(plan_of({"Reqfile.yaml": req(R1=[OK, OK])}), context, workers=2, observer=Broken())


def test_a_check_left_out_says_why(context: CommandContext) -> None:
    """Deferred, or nothing to check."""
    files: dict[str, str | bytes] = {"Reqfile.yaml": req(R1=[OK, command("x", files="*.none", fast=True)])}
    slow, empty = plan_of(files, fast=True)
    assert [
        (o.status, o.reason, o.looked_at) for o in (evaluate_check(slow, context), evaluate_check(empty, context))
    ] == [
        ("deferred", "left for a full run", 0),
        ("nothing_to_check", "nothing to check: no matching file", 0),
    ]


@pytest.mark.parametrize(
    ("check", "blocking"),
    [("- decision", {"0.1": True, "0.4": False}), ("- decision: {mode: blocking}", {"0.1": True, "0.4": True})],
)
def test_a_decision_that_is_not_judged_is_an_error(
    context: CommandContext, check: str, blocking: dict[str, bool]
) -> None:
    """Every error gates in edition 0.1, those of advisory checks do not in 0.4 (design 3)."""
    (planned,) = plan_of({"Reqfile.yaml": req(R1=check)})
    for edition in ("0.1", "0.4"):
        outcome = evaluate_check(planned, replace(context, edition=edition))
        assert (outcome.status, outcome.blocking) == ("error", blocking[edition])
