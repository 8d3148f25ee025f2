"""The files a skill or a folder command carries: what is bundled, and so pinned, with it (spec/lock.md 3.1)."""

from __future__ import annotations

import os
from collections.abc import Container, Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from pytest_reqfile.errors import Problem
from pytest_reqfile.project.values import Config, Item, Project
from pytest_reqfile.syntax.pathmatch import path_match
from pytest_reqfile.workspace.git import Git
from pytest_reqfile.workspace.hashing import list_tree
from pytest_reqfile.workspace.paths import name_of, relative_to_root

FOLDERS: Final = ("references", "scripts", "assets")
DEFAULT_EXCLUDES: Final = (".git", ".venv*", "venv", "__pycache__", "*.pyc", "node_modules")

_SILENT: Final = "evals"
_LINK: Final = "a symbolic link: neither used nor pinned"
_SPECIAL: Final = "a pipe, socket or device: neither used nor pinned"
_REPOSITORY: Final = "a repository of its own, whose files git does not list here: neither used nor pinned"
_AT_ONCE: Final = 500
_IGNORED: Final = ("--literal-pathspecs", "ls-files", "-z", "--cached", "--ignored", "--exclude-standard", "--")


@dataclass(frozen=True, slots=True, kw_only=True)
class Resource:
    """A file of an item: ``name`` relative to the item's folder, ``file`` its path in ``item.origin.tree``."""

    name: str
    file: str


@dataclass(frozen=True, slots=True, kw_only=True)
class GitView:
    """What git knows of the files: its ``listed`` repository paths are tracked, or neither tracked nor ignored."""

    git: Git
    listed: Container[str]


def list_resources(
    project: Project, items: Iterable[Item], view: GitView | None = None
) -> dict[str, tuple[Resource, ...]]:
    """The resources of each of ``items`` that has any, by ``item.path``, in byte order of names.

    Files that git ignores are none, unless the item's own file is ignored, too, or there is no repository (``view`` is
    None). One git call in all. Raises ``FileError`` for a folder that cannot be read.
    """
    excluders = {
        True: Excluder((*DEFAULT_EXCLUDES, *project.config.bundle_exclude)),
        False: Excluder(DEFAULT_EXCLUDES),
    }
    found = {
        item.path: (item, tuple(_bundled(item, excluders[item.origin.kind == "project"])))
        for item in items
        if item.folder is not None
    }
    carried = {path: pair for path, pair in found.items() if pair[1]}
    if view is None or not carried:
        return {path: resources for path, (_, resources) in carried.items()}
    root = view.git.root
    folders = {path: _in_repository(root, item) for path, (item, _) in carried.items()}
    markers = {
        path: _below(folder, name_of(carried[path][0].file)) for path, folder in folders.items() if folder is not None
    }
    ignored = _ignored(view.git, [marker for marker in markers.values() if marker in view.listed])
    kept: dict[str, tuple[Resource, ...]] = {}
    for path, (_, resources) in carried.items():
        marker, folder = markers.get(path), folders[path]
        if marker is None or folder is None or marker in ignored or marker not in view.listed:
            kept[path] = resources
        else:
            # Bundled files are reached without a further symlink, so this is where they really are.
            kept[path] = tuple(one for one in resources if _below(folder, one.name) in view.listed)
    return {path: resources for path, resources in kept.items() if resources}


def loose_folders(item: Item) -> tuple[Problem, ...]:
    """Warnings: folders of a skill or command whose files are not bundled, so that no pin covers them."""
    if item.folder is None:
        return ()
    walk = item.origin.tree
    message = f"files in it are neither used nor pinned (expected one of: {', '.join(FOLDERS)})"
    return tuple(
        Problem(path=item.origin.shown(_below(item.folder, entry.name)), message=message)
        for entry in walk.entries(item.folder)
        if entry.kind == "folder" and entry.name not in (*FOLDERS, _SILENT)
    )


def loose_entries(item: Item, config: Config, *, in_git: bool) -> tuple[Problem, ...]:
    """Warnings: what lies among the resources of an item and is none.

    Symlinks, also in the place of their folders, are not followed, special files not opened. Files of a repository
    inside of this one, such as a submodule, are not listed by git; not ``in_git`` they are resources.
    """
    if item.folder is None:
        return ()
    walk, excluder = item.origin.tree, Excluder((*DEFAULT_EXCLUDES, *config.bundle_exclude))
    folders = {entry.name: entry.kind for entry in walk.entries(item.folder) if entry.name in FOLDERS}
    found = dict.fromkeys((name for name, kind in folders.items() if kind == "link"), _LINK)
    for name in (name for name, kind in folders.items() if kind == "folder"):
        inner = [(f"{name}/{file}", kind) for file, kind in list_tree(walk.real(_below(item.folder, name)))]
        found.update((file, _LINK if kind == "link" else _SPECIAL) for file, kind in inner if kind != "file")
        if in_git:
            found.update((file.partition("/.git")[0], _REPOSITORY) for file, _ in inner if "/.git/" in f"{file}/")
    return tuple(
        Problem(path=item.origin.shown(_below(item.folder, name)), message=message)
        for name, message in sorted(found.items())
        if not excluder.drops(name)
    )


class Excluder:
    """Bundle patterns; what one part of a path matches is found out once, however many files share it."""

    def __init__(self, patterns: Iterable[str]) -> None:
        patterns = tuple(patterns)
        every = [(number, pattern.removeprefix("!")) for number, pattern in enumerate(patterns)]
        self._drops = [not pattern.startswith("!") for pattern in patterns]
        self._whole = [(number, pattern) for number, pattern in every if "/" in pattern]
        self._single = [(number, pattern) for number, pattern in every if "/" not in pattern]
        self._known: dict[str, int] = {}
        self._unmatched: set[str] = set()

    def drops(self, name: str) -> bool:
        """Whether the last pattern that matches ``name``, a part of it or a folder above it, is no ``!`` one."""
        parts = name.split("/")
        if not self._whole and self._unmatched.issuperset(parts):
            return False
        last = max(map(self._last_of_part, parts))
        if self._whole:
            leading = tuple("/".join(parts[: count + 1]) for count in range(len(parts)))
            fits = (number for number, text in self._whole if any(path_match(text, path) for path in leading))
            last = max(last, *fits, -1)
        return last >= 0 and self._drops[last]

    def _last_of_part(self, part: str) -> int:
        """The number of the last pattern without a slash that matches ``part``; -1 without one."""
        if part not in self._known:
            self._known[part] = max((number for number, text in self._single if path_match(text, part)), default=-1)
            if self._known[part] < 0:
                self._unmatched.add(part)
        return self._known[part]


def _bundled(item: Item, excluder: Excluder) -> Iterator[Resource]:
    """Regular files in the bundled folders that no pattern drops; symlinks are never followed."""
    assert item.folder is not None
    walk = item.origin.tree
    present = {entry.name for entry in walk.entries(item.folder) if entry.kind == "folder"}
    for name in sorted(present.intersection(FOLDERS)):
        folder = _below(item.folder, name)
        for file, kind in list_tree(walk.real(folder)):
            relative = f"{name}/{file}"
            if kind == "file" and not excluder.drops(relative):
                yield Resource(name=relative, file=f"{folder}/{file}")


def _in_repository(root: Path, item: Item) -> str | None:
    """The real repository path of an item's folder; None outside of the repository."""
    assert item.folder is not None
    return relative_to_root(root, item.origin.tree.real(item.folder))


def _ignored(git: Git, paths: list[str]) -> frozenset[str]:
    """Those of listed ``paths`` that ignore rules match: files that are tracked all the same."""
    if not paths:
        return frozenset()
    found: set[str] = set()
    for start in range(0, len(paths), _AT_ONCE):
        some = paths[start : start + _AT_ONCE]
        found.update(os.fsdecode(git.answer(*_IGNORED, *some)).split("\0"))
    return frozenset(found)


def _below(folder: str, name: str) -> str:
    return f"{folder}/{name}" if folder else name
