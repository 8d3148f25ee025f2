"""``key_equals``: the value at a key of a JSON, YAML or TOML file, as text (seed 000; spec/verifiers.md 1.9)."""

from __future__ import annotations

import datetime
import math
from collections.abc import Callable, Mapping
from decimal import Decimal
from typing import Final

from pytest_reqfile.errors import FormatError
from pytest_reqfile.syntax.targets import PlainDate, load_plain_json, load_plain_toml, load_plain_yaml
from pytest_reqfile.verifiers.values import KeyCheck
from pytest_reqfile.verifiers.words import go_quoted

_READERS: Final[Mapping[str, Callable[[str, str], object]]] = {
    "json": load_plain_json,
    "yaml": load_plain_yaml,
    "yml": load_plain_yaml,
    "toml": load_plain_toml,
}
# By the seed a date is written as such; the original takes it for its first moment, and files of people say that.
_MIDNIGHT: Final = "T00:00:00Z"


class Missing(Exception):  # noqa: N818 - an answer, no error
    """There is nothing at the key."""


def compare(check: KeyCheck, data: bytes) -> str | None:
    """What is wrong with the value at the key in the file's ``data``; None where it equals what it must."""
    reader = _READERS.get(check.path.rpartition(".")[2].lower())
    if reader is None:
        return f"{check.path}: unsupported format (use .json, .yaml, .yml or .toml)"
    try:
        document = reader(data.decode("utf-8"), check.path)
    except UnicodeDecodeError:
        return f"{check.path} does not parse: not valid UTF-8"
    except FormatError as error:
        first = error.problems[0]
        line = f"line {first.line}: " if first.line else ""
        return f"{check.path} does not parse: {line}{first.message}"
    try:
        value = _walk(document, check.segments)
    except Missing:
        return f"{check.path} has no key {check.key}"
    return _difference(check, value)


def _difference(check: KeyCheck, value: object) -> str | None:
    if value is None:
        return f"{check.path}: {check.key} is null, expected {go_quoted(check.equals)}"
    if isinstance(value, dict | list):
        return f"{check.path}: {check.key} is not a scalar value"
    text = rendered(value)
    if check.equals == text or (isinstance(value, PlainDate) and check.equals == f"{text}{_MIDNIGHT}"):
        return None
    return f"{check.path}: {check.key} is {go_quoted(text)}, expected {go_quoted(check.equals)}"


def _walk(value: object, segments: tuple[str, ...]) -> object:
    for segment in segments:
        if isinstance(value, dict):
            if segment not in value:
                raise Missing
            value = value[segment]
        elif isinstance(value, list):
            if not (segment.isascii() and segment.isdigit() and int(segment[:18]) < len(value)):
                raise Missing
            value = value[int(segment)]
        else:
            raise Missing
    return value


def rendered(value: object) -> str:
    """A scalar as the text ``equals`` is compared with."""
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, float):
        return _float_text(value)
    if isinstance(value, datetime.datetime):
        return _time_text(value.isoformat(), value.microsecond).replace("+00:00", "Z")
    if isinstance(value, datetime.time):
        return _time_text(value.isoformat(), value.microsecond)
    return value.isoformat() if isinstance(value, datetime.date) else str(value)


def _time_text(text: str, microsecond: int) -> str:
    """Without trailing zeros of the fraction, as RFC 3339 in Go."""
    if not microsecond:
        return text
    fraction = f".{microsecond:06d}"
    return text.replace(fraction, fraction.rstrip("0"))


def _float_text(value: float) -> str:
    """The shortest decimal without exponent: ``1``, ``1000``, ``1.5``."""
    if math.isnan(value):
        return "NaN"
    if math.isinf(value):
        return "+Inf" if value > 0 else "-Inf"
    text = format(Decimal(repr(value)), "f")
    return text.rstrip("0").rstrip(".") if "." in text else text
