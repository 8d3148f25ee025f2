"""The files of a repository, asked for as soon as it is opened and read when they are needed (design 4, issue 3.5)."""

from __future__ import annotations

import os
import re
import sys
from collections.abc import Iterable, Iterator
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Final

from pytest_reqfile.errors import GitError
from pytest_reqfile.workspace.git_ahead import LISTING

if TYPE_CHECKING:
    from pytest_reqfile.workspace.git import Git

_TAG: Final = 2
_NUL: Final = b"\0"
_UNTRACKED: Final = re.compile(rb"\0\? ([^\0]+)")
_UNWATCHED: Final = re.compile(rb"\0([Sa-z]) ([^\0]+)")
_SKIPPED: Final = b"Ss"
# git lists what it can and exits with 0 all the same.
_UNREADABLE: Final = re.compile(r"^warning: could not open directory '(.+)/': ([^\n]+)$", re.MULTILINE)


class GitListing:
    """One listing for one run. git works on it while the caller imports and parses."""

    def __init__(self, git: Git) -> None:
        self.root: Path = git.root
        self._git = git
        self._call = git.start(*LISTING)

    def list_files(self) -> tuple[str, ...]:
        """Tracked and untracked paths that are not ignored, in byte order; some may be no regular files."""
        paths = {entry[_TAG:] for entry in self._entries()}
        # Decoded at once: a repository has tens of thousands of paths.
        return tuple(os.fsdecode(_NUL.join(sorted(paths))).split("\0")) if paths else ()

    @cached_property
    def path_bytes(self) -> frozenset[bytes]:
        """The same paths as bytes in no order, for those who only ask whether one is listed."""
        return frozenset([entry[_TAG:] for entry in self._entries()])

    def __contains__(self, path: object) -> bool:
        """Whether a repository path is listed."""
        return isinstance(path, str) and os.fsencode(path) in self.path_bytes

    @cached_property
    def untracked(self) -> tuple[str, ...]:
        """Paths that are neither tracked nor ignored, in byte order."""
        return tuple(map(os.fsdecode, sorted(set(_UNTRACKED.findall(_NUL + self._listing)))))

    @cached_property
    def unwatched(self) -> dict[str, bool]:
        """Tracked paths that git does not compare with the disk, in byte order; whether they belong there at all.

        Those of ``--skip-worktree``, as in a sparse checkout, need not be on disk; those of ``--assume-unchanged`` do.
        """
        found = {path: tag not in _SKIPPED for tag, path in _UNWATCHED.findall(_NUL + self._listing)}
        return {os.fsdecode(path): found[path] for path in sorted(found)}

    def with_ending(self, endings: Iterable[str]) -> tuple[str, ...]:
        """The paths whose lower-cased text has one of the ASCII ``endings``, in byte order; the others stay bytes."""
        found = {path for ending in endings for path in _ending(self._listing, self._lowered, ending.encode())}
        return tuple(map(os.fsdecode, sorted(found)))

    def unreadable(self) -> tuple[tuple[str, str], ...]:
        """The folders that git could not look into, each with the reason; what they hold is not in the listing."""
        return tuple(_UNREADABLE.findall(self._call.reply().err))

    def _entries(self) -> list[bytes]:
        return self._listing.split(_NUL)[:-1]

    @cached_property
    def _lowered(self) -> bytes:
        return self._listing.lower()

    @cached_property
    def _listing(self) -> bytes:
        listing = self._git.finish(self._call, LISTING)
        refuse_misread_names(listing, sys.getfilesystemencoding())
        return listing


def refuse_misread_names(listing: bytes, encoding: str) -> None:
    """Raise GitError where Python reads file names in another encoding than UTF-8, and ``listing`` has such names.

    Globs are UTF-8: they would match none of them, and a check would have nothing to check.
    """
    if encoding not in {"utf-8", "utf8"} and not listing.isascii():
        raise GitError(
            f"file names are read as {encoding} here, so no glob would match those that are not ASCII; "
            "expected UTF-8: set PYTHONUTF8=1 or a UTF-8 locale"
        )


def _ending(listing: bytes, lowered: bytes, ending: bytes) -> Iterator[bytes]:
    at = lowered.find(ending + _NUL)
    while at >= 0:
        end = at + len(ending)
        yield listing[listing.rfind(_NUL, 0, at) + 1 + _TAG : end]
        at = lowered.find(ending + _NUL, end)
