"""Golden files of reports: what each report says of the run that holds one outcome of each kind."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path

import pytest

GOLDEN = Path(__file__).parent / "golden"


@pytest.fixture
def golden() -> Callable[[str, str], None]:
    """Compares a text with a golden file; with the variable WRITE_GOLDEN set, the file is replaced first."""

    def compare(name: str, text: str) -> None:
        path = GOLDEN / name
        if os.environ.get("WRITE_GOLDEN"):
            path.write_text(text, "utf-8")
        assert text == path.read_text("utf-8")

    return compare
