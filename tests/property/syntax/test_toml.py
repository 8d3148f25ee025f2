"""Places of TOML keys and values, found in texts written by a generator that knows where it put them."""

from __future__ import annotations

import tomli
from hypothesis import assume, given
from hypothesis import strategies as st

from pytest_reqfile.errors import FormatError
from pytest_reqfile.syntax.nodes import Node, plain
from pytest_reqfile.syntax.toml import read_toml

BARE = st.text(alphabet="abAB_-1", min_size=1, max_size=3)
TEXTS = st.text(st.characters(exclude_categories=["Cs", "Cc"]), max_size=6)
KEYS = st.one_of(
    BARE, TEXTS.map(lambda text: f'"{_escaped(text)}"'), TEXTS.filter(lambda text: "'" not in text).map("'{}'".format)
)
SPACE = st.sampled_from(["", " ", "\t "])
BREAKS = st.sampled_from(["", " ", "\n", " # ]}'\"\n", "\r\n\t"])


def _escaped(text: str) -> str:
    return text.replace("\\", "\\\\").replace('"', '\\"')


SCALARS = st.one_of(
    st.integers(-(2**63), 2**63 - 1).map(str),
    st.booleans().map(lambda value: "true" if value else "false"),
    st.sampled_from(["1979-05-27 07:32:00", "1979-05-27T07:32:00.5-07:00", "07:32:00", "inf", "-1.5e3", "0xFF", "1_0"]),
    TEXTS.map(lambda text: f'"{_escaped(text)}"'),
    TEXTS.filter(lambda text: "'" not in text).map("'{}'".format),
    st.sampled_from(
        ['"""\n[x]\na = 1"""', '"""a""""', '"""a"""""', "'''\n'a' # ''''", '""', "''", '""""""', '"""\\""""""', '"#]}"']
    ),
)


def _lists(inner: st.SearchStrategy[str]) -> st.SearchStrategy[str]:
    return st.builds(
        lambda items, a, b, comma: "[" + a + f"{b},{a}".join(items) + ("," if comma and items else "") + b + "]",
        st.lists(inner, max_size=3),
        BREAKS,
        BREAKS,
        st.booleans(),
    )


def _tables(inner: st.SearchStrategy[str]) -> st.SearchStrategy[str]:
    pairs = st.builds("{}{}={}{}".format, st.lists(KEYS, min_size=1, max_size=2).map(" . ".join), SPACE, SPACE, inner)
    return st.lists(pairs, max_size=3).map(lambda pairs: "{ " + ", ".join(pairs) + " }")


VALUES = st.recursive(SCALARS, lambda inner: _lists(inner) | _tables(inner), max_leaves=6)
LINES = st.one_of(
    st.builds("{}{} = {}{}".format, SPACE, st.lists(KEYS, min_size=1, max_size=3).map(".".join), VALUES, SPACE),
    st.builds("{}[{}] # [x]".format, SPACE, st.lists(KEYS, min_size=1, max_size=3).map(" . ".join)),
    st.builds("[[{}]]".format, st.lists(KEYS, min_size=1, max_size=2).map(".".join)),
    st.sampled_from(["", "# a = 1", "  "]),
)


def _is_key(text: str, key: str) -> bool:
    """Whether ``text`` starts with a spelling of ``key``."""
    if text.startswith(key) and key and not text.startswith(("'", '"')):
        return True
    return text.startswith((f"'{key}'", f'"{_escaped(key)}"'))


def _check(node: Node, value: object, lines: list[str]) -> None:
    rest = lines[node.line - 1][node.column - 1 :]
    if node.kind == "mapping":
        for entry in node.entries:
            assert _is_key(lines[entry.line - 1][entry.column - 1 :], entry.key)
            assert isinstance(value, dict)
            _check(entry.value, value[entry.key], lines)
    elif node.kind == "list":
        assert rest.startswith("[")
        assert isinstance(value, list)
        for item, inner in zip(node.items, value, strict=True):
            _check(item, inner, lines)
    elif node.kind == "string":
        assert rest.startswith(('"', "'"))
    else:
        assert rest[0] in "0123456789+-tfi"


def _valid(text: str) -> dict[str, object] | None:
    try:
        return tomli.loads(text)
    except tomli.TOMLDecodeError:
        return None


@given(st.lists(LINES, max_size=8).map("\n".join))
def test_every_place_points_at_its_text(text: str) -> None:
    """Keys at a spelling of themselves, values at what can begin them; values as tomli has them."""
    value = _valid(text)
    assume(value is not None)
    root = read_toml(text, "f")
    assert plain(root) == value or "nan" in text
    _check(root, value, text.split("\n"))


@given(st.text(alphabet="ab=[]{}.,'\"\\\n# 1-:\r", max_size=30))
def test_any_text_is_read_or_refused_at_a_line_of_it(text: str) -> None:
    """Whatever tomli accepts, the scanner can walk."""
    lines: list[int | None] = []
    try:
        read_toml(text, "f")
    except FormatError as error:
        lines = [problem.line for problem in error.problems]
    assert set(lines) <= set(range(1, text.count("\n") + 2))
    assert bool(lines) is (_valid(text) is None)
