"""Digests of files on disk and of whole directories (spec/lock.md 2.4)."""

from __future__ import annotations

from collections.abc import Container, Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from struct import iter_unpack
from typing import Final

from pytest_reqfile.errors import FileError
from pytest_reqfile.lock.digest import (
    Leaf,
    TreeKind,
    digest_bytes,
    digest_text,
    encoded,
    irregular_leaf,
    lp,
    open_file_leaf,
    symlink_leaf,
    tree_digest,
)
from pytest_reqfile.workspace.hashing import FolderFacts, OpenFile, folder_facts, is_real_folder, link_target, list_tree
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
        found: list[Leaf] = []
        for group in _groups(folder, paths, prefix):
            found += self._group(group, group.facts() if self._cache is not None else None)
        return found

    def directory(self, kind: TreeKind, folder: Path, top: Container[str] | None = None) -> str:
        """The digest of a directory; ``top`` limits its own entries (local includes).

        Raises ``FileError`` for what is no real directory or cannot be read.
        """
        groups, leaves = _read_tree(folder, top)
        if self._cache is None:
            return tree_digest(kind, [*leaves, *(leaf for group in groups for leaf in self._group(group, None))])
        return self._cached_directory(self._cache, kind, folder, groups, leaves)

    def files(self, folder: Path) -> dict[bytes, bytes]:
        """The digest of each entry of a directory by its path; what ``directory`` makes one digest of."""
        groups, leaves = _read_tree(folder, None)
        return dict([*leaves, *(leaf for group in groups for leaf in self._group(group, None))])

    def _cached_directory(
        self, cache: LeafCache, kind: TreeKind, folder: Path, groups: list[_Group], leaves: list[Leaf]
    ) -> str:
        """The digest of a directory that is known as a whole, else of its folders, each known or read."""
        facts = [group.facts() for group in groups]
        whole = _together(groups, facts, leaves)
        key = f"{folder}\0{kind}"
        known = cache.find(key, whole) if whole is not None else None
        if known is not None and len(known) == _SIZE:
            cache.retain(group.key for group in groups)
            return digest_text(known)
        for group, found in zip(groups, facts, strict=True):
            leaves += self._group(group, found)
        digest = tree_digest(kind, leaves)
        if whole is not None:
            cache.keep(key, whole, digest_bytes(digest))
        return digest

    def _group(self, group: _Group, facts: FolderFacts | None) -> Iterable[Leaf]:
        cache = self._cache
        if cache is None or facts is None:
            return _hashed(group)
        known = cache.find(group.key, facts)
        if known is not None and len(known) == _SIZE * len(group.names):
            return _split(known, group)
        leaves = list(_hashed(group))
        cache.keep(group.key, facts, b"".join(digest for _, digest in leaves))
        return leaves


@dataclass(frozen=True, slots=True, kw_only=True)
class _Group:
    """The files of one folder: ``place`` is absolute, ``prefix`` goes before ``names`` in the leaves' paths."""

    place: str
    prefix: str
    names: list[str]

    @property
    def key(self) -> str:
        return f"{self.place}\0{self.prefix}"

    def facts(self) -> FolderFacts | None:
        return folder_facts(self.place, self.names)


def _read_tree(folder: Path, top: Container[str] | None) -> tuple[list[_Group], list[Leaf]]:
    """The regular files of a directory, and the leaves of everything else in it."""
    if not is_real_folder(folder):
        raise FileError(f"digest directory: {folder} is not a real directory (a symlink is not followed)")
    entries = [entry for entry in list_tree(folder, skipped=_SKIPPED, top=top) if entry[0] not in BOOKKEEPING]
    leaves = [symlink_leaf(path, _target(folder, path)) for path, kind_of in entries if kind_of == "link"]
    leaves += (irregular_leaf(path) for path, kind_of in entries if kind_of == "other")
    return _groups(folder, (path for path, kind_of in entries if kind_of == "file"), ""), leaves


def _groups(folder: Path, paths: Iterable[str], prefix: str) -> list[_Group]:
    names: dict[str, list[str]] = {}
    for path in paths:
        inner, _, name = path.rpartition("/")
        names.setdefault(inner, []).append(name)
    return [
        _Group(
            place=f"{folder}/{inner}" if inner else str(folder),
            prefix=f"{prefix}{inner}/" if inner else prefix,
            names=found,
        )
        for inner, found in names.items()
    ]


def _together(groups: list[_Group], facts: list[FolderFacts | None], leaves: list[Leaf]) -> FolderFacts | None:
    """What the file system says of a whole directory; ``leaves`` are those of its links and irregular entries."""
    parts: list[bytes] = []
    newest = 0
    for group, found in zip(groups, facts, strict=True):
        if found is None:
            return None
        parts += (encoded(group.prefix), found.signature)
        newest = max(newest, found.newest)
    parts += (part for leaf in leaves for part in leaf)
    return FolderFacts(signature=b"".join(map(lp, parts)), newest=newest)


def _hashed(group: _Group) -> Iterator[Leaf]:
    for name in group.names:
        path = f"{group.prefix}{name}"
        with OpenFile(f"{group.place}/{name}", path) as file:
            yield open_file_leaf(path, file)


def _split(known: bytes, group: _Group) -> list[Leaf]:
    paths = encoded("\0".join([group.prefix + name for name in group.names])).split(b"\0")
    return list(zip(paths, (digest for (digest,) in iter_unpack(f"{_SIZE}s", known)), strict=True))


def _target(folder: Path, path: str) -> str:
    return link_target(f"{folder}/{path}", path)
