"""Where a project is, and layouts that look like one but are not read (spec/airulez-project.md 1.1)."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Final

from pytest_reqfile.errors import FileError, FormatError, Problem, UsageError
from pytest_reqfile.project.values import Place
from pytest_reqfile.workspace.environment import Environment
from pytest_reqfile.workspace.paths import byte_order, folder_of, name_of
from pytest_reqfile.workspace.walk import EntryKind, Walk

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


def user_config_folder(env: Environment) -> Path | None:
    """Where the user's own configuration of ai-rulez is (spec/airulez-project.md 1.5); None without a home."""
    for variable, below in (("XDG_CONFIG_HOME", "ai-rulez"), ("HOME", ".config/ai-rulez")):
        base = env.get(variable)
        if base and base.startswith("/"):
            return Path(base) / below
    return None


def project_at(folder: Path, *, top: Path | None = None) -> Place | None:
    """The project of exactly ``folder``; None where nothing says that there is one.

    Raises ``FormatError`` for every sign of a layout that is not read, and for a ``config.toml`` that is no regular
    file: such a project has verifiers that nobody would look at.
    """
    walk = Walk(folder, border=top if top is not None else folder)
    level = _Level(walk, FOLDERS)
    name = next((name for name in FOLDERS if CONFIG_NAME in level.names[name]), None)
    return level.place(name)


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
    level = _Level(walk, (name,))
    place = level.place(name if CONFIG_NAME in level.names[name] else None)
    if place is None:
        raise UsageError(f"{config}: no such file")
    return place


def project_folders(listed: Iterable[str]) -> tuple[str, ...]:
    """Of repository paths, the folders that hold a project or a layout that is not read; in byte order.

    A configuration folder is itself among the paths where it is a link.
    """
    signs = (*FOLDERS, *(f"{name}/{CONFIG_NAME}" for name in FOLDERS), *_signs_of_unread_layouts(FOLDERS))
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


class _Level:
    """What one folder shows of a project: ``names`` has what is in each of its configuration folders."""

    def __init__(self, walk: Walk, folders: tuple[str, ...]) -> None:
        self._walk = walk
        self._problems: list[Problem] = []
        self.names = {folder: self._names(folder) for folder in folders}

    def place(self, folder: str | None) -> Place | None:
        """The project with the configuration folder ``folder``; None without one. Raises what speaks against it."""
        self._find_unread_layouts()
        if folder is not None:
            self._judge(folder)
        if self._problems:
            raise FormatError(self._problems)
        walk = self._walk
        return None if folder is None else Place(root=walk.root, folder=folder, top=walk.border or walk.root)

    def _names(self, folder: str) -> dict[str, EntryKind]:
        try:
            if self._walk.followed(folder) == "folder":
                return {entry.name: entry.kind for entry in self._walk.entries(folder)}
        except FileError as error:
            self._refused(folder, error)
        return {}

    def _find_unread_layouts(self) -> None:
        for path in _signs_of_unread_layouts(self.names):
            folder, name = folder_of(path), name_of(path)
            try:
                kind = self.names[folder].get(name) if folder else self._walk.kind(path)
            except FileError as error:
                self._refused(path, error)
                continue
            # A folder may have such a name (a checkout of ai-rulez beside other things); a file or link is meant.
            if kind in {"file", "link"}:
                self._problem(path, _SINGLE if path == SINGLE_FILE else _MIGRATE, line=1)

    def _judge(self, folder: str) -> None:
        path = f"{folder}/{CONFIG_NAME}"
        try:
            if self._walk.followed(path) != "file":
                self._problem(path, "expected a regular file")
        except FileError as error:
            self._refused(path, error)
        mark = next((mark for mark in _ROOT_MARKS if mark in self.names[folder]), None)
        if mark is not None:
            home = f"move {CONFIG_NAME} to {FOLDERS[0]}/"
            self._problem(path, f"its folder holds {mark}, so it is a project root itself: {home}")

    def _refused(self, path: str, error: FileError) -> None:
        self._problem(path, str(error).removeprefix(f"{path}: "))

    def _problem(self, path: str, message: str, line: int | None = None) -> None:
        self._problems.append(Problem(path=path, line=line, message=message))
