"""Where a project is, and layouts that look like one but are not read (spec/airulez-project.md 1.1)."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Final

from pytest_reqfile.errors import FileError, FormatError, Problem, UsageError
from pytest_reqfile.project.values import Place
from pytest_reqfile.workspace.paths import byte_order
from pytest_reqfile.workspace.walk import Walk

CONFIG_NAME: Final = "config.toml"
LOCAL_NAME: Final = "config.local.toml"
FOLDERS: Final = (".ai-rulez", ".config/ai-rulez")
SINGLE_FILE: Final = "ai-rulez.toml"

_OLD_ROOT_FILES: Final = tuple(
    f"{stem}.{extension}"
    for stem in ("ai-rulez", ".ai-rulez", "ai_rulez", ".ai_rulez")
    for extension in ("yaml", "yml")
)
_OLD_CONFIGS: Final = tuple(f"{stem}.{ext}" for stem in ("config", "config.local") for ext in ("yaml", "yml", "json"))
_OLD_SERVERS: Final = ("mcp.toml", "mcp.yaml", "mcp.json")
# A configuration folder that holds one of these is a project root: its outputs would be rooted one level too high.
_ROOT_MARKS: Final = (".git", "go.mod", "package.json", "Cargo.toml", "pyproject.toml", "Taskfile.yml", "Taskfile.yaml")

_MIGRATE: Final = "it is a layout of ai-rulez 4 or older, which is not read: run `ai-rulez migrate v5`"
_SINGLE: Final = (
    f"the single-file layout is not read: move the configuration to {FOLDERS[0]}/{CONFIG_NAME}, "
    "its verifiers and rules would not be looked at"
)


def find_project(cwd: Path, *, top: Path | None = None, user_config: Path | None = None) -> Place | None:
    """The nearest project in ``cwd`` or a folder above it; None where there is none.

    ``top`` is the repository's top folder, above which nothing is looked for. ``user_config`` is the user's own
    ``…/ai-rulez`` configuration folder, which is no project. Raises ``FormatError`` as ``project_at``.
    """
    start = Walk(cwd).root
    border = Walk(top).root if top is not None else None
    users = Walk(user_config).root if user_config is not None else None
    for folder in (start, *start.parents):
        if users is not None and users in {folder / name for name in FOLDERS}:
            return None
        place = project_at(folder, top=border)
        if place is not None:
            return place
        if folder == border:
            return None
    return None


def project_at(folder: Path, *, top: Path | None = None) -> Place | None:
    """The project of exactly ``folder``; None where nothing says that there is one.

    Raises ``FormatError`` for every sign of a layout that is not read, and for a ``config.toml`` that is no regular
    file: such a project has verifiers that nobody would look at.
    """
    walk = Walk(folder, border=top if top is not None else folder)
    problems = list(_unread_layouts(walk))
    for name in FOLDERS:
        config = f"{name}/{CONFIG_NAME}"
        if walk.kind(name) is None or walk.kind(config) is None:
            continue
        problems.extend(_bad_config(walk, name))
        if problems:
            break
        return Place(root=walk.root, folder=name, top=walk.border or walk.root)
    if problems:
        raise FormatError(problems)
    return None


def project_of(config: Path, *, top: Path | None = None) -> Place:
    """The project whose configuration is the file ``config`` (``--config FILE``).

    Raises ``UsageError`` for a file of another name or a missing one, ``FormatError`` as ``project_at``.
    """
    if config.name != CONFIG_NAME:
        raise UsageError(f"{config}: expected a file named {CONFIG_NAME}")
    folder = Walk(config.parent).root
    root = folder.parent.parent if folder.parts[-2:] == (".config", "ai-rulez") else folder.parent
    name = folder.relative_to(root).as_posix()
    walk = Walk(root, border=top if top is not None else root)
    if walk.kind(f"{name}/{CONFIG_NAME}") is None:
        raise UsageError(f"{config}: no such file")
    problems = [*_unread_layouts(walk, (name,)), *_bad_config(walk, name)]
    if problems:
        raise FormatError(problems)
    return Place(root=root, folder=name, top=walk.border or root)


def project_folders(listed: Iterable[str]) -> tuple[str, ...]:
    """Of repository paths, the folders that hold a project or a layout that is not read; in byte order."""
    signs = (*(f"{name}/{CONFIG_NAME}" for name in FOLDERS), *_signs_of_unread_layouts(FOLDERS))
    found: set[str] = set()
    for path in listed:
        if "ai-rulez" not in path and "ai_rulez" not in path:
            continue
        for sign in signs:
            if path == sign or path.endswith(f"/{sign}"):
                found.add(path[: -len(sign)].rstrip("/"))
    return tuple(sorted(found, key=byte_order))


def _signs_of_unread_layouts(folders: Iterable[str]) -> Iterator[str]:
    yield SINGLE_FILE
    yield from _OLD_ROOT_FILES
    for folder in folders:
        for name in (*_OLD_CONFIGS, *_OLD_SERVERS):
            yield f"{folder}/{name}"


def _unread_layouts(walk: Walk, folders: Iterable[str] = FOLDERS) -> Iterator[Problem]:
    for path in _signs_of_unread_layouts(tuple(name for name in folders if walk.kind(name) is not None)):
        # A folder may have such a name (a checkout of ai-rulez beside other things); a file or link is meant.
        if walk.kind(path) in {"file", "link"}:
            yield Problem(path=path, line=1, message=_SINGLE if path == SINGLE_FILE else _MIGRATE)


def _bad_config(walk: Walk, folder: str) -> Iterator[Problem]:
    path = f"{folder}/{CONFIG_NAME}"
    try:
        kind = walk.followed(path)
    except FileError as error:
        yield Problem(path=path, message=str(error).removeprefix(f"{path}: "))
        return
    if kind != "file":
        yield Problem(path=path, message="expected a regular file")
    for mark in _ROOT_MARKS:
        if walk.kind(f"{folder}/{mark}") is not None:
            message = f"its folder holds {mark}, so it is a project root itself: move {CONFIG_NAME} to {FOLDERS[0]}/"
            yield Problem(path=path, message=message)
            return
