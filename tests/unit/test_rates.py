"""rates.py (spec/reqfile.md 6.4, spec/verifiers.md 6.1)."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pytest_reqfile.rates import wilson


@pytest.mark.parametrize(
    ("hits", "total", "interval"),
    [(1, 4, (5, 70)), (1, 2, (9, 91)), (1, 1, (21, 100)), (0, 1, (0, 79)), (50, 100, (40, 60)), (0, 0, None)],
)
def test_intervals(hits: int, total: int, interval: tuple[int, int] | None) -> None:
    """Those of the conformance cases, and a textbook one."""
    assert wilson(hits, total) == interval


@given(st.integers(1, 10_000).flatmap(lambda total: st.tuples(st.integers(0, total), st.just(total))))
def test_the_rate_lies_in_its_interval(counts: tuple[int, int]) -> None:
    """And the interval in 0 to 100, mirrored for misses."""
    hits, total = counts
    found, mirrored = wilson(hits, total), wilson(total - hits, total)
    assert found is not None
    assert mirrored is not None
    low, high = found
    assert 0 <= low <= round(100 * hits / total) + 1
    assert round(100 * hits / total) - 1 <= high <= 100
    assert abs(low - (100 - mirrored[1])) <= 1
