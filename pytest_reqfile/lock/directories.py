"""Digests of files on disk and of whole directories (spec/lock.md 2.4)."""

from __future__ import annotations

from collections.abc import Container, Iterable, Iterator
from pathlib import Path
from struct import iter_unpack
from typing import Final

from pytest_reqfile.errors import FileError
from pytest_reqfile.lock.digest import (
    Leaf,
    TreeKind,
    encoded,
    irregular_leaf,
    open_file_leaf,
    symlink_leaf,
    tree_digest,
)
from pytest_reqfile.workspace.hashing import OpenFile, folder_facts, is_real_folder, link_target, list_tree
from pytest_reqfile.workspace.leaf_cache import LeafCache

BOOKKEEPING: Final = frozenset({".cache_meta.json", ".cache_meta.json.tmp"})
_SKIPPED: Final = frozenset({".git"})
_SIZE: Final = 32


class Hasher:
    """Hashes files, each folder's at once. With a cache, folders in which nothing has changed are not read again.

    A lock is never written from a cache: give none then (issue 6.7).
    """

    def __init__(self, cache: LeafCache | None = None) -> None:
        self._cache = cache

    def leaves(self, folder: Path, paths: Iterable[str], prefix: str = "") -> list[Leaf]:
        """The leaves of regular files at ``paths`` below the real folder ``folder``; ``prefix`` goes before paths."""
        groups: dict[str, list[str]] = {}
        for path in paths:
            inner, _, name = path.rpartition("/")
            groups.setdefault(inner, []).append(name)
        found: list[Leaf] = []
        for inner, names in groups.items():
            place = f"{folder}/{inner}" if inner else str(folder)
            found += self._group(place, f"{prefix}{inner}/" if inner else prefix, names)
        return found

    def directory(self, kind: TreeKind, folder: Path, top: Container[str] | None = None) -> str:
        """The digest of a directory; ``top`` limits its own entries (local includes).

        Raises ``FileError`` for what is no real directory or cannot be read.
        """
        if not is_real_folder(folder):
            raise FileError(f"digest directory: {folder} is not a real directory (a symlink is not followed)")
        entries = [entry for entry in list_tree(folder, skipped=_SKIPPED, top=top) if entry[0] not in BOOKKEEPING]
        leaves = self.leaves(folder, (path for path, kind_of in entries if kind_of == "file"))
        leaves += (symlink_leaf(path, _target(folder, path)) for path, kind_of in entries if kind_of == "link")
        leaves += (irregular_leaf(path) for path, kind_of in entries if kind_of == "other")
        return tree_digest(kind, leaves)

    def _group(self, place: str, prefix: str, names: list[str]) -> Iterable[Leaf]:
        cache = self._cache
        facts = folder_facts(place, names) if cache is not None else None
        if cache is None or facts is None:
            return _hashed(place, prefix, names)
        key = f"{place}\0{prefix}"
        known = cache.find(key, facts)
        if known is not None and len(known) == _SIZE * len(names):
            return _split(known, prefix, names)
        leaves = list(_hashed(place, prefix, names))
        cache.keep(key, facts, b"".join(digest for _, digest in leaves))
        return leaves


def _hashed(place: str, prefix: str, names: list[str]) -> Iterator[Leaf]:
    for name in names:
        path = f"{prefix}{name}"
        with OpenFile(f"{place}/{name}", path) as file:
            yield open_file_leaf(path, file)


def _split(known: bytes, prefix: str, names: list[str]) -> list[Leaf]:
    paths = encoded("\0".join([prefix + name for name in names])).split(b"\0")
    return list(zip(paths, (digest for (digest,) in iter_unpack(f"{_SIZE}s", known)), strict=True))


def _target(folder: Path, path: str) -> str:
    return link_target(f"{folder}/{path}", path)
