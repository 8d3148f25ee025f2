"""rates.py (spec/reqfile.md 6.4, spec/verifiers.md 6.1)."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pytest_reqfile.rates import wilson, wilson_interval


@pytest.mark.parametrize(
    ("hits", "total", "interval"),
    [(1, 4, (5, 70)), (1, 2, (9, 91)), (1, 1, (21, 100)), (0, 1, (0, 79)), (50, 100, (40, 60)), (0, 0, None)],
)
def test_intervals(hits: int, total: int, interval: tuple[int, int] | None) -> None:
    """Those of the conformance cases, and a textbook one."""
    assert wilson(hits, total) == interval


@pytest.mark.case("verifiers:D-36")
@pytest.mark.parametrize(
    ("hits", "total", "low", "high"),
    [
        (5, 5, 0.565509, 1),
        (5, 10, 0.236590, 0.763410),
        (4, 5, 0.375528, 0.963777),
        (8, 10, 0.490157, 0.943319),
        (10, 10, 0.722460, 1),
        (0, 5, 0, 0.434491),
    ],
)
def test_published_intervals(hits: int, total: int, low: float, high: float) -> None:
    """The six of spec/verifiers.md 12."""
    assert wilson_interval(hits, total) == pytest.approx((low, high), abs=5e-7)


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
