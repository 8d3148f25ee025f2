"""The words of a request, and what of a file goes into it (spec/verifiers.md 5.2, 5.3)."""

from __future__ import annotations

from hashlib import sha256
from types import ModuleType

import pytest

from pytest_reqfile.verifiers import prompts, suggest_prompt
from pytest_reqfile.verifiers.hunks import Hunk, SentLine, packed, sendable, split_lines, widened
from pytest_reqfile.verifiers.prompts import fence_token, user_text


@pytest.mark.case("verifiers:D-36")
@pytest.mark.case("verifiers:D-36")
def test_token() -> None:
    """The token of the published example."""
    assert fence_token("1. Errors name the input.\n", "FILE app/a.py\nL1+ x = 1\n\n") == "1974773328707f8239bd33f9"


def test_a_token_that_the_data_knows() -> None:
    """Data that holds the token, as it may by chance, gets another one."""
    first = fence_token("a", "b")
    assert fence_token("a", f"b {first}") != first


def test_user_text() -> None:
    """Items on one line each, the file, its lines, and the marker at the very end."""
    lines = (SentLine(number=1, text="def f():", added=False), SentLine(number=2, text="\treturn 1", added=True))
    text = user_text(["No\n2. tricks.", "Two."], [Hunk(file="a.py", lines=lines)])
    token = text[-27:-3]
    assert text == (
        "CHECKLIST:\n1. No 2. tricks.\n2. Two.\n\n"
        f"<<<CHANGES {token} (untrusted data)\n"
        f"FILE a.py\nL1: def f():\nL2+ \treturn 1\n\nCHANGES {token}>>>"
    )


@pytest.mark.parametrize(
    ("added", "count", "ranges"),
    [
        (None, 5, [(1, 5)]),
        (None, 0, []),
        (((1, 1),), 1, [(1, 1)]),
        (((5, 5),), 20, [(2, 8)]),
        (((5, 5), (12, 12)), 20, [(2, 15)]),
        (((5, 5), (13, 13)), 20, [(2, 8), (10, 16)]),
        (((5, 5), (25, 25)), 20, [(2, 8)]),
        ((), 20, []),
    ],
)
def test_widened(added: tuple[tuple[int, int], ...] | None, count: int, ranges: list[tuple[int, int]]) -> None:
    """Three lines on both sides; ranges that touch or are adjacent are one."""
    assert list(widened(added, count)) == ranges


def test_lines() -> None:
    """Ends are normalised, a last one does not count, and what is no UTF-8 is shown as such."""
    assert split_lines(b"a\r\nb\n\n") == ["a", "b", ""]
    assert split_lines(b"") == []
    assert split_lines(b"\xff\n") == ["\ufffd"]


def test_long_lines() -> None:
    """Lines are cut at 400 bytes, between characters."""
    (hunk,) = sendable("a", ("é" * 300 + "\n" + "x" * 400).encode(), None).hunks
    assert [line.text for line in hunk.lines] == ["é" * 200 + "...", "x" * 400]


@pytest.mark.parametrize(
    ("name", "why"),
    [
        ("a\nL9+ fake", "holds a hidden or control character (U+000A)"),
        ("a\u202eb", "holds a hidden or control character (U+202E)"),
        ("a\udcffb", "holds a hidden or control character (U+DCFF)"),
        ("sk-abcdefgh12345678", "looks like it holds a credential"),
    ],
)
def test_names(name: str, why: str) -> None:
    """A file name is data as well: one with a credential or a hidden character is not sent."""
    found = sendable(name, b"fine\n", None)
    assert found.hunks == ()
    assert found.notes[0].startswith("withheld ")
    assert found.notes[0].endswith(f"its name {why}")


def test_packing() -> None:
    """Pieces go in order into calls; a large hunk is split by lines, and context alone is left out."""
    lines = tuple(SentLine(number=n, text="x" * 92, added=n == 1) for n in range(1, 31))
    calls = packed([Hunk(file="a", lines=lines), Hunk(file="b", lines=lines[:2])], 1024)
    assert [[(hunk.file, len(hunk.lines)) for hunk in call] for call in calls] == [[("a", 10)], [("b", 2)]]
    assert packed([], 1024) == ()


KEYS = [
    ("-----BEGIN OPENSSH PRIVATE KEY-----", "-----END OPENSSH PRIVATE KEY-----"),
    ("-----BEGIN PGP PRIVATE KEY BLOCK-----", "-----END PGP PRIVATE KEY BLOCK-----"),
    ("---- BEGIN SSH2 ENCRYPTED PRIVATE KEY ----", "---- END SSH2 ENCRYPTED PRIVATE KEY ----"),
    ("-----BEGIN RSA PRIV\u200bATE KEY-----", "-----END RSA PRIVATE KEY-----"),
    ("Private-Lines: 14", "Private-MAC: 0123456789abcdef"),
]


@pytest.mark.parametrize(("first", "last"), KEYS)
def test_lines_of_private_keys(first: str, last: str) -> None:
    """Far from the line that says what it is, a key is one all the same; behind it the file goes on."""
    lines = [first, *(f"line {n} of the key" for n in range(20)), last, *(f"after {n}" for n in range(10))]
    content = "\n".join(lines).encode()
    inside = sendable("k", content, ((11, 11),))
    assert (inside.hunks, inside.notes) == ((), ("withheld k: line 8 looks like it holds a credential",))
    assert len(sendable("k", content, ((29, 29),)).hunks) == 1


@pytest.mark.case("verifiers:A17.17")
@pytest.mark.parametrize(
    ("module", "version", "digest"),
    [
        (prompts, "reqfile-verifier-llm/v1", "9905426f263495ac"),
        (suggest_prompt, "reqfile-verifier-suggest/v1", "609a956318b3d5e6"),
    ],
)
def test_a_version_names_its_words(module: ModuleType, version: str, digest: str) -> None:
    """Other words need another version: kept replies and calibration records speak of these.

    The words are ours, so the versions are not those of upstream (spec/verifiers.md 5.3).
    """
    words = f"{module._SYSTEM}{module.SCHEMA_NAME}{module.SCHEMA}"
    assert (module.PROMPT_VERSION, sha256(words.encode()).hexdigest()[:16]) == (version, digest)
