"""syntax/toml.py: values of tomli, places of our own scanner."""

from __future__ import annotations

import pytest

from pytest_reqfile.errors import FormatError
from pytest_reqfile.syntax.nodes import Node, plain
from pytest_reqfile.syntax.toml import parse_toml, read_toml

TEXT = '''\
# comment
title = "x"   # a comment with [brackets]

[owner] # header
"quoted key" = 1
dotted . "k\\u0065y" = 2

[[verifiers]]
id = "a"
globs = [ "x", # one
  'y',
]
  [verifiers.require]
  not.forbid = { regex = 'b', in = "same-file" }
  text = """
[no header]
key = 1""""

[[verifiers]]
id = "b"
[[verifiers.examples]]
name = 'n'
at = 1979-05-27 07:32:00
[owner.more]
'''


def _at(node: Node, *path: str | int) -> tuple[int, int]:
    for step in path:
        node = node.items[step] if isinstance(step, int) else next(e.value for e in node.entries if e.key == step)
    return node.line, node.column


def test_values_are_those_of_tomli() -> None:
    """Nothing is lost on the way."""
    assert plain(read_toml(TEXT, "f")) == parse_toml(TEXT, "f")


@pytest.mark.parametrize(
    ("path", "place"),
    [
        ((), (2, 1)),
        (("title",), (2, 9)),
        (("owner",), (4, 1)),
        (("owner", "quoted key"), (5, 16)),
        (("owner", "dotted"), (6, 1)),
        (("owner", "dotted", "key"), (6, 23)),
        (("verifiers",), (8, 1)),
        (("verifiers", 0), (8, 1)),
        (("verifiers", 0, "globs"), (10, 9)),
        (("verifiers", 0, "globs", 1), (11, 3)),
        (("verifiers", 0, "require"), (13, 3)),
        (("verifiers", 0, "require", "not"), (14, 3)),
        (("verifiers", 0, "require", "not", "forbid"), (14, 16)),
        (("verifiers", 0, "require", "not", "forbid", "in"), (14, 36)),
        (("verifiers", 1), (19, 1)),
        (("verifiers", 1, "examples", 0), (21, 1)),
        (("verifiers", 1, "examples", 0, "at"), (23, 6)),
        (("owner", "more"), (24, 1)),
    ],
)
def test_places(path: tuple[str | int, ...], place: tuple[int, int]) -> None:
    """Tables at their header, implicit ones at their first key, values where they start."""
    assert _at(read_toml(TEXT, "f"), *path) == place


def test_places_of_keys() -> None:
    """Each part of a dotted key is where it is written; a table named twice keeps its first mention."""
    root = read_toml("[a.b]\nx = 1\n[a]\n'y' = 2\n", "f")
    (a,) = root.entries
    assert (a.line, a.column, a.value.line) == (1, 2, 3)
    assert [(entry.key, entry.line, entry.column) for entry in a.value.entries] == [("b", 1, 4), ("y", 4, 1)]


def test_an_empty_text_is_an_empty_table() -> None:
    """At line 1."""
    assert read_toml("", "f") == Node(kind="mapping", value=(), line=1, column=1)
    assert read_toml("# only\n\n", "f") == Node(kind="mapping", value=(), line=1, column=1)


@pytest.mark.parametrize("text", ["a = 1\r\n[b]\r\nc = 'x'\r\n", "a = 1\n[b]\nc = 'x'"])
def test_line_ends(text: str) -> None:
    """CRLF, and no break at the end."""
    root = read_toml(text, "f")
    assert _at(root, "b", "c") == (3, 5)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("a = 1\nb = \n", "f:2: invalid TOML: Invalid value"),
        ("a = 1\na = 2\n", "f:2: invalid TOML: Cannot overwrite a value"),
        ("[a]\nb = 'x\n", 'f:2: invalid TOML: Expected "\'"'),
        ("a = 1\n\nb = 9223372036854775808\n", "f:3: invalid TOML: the integer does not fit into 64 bits"),
        ("a = 1\nb = -9_223_372_036_854_775_809\n", "f:2: invalid TOML: the integer does not fit into 64 bits"),
        ("\nb = " + "1" * 5000, "f:2: invalid TOML: the integer does not fit into 64 bits"),
    ],
)
def test_errors_are_located(text: str, message: str) -> None:
    """The words of a syntax error are tomli's."""
    with pytest.raises(FormatError) as caught:
        read_toml(text, "f")
    assert str(caught.value) == message


def test_every_big_integer_is_told() -> None:
    """Not only the first."""
    with pytest.raises(FormatError) as caught:
        read_toml("a = 99999999999999999999\nb = [1, -99999999999999999999]\n", "f")
    assert [problem.line for problem in caught.value.problems] == [1, 2]
