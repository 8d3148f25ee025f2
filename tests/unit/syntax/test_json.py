"""syntax/json.py: RFC 8259, strictly, with positions."""

from __future__ import annotations

import pytest

from pytest_reqfile.errors import FormatError
from pytest_reqfile.syntax.json import read_json
from pytest_reqfile.syntax.nodes import plain


def test_values_and_places() -> None:
    """Every kind of value, each where it starts."""
    root = read_json('{\n  "a": [1, -2.5e1, true, null],\n  "é": {"b": "\\u00e9"}\n}\n', "f")
    assert plain(root) == {"a": [1, -25.0, True, None], "é": {"b": "é"}}
    a, e = root.entries
    assert (a.line, a.column, a.value.line, a.value.column) == (2, 3, 2, 8)
    assert [(item.kind, item.column) for item in a.value.items] == [
        ("integer", 9),
        ("number", 12),
        ("boolean", 20),
        ("null", 26),
    ]
    assert (e.line, e.value.entries[0].column) == (3, 9)


@pytest.mark.parametrize("text", ["[]", "{}", " [ ] ", "\r\n\t{ }", '""', "0", "-0", "1E5", "[[],{}]"])
def test_small_texts(text: str) -> None:
    """As Python's own reader has them."""
    import json

    assert plain(read_json(text, "f")) == json.loads(text)


def test_every_duplicate_key_is_told() -> None:
    """Also after escapes are resolved."""
    with pytest.raises(FormatError) as caught:
        read_json('{"a": 1,\n "a": 2, "b": {"c": 1, "\\u0063": 2}}', "f")
    assert str(caught.value) == (
        "f:2: duplicate key `a` (first defined at line 1)\nf:2: duplicate key `c` (first defined at line 2)"
    )


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "expected a value, found the end of the file"),
        ("[1,\n2", "expected `,` or `]`, found the end of the file"),
        ("[1,\n]", "expected a value, found `]`"),
        ('{"a":1,\n}', "expected a key in double quotes, found `}`"),
        ('{"a"\n1}', "expected `:`, found `1`"),
        ('{"a":1\n"b":2}', 'expected `,` or `}`, found `"`'),
        ("\n'a'", "expected a value, found `'`"),
        ("\nNaN", "expected a value, found `N`"),
        ("\n-Infinity", "expected a value, found `-`"),
        ("\n01", "expected the end of the file, found `1`"),
        ("1\n2", "expected the end of the file, found `2`"),
        ("[\n1e999]", "the number is out of range"),
        ("[\n" + "9" * 5000 + "]", "the number is out of range"),
        ('[\n"\\ud800"]', "unpaired surrogate in a string"),
        ('[\n"\\x"]', "Invalid \\escape"),
        ('["a\nb"]', "Invalid control character at"),
        ("\n\ufeff1", "expected a value, found U+FEFF"),
    ],
)
def test_errors_are_located(text: str, message: str) -> None:
    """At the line of what is wrong."""
    with pytest.raises(FormatError) as caught:
        read_json(text, "f")
    (problem,) = caught.value.problems
    assert problem.message == f"invalid JSON: {message}"
    assert problem.line == (1 if text.startswith('["a') or not text else 2)


def test_duplicates_before_a_syntax_error_are_kept() -> None:
    """Both are told."""
    with pytest.raises(FormatError) as caught:
        read_json('{"a": 1, "a": 2, x}', "f")
    assert len(caught.value.problems) == 2
