"""The listing of a remote's tags (spec/lock.md 6.6; cases T)."""

from __future__ import annotations

import time

import pytest

from pytest_reqfile.lock.tags import Tag, pin_state, read_tags
from tests.support.range_sources import commit, tags

A, B, C = (digit * 40 for digit in "abc")


@pytest.mark.case("lock:T1")
def test_a_listing() -> None:
    """Two tags by name; an annotated one leads to its commit; all else is left out."""
    listing = (
        f"{A}\trefs/tags/v2.0.0\n"
        f"{B}\trefs/tags/v1.0.0\n"
        f"{C}\trefs/tags/v1.0.0^{{}}\n"
        f"{A}\trefs/heads/main\n"
        "garbage\n"
        f"{A.upper()}\trefs/tags/upper\n"
        f"{A}\trefs/tags/con\x07trol\n"
    )
    assert read_tags(listing) == (
        Tag(name="v1.0.0", commit=C, tag_object=B),
        Tag(name="v2.0.0", commit=A),
    )


@pytest.mark.parametrize(
    "line",
    [
        f"{A}  refs/tags/v1.0.0",
        f"{A[1:]}\trefs/tags/v1.0.0",
        f"{A}\trefs/tags/",
        f"{A}\trefs/tags/v1.0.0^{{}}",
        f"{A}\trefs/tags/{'v' * 256}",
        f"{A}\trefs/tags/v1\x9f",
        f"{A}\trefs/tags/v1\udcff",
        f"{A}\trefs/tags/v1.0.0\r",
    ],
)
def test_lines_that_say_nothing(line: str) -> None:
    """Other forms, a peeled tag without its tag, names too long, with control characters, or not UTF-8."""
    assert read_tags(f"{line}\n{A}\trefs/tags/kept\n") == (Tag(name="kept", commit=A),)


def test_odd_names_and_long_ids_are_kept() -> None:
    """A name of 255 bytes, spaces, quotes, other scripts; SHA-256 ids; no newline at the end; bytes order the names."""
    names = ["é" * 127 + "x", "a b", "a\"'\\b", "é", "\U0001f600", "\uffff"]
    listing = "\n".join(f"{A[:32] * 2}\trefs/tags/{name}" for name in names)
    assert [tag.name for tag in read_tags(listing)] == sorted(names, key=str.encode)
    assert {tag.commit for tag in read_tags(listing)} == {A[:32] * 2}


@pytest.mark.case("lock:T14")
def test_what_became_of_a_pin() -> None:
    """The same commit, another one, or gone."""
    listed = tags("v1.0.0 v2.0.0")
    assert pin_state(listed, "v2.0.0", commit(2)) == ("same", commit(2))
    assert pin_state(listed, "v2.0.0", commit(9)) == ("moved", commit(2))
    assert pin_state(listed, "v3.0.0", commit(2)) == ("missing", "")


def test_a_hundred_thousand_tags() -> None:
    """They are read in time that grows with their number alone."""
    listing = "".join(f"{A}\trefs/tags/v1.{n}.0\n{B}\trefs/tags/v1.{n}.0^{{}}\n" for n in range(100_000))
    begun = time.process_time()
    assert len(read_tags(listing)) == 100_000
    assert time.process_time() - begun < 10
