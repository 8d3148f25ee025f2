"""syntax/slugs.py (design 2.1, 2.6)."""

from __future__ import annotations

import re

from hypothesis import given
from hypothesis import strategies as st

from pytest_reqfile.syntax.slugs import slugs


def test_other_characters_become_one_dash() -> None:
    """At the ends they are dropped; letters keep their case."""
    assert slugs(["with down passes", "Ünï-code", "[x] y", "a_b.c", "..", "-x-"]) == (
        "with-down-passes",
        "n--code",
        "x-y",
        "a_b.c",
        "example",
        "x",
    )


def test_a_taken_slug_is_numbered() -> None:
    """In order, also where a name looks numbered already."""
    assert slugs(["a b", "a-b", "a-b-2", "a/b"]) == ("a-b", "a-b-2", "a-b-2-2", "a-b-3")


def test_nothing_left_is_named() -> None:
    """As the caller says."""
    assert slugs(["", "   ", "…"], empty="case") == ("case", "case-2", "case-3")


@given(st.lists(st.text()))
def test_slugs_are_unique_and_fit_for_items(names: list[str]) -> None:
    """One for each name, whatever it holds."""
    found = slugs(names)
    assert len(found) == len(set(found)) == len(names)
    assert all(re.fullmatch(r"[A-Za-z0-9_.-]+", slug) for slug in found)
