"""The project's own Reqfile.yaml and the cases behind it belong together."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from pytest_reqfile.reqfile.format import parse_reqfile
from tests.cases.conftest import REQUIREMENTS

ROOT = Path(__file__).parent.parent
CASE = re.compile(r'case\("reqfile:([A-Z])')


def test_every_promise_has_cases() -> None:
    """Each product requirement of Reqfile.yaml is one that cases are linked to, and the other way round."""
    promised = parse_reqfile((ROOT / "Reqfile.yaml").read_text("utf-8"), "Reqfile.yaml")
    ids = {block.id for block in promised.blocks if block.kind == "product"}
    assert ids == set(REQUIREMENTS.values())


@pytest.mark.parametrize("letter", REQUIREMENTS)
def test_every_requirement_is_shown_by_a_case(letter: str) -> None:
    """A requirement without a case would run nothing and so be an error of its check."""
    texts = (file.read_text("utf-8") for file in sorted((ROOT / "tests" / "cases").glob("test_reqfile_*.py")))
    assert letter in {found for text in texts for found in CASE.findall(text)}
