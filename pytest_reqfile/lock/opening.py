"""The tools of one run over one project, as both fronts need them."""

from __future__ import annotations

import hashlib
from pathlib import Path
from typing import Final

from pytest_reqfile.lock.cached_content import find_cached
from pytest_reqfile.lock.check import Tools, renders_no_role
from pytest_reqfile.lock.directories import Hasher
from pytest_reqfile.lock.file import LOCK_NAME, LockFile
from pytest_reqfile.lock.roles import RenderRole
from pytest_reqfile.project.resources import GitView
from pytest_reqfile.project.values import Place
from pytest_reqfile.workspace.clock import SystemClock
from pytest_reqfile.workspace.environment import Environment
from pytest_reqfile.workspace.leaf_cache import LeafCache
from pytest_reqfile.workspace.walk import Walk

_CACHE: Final = "lock"


def lock_file(place: Place) -> LockFile:
    """Where the lock of a project is."""
    return LockFile(walk=Walk(place.root), path=f"{place.folder}/{LOCK_NAME}")


def leaf_cache(root: Path, cache_folder: Path) -> LeafCache:
    """The digests kept for the files of ``root`` in the user's ``cache_folder``."""
    name = hashlib.sha256(str(root).encode("utf-8", "surrogateescape")).hexdigest()[:16]
    return LeafCache(cache_folder / _CACHE / f"{name}.json", SystemClock())


def open_tools(
    environment: Environment,
    view: GitView | None,
    cache: LeafCache | None = None,
    render_role: RenderRole = renders_no_role,
) -> Tools:
    """What a comparison asks. For a lock that is written no ``cache`` may be given."""
    return Tools(
        hasher=Hasher(cache),
        view=view,
        find_cached=find_cached(environment),
        render_role=render_role,
    )
