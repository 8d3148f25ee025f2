"""Which includes ai-rulez.lock pins, so that they may be trusted with commands (seed 000 "Imported verifiers")."""

from __future__ import annotations

from typing import Final

from pytest_reqfile.errors import FileError, FormatError
from pytest_reqfile.project.values import Place
from pytest_reqfile.syntax.nodes import plain
from pytest_reqfile.syntax.toml import read_toml
from pytest_reqfile.workspace.walk import Walk

LOCK_NAME: Final = "ai-rulez.lock"


def pinned_includes(place: Place) -> frozenset[str]:
    """The names of pinned includes; a missing, unreadable or symlinked lock pins nothing."""
    path = f"{place.folder}/{LOCK_NAME}"
    try:
        document = plain(read_toml(Walk(place.root).read(path).decode("utf-8"), path))
    except (FileError, FormatError, UnicodeDecodeError):
        return frozenset()
    if not isinstance(document, dict):
        return frozenset()
    remote = {entry.get("name") for entry in _tables(document, "include")}
    local = {entry.get("id") for entry in _tables(document, "item") if entry.get("kind") == "local-include"}
    return frozenset(name for name in remote | local if isinstance(name, str))


def _tables(document: dict[str, object], key: str) -> list[dict[str, object]]:
    found = document.get(key)
    return [entry for entry in found if isinstance(entry, dict)] if isinstance(found, list) else []
