"""The files of a repository, asked for as soon as it is opened and read when they are needed (design 4, issue 3.5)."""

from __future__ import annotations

import os
from collections.abc import Iterable
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pytest_reqfile.workspace.git import Git

_NUL = b"\0"


class GitListing:
    """One listing for one run. git works on it while the caller imports and parses.

    Tracked and untracked files are listed apart, so that both are known without looking through the folders twice.
    """

    def __init__(self, git: Git) -> None:
        self.root: Path = git.root
        self._git = git
        self._tracked = git.start(*_TRACKED)
        self._untracked = git.start(*_UNTRACKED)

    def list_files(self) -> tuple[str, ...]:
        """Tracked and untracked paths that are not ignored, in byte order; some may be no regular files."""
        paths = {*self._tracked_bytes.split(_NUL), *self._untracked_bytes.split(_NUL)} - {b""}
        # Decoded at once: a repository has tens of thousands of paths.
        return tuple(os.fsdecode(_NUL.join(sorted(paths))).split("\0")) if paths else ()

    @cached_property
    def untracked(self) -> tuple[str, ...]:
        """Paths that are neither tracked nor ignored, in byte order."""
        return tuple(os.fsdecode(path) for path in sorted(set(self._untracked_bytes.split(_NUL)) - {b""}))

    def with_ending(self, endings: Iterable[str]) -> tuple[str, ...]:
        """The paths whose lower-cased text has one of the ASCII ``endings``, in byte order; the others stay bytes."""
        found: set[bytes] = set()
        for listing in (self._tracked_bytes, self._untracked_bytes):
            lowered = listing.lower()
            for ending in endings:
                found.update(_ending(listing, lowered, ending.encode()))
        return tuple(map(os.fsdecode, sorted(found)))

    @cached_property
    def _tracked_bytes(self) -> bytes:
        return self._git.finish(self._tracked, _TRACKED)

    @cached_property
    def _untracked_bytes(self) -> bytes:
        return self._git.finish(self._untracked, _UNTRACKED)


_TRACKED = ("ls-files", "-z", "--cached")
_UNTRACKED = ("ls-files", "-z", "--others", "--exclude-standard")


def _ending(listing: bytes, lowered: bytes, ending: bytes) -> Iterable[bytes]:
    at = lowered.find(ending + _NUL)
    while at >= 0:
        end = at + len(ending)
        yield listing[listing.rfind(_NUL, 0, at) + 1 : end]
        at = lowered.find(ending + _NUL, end)
