"""Our JSON reader against Python's."""

from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pytest_reqfile.errors import FormatError, Problem
from pytest_reqfile.syntax.json import read_json
from pytest_reqfile.syntax.nodes import plain

# What we refuse and Python reads.
STRICTER = ("duplicate key", "out of range", "surrogate", "found `N`", "found `I`")
TEXTS = st.text(st.characters(exclude_categories=["Cs"]))
VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | TEXTS,
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(TEXTS, inner, max_size=4),
)


@given(VALUES, st.sampled_from([None, 1, "\t"]), st.booleans())
def test_what_python_writes_is_read_back(value: object, indent: int | str | None, ascii_only: bool) -> None:
    """Whatever the layout."""
    assert plain(read_json(json.dumps(value, indent=indent, ensure_ascii=ascii_only), "f")) == value


@given(st.text(alphabet='[]{}",: \n1-.e0truefalsn\\u\t', max_size=20))
def test_what_is_accepted_python_accepts_with_the_same_value(text: str) -> None:
    """And what is refused by Python is refused, at a line of the text."""
    value, problems = _ours(text)
    assert {problem.line for problem in problems} <= set(range(1, text.count("\n") + 2))
    if not problems:
        assert json.loads(text) == value
    elif not any(word in str(problem) for problem in problems for word in STRICTER):
        with pytest.raises(json.JSONDecodeError):
            json.loads(text)


def _ours(text: str) -> tuple[object, tuple[Problem, ...]]:
    try:
        return plain(read_json(text, "f")), ()
    except FormatError as error:
        return None, error.problems
