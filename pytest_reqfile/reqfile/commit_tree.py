"""The repository as of a commit, read from git's objects and never checked out (spec reqfile.md 5.3)."""

from __future__ import annotations

from functools import cached_property

from pytest_reqfile.errors import FileError
from pytest_reqfile.reqfile.discovery import is_config_like, is_reqfile_like
from pytest_reqfile.workspace.git import Git, TreeFile


class CommitTree:
    """A ``Tree`` of discovery over one commit. ``commit`` is an object id."""

    def __init__(self, git: Git, commit: str) -> None:
        self._git = git
        self._commit = commit

    @cached_property
    def listed(self) -> tuple[str, ...]:
        """Every path of the commit, in byte order."""
        return tuple(self._files)

    def is_regular(self, path: str) -> bool:
        """Whether the path was a regular file, not a symlink or submodule."""
        return path in self._files and self._files[path].is_regular

    def object_id(self, path: str) -> str:
        """The object id of a file's content. Raises KeyError for a path that was not there."""
        return self._files[path].oid

    def read_text(self, path: str) -> str:
        """The text of a Reqfile, near miss or config: what discovery reads."""
        try:
            return self._contents[path].decode("utf-8")
        except UnicodeDecodeError:
            raise FileError(f"{path}: not valid UTF-8") from None

    @cached_property
    def _files(self) -> dict[str, TreeFile]:
        return {file.path: file for file in self._git.tree_files(self._commit)}

    @cached_property
    def _contents(self) -> dict[str, bytes]:
        """What discovery may ask for, through one git process."""
        wanted = [f for f in self._files.values() if f.is_regular and _is_declaration(f.path)]
        contents = self._git.blobs(file.oid for file in wanted)
        return {file.path: contents[file.oid] for file in wanted}


def _is_declaration(path: str) -> bool:
    return is_config_like(path) or is_reqfile_like(path)
