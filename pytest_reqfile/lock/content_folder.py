"""Which folder of a repository a remote source is: what its digest is over (spec/lock.md 6.1)."""

from __future__ import annotations

import hashlib
from collections.abc import Callable
from typing import Final

from pytest_reqfile.lock.remotes import recorded_path
from pytest_reqfile.project.include_folder import CONFIG_FOLDER, include_folder
from pytest_reqfile.project.values import Source
from pytest_reqfile.workspace.paths import normalised

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
    return include_folder(path, has_folder, _CONTENT)


def content_described(source: Source) -> str:
    """What was looked for, for people."""
    path = normalised(recorded_path(source))
    if path is None or "\0" in path:
        return f'folder "{recorded_path(source)}" inside of it'
    if source.table != "includes" or source.format == "okf":
        return f'folder "{path or "."}"'
    return f"content (expected {CONFIG_FOLDER}, or one of the folders {', '.join(_CONTENT)})"


def content_key(source: Source) -> str:
    """Equal for sources that take the same folder of any one commit; part of a folder name."""
    asked = "\0".join((source.table, source.format, recorded_path(source)))
    return hashlib.sha256(asked.encode("utf-8", "surrogateescape")).hexdigest()[:16]
