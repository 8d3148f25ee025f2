"""Invalid UTF-8 in texts: patterns against Python's re over characters, each invalid byte one U+FFFD."""

from __future__ import annotations

import re

from hypothesis import assume, given
from hypothesis import strategies as st

from pytest_reqfile.syntax.patterns import Haystack, compile_pattern

DATA = st.lists(
    st.sampled_from([b"a", b"b", b"\n", b"\xff", b"\xe2", b"\x82", "é".encode(), "日".encode(), b"\xed\xa0\x80"])
).map(b"".join)
# The common subset of both engines, in which they mean the same.
PATTERNS = st.lists(
    st.sampled_from(
        [".", "a", "b", "[^a]", "(?:a|b)", "a?", "b*", "(?:.)+?", "\\b", "\\B", "\ufffd", "é", "(?:^)", "(?:a|)"]
    ),
    min_size=1,
    max_size=4,
).map("".join)


def _characters(data: bytes) -> list[tuple[str, int]]:
    """The characters as Go steps through them, each with its width in bytes."""
    found, place = [], 0
    while place < len(data):
        for width in (1, 2, 3, 4):
            try:
                found.append((data[place : place + width].decode(), width))
                break
            except UnicodeDecodeError:
                continue
        else:
            found.append(("\ufffd", 1))
            width = 1
        place += width
    return found


@given(PATTERNS, DATA)
def test_spans_are_those_of_a_search_over_characters(pattern: str, data: bytes) -> None:
    """First and all matches; Python's re finds the same over the decoded text but for empty ones behind a match."""
    assume(data or "\\B" not in pattern)  # before 3.14 Python has no `\B` in an empty text
    characters = _characters(data)
    text = "".join(character for character, _ in characters)
    offsets = [0]
    for _, width in characters:
        offsets.append(offsets[-1] + width)
    expected, last = [], -1
    for match in re.compile(pattern, re.ASCII).finditer(text):
        start, end = match.span()
        if not (start == end == last):
            expected.append((offsets[start], offsets[end]))
        last = end
    compiled = compile_pattern(pattern)
    assert compiled.search(data) == (expected[0] if expected else None)
    assert list(compiled.finditer(data)) == expected


@given(DATA)
def test_offsets_go_both_ways(data: bytes) -> None:
    """At every boundary of characters."""
    haystack, place = Haystack(data), 0
    for character, width in [*_characters(data), ("", 0)]:
        readable = haystack.readable_offset(place)
        assert haystack.offset(readable) == place
        assert haystack.readable[readable:].startswith(character.encode())
        place += width
