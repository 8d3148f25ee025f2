"""Whether what is reviewed had a say in the pytest run that reviews it (seed 003; spec oracle.md 5.2)."""

from __future__ import annotations

from pathlib import Path

import pytest

from pytest_reqfile.workspace.paths import canonical
from pytest_reqfile.workspace.program import imports_from


def is_influenced_by(root: Path, config: pytest.Config) -> bool:
    """Whether the run's folder, ini file, a conftest or plugin, or a place it imports from lies below ``root``."""
    files = (getattr(plugin, "__file__", None) for plugin in config.pluginmanager.get_plugins())
    places = (config.rootpath, config.inipath, *files)
    return imports_from(root) or any(canonical(Path(place)).is_relative_to(root) for place in places if place)
