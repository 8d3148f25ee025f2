"""How long a run waits in vain for a service before it takes it for dead (issue 8.2)."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Final

from pytest_reqfile.reqfile.jev import JevError
from pytest_reqfile.reqfile.settings import DecisionSettings
from pytest_reqfile.workspace.clock import Clock, SystemClock

LOST_SECONDS: Final = 600.0
"""What requests that run side by side may wait together without a single answer."""


class Patience:
    """Seconds lost on each service since its last answer: two thousand units times three minutes are never waited."""

    def __init__(self, clock: Clock | None = None) -> None:
        self._clock = clock or SystemClock()
        self._lock = threading.Lock()
        self._lost: dict[DecisionSettings, float] = {}

    def is_over(self, settings: DecisionSettings) -> str | None:
        """Why nothing more is asked with these settings, if so."""
        with self._lock:
            lost = self._lost.get(settings, 0.0)
        return f"not asked: Jev kept this run waiting for {lost:.0f} seconds" if lost > LOST_SECONDS else None

    @contextmanager
    def request(self, settings: DecisionSettings) -> Iterator[None]:
        """Around one request, all its attempts and waits included."""
        start = self._clock.monotonic()
        try:
            yield
        except JevError:
            with self._lock:
                self._lost[settings] = self._lost.get(settings, 0.0) + self._clock.monotonic() - start
            raise
        with self._lock:
            self._lost[settings] = 0.0
