"""Every edge case of spec oracle.md 9 is shown by a test that carries its number."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

TESTS = Path(__file__).parents[2]
CASE = re.compile(r'case\("oracle:9\.(\d+)"\)')


@pytest.mark.parametrize("number", range(1, 21))
def test_an_edge_case_is_shown(number: int) -> None:
    """A case that lost its test would go unseen."""
    files = [path for path in TESTS.rglob("test_*.py") if "oracle" in str(path.relative_to(TESTS))]
    assert str(number) in {found for path in files for found in CASE.findall(path.read_text("utf-8"))}
