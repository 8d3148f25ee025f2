"""Time as something that is handed in."""

from __future__ import annotations

import time
from datetime import UTC, datetime
from typing import Protocol


class Clock(Protocol):
    """``now_ms``: milliseconds since 1970, UTC. ``monotonic``: seconds from an arbitrary start, for durations."""

    def now_ms(self) -> int: ...

    def monotonic(self) -> float: ...


def utc_now(clock: Clock) -> datetime:
    """The time of ``clock`` as a date and time in UTC."""
    return datetime.fromtimestamp(clock.now_ms() / 1000, UTC)


def thread_seconds() -> float:
    """Processor time of this thread: what a computation cost, however busy the machine is."""
    return time.thread_time()


class SystemClock:
    """The clock of this machine."""

    def now_ms(self) -> int:
        return time.time_ns() // 1_000_000

    def monotonic(self) -> float:
        return time.monotonic()
