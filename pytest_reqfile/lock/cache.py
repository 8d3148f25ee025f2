"""The cache in which ai-rulez keeps what it fetched, read where it is (spec/lock.md 6.1, 6.2)."""

from __future__ import annotations

import hashlib
import json
import re
from pathlib import Path
from typing import Final

from pytest_reqfile.errors import FileError
from pytest_reqfile.lock.content_folder import content_folder
from pytest_reqfile.lock.remotes import CachedTree, is_full_commit
from pytest_reqfile.lock.values import Entry
from pytest_reqfile.project.values import Source
from pytest_reqfile.workspace.environment import Environment
from pytest_reqfile.workspace.paths import normalised
from pytest_reqfile.workspace.walk import Walk

BOOKKEEPING: Final = ".cache_meta.json"
_UNSAFE: Final = re.compile(r"[^A-Za-z0-9._-]")
_MAX_BYTES: Final = 64 * 1024 * 1024


def cache_root(environment: Environment) -> Path | None:
    """``~/.cache/ai-rulez``, wherever the user's cache is; None where no variable says that."""
    for variable, below in (("XDG_CACHE_HOME", "ai-rulez"), ("HOME", ".cache/ai-rulez")):
        if value := environment.get(variable):
            return Path(value, below)
    return None


def safe_name(name: str) -> str:
    """An include's name as a part of a folder name."""
    return _UNSAFE.sub("_", name).strip(".") or "include"


def normalised_url(url: str) -> str:
    """``git@h:p`` and ``ssh://git@h/p`` are ``https://h/p``; trailing slashes do not count, ``.git`` does."""
    url = url.rstrip("/")
    if url.startswith("ssh://git@"):
        return f"https://{url.removeprefix('ssh://git@')}"
    if url.startswith("git@"):
        return f"https://{url.removeprefix('git@').replace(':', '/', 1)}"
    return url


def include_folder(name: str, url: str) -> str:
    """Where an include is kept, below ``includes/``."""
    return f"{safe_name(name)}-{hashlib.sha256(normalised_url(url).encode()).hexdigest()[:12]}"


def source_folder(url: str, commit: str) -> str:
    """Where the tree of a skill source is kept, below ``skill-sources/``."""
    return f"{hashlib.sha256(url.encode()).hexdigest()[:16]}/{commit}/tree"


class AiRulezCache:
    """Finds includes and skill sources; where ai-rulez keeps installed skills is not known, so those are not found."""

    def __init__(self, root: Path | None) -> None:
        self._root = root

    def find(self, source: Source, entry: Entry) -> CachedTree | None:
        """The content folder of a source as ``remotes.FindCached`` asks for it."""
        if self._root is None:
            return None
        try:
            if source.table == "includes":
                return self._include(self._root, source)
            if source.table == "skill_sources":
                return self._skill_source(self._root, source, entry)
        except FileError:  # a part of the cache that is closed to us is no answer
            return None
        return None

    def _include(self, root: Path, source: Source) -> CachedTree | None:
        walk = Walk(root / "includes" / include_folder(source.name, source.source))
        if walk.kind("") != "folder":
            return None
        content = content_folder(source, lambda path: walk.kind(path) == "folder")
        return CachedTree(folder=walk.root / content, commit=_fetched_commit(walk)) if content is not None else None

    def _skill_source(self, root: Path, source: Source, entry: Entry) -> CachedTree | None:
        walk = Walk(root / "skill-sources" / source_folder(source.source, entry.commit))
        path = normalised(source.path)
        if path is None or not is_full_commit(entry.commit) or walk.kind(path) != "folder":
            return None
        return CachedTree(folder=walk.root / path, commit=entry.commit)


def _fetched_commit(walk: Walk) -> str:
    """The commit its bookkeeping records; empty where it says none."""
    try:
        found = json.loads(walk.read(BOOKKEEPING, _MAX_BYTES))
    except (FileError, ValueError, RecursionError):
        return ""
    commit = found.get("remote_head_sha") if isinstance(found, dict) else None
    return commit if isinstance(commit, str) else ""
