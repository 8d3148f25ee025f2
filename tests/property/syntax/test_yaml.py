"""YAML scalars against a slow reading of the core schema, and both parsers against each other."""

from __future__ import annotations

import json
import math

from hypothesis import example, given
from hypothesis import strategies as st

from pytest_reqfile.errors import FormatError
from pytest_reqfile.syntax.nodes import Node, plain
from pytest_reqfile.syntax.scalars import core_scalar
from pytest_reqfile.syntax.yaml import read_yaml

# Drawn so that numbers, near-numbers and words of other schemas are common.
SCALARS = st.one_of(
    st.text(alphabet="0123456789+-.eExXoObB_:abcfF", max_size=12),
    st.text(alphabet="trueTRUEfalsFALSnulNUL~.inIN yo", max_size=6),
    st.integers(-(2**66), 2**66).map(str),
    st.floats().map(repr),
    st.text(max_size=5),
)
DIGITS = "0123456789"


def _digits(text: str, allowed: str) -> bool:
    return text != "" and all(character in allowed for character in text)


def _unsigned(text: str) -> str:
    return text[1:] if text[:1] in ("+", "-") and text else text


def _slow_integer(text: str) -> int | None:
    value = None
    if _digits(_unsigned(text), DIGITS):
        value = 0
        for digit in _unsigned(text):
            value = value * 10 + DIGITS.index(digit)
        value = -value if text.startswith("-") else value
    for prefix, allowed in (("0x", DIGITS + "abcdef"), ("0o", DIGITS[:8])):
        if text.startswith(prefix) and _digits(text[2:].lower(), allowed):
            value = 0
            for digit in text[2:].lower():
                value = value * len(allowed) + allowed.index(digit)
    return value if value is not None and -(2**63) <= value < 2**63 else None


def _slow_is_float(text: str) -> bool:
    mantissa, *exponent = _unsigned(text).replace("E", "e").split("e")
    whole, *fraction = mantissa.split(".")
    if len(exponent) > 1 or len(fraction) > 1:
        return False
    if exponent and not _digits(_unsigned(exponent[0]), DIGITS):
        return False
    return _digits(whole + "".join(fraction), DIGITS)


def _slow(text: str) -> object:
    if text in ("", "~", "null", "Null", "NULL"):
        return None
    for word, value in (("true", True), ("false", False)):
        if text in (word, word.title(), word.upper()):
            return value
    integer = _slow_integer(text)
    if integer is not None:
        return integer
    for word, number in ((".inf", math.inf), ("+.inf", math.inf), ("-.inf", -math.inf), (".nan", math.nan)):
        casings = [word, word.upper(), word.replace("inf", "Inf").replace("nan", "NaN")]
        if text in casings:
            return number
    return float(text) if _slow_is_float(text) else text


@given(SCALARS)
@example("-.Inf")
@example(".NaN")
@example("-9223372036854775808")
@example("1" * 5000)
@example("00000000000000000000000000000000000000001")
def test_plain_scalars_mean_what_the_core_schema_says(text: str) -> None:
    """Kind and value."""
    kind, value = core_scalar(text)
    expected = _slow(text)
    assert type(value) is type(expected)
    assert value == expected or (math.isnan(float(str(value))) and math.isnan(float(str(expected))))
    assert {bool: "boolean", int: "integer", float: "number", str: "string", type(None): "null"}[type(value)] == kind


# Keys are short, since YAML ends an implicit one at 1024 characters; U+FEFF has no width for the pure parser.
TEXTS = st.text(st.characters(exclude_categories=["Cs", "Cc", "Cn"], exclude_characters="\ufeff"), max_size=40)
VALUES = st.recursive(
    st.none() | st.booleans() | st.integers(-(2**63), 2**63 - 1) | TEXTS,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(TEXTS, inner, max_size=3),
    max_leaves=10,
)


@given(VALUES)
def test_json_is_yaml(value: object) -> None:
    """What JSON writes is read back, by both parsers, with the same places."""
    text = json.dumps(value, indent=1, ensure_ascii=False)
    nodes = [read_yaml(text, "f", pure=pure) for pure in (False, True)]
    assert nodes[0] == nodes[1]
    assert plain(nodes[0]) == value


def _lines_told(text: str, *, pure: bool) -> list[int]:
    """The lines of all problems, or of all nodes where there is none; 0 for none."""
    try:
        return [node.line for node in _all(read_yaml(text, "f", pure=pure))]
    except FormatError as error:
        return [problem.line or 0 for problem in error.problems]


@given(st.text(alphabet="ab: -\n[]{},'\"#&*!|>?%~\t\r1é\u2028\ufeff", max_size=40))
def test_any_text_is_read_or_refused_at_a_line_of_it(text: str) -> None:
    """No other exception, and no line that is not there."""
    lines = text.replace("\r\n", "\n").replace("\r", "\n").count("\n") + 1
    for pure in (False, True):
        assert set(_lines_told(text, pure=pure)) <= set(range(1, lines + 1))


def _all(node: Node) -> list[Node]:
    inner = node.items if node.kind == "list" else ()
    if node.kind == "mapping":
        inner = tuple(entry.value for entry in node.entries)
    return [node, *(found for one in inner for found in _all(one))]
