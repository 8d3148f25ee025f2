"""Work in a few threads (issue 8.2): how many, in which order, and how it ends."""

from __future__ import annotations

import threading
import time
from functools import partial

import pytest

from pytest_reqfile.reqfile.threads import in_threads


def never() -> bool:
    return False


@pytest.mark.parametrize(("tasks", "count"), [(0, 4), (1, 4), (9, 1), (9, 3), (3, 9)])
def test_every_task_runs_once_in_at_most_so_many_threads(tasks: int, count: int) -> None:
    """Started in order."""
    lock = threading.Lock()
    started: list[int] = []
    now, most = [0], [0]

    def work(number: int) -> None:
        with lock:
            started.append(number)
            now[0] += 1
            most[0] = max(most[0], now[0])
        time.sleep(0.01)
        with lock:
            now[0] -= 1

    assert in_threads([partial(work, number) for number in range(tasks)], count, never)
    assert sorted(started) == list(range(tasks))
    assert most[0] <= count
    assert count > 1 or started == list(range(tasks))


def test_no_config_makes_more_threads_than_a_system_gives() -> None:
    """``concurrency`` may be any number."""
    most = [0]

    def work() -> None:
        most[0] = max(most[0], sum(thread.name.startswith("reqfile-ask") for thread in threading.enumerate()))
        time.sleep(0.01)

    assert in_threads([work] * 1000, 100_000, never)
    assert 1 < most[0] <= 256


def test_stopping_ends_the_waiting_and_starts_nothing_more() -> None:
    """What hangs is left behind: the threads do not keep a process from ending."""
    release = threading.Event()
    started: list[int] = []

    def hang(number: int) -> None:
        started.append(number)
        release.wait(20)

    began = time.monotonic()
    assert not in_threads([partial(hang, number) for number in range(5)], 2, lambda: len(started) == 2)
    assert time.monotonic() - began < 5
    release.set()
    time.sleep(0.1)
    assert started == [0, 1]


def test_what_was_stopped_before_it_began_does_not_begin() -> None:
    """Not a single request after Ctrl-C."""
    begun: list[int] = []
    assert not in_threads([partial(begun.append, 1)], 4, lambda: True)
    time.sleep(0.05)
    assert begun == []


def test_a_bug_in_a_task_is_no_quiet_end(monkeypatch: pytest.MonkeyPatch) -> None:
    """Its own traceback is printed by its thread; who waits learns of it."""
    printed: list[type[BaseException]] = []
    monkeypatch.setattr(threading, "excepthook", lambda thrown: printed.append(thrown.exc_type))

    def broken() -> None:
        raise ZeroDivisionError

    with pytest.raises(RuntimeError, match="a thread failed"):
        in_threads([broken], 1, never)
    assert printed == [ZeroDivisionError]
