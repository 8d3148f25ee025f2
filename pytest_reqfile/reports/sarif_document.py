"""SARIF 2.1.0 as a document: places, rules, fingerprints and the serialiser of ``sarif_om`` objects.

``sarif_om`` brings no serialiser, and ``jschema_to_python`` takes seconds for 5,000 results (libraries.md 5); this one
writes the same JSON.
"""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Iterable
from hashlib import sha256
from typing import TYPE_CHECKING, Any, Final
from urllib.parse import quote

from pytest_reqfile.syntax.printable import visible

if TYPE_CHECKING:
    import sarif_om

SCHEMA: Final = "https://json.schemastore.org/sarif-2.1.0.json"
ROOT_BASE: Final = "%SRCROOT%"
_DRIVE: Final = re.compile(r"[A-Za-z]:/")
_UNRESERVED: Final = "/-._~"

JsonValue = str | int | float | bool | None | list["JsonValue"] | dict[str, "JsonValue"]
_Plan = dict[str, tuple[str, object]]
_REQUIRED: Final = object()


class _Written(str):
    """JSON text that is already made."""

    __slots__ = ()


_PLAIN: Final = frozenset({bool, int, float, _Written})


def sarif_text(run: sarif_om.Run, results: Iterable[sarif_om.Result] | None = None) -> str:
    """The log that holds one run: each rule, result and notification on a line of its own, with a final newline.

    Text in it is fit for a terminal. ``results``, where given, are the run's; each is written as it comes, so that
    thousands of them are never held as objects, which the garbage collector would visit again and again.
    """
    if results is not None:
        run.results = [_Written(_line(serialised(result))) for result in results]
    log = f'{{"$schema": "{SCHEMA}", "version": "2.1.0", "runs": [\n'
    return f"{log}{_indented(serialised(run), '')}\n]}}\n"


def _indented(value: JsonValue, margin: str) -> str:
    """Objects by key, items of a list by line; json's own indentation takes ten times as long."""
    deeper = f"{margin} "
    if isinstance(value, dict) and value:
        rows = (f"{deeper}{_line(key)}: {_indented(each, deeper)}" for key, each in value.items())
        return "{\n" + ",\n".join(rows) + f"\n{margin}}}"
    if isinstance(value, list) and value:
        return "[\n" + ",\n".join(f"{deeper}{_line(each)}" for each in value) + f"\n{margin}]"
    return _line(value)


def _line(value: JsonValue) -> str:
    return value if isinstance(value, _Written) else json.dumps(value, ensure_ascii=False)


def serialised(value: Any) -> JsonValue:
    """A ``sarif_om`` object and all below it as JSON: no absent values, and none that are the schema's default."""
    return _serialised(value, {})


def _serialised(value: Any, plans: dict[type, _Plan]) -> JsonValue:
    kind = type(value)
    if kind is str:
        return visible(value)
    if value is None or kind in _PLAIN:
        plain: JsonValue = value
        return plain
    if kind is list:
        return [_serialised(item, plans) for item in value]
    if kind is dict:
        return {visible(key): _serialised(item, plans) for key, item in value.items()}
    plan = plans.get(kind) or plans.setdefault(kind, _plan(kind))
    document: dict[str, JsonValue] = {}
    for name, part in vars(value).items():
        if part is not None:
            key, default = plan[name]
            if part != default or type(part) is not type(default):
                document[key] = _serialised(part, plans)
    return document


def _plan(kind: type) -> _Plan:
    """JSON key and default of each attribute."""
    import attr

    def default(field: attr.Attribute[Any]) -> object:
        if isinstance(field.default, attr.Factory):  # type: ignore[arg-type]  # a class, typed as a function
            return field.default.factory()  # type: ignore[union-attr]
        return _REQUIRED if field.default is attr.NOTHING else field.default

    return {f.name: (f.metadata.get("schema_property_name", f.name), default(f)) for f in attr.fields(kind)}


def artifact(path: str) -> sarif_om.ArtifactLocation:
    """A file: percent-encoded and relative to the repository root; one outside of it as a ``file:`` URI."""
    import sarif_om

    plain = path.replace("\\", "/")
    absolute = plain.startswith("/") or _DRIVE.match(plain) is not None
    if absolute:
        return sarif_om.ArtifactLocation(uri="file:///" + _quoted(plain.lstrip("/")))
    return sarif_om.ArtifactLocation(uri=_quoted(plain.removeprefix("./")), uri_base_id=ROOT_BASE)


def _quoted(path: str) -> str:
    """Undecodable bytes of a file name are quoted as themselves; other lone surrogates stand for no byte."""
    try:
        data = path.encode("utf-8", "surrogateescape")
    except UnicodeEncodeError:
        data = visible(path).encode("utf-8", "surrogateescape")
    return quote(data, safe=_UNRESERVED)


def location(
    path: str, line: int | None = None, column: int | None = None, *, identifier: int = -1, text: str | None = None
) -> sarif_om.Location:
    """A place in a file, lines and columns from 1; a whole file without ``line``. ``text`` says what it is."""
    import sarif_om

    region = None if line is None else sarif_om.Region(start_line=line, start_column=column, end_line=line)
    physical = sarif_om.PhysicalLocation(artifact_location=artifact(path), region=region)
    message = None if text is None else sarif_om.Message(text=text)
    return sarif_om.Location(id=identifier, physical_location=physical, message=message)


class Fingerprints:
    """Hashes that tell equal findings apart: the n-th of a kind (n from 2) is counted into its hash."""

    def __init__(self) -> None:
        self._seen: Counter[tuple[str, ...]] = Counter()

    def of(self, owner: str, *parts: str) -> str:
        """The hex SHA-256 of ``owner`` (``owner#n`` for the n-th equal one) and ``parts``, joined by NUL."""
        key = (owner, *parts)
        self._seen[key] += 1
        count = self._seen[key]
        counted = (owner if count == 1 else f"{owner}#{count}", *parts)
        return sha256("\0".join(counted).encode("utf-8", "surrogatepass")).hexdigest()


def collapsed(text: str) -> str:
    """``text`` with every run of white space as one space: what survives a reformatted line."""
    return " ".join(text.split())
