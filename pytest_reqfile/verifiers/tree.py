"""The files of one project as one run sees them, each way of listing them used at most once (spec 1.5, 3.1)."""

from __future__ import annotations

import os
from functools import cached_property
from pathlib import Path
from typing import Final

from pytest_reqfile.errors import GitError
from pytest_reqfile.workspace.bulk import FolderListing, list_folder, regular_files
from pytest_reqfile.workspace.git import Git
from pytest_reqfile.workspace.git_ahead import IS_INSIDE
from pytest_reqfile.workspace.git_listing import GitListing
from pytest_reqfile.workspace.paths import byte_order, folder_of
from pytest_reqfile.workspace.probe import path_exists

SKIPPED_FOLDERS: Final = frozenset({".git", ".hg", ".svn", "node_modules", ".venv", "__pycache__"})


class Tree:
    """Paths are project paths. ``git`` works in ``root``; without it, and outside a repository, a folder walk serves.

    ``files`` replaces both listings: the fixture of a self-test is exactly its files.
    """

    def __init__(self, root: Path, git: Git | None = None, files: tuple[str, ...] | None = None) -> None:
        self.root = root
        self.git = git
        self._files = tuple(sorted(files, key=byte_order)) if files is not None else None

    @cached_property
    def walk(self) -> FolderListing:
        """Every regular file on disk, ignored ones too: what flat verifiers look at."""
        if self._files is not None:
            return FolderListing(files=self._files, unreadable=())
        return list_folder(self.root, SKIPPED_FOLDERS)

    @cached_property
    def in_git(self) -> bool:
        """Whether the root is inside a git work tree. Raises GitError where git itself refuses to say."""
        if self.git is None or self._files is not None:
            return False
        try:
            reply = self.git.start(*IS_INSIDE).reply()
        except GitError:
            return False  # git is not installed
        if reply.code != 0 and "dubious ownership" in reply.err:
            raise GitError(f"git rev-parse --is-inside-work-tree failed: {reply.err}")
        return reply.code == 0 and reply.out.strip() == b"true"

    @cached_property
    def repository(self) -> tuple[str, ...]:
        """Tracked files and untracked ones that are not ignored, in byte order: what specs look at."""
        if self._files is not None or not self.in_git:
            return self.walk.files
        return regular_files(self.root, filter(is_entered, self.listing.list_files()))

    @cached_property
    def listing(self) -> GitListing:
        """What git lists in the project's folder, in the work as soon as it is asked for."""
        assert self.git is not None
        return GitListing(self.git)

    @cached_property
    def unseen(self) -> tuple[str, ...]:
        """Folders that the repository list could not look into."""
        if self._files is not None or not self.in_git:
            return self.walk.unreadable
        found = sorted(folder for folder, _ in self.listing.unreadable())
        if not found:
            return ()
        assert self.git is not None
        prefix = os.fsdecode(
            self.git.answer("rev-parse", "--show-prefix").removesuffix(b"\n")
        )  # git names it from its top
        return tuple(folder.removeprefix(prefix) for folder in found if folder.startswith(prefix))

    def still_there(self, paths: tuple[str, ...]) -> tuple[str, ...]:
        """Those of ``paths``, which git lists, that the repository list has: answered without listing everything."""
        if self._files is not None:
            known = frozenset(self._files)
            return tuple(path for path in paths if path in known)
        return regular_files(self.root, filter(is_entered, paths))

    @cached_property
    def _listed(self) -> frozenset[str]:
        return frozenset(self.repository)

    def lists(self, path: str) -> bool:
        """Whether ``path`` is one of the repository's files."""
        return path in self._listed

    def exists(self, path: str) -> bool:
        """Whether a file or folder is at ``path``. Raises FileError for what lies beyond the root."""
        return path_exists(self.root, path)


def is_entered(path: str) -> bool:
    """Whether no folder above ``path`` is one that is never entered."""
    return SKIPPED_FOLDERS.isdisjoint(folder_of(path).split("/"))
