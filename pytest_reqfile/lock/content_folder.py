"""Which folder of a repository a remote source is: what its digest is over (spec/lock.md 6.1)."""

from __future__ import annotations

import hashlib
from collections.abc import Callable
from typing import Final

from pytest_reqfile.lock.remotes import recorded_path
from pytest_reqfile.project.values import Source
from pytest_reqfile.workspace.paths import normalised

_CONFIG_FOLDER: Final = ".ai-rulez"
_CONTENT: Final = ("rules", "context", "skills", "agents")


def content_folder(source: Source, has_folder: Callable[[str], bool]) -> str | None:
    """The folder, relative to the repository's top (empty: the top itself); None where there is none.

    ``has_folder`` says whether a real folder is at a path.
    """
    path = normalised(recorded_path(source))
    if path is None or "\0" in path:
        return None
    if source.table != "includes" or source.format == "okf":
        return path if has_folder(path) else None
    for inner in (_CONFIG_FOLDER, f"{path}/{_CONFIG_FOLDER}" if path else _CONFIG_FOLDER):
        if has_folder(inner):
            return inner
    return next((base for base in (path, "") if _holds_content(base, has_folder)), None)


def content_described(source: Source) -> str:
    """What was looked for, for people."""
    path = normalised(recorded_path(source))
    if path is None or "\0" in path:
        return f'folder "{recorded_path(source)}" inside of it'
    if source.table != "includes" or source.format == "okf":
        return f'folder "{path or "."}"'
    return f"content (expected {_CONFIG_FOLDER}, or one of the folders {', '.join(_CONTENT)})"


def content_key(source: Source) -> str:
    """Equal for sources that take the same folder of any one commit; part of a folder name."""
    asked = "\0".join((source.table, source.format, recorded_path(source)))
    return hashlib.sha256(asked.encode("utf-8", "surrogateescape")).hexdigest()[:16]


def _holds_content(base: str, has_folder: Callable[[str], bool]) -> bool:
    return any(has_folder(f"{base}/{name}" if base else name) for name in _CONTENT)
