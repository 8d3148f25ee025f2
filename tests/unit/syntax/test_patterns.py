"""syntax/patterns.py: the table of where google-re2 and Go's regexp differ (spec/verifiers.md 2.9)."""

from __future__ import annotations

import sys
from types import ModuleType

import pytest

from pytest_reqfile.errors import ReqfileError
from pytest_reqfile.syntax.patterns import Haystack, PatternError, compile_pattern
from pytest_reqfile.syntax.re2_library import load_re2, quote


@pytest.mark.parametrize(
    ("pattern", "text", "span"),
    [
        ("a$", b"a\n", None),
        ("(?m)a$", b"a\n", (0, 1)),
        ("(?m)a$", b"a\r\n", None),
        (r"a\z", b"a", (0, 1)),
        (r"\d", "٣".encode(), None),
        (r"\w+", "é1".encode(), (2, 3)),
        (r"\s", b"\v", None),
        (r"\v", b"\v", (0, 1)),
        ("a.b", b"a\nb", None),
        ("(?s)a.b", b"a\nb", (0, 3)),
        ("a[^x]b", b"a\nb", (0, 3)),
        ("a+?", b"aaa", (0, 1)),
        ("(?U)a+", b"aaa", (0, 1)),
        ("a|ab", b"ab", (0, 1)),
        ("a(?i)b", b"aB", (0, 2)),
        ("(?i)k", "\u212a".encode(), (0, 3)),
        (r"(?i)\w", "ſ".encode(), (0, 2)),
        (r"\pL", "é".encode(), (0, 2)),
        (r"\p{Greek}", "aβ".encode(), (1, 3)),
        ("[[:alpha:]]+", b"1ab", (1, 3)),
        (r"\Qa.b\E+", b"a.bb", (0, 4)),
        ("a{,3}", b"a{,3}", (0, 5)),
        (r"\x{e9}", "é".encode(), (0, 2)),
        (r"\101", b"A", (0, 1)),
        ("(?P<n>a)(?<m>b)", b"ab", (0, 2)),
        ("(?:a{10}){100}", b"a" * 1000, (0, 1000)),
        (r"\pL{500}", b"a" * 500, (0, 500)),
        ("(|a)*", b"aa", (0, 0)),
        ("(|a)+", b"aa", (0, 0)),
        # Invalid UTF-8: each byte is one U+FFFD
        ("a.b", b"a\xffb", (0, 3)),
        ("a..b", b"a\xe2\x82b", (0, 4)),
        ("a.b", b"a\xe2\x82b", None),
        (r"\x{FFFD}", b"a\xff", (1, 2)),
        ("[^a]+", b"\xffa", (0, 1)),
        ("b", b"\xff\xfe\xfdab", (4, 5)),
        ("...", b"\xed\xa0\x80", (0, 3)),
        ("é", "é".encode("latin-1"), None),
        # Assertions hold between characters only
        (r"\B", "aé".encode(), (3, 3)),
    ],
)
def test_read_as_go_reads_it(pattern: str, text: bytes, span: tuple[int, int] | None) -> None:
    """The first match, in bytes of the text given."""
    assert compile_pattern(pattern).search(text) == span


@pytest.mark.parametrize(
    ("pattern", "reason"),
    [
        ("(", "missing ): ("),
        ("a**", "bad repetition operator: **"),
        ("*", "no argument for repetition operator: *"),
        ("x{1001}", "invalid repetition size: {1001}"),
        ("(?:x{100}){11}", "invalid repetition size: {11}"),
        (r"\Z", r"invalid escape sequence: \Z"),
        (r"(a)\1", r"invalid escape sequence: \1"),
        (r"\u00e9", r"invalid escape sequence: \u"),
        (r"\é", r"invalid escape sequence: \é"),
        ("(?=a)", "invalid perl operator: (?="),
        ("(?<=a)", "invalid perl operator: (?<="),
        ("(?>a)", "invalid perl operator: (?>"),
        ("a++", "bad repetition operator: ++"),
        ("(?x)a", "invalid perl operator: (?x"),
        ("[z-a]", "invalid character class range: z-a"),
        # Accepted by google-re2, refused by Go
        (r"a\Cb", r"invalid escape sequence: \C"),
        ("(?P<n>a)(?P<n>b)", "duplicate capture group name: n"),
        ("(?<n>a)|(?P<n>b)", "duplicate capture group name: n"),
        ("(?P<é>a)", "invalid named capture group: (?P<é>"),
        ("\ud800", "invalid UTF-8"),
    ],
)
def test_refused_with_the_reason(pattern: str, reason: str, capfd: pytest.CaptureFixture[str]) -> None:
    """As text, and without RE2's own words on stderr."""
    with pytest.raises(PatternError) as caught:
        compile_pattern(pattern)
    assert str(caught.value) == reason
    assert capfd.readouterr().err == ""


@pytest.mark.parametrize(
    "pattern",
    [r"\\C", r"\Q\C\E", r"[\\C]C", r"[(?P<n>](?P<n>a)", r"\(?P<n>(?P<n>a)", r"[]\\C]", r"[[:word:]\]\\C]", "\\Q\n"],
)
def test_what_only_looks_refused_is_accepted(pattern: str) -> None:
    """Quoted, escaped, or in a class."""
    assert compile_pattern(pattern).text == pattern


@pytest.mark.parametrize(
    ("pattern", "text", "spans"),
    [
        ("a*", b"baac", [(0, 0), (1, 3), (4, 4)]),
        ("x*", "aéxx".encode(), [(0, 0), (1, 1), (3, 5)]),
        ("", "é!".encode(), [(0, 0), (2, 2), (3, 3)]),
        ("", b"", [(0, 0)]),
        ("a|", b"aba", [(0, 1), (2, 3)]),
        ("(?m)^", b"a\nb\n", [(0, 0), (2, 2), (4, 4)]),
        ("(?m)$", b"a\nb", [(1, 1), (3, 3)]),
        ("^a", b"aa", [(0, 1)]),
        (r"\ba", b"aa a", [(0, 1), (3, 4)]),
        (".", b"a\xff\xc3\xa9", [(0, 1), (1, 2), (2, 4)]),
        ("z", b"a", []),
    ],
)
def test_all_matches(pattern: str, text: bytes, spans: list[tuple[int, int]]) -> None:
    """An empty match directly behind a match does not count."""
    assert list(compile_pattern(pattern).finditer(text)) == spans
    assert list(compile_pattern(pattern).finditer(Haystack(text))) == spans


def test_search_from_a_position() -> None:
    """Positions are those of the text given; what is before still counts."""
    text = b"\xff\xffab\xffab"
    assert compile_pattern("ab").search(text, 3) == (5, 7)
    assert compile_pattern("ab").search(Haystack(text), 2) == (2, 4)
    assert compile_pattern("^ab").search(text, 2) is None
    assert compile_pattern(r"\bb").search(b"ab", 1) is None
    assert compile_pattern("a").search(b"a", 1) is None


def test_patterns_of_one_text_are_equal() -> None:
    """And hash alike."""
    assert compile_pattern("a") == compile_pattern("a") != compile_pattern("b")
    assert len({compile_pattern("a"), compile_pattern("a")}) == 1


@pytest.mark.parametrize("character", [*map(chr, range(1, 128)), "é", "\u2028", "\x85", "日"])
def test_a_quoted_character_matches_itself(character: str) -> None:
    """Alone and in a class."""
    data = character.encode()
    assert compile_pattern(f"^{quote(character)}$").search(data) == (0, len(data))
    assert compile_pattern(f"^[{quote(character)}]$").search(data) == (0, len(data))


def test_another_module_named_re2_is_told_apart(monkeypatch: pytest.MonkeyPatch) -> None:
    """pyre2 and fb-re2 install one too (libraries.md 1)."""
    other = ModuleType("re2")
    other.__file__ = "/x/re2.py"
    monkeypatch.setitem(sys.modules, "re2", other)
    with pytest.raises(
        ReqfileError, match=r"^the module re2 at /x/re2.py is not google-re2: .*pyre2 or fb-re2.*reinstall"
    ):
        load_re2()


def test_a_missing_re2_is_told(monkeypatch: pytest.MonkeyPatch) -> None:
    """With the way to get it."""
    monkeypatch.setitem(sys.modules, "re2", None)
    with pytest.raises(ReqfileError, match=r"^google-re2 cannot be imported: .*pip install google-re2"):
        load_re2()
