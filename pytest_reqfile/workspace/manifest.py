"""What a folder holds at one moment, so that any write to it shows later (spec oracle.md 5.5)."""

from __future__ import annotations

import os
import stat
from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from pytest_reqfile.errors import FileError
from pytest_reqfile.workspace.paths import byte_order

Facts = tuple[int, int, int, int, int]
"""mode, size, mtime_ns, ctime_ns, inode. A command can set all of them back but ctime."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Manifest:
    """Every file, link and folder below a folder, ignored ones and ``.git`` included, by facts any write changes."""

    entries: Mapping[str, Facts]

    def changed(self, later: Manifest) -> tuple[str, ...]:
        """Paths that were added, removed or written to, in byte order; a folder only if nothing in it is named."""
        before, after = self.entries, later.entries
        differing = {path for path in before.keys() | after.keys() if before.get(path) != after.get(path)}
        with_changes_inside = {path.rpartition("/")[0] or "." for path in differing if path != "."}
        named = {path for path in differing if path not in with_changes_inside}
        return tuple(sorted(named, key=byte_order))

    def pipes(self) -> tuple[str, ...]:
        """Named pipes, which whoever reads them waits for."""
        return tuple(path for path, facts in self.entries.items() if stat.S_ISFIFO(facts[0]))

    def is_folder(self, path: str) -> bool:
        """Whether a folder stood at ``path``."""
        return path in self.entries and stat.S_ISDIR(self.entries[path][0])


def take_manifest(folder: Path) -> Manifest:
    """Look at everything below ``folder`` without following links. The folder itself is the entry ``.``.

    Raises ``FileError`` for a folder that cannot be read: what was not looked at must not pass as unchanged.
    """
    try:
        entries = {".": _facts(os.lstat(folder))}
        _collect(f"{folder}/", entries, _refuse)
    except OSError as error:
        raise FileError(f"{error.filename or folder}: cannot look at: {error.strerror}") from error
    return Manifest(entries=entries)


def look_again(folder: Path) -> Manifest:
    """As ``take_manifest`` at a later time: what cannot be read any more is missing, and so has changed."""
    entries: dict[str, Facts] = {}
    with suppress(OSError):
        entries["."] = _facts(os.lstat(folder))
        _collect(f"{folder}/", entries, _leave_out)
    return Manifest(entries=entries)


def _refuse(error: OSError) -> None:
    raise error


def _leave_out(error: OSError) -> None:
    del error


def _collect(root: str, entries: dict[str, Facts], on_error: Callable[[OSError], None]) -> None:
    todo = [""]
    while todo:
        folder = todo.pop()
        try:
            scan = os.scandir(root + folder)
        except OSError as error:
            on_error(error)
            continue
        with scan as found:
            for entry in found:
                path = folder + entry.name
                try:
                    facts = entry.stat(follow_symlinks=False)
                except FileNotFoundError:  # gone between the two calls; the folder's own time tells
                    continue
                entries[path] = _facts(facts)
                if stat.S_ISDIR(facts.st_mode):
                    todo.append(f"{path}/")


def _facts(facts: os.stat_result) -> Facts:
    if stat.S_ISCHR(facts.st_mode):  # overlayfs links and unlinks its marks behind the scenes
        return (facts.st_mode, facts.st_rdev, 0, 0, 0)
    size = 0 if stat.S_ISDIR(facts.st_mode) else facts.st_size
    return (facts.st_mode, size, facts.st_mtime_ns, facts.st_ctime_ns, facts.st_ino)
