"""JSON exactly as Go's ``encoding/json`` writes it: pins are digests of such text (spec/lock.md 2.5)."""

from __future__ import annotations

import datetime
import json
import re
from collections.abc import Mapping, Sequence
from math import isfinite
from typing import Final

from pytest_reqfile.errors import FormatError, Problem

_ESCAPED: Final = re.compile("[<>&\u2028\u2029]")
_SURROGATE: Final = re.compile("[\ud800-\udfff]")
_SMALLEST: Final = 1e-6
_LARGEST: Final = 1e21


def go_json(value: object) -> str:
    """``value`` in compact form: keys in byte order, dates as text. Raises ``FormatError`` for NaN and infinity."""
    if isinstance(value, Mapping):
        keys = sorted(map(str, value), key=lambda key: key.encode("utf-8", "surrogateescape"))
        return object_text([(key, go_json(value[key])) for key in keys])
    if isinstance(value, Sequence) and not isinstance(value, str):
        return list_text([go_json(item) for item in value])
    return _scalar(value)


def object_text(members: Sequence[tuple[str, str]]) -> str:
    """An object of members whose values are JSON already, in the order given."""
    return "{" + ",".join(f"{go_string(key)}:{text}" for key, text in members) + "}"


def list_text(items: Sequence[str]) -> str:
    return f"[{','.join(items)}]"


def go_string(text: str) -> str:
    """A string with Go's HTML escapes; ``/`` and DEL stand as they are."""
    return escaped(json.dumps(_SURROGATE.sub("\ufffd", text), ensure_ascii=False))


def escaped(document: str) -> str:
    """A JSON document with what HTML would misread escaped, which can only be inside of strings."""
    return _ESCAPED.sub(lambda found: f"\\u{ord(found[0]):04x}", document)


def indented(document: object) -> str:
    """A report as ``MarshalIndent`` writes it: two spaces, and a newline at the end."""
    return escaped(json.dumps(document, ensure_ascii=False, indent=2)) + "\n"


def _scalar(value: object) -> str:
    if value is None or isinstance(value, bool | int):
        return json.dumps(value)
    if isinstance(value, float):
        return _number(value)
    if isinstance(value, datetime.datetime | datetime.date | datetime.time):
        return go_string(_moment(value))
    return go_string(str(value))


def _number(value: float) -> str:
    """The shortest text that reads back as the same number; an exponent from 1e21 on and below 1e-6."""
    if not isfinite(value):
        raise FormatError([Problem(message=f"json: unsupported value: {value}: it cannot be pinned")])
    from decimal import Decimal

    exact = Decimal(repr(value))
    if value == 0:
        return "-0" if exact.is_signed() else "0"
    if _SMALLEST <= abs(value) < _LARGEST:
        text = format(exact, "f")
        return text.rstrip("0").rstrip(".") if "." in text else text
    return format(exact.normalize(), "e")


def _moment(value: datetime.datetime | datetime.date | datetime.time) -> str:
    """RFC 3339, a fraction without trailing zeros; without an offset where none is written."""
    text = value.isoformat()
    head, dot, rest = text.partition(".")
    if dot:
        digits = re.match(r"\d+", rest)
        assert digits, "isoformat writes digits after the dot"
        text = f"{head}.{digits[0].rstrip('0')}{rest[digits.end() :]}"
    return text.removesuffix("+00:00") + "Z" if text.endswith("+00:00") else text
