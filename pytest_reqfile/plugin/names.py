"""Which files a pytest walk should hand to us; asked for every file it meets, so only text is looked at."""

from __future__ import annotations

from pathlib import Path
from typing import Final

SETTINGS_FOLDER: Final = ".reqfile"
_REQFILE_LIKE: Final = frozenset({"reqfile.yaml", "reqfile.yml"})
_CONFIG_LIKE: Final = frozenset({"config.yaml", "config.yml"})


def is_reqfile_like(path: Path) -> bool:
    """Whether the name is Reqfile.yaml or a near miss of it (seed 004 REQFILE_FORMAT)."""
    return path.name.lower() in _REQFILE_LIKE


def is_config_like(path: Path) -> bool:
    """Whether the file is .reqfile/config.yaml or a near miss of it."""
    return path.parent.name == SETTINGS_FOLDER and path.name.lower() in _CONFIG_LIKE


def is_ours(path: Path) -> bool:
    """Whether the file is one we collect from."""
    return is_reqfile_like(path) or is_config_like(path)


def concerns_us(path: Path) -> bool:
    """Whether the path is, or lies in, a folder of ours: pytest skips dot folders unless we say otherwise."""
    return SETTINGS_FOLDER in path.parts
