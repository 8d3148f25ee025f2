"""Two waits at once."""

from __future__ import annotations

import threading

import pytest

from pytest_reqfile.workspace.parallel import at_once


def test_both_at_once() -> None:
    """Each waits for the other, so they run together."""
    barrier = threading.Barrier(2, timeout=10)

    def wait(name: str) -> str:
        barrier.wait()
        return name

    assert at_once(lambda: wait("one"), lambda: wait("other")) == ("one", "other")


def test_failures() -> None:
    """What either raises is raised; the first one's wins."""

    def fail(error: Exception) -> int:
        raise error

    with pytest.raises(KeyError):
        at_once(lambda: 1, lambda: fail(KeyError("other")))
    with pytest.raises(ValueError, match="one"):
        at_once(lambda: fail(ValueError("one")), lambda: fail(KeyError("other")))
