"""Local includes: content by path, pinned as one item each wherever it lies (spec/lock.md 3.4)."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Final

from pytest_reqfile.errors import FileError
from pytest_reqfile.lock.directories import Hasher
from pytest_reqfile.lock.values import ItemPin
from pytest_reqfile.project.values import Project, Source
from pytest_reqfile.workspace.walk import Walk

CONTENT_FOLDERS: Final = frozenset(
    {"rules", "context", "skills", "agents", "commands", "checks", "domains", "verifiers"}
)
OKF: Final = "okf"
_CONFIG_FOLDER: Final = ".ai-rulez"


def pin_local_includes(project: Project, hasher: Hasher) -> Iterator[tuple[ItemPin | None, Iterable[str]]]:
    """A pin for each include whose source is a path; a problem for one that cannot be pinned."""
    for source in project.config.includes:
        if not source.is_local or not source.source or source.local_override is not None:
            continue
        try:
            digest = _digest(_folder(project.place.root, source), source, hasher)
        except (FileError, ValueError) as error:  # ValueError: a NUL in the path
            yield None, (f"local include {source.name} cannot be pinned: {error}",)
            continue
        path = source.source.replace("\\", "/")
        yield ItemPin(kind="local-include", id=source.name, path=path, digest=digest), ()


def _digest(folder: Path, source: Source, hasher: Hasher) -> str:
    if source.format == OKF:
        return hasher.directory("okf-include", folder)
    return hasher.directory("include", folder, CONTENT_FOLDERS)


def _folder(root: Path, source: Source) -> Path:
    """The content folder; symlinks on the configured path are resolved. Raises ``FileError`` where there is none."""
    walk = Walk(root / source.source)
    kind = walk.kind("")
    if kind is None:
        raise FileError(f'path "{source.source}" not found')
    if kind != "folder":
        raise FileError(f'path "{source.source}" is not a directory')
    if walk.root.name == _CONFIG_FOLDER:
        return walk.root
    inner = Walk(walk.root / _CONFIG_FOLDER)
    return inner.root if inner.kind("") == "folder" else walk.root
