"""Which files a pytest walk should hand to us; asked for every file it meets, so only text is looked at."""

from __future__ import annotations

from pathlib import Path
from typing import Final

REQFILE_FOLDER: Final = ".reqfile"
PROJECT_FOLDER: Final = ".ai-rulez"
_REQFILE_LIKE: Final = frozenset({"reqfile.yaml", "reqfile.yml"})
_CONFIG_LIKE: Final = frozenset({"config.yaml", "config.yml"})
_UNREAD_AT_THE_ROOT: Final = frozenset(
    {"ai-rulez.toml"}
    | {f"{dot}ai{dash}rulez.{end}" for dot in ("", ".") for dash in ("-", "_") for end in ("yaml", "yml")}
)
_UNREAD_IN_THE_FOLDER: Final = frozenset(
    f"{name}.{end}" for name in ("config", "config.local") for end in ("yaml", "yml", "json")
)


def is_reqfile_like(path: Path) -> bool:
    """Whether the name is Reqfile.yaml or a near miss of it (seed 004 REQFILE_FORMAT)."""
    return path.name.lower() in _REQFILE_LIKE


def is_config_like(path: Path) -> bool:
    """Whether the file is .reqfile/config.yaml or a near miss of it."""
    return path.parent.name == REQFILE_FOLDER and path.name.lower() in _CONFIG_LIKE


def is_project_file(path: Path) -> bool:
    """Whether the file declares verifiers of a project, or is of a layout that is not read (spec 1 of it)."""
    if path.name in _UNREAD_AT_THE_ROOT:
        return True
    if _is_project_folder(path.parent):
        return path.name == "config.toml" or path.name in _UNREAD_IN_THE_FOLDER
    return is_declaration_file(path)


def is_declaration_file(path: Path) -> bool:
    """Whether the file holds rule-linked verifiers of a project."""
    return path.suffix == ".toml" and path.parent.name == "verifiers" and _is_project_folder(path.parent.parent)


def project_root(path: Path) -> Path:
    """The folder of the project that a project file belongs to."""
    folder = path.parent.parent if path.parent.name == "verifiers" else path.parent
    if not _is_project_folder(folder):
        return path.parent
    return folder.parent if folder.name == PROJECT_FOLDER else folder.parent.parent


def is_ours(path: Path) -> bool:
    """Whether the file is one we collect from."""
    return is_reqfile_like(path) or is_config_like(path) or is_project_file(path) or is_lock_file(path)


def is_lock_file(path: Path) -> bool:
    """Whether the file pins what is beside it."""
    if path.name == "ai-rulez.lock":
        return _is_project_folder(path.parent)
    return path.name == "reqfile.lock" and path.parent.name == REQFILE_FOLDER


def is_ours_node(nodeid: str) -> bool:
    """Whether an item of that id was collected from a file of ours; missions are so only by the name of their items."""
    file, _, name = nodeid.partition("::")
    return is_ours(Path(file)) or (file.endswith(".json") and name.startswith(("oracle/", "guard/")))


def concerns_us(path: Path) -> bool:
    """Whether the path is, or lies in, a folder of ours: pytest skips dot folders unless we say otherwise."""
    return REQFILE_FOLDER in path.parts or PROJECT_FOLDER in path.parts


def is_skipped(path: Path) -> bool:
    """Whether a path in a folder of ours is passed over: only what declares something is collected."""
    if path.name in {REQFILE_FOLDER, PROJECT_FOLDER}:
        return False
    return not (path.name == "verifiers" and path.parent.name == PROJECT_FOLDER) and not is_ours(path)


def _is_project_folder(folder: Path) -> bool:
    return folder.name == PROJECT_FOLDER or (folder.name == "ai-rulez" and folder.parent.name == ".config")


def may_ask(nodeid: str) -> bool:
    """Whether an item of that id may ask a model: a decision check, or a labeled example of a requirement."""
    path, _, name = nodeid.partition("::")
    return (name.endswith("/decision") or "/examples/" in name) and is_ours(Path(path))
