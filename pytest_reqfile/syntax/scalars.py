"""What a plain YAML scalar means: the core schema of YAML 1.2 (spec/reqfile.md 1.0)."""

from __future__ import annotations

import re
from typing import Final, TypeAlias

from pytest_reqfile.syntax.nodes import NodeKind

Reading: TypeAlias = tuple[NodeKind, object]

NULLS: Final = frozenset(("", "~", "null", "Null", "NULL"))
BOOLEANS: Final = {
    **dict.fromkeys(("true", "True", "TRUE"), True),
    **dict.fromkeys(("false", "False", "FALSE"), False),
}
# Floats that are no decimal numbers, with their signs.
NOT_FINITE: Final = {
    **{sign + word: float(sign + "inf") for sign in ("", "+", "-") for word in (".inf", ".Inf", ".INF")},
    **dict.fromkeys((".nan", ".NaN", ".NAN"), float("nan")),
}
I64: Final = range(-(2**63), 2**63)

_DECIMAL = re.compile(r"[-+]?[0-9]+")
_HEXADECIMAL = re.compile(r"0x[0-9a-fA-F]+")
_OCTAL = re.compile(r"0o[0-7]+")
# What Rust's f64 parser takes, but for its spellings of infinity, which have no digit.
_FLOAT = re.compile(r"[-+]?(?:[0-9]+\.?[0-9]*|\.[0-9]+)(?:[eE][-+]?[0-9]+)?")
# Any other first character makes a string: the check that almost every scalar ends at.
_NOT_A_STRING = frozenset("0123456789+-.~nNtTfF")
# Python refuses to convert integers of more than 4300 digits; 19 already leave the range of i64.
_LONGEST_INTEGER = 32


def core_scalar(text: str) -> Reading:
    """The kind and value of an untagged plain scalar; integers beyond i64 are numbers, as upstream reads them."""
    if text and text[0] not in _NOT_A_STRING:
        return "string", text
    if text in NULLS:
        return "null", None
    if text in BOOLEANS:
        return "boolean", BOOLEANS[text]
    return _integer(text) or _number(text) or ("string", text)


def tagged_scalar(tag: str, text: str) -> Reading | None:
    """A plain scalar under the core tag ``tag`` (``int`` for ``!!int``); None if the value does not fit the tag."""
    if tag == "str":
        return "string", text
    if tag == "null":
        return ("null", None) if text in NULLS else None
    if tag == "bool":
        return ("boolean", BOOLEANS[text]) if text in BOOLEANS else None
    if tag == "int":
        return _integer(text)
    return _number(text) if tag == "float" else None


def _integer(text: str) -> Reading | None:
    if _DECIMAL.fullmatch(text):
        digits = text.lstrip("+-").lstrip("0") or "0"
        found = int(digits) * (-1 if text[0] == "-" else 1) if len(digits) < _LONGEST_INTEGER else I64.stop
    elif _HEXADECIMAL.fullmatch(text):
        found = int(text, 16)
    elif _OCTAL.fullmatch(text):
        found = int(text, 8)
    else:
        return None
    return ("integer", found) if found in I64 else None


def _number(text: str) -> Reading | None:
    if text in NOT_FINITE:
        return "number", NOT_FINITE[text]
    return ("number", float(text)) if _FLOAT.fullmatch(text) else None
