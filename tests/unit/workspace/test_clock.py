"""workspace/clock.py."""

from __future__ import annotations

from datetime import UTC, datetime

from pytest_reqfile.workspace.clock import Clock, SystemClock


def test_system_clock() -> None:
    """Milliseconds of the calendar, seconds that only go forward."""
    clock: Clock = SystemClock()
    before = datetime.now(UTC).timestamp()
    now = clock.now_ms() / 1000
    assert before - 0.01 <= now <= datetime.now(UTC).timestamp() + 0.01
    assert clock.monotonic() <= clock.monotonic()
