"""Work in a few threads that never keeps the process from ending."""

from __future__ import annotations

import threading
from collections.abc import Callable, Sequence
from typing import Final

_POLL_SECONDS: Final = 0.05
_MOST_THREADS: Final = 256
"""A system gives a process so many threads and open connections without being asked."""


def in_threads(tasks: Sequence[Callable[[], None]], count: int, stopped: Callable[[], bool]) -> bool:
    """Run the tasks, started in order, in at most ``count`` threads; False when ``stopped`` before all had ended.

    An interrupt ends the waiting at once. The threads are daemons: one that hangs in the system's resolver must not
    hold a run that was told to end.
    """
    if stopped():
        return False
    waiting = iter(tasks)
    lock = threading.Lock()
    halt = threading.Event()
    over = threading.Event()
    ended: list[bool] = []

    def labour() -> None:
        while not halt.is_set():
            with lock:
                task = next(waiting, None)
            if task is None:
                return
            done = False
            try:
                task()
                done = True
            finally:
                ended.append(done)
                if not done or len(ended) == len(tasks):
                    over.set()

    for number in range(min(count, len(tasks), _MOST_THREADS)):
        threading.Thread(target=labour, name=f"reqfile-ask-{number}", daemon=True).start()
    try:
        return not tasks or _is_over(over, stopped, ended)
    finally:
        halt.set()


def _is_over(over: threading.Event, stopped: Callable[[], bool], ended: Sequence[bool]) -> bool:
    """Waits for the end of all, not of each: who waits would take its turn from the threads that work."""
    while not stopped():
        if over.wait(_POLL_SECONDS):
            if not all(ended):
                raise RuntimeError("a thread failed; its traceback was printed")
            return True
    return False
