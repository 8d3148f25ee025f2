"""Links every case of cases/reqfile.md to the requirement of seed 004 that it shows, by the letters of that file."""

from __future__ import annotations

from typing import Final

import pytest

REQUIREMENTS: Final = {
    "A": "REQFILE_FORMAT",
    "B": "CHECKS_DECLARED",
    "C": "CASCADE",
    "D": "CONFIG_CASCADE",
    "E": "EXCLUDE",
    "F": "COMMAND_CHECK",
    "G": "DECISION_CHECK",
    "H": "SELECTION",
    "I": "FAST_PATH",
    "J": "RUN_LOG",
    "K": "EXPLAIN",
    "L": "LIST",
    "M": "NO_FALSE_GREEN",
    "N": "OUTPUT",
    "O": "EXAMPLES",
}


def pytest_itemcollected(item: pytest.Item) -> None:
    """``case("reqfile:A2")`` is also ``requirement("REQFILE_FORMAT")``."""
    for mark in item.iter_markers("case"):
        table, _, case = str(mark.args[0]).partition(":")
        if table == "reqfile" and case[:1] in REQUIREMENTS:
            item.add_marker(pytest.mark.requirement(REQUIREMENTS[case[:1]]))
