"""The files of a commit, listed within bounds: a few small objects can name more paths than any machine can hold."""

from __future__ import annotations

import os
import re
import stat
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final

from pytest_reqfile.errors import GitError, WorkspaceError
from pytest_reqfile.workspace.git import Git, TreeFile
from pytest_reqfile.workspace.paths import byte_order

MAX_DEPTH: Final = 200
MAX_LISTED_BYTES: Final = 64 * 1024 * 1024
FOLDER: Final = "040000"
_ENTRY: Final = re.compile(rb"(?P<mode>[0-7]{5,6}) (?P<name>[^\0]*)\0", re.DOTALL)
_ID_BYTES: Final = {40: 20, 64: 32}


class TooLargeError(WorkspaceError):
    """More than anybody wants to have of another repository."""


@dataclass(frozen=True, slots=True, kw_only=True)
class CommitTree:
    """The tree of one commit in the repository of ``git``; ``commit`` is a full object id."""

    git: Git
    commit: str

    def has_folder(self, path: str) -> bool:
        """Whether a real folder is at ``path``; the empty path is the root. A symlink or submodule is none."""
        return self.git.ask(("cat-file", "-t", f"{self.commit}:{path}")).out.strip() == b"tree"

    def files(self, folder: str, most: int) -> tuple[TreeFile, ...]:
        """What is below ``folder`` but folders, with paths from there, in byte order.

        Raises ``TooLargeError`` where there is more than ``most``, folders counted.
        """
        found: list[TreeFile] = []
        level = [("", self.git.line("rev-parse", "--verify", f"{self.commit}:{folder}"))]
        folders = 0
        for _ in range(MAX_DEPTH):
            level = self._descend(level, found, most - folders)
            folders += len(level)
            if not level:
                return tuple(sorted(found, key=lambda file: byte_order(file.path)))
        raise TooLargeError(f"its folders are nested deeper than {MAX_DEPTH} levels")

    def _descend(self, level: list[tuple[str, str]], found: list[TreeFile], most: int) -> list[tuple[str, str]]:
        """Add the files of one level of folders (prefix, tree id) to ``found``; the folders of the next level."""
        oids = {oid for _, oid in level}
        if sum(self.git.sizes(oids).values()) > MAX_LISTED_BYTES:
            raise TooLargeError(f"its listing takes more than {MAX_LISTED_BYTES // 1024**2} MiB")
        contents = self.git.trees(oids)
        below: list[tuple[str, str]] = []
        for prefix, oid in level:
            for entry in _entries(contents[oid], prefix, _ID_BYTES[len(oid)]):
                if entry.mode == FOLDER:
                    below.append((f"{entry.path}/", entry.oid))
                else:
                    found.append(entry)
            if len(found) + len(below) > most:
                raise TooLargeError("it names more than is looked at")
        return below


def _entries(content: bytes, prefix: str, id_bytes: int) -> Iterator[TreeFile]:
    """Mode, a space, the name, a NUL, the id in bytes; and so on."""
    at = 0
    while at < len(content):
        found = _ENTRY.match(content, at)
        at = found.end() + id_bytes if found is not None else 0
        if found is None or at > len(content):
            raise GitError("a tree object of the commit is malformed")
        path = f"{prefix}{os.fsdecode(found['name'])}"
        yield TreeFile(path=path, mode=_canonical(int(found["mode"], 8)), oid=content[found.end() : at].hex())


def _canonical(mode: int) -> str:
    """The mode as git itself takes it: of a file only the execute bit counts, what is unknown is a submodule."""
    if stat.S_ISREG(mode):
        return "100755" if mode & stat.S_IXUSR else "100644"
    if stat.S_ISLNK(mode):
        return "120000"
    return FOLDER if stat.S_ISDIR(mode) else "160000"
