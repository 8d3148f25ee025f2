"""Which includes ai-rulez.lock pins, so that they may be trusted with commands (seed 000 "Imported verifiers")."""

from __future__ import annotations

from typing import Final

from pytest_reqfile.errors import FileError, FormatError
from pytest_reqfile.project.values import Place, Project
from pytest_reqfile.syntax.nodes import plain
from pytest_reqfile.syntax.toml import read_toml
from pytest_reqfile.workspace.walk import Walk

LOCK_NAME: Final = "ai-rulez.lock"


def pinned_includes(project: Project) -> frozenset[str]:
    """The names of includes that the lock pins as what they are: a fetched one by its commit, a path by its digest.

    A missing, unreadable or symlinked lock pins nothing, and none pins what is read from a ``local_override``.
    """
    remote, local = _pinned_names(project.place)
    read = [source for source in project.config.includes if source.local_override is None]
    return frozenset(source.name for source in read if source.name in (remote if source.is_git else local))


def _pinned_names(place: Place) -> tuple[frozenset[str], frozenset[str]]:
    """The names of fetched includes, and of those at a path."""
    path = f"{place.folder}/{LOCK_NAME}"
    try:
        document = plain(read_toml(Walk(place.root).read(path).decode("utf-8"), path))
    except (FileError, FormatError, UnicodeDecodeError):
        return frozenset(), frozenset()
    if not isinstance(document, dict):
        return frozenset(), frozenset()
    remote = (entry.get("name") for entry in _tables(document, "include"))
    local = (entry.get("id") for entry in _tables(document, "item") if entry.get("kind") == "local-include")
    return frozenset(map(str, remote)), frozenset(map(str, local))


def _tables(document: dict[str, object], key: str) -> list[dict[str, object]]:
    found = document.get(key)
    return [entry for entry in found if isinstance(entry, dict)] if isinstance(found, list) else []
