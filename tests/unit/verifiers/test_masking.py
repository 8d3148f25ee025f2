"""Credential-looking text (cases/verifiers.md A19; spec/verifiers.md 2.8)."""

from __future__ import annotations

import pytest

from pytest_reqfile.syntax.credentials import MASK, masked
from pytest_reqfile.verifiers.masking import excerpt

LETTERS = "abcdefghijklmnopqrstuvwxyz0123456789"


@pytest.mark.case("verifiers:A19.1")
@pytest.mark.case("verifiers:A19.2")
@pytest.mark.parametrize(
    "secret",
    [
        "ghp_" + LETTERS,
        "github_pat_" + LETTERS[:22],
        "AIza" + LETTERS[:35],
        "xoxb-1234567890-abc",
        "-----BEGIN RSA PRIVATE KEY-----",
        "Basic dXNlcjpwYXNzd29yZA==",
        "Bearer abcdefgh1234",
        "sk-zyxwvutsrqponmlkjihgfedcba",
        "AKIA" + "ABCD1234EFGH5678",
        "glpat-" + LETTERS[:20],
        "eyJhbGciOiJI.eyJzdWIiOiIx.c2lnbmF0dXJl",
        "sk_live_" + LETTERS[:24],
        "npm_" + LETTERS,
        'api_key = "hunter2hunter2"',
        "TOKEN: abcdefgh",
    ],
)
def test_masked_in_a_sentence(secret: str) -> None:
    """The secret goes, what is around it stays."""
    text = masked(f"the value {secret} was refused")
    assert MASK in text
    assert text.startswith("the value ")
    assert text.endswith("was refused")
    assert secret not in text


def test_quoted_assignment() -> None:
    """Of a long mixed value only the value is hidden."""
    assert masked('password = "abcDEF123456abcDEF123456"') == f'password = "{MASK}"'
    assert masked('password = "abcdefghijklmnopqrstuvwxyz"') == 'password = "abcdefghijklmnopqrstuvwxyz"'


@pytest.mark.parametrize(
    "text",
    [
        "model gpt-4o-mini is rate limited",
        'token = os.environ["GITLAB_TOKEN"]',
        "token = os.environ.get('GITLAB_TOKEN')",
        'secret: os.Getenv("SECRET_NAME")',
        "token: process.env.GITLAB_TOKEN;",
        "token=${GITLAB_TOKEN}",
        "token=$GITLAB_TOKEN",
        "monkey = 1",
    ],
)
def test_left_alone(text: str) -> None:
    """What is no secret, or only says where one is."""
    assert masked(text) == text


def test_lookup_with_a_literal() -> None:
    """A default value is a literal."""
    assert MASK in masked("token=${GITLAB_TOKEN:-abcdefghij}")


def test_excerpt() -> None:
    """One line, trimmed, cut after 120 characters, nothing that moves a cursor; masked before it is cut."""
    assert excerpt("  a\tb \nc") == r"a\x09b"
    assert excerpt("x" * 130) == "x" * 120 + "..."
    assert excerpt("y" * 115 + " ghp_" + LETTERS) == "y" * 115 + f" {MASK}"[:5] + "..."
    assert excerpt("\x1b[31m\u202e") == r"\x1b[31m\u202e"
