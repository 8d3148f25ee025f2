"""What every match of a pattern contains."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from pytest_reqfile.errors import ReqfileError
from pytest_reqfile.syntax.patterns import compile_pattern
from pytest_reqfile.verifiers.literals import required_literal


@pytest.mark.parametrize(
    ("pattern", "literal"),
    [
        ("abc", b"abc"),
        (r"\blegacy_handler\(", b"legacy_handler("),
        (r"(?m)^import foo$", b"import foo"),
        ("abcd?e", b"abc"),
        ("abc+d", b"abc"),
        ("ab*c", b"a"),
        ("ab{2}cd", b"cd"),
        ("a(?:long text)?b", b"a"),
        ("x[abc]yz", b"yz"),
        ("x[]a]yz", b"yz"),
        ("é+ab", b"ab"),
        ("TODO|FIXME", b""),
        ("(?i)abc", b""),
        (r"a\x41b", b""),
        (r"\Qa.b\E", b""),
        (r"\pLabc", b""),
        ("[[:alpha:]]abc", b""),
        ("(?:a|b)cde", b""),
        ("", b""),
        ("a{x", b""),
    ],
)
def test_literal(pattern: str, literal: bytes) -> None:
    """Plain cases, and those that nothing is known of."""
    assert required_literal(pattern) == literal


PIECES = st.sampled_from(
    [
        *("a", "b", "ab", ".", "^", "$", "é", " ", "-", "]", ","),
        *(r"\b", r"\.", r"\(", r"\d", r"\n", r"\x61", r"\\", r"\z", r"\Qa\E"),
        *("*", "?", "+", "{2}", "{0,1}", "*?", "{", "}"),
        *("(", ")", "(?:", "(?i)", "(?m)", "(?s:", "(?P<n>", "|", "[ab]", "[^a]", "[]a]", "[[:alpha:]]", "["),
    ]
)


@settings(max_examples=600, deadline=None)
@given(pieces=st.lists(PIECES, max_size=8), data=st.text("abéA. -(\\\n]", max_size=12).map(str.encode))
def test_every_match_contains_it(pieces: list[str], data: bytes) -> None:
    """Whatever the pattern: a text without the literal has no match."""
    pattern = "".join(pieces)
    try:
        compiled = compile_pattern(pattern)
    except ReqfileError:
        return
    found = compiled.search(data)
    if found is not None:
        assert required_literal(pattern) in data[found[0] : found[1]]
