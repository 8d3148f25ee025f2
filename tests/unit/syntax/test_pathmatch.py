"""Go's ``path.Match``, row by row from its documentation and its own edge cases."""

from __future__ import annotations

import pytest

from pytest_reqfile.syntax.pathmatch import path_match


@pytest.mark.parametrize(
    ("pattern", "name", "expected"),
    [
        ("abc", "abc", True),
        ("", "", True),
        ("", "a", False),
        ("*", "", True),
        ("*", "abc", True),
        ("*", "a/b", False),
        ("*c", "abc", True),
        ("a*", "ab/c", False),
        ("a*/b", "abc/b", True),
        ("a*/b", "a/c/b", False),
        ("a*b*c*d*e*/f", "axbxcxdxe/f", True),
        ("a*b*c*d*e*/f", "axbxcxdxexxx/fff", False),
        ("a*b?c*x", "abxbbxdbxebxczzx", True),
        ("ab[c]", "abc", True),
        ("ab[b-d]", "abc", True),
        ("ab[e-g]", "abc", False),
        ("ab[^c]", "abc", False),
        ("ab[^e-g]", "abc", True),
        ("a\\*b", "a*b", True),
        ("a\\*b", "ab", False),
        ("a?b", "a☺b", True),
        ("a[^a]b", "a☺b", True),
        ("a???b", "a☺b", False),
        ("[a-ζ]*", "α", True),
        ("*[a-ζ]", "A", False),
        ("a?b", "a/b", False),
        ("a[^x]b", "a/b", True),
        ("[\\]a]", "]", True),
        ("[\\-x]", "-", True),
        ("[x\\-]", "z", False),
        ("[]a]", "]", False),
        ("[-]", "-", False),
        ("[x-]", "x", False),
        ("[-x]", "x", False),
        ("\\", "a", False),
        ("[a-b-c]", "a", False),
        ("[", "a", False),
        ("[^", "a", False),
        ("a[", "a", False),
        ("a[", "ab", False),
        ("*x", "xxx", True),
        ("[z-a]", "m", False),
        ("[^z-a]", "m", True),
        ("a]", "a]", True),
        ("**", "ab", True),
        ("a\nb", "a\nb", True),
        ("?", "\n", True),
    ],
)
def test_path_match(pattern: str, name: str, expected: bool) -> None:
    """The whole name must match; bad patterns match nothing."""
    assert path_match(pattern, name) is expected


def test_many_stars_are_fast() -> None:
    """A hostile pattern of a repository cannot stall a run."""
    assert not path_match("*a" * 200 + "b", "a" * 2000)
