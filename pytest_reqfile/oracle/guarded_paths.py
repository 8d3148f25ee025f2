"""Paths that may not change: what the baseline has, against what is on disk (spec oracle.md 5.6).

Read from the reviewed workspace itself, since a command of the mission may have put the old content back in the
disposable one, and compared by content, since the index (``--assume-unchanged``, ``--skip-worktree``), filters and
replaced objects of a reviewed repository can make ``git diff`` say that nothing changed.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from pytest_reqfile.oracle.source import source_state
from pytest_reqfile.workspace.environment import Environment
from pytest_reqfile.workspace.git import Git, TreeFile
from pytest_reqfile.workspace.machine import is_folder
from pytest_reqfile.workspace.paths import byte_order, contains, leads_through_link, normalised
from pytest_reqfile.workspace.snapshot import FolderWalk
from pytest_reqfile.workspace.tree_reading import TreeEntry, blob_with_unix_lines, read_entry

_SUBMODULE: Final = "160000"
_LONG_ID: Final = 64
_MOST_NAMED: Final = 3
_LARGE_FILE: Final = re.compile(rb"version https://git-lfs\.github\.com/spec/v1\n(?:.*\n)*?oid sha256:([0-9a-f]{64})\n")


@dataclass(frozen=True, slots=True, kw_only=True)
class Comparison:
    """What came of the guarded paths. ``missing`` are those the baseline does not have, ``changed`` files that differ.

    ``line_ends`` differ in nothing but CRLF; ``ignored`` are files git does not look at, which have no baseline.
    """

    missing: tuple[str, ...] = ()
    changed: tuple[str, ...] = ()
    line_ends: tuple[str, ...] = ()
    ignored: tuple[str, ...] = ()

    @property
    def doubt(self) -> str | None:
        """What makes "unchanged" less sure."""
        named = (
            ("differs in line ends only", self.line_ends),
            ("is ignored by git, so the baseline says nothing of it", self.ignored),
        )
        found = [
            f"{', '.join(paths[:_MOST_NAMED])}{', …' if paths[_MOST_NAMED:] else ''} {what}"
            for what, paths in named
            if paths
        ]
        return "; ".join(found) or None

    def report(self, commit: str) -> bytes:
        """All of it as text, a line for each path, to be kept as evidence."""
        kinds = {"missing": self.missing, "changed": self.changed}
        kinds |= {"line ends": self.line_ends, "ignored": self.ignored}
        lines = [f"baseline {commit}", *(f"{kind} {path!a}" for kind, paths in kinds.items() for path in paths)]
        return "\n".join((*lines, "")).encode()


def compare_paths(git: Git, env: Environment, commit: str, paths: tuple[str, ...]) -> Comparison:
    """``paths`` of the workspace that ``git`` is asked in against the ``commit``.

    Raises ``GitError``, and ``FileError`` for what cannot be read.
    """
    wanted = tuple(normalised(path) or path for path in paths)
    before = {file.path: file for file in git.tree_files(commit) if _covers(wanted, file.path)}
    missing = tuple(path for path in wanted if not any(_covers((path,), file) for file in before))
    if missing:
        return Comparison(missing=missing)
    listed = {path for path in git.list_files() if _covers(wanted, path.rstrip("/"))}
    return _Comparing(git=git, env=env, before=before).compare(listed | before.keys(), wanted)


def _covers(wanted: tuple[str, ...], path: str) -> bool:
    return any(contains(one, path) for one in wanted)


@dataclass(frozen=True, slots=True, kw_only=True)
class _Comparing:
    git: Git
    env: Environment
    before: Mapping[str, TreeFile]

    def compare(self, paths: set[str], wanted: tuple[str, ...]) -> Comparison:
        differing = [path for path in sorted(paths, key=byte_order) if self._differs(path)]
        line_ends = {path for path in differing if self._differs_in_line_ends(path)}
        return Comparison(
            changed=tuple(path for path in differing if path not in line_ends),
            line_ends=tuple(sorted(line_ends, key=byte_order)),
            ignored=tuple(path for path in _on_disk(self.git.root, wanted) if not self._is_known(path, paths)),
        )

    def _is_known(self, path: str, paths: set[str]) -> bool:
        """Listed by git, or in a submodule or a repository inside of this one, which is compared as a whole."""
        return path in paths or any(
            f"{above}/" in paths or self._is_submodule(str(above)) for above in Path(path).parents
        )

    def _is_submodule(self, path: str) -> bool:
        return path in self.before and self.before[path].mode == _SUBMODULE

    def _differs(self, path: str) -> bool:
        before = self.before.get(path)
        now = self._now(path)
        if before is None or now is None:
            return (before is None) != (now is None)
        if before.mode == _SUBMODULE == now.mode:
            return self._submodule_differs(path, before)
        return before.mode != now.mode or not (before.oid == now.blob or self._is_large_file(before, now))

    def _now(self, path: str) -> TreeEntry | None:
        """Of a folder that became a link nothing is left, whatever the link leads to."""
        root = self.git.root
        return None if leads_through_link(root, (root / path).parent) else read_entry(root, path, self._algorithm)

    @property
    def _algorithm(self) -> str:
        oid = next(iter(self.before.values())).oid
        return "sha256" if len(oid) == _LONG_ID else "sha1"

    def _submodule_differs(self, path: str, before: TreeFile) -> bool:
        """One that was not checked out is an empty folder, which cannot differ."""
        folder = self.git.root / path
        if not any(FolderWalk(folder, frozenset()).list_files()):
            return False
        state = source_state(folder, self.env)
        return state.head != before.oid or not state.clean

    def _is_large_file(self, before: TreeFile, now: TreeEntry) -> bool:
        """git LFS commits the digest in place of the content."""
        pointer = _LARGE_FILE.match(self.git.blobs((before.oid,))[before.oid])
        return pointer is not None and pointer[1].decode() == now.sha256

    def _differs_in_line_ends(self, path: str) -> bool:
        before = self.before.get(path)
        now = self._now(path)
        if before is None or now is None or not before.is_regular or now.mode != before.mode:
            return False
        return blob_with_unix_lines(self.git.root, path, self._algorithm) == before.oid


def _on_disk(root: Path, wanted: tuple[str, ...]) -> Iterator[str]:
    for path in wanted:
        if is_folder(root / path):
            yield from (f"{path}/{name}" for name in FolderWalk(root / path).list_files())
