"""The vectors of tests/formats/lock/vectors.json as values."""

from __future__ import annotations

import base64
import json
from functools import cache
from pathlib import Path
from typing import Any, cast, get_args

from pytest_reqfile.lock.digest import Leaf, Mode, TreeKind, file_leaf, irregular_leaf, symlink_leaf
from pytest_reqfile.lock.toptree import ROW_KINDS, Row, entry_row
from pytest_reqfile.lock.values import Approval, Entry, EntryTable

FILE = Path(__file__).parents[2] / "formats/lock/vectors.json"
Vector = dict[str, Any]


@cache
def vectors() -> dict[str, Any]:
    return cast("dict[str, Any]", json.loads(FILE.read_text("utf-8")))


def named(section: str) -> list[Vector]:
    """The vectors of a section; ``name`` is the id of a test."""
    return cast("list[Vector]", vectors()[section])


def name_of(vector: Vector) -> str:
    return str(vector["name"])


def content(file: Vector) -> bytes:
    return str(file["text"]).encode() if "text" in file else base64.b64decode(file["base64"])


def leaf(file: Vector) -> Leaf:
    path = str(file["path"])
    if "symlink" in file:
        return symlink_leaf(path, file["symlink"])
    if file.get("irregular"):
        return irregular_leaf(path)
    return file_leaf(path, content(file), cast("Mode", file["mode"]))


def kind(vector: Vector) -> TreeKind:
    assert vector["kind"] in get_args(TreeKind)
    return cast("TreeKind", vector["kind"])


def row(entry: Vector) -> Row:
    """A finished row, or the row of a remote entry."""
    if "key" in entry:
        return entry["kind"], entry["key"], entry["digest"]
    tables: dict[str, EntryTable] = {row_kind: table for table, row_kind in ROW_KINDS.items()}
    values = {key: value for key, value in entry.items() if key != "kind"}
    return entry_row(tables[entry["kind"]], Entry(**{"commit": "", **values}))


def approval(record: Vector) -> Approval:
    return Approval(**{**record, "accepted_findings": tuple(record.get("accepted_findings", ()))})
