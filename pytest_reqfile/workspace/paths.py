"""Repository paths: relative to the root, ``/``-separated; the root is the empty string (spec/reqfile.md 2.1)."""

from __future__ import annotations

import os
from pathlib import Path


def canonical(path: Path) -> Path:
    """``path`` absolute and without symlinks."""
    return Path(os.path.realpath(path))


def absolute_below(start: Path, path: str) -> Path:
    """``path`` as seen from ``start``, without ``.`` and ``..``, lexically."""
    return Path(os.path.normpath(start / path))


def leads_through_link(folder: Path, path: Path) -> bool:
    """Whether ``path``, which lies below ``folder`` lexically, is or passes a symbolic link on the way from there."""
    return canonical(path) != canonical(folder) / path.relative_to(folder)


def leads_to_file(path: Path) -> bool:
    """Whether a regular file is at ``path``, symbolic links followed wherever they lead."""
    return os.path.isfile(path)


def way_to(path: Path, start: Path) -> str:
    """How to get from the folder ``start`` to ``path``, with ``..`` where need be."""
    return os.path.relpath(path, start)


def relative_to_root(root: Path, path: Path) -> str | None:
    """The repository path of an absolute ``path``, lexically; None outside ``root``, which must be canonical."""
    normal = Path(os.path.normpath(path))
    return _text(normal.relative_to(root)) if normal.is_relative_to(root) else None


def _text(relative: Path) -> str:
    return "" if relative == Path() else relative.as_posix()


def normalised(path: str) -> str | None:
    """``path`` without ``.``, ``..`` and doubled slashes, lexically; None if absolute or climbing above the root."""
    if path.startswith("/"):
        return None
    parts: list[str] = []
    for part in path.split("/"):
        if part == "..":
            if not parts:
                return None
            parts.pop()
        elif part not in {"", "."}:
            parts.append(part)
    return "/".join(parts)


def joined(folder: str, path: str) -> str | None:
    """``path`` as seen from the repository folder ``folder``, normalised; None if it leaves the repository."""
    return None if path.startswith("/") else normalised(f"{folder}/{path}" if folder else path)


def folder_of(path: str) -> str:
    """The repository folder that holds ``path``; the empty string for the root."""
    return path.rpartition("/")[0]


def name_of(path: str) -> str:
    """The last component of ``path``."""
    return path.rpartition("/")[2]


def is_below(path: str, folder: str) -> bool:
    """Whether ``path`` lies in ``folder`` at any depth; every path lies in the root."""
    return not folder or path.startswith(f"{folder}/")


def contains(folder: str, path: str) -> bool:
    """Whether ``path`` is ``folder`` or lies in it at any depth."""
    return path == folder or is_below(path, folder)


def below(path: str, folder: str) -> str | None:
    """``path`` without the folder it lies in; None when it lies elsewhere or is the folder itself."""
    if not folder:
        return path or None
    return path[len(folder) + 1 :] if path.startswith(f"{folder}/") else None


def ancestors(folder: str) -> tuple[str, ...]:
    """``folder`` and every folder above it, nearest first, ending with the root."""
    found = [folder]
    while found[-1]:
        found.append(folder_of(found[-1]))
    return tuple(found)


def shown(folder: str) -> str:
    """``folder`` as people read it."""
    return folder or "the repository root"


def byte_order(path: str) -> bytes:
    """Sort key of a path: the order of its bytes, which differs from that of ``str`` for names that are not UTF-8."""
    return os.fsencode(path)
