"""Work in a few threads that never keeps the process from ending."""

from __future__ import annotations

import threading
from collections.abc import Callable, Sequence
from queue import Empty, SimpleQueue
from typing import Final

_POLL_SECONDS: Final = 0.05
_MOST_THREADS: Final = 256
"""A system gives a process so many threads and open connections without being asked."""


def in_threads(tasks: Sequence[Callable[[], None]], count: int, stopped: Callable[[], bool]) -> bool:
    """Run the tasks, started in order, in at most ``count`` threads; False when ``stopped`` before all had ended.

    An interrupt ends the waiting at once. The threads are daemons: one that hangs in the system's resolver must not
    hold a run that was told to end.
    """
    waiting = iter(tasks)
    lock = threading.Lock()
    halt = threading.Event()
    ended: SimpleQueue[bool] = SimpleQueue()

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
                ended.put(done)

    for number in range(min(count, len(tasks), _MOST_THREADS)):
        threading.Thread(target=labour, name=f"reqfile-ask-{number}", daemon=True).start()
    try:
        return all(_awaited(ended, stopped) for _ in tasks)
    finally:
        halt.set()


def _awaited(ended: SimpleQueue[bool], stopped: Callable[[], bool]) -> bool:
    while not stopped():
        try:
            done = ended.get(timeout=_POLL_SECONDS)
        except Empty:
            continue
        if not done:
            raise RuntimeError("a thread failed; its traceback was printed")
        return True
    return False
