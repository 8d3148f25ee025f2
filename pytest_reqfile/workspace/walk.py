"""A folder on disk as it is, ignored and untracked files included (spec/airulez-project.md 2)."""

from __future__ import annotations

import os
import stat
from dataclasses import dataclass
from pathlib import Path
from typing import Final, Literal

from pytest_reqfile.errors import FileError
from pytest_reqfile.workspace.paths import byte_order, normalised

EntryKind = Literal["file", "folder", "link", "other"]

_OPEN_FLAGS: Final = os.O_RDONLY | os.O_CLOEXEC | os.O_NOFOLLOW | os.O_NONBLOCK  # a FIFO must not block the open
_CHUNK: Final = 65_536


@dataclass(frozen=True, slots=True, kw_only=True)
class FolderEntry:
    """One name in a folder; ``link`` is a symlink wherever it points, ``other`` a FIFO, socket or device."""

    name: str
    kind: EntryKind


class Walk:
    """Looks at the files below ``root``, one at a time, without git.

    Paths are ``/``-separated and relative to ``root``. Symlinks are not followed, unless a ``border`` is given: then
    they may lead anywhere inside of that folder, which holds ``root``.
    """

    def __init__(self, root: Path, *, border: Path | None = None) -> None:
        self.root = Path(os.path.realpath(root))
        self.border = Path(os.path.realpath(border)) if border is not None else None

    def kind(self, path: str) -> EntryKind | None:
        """What is at ``path``, its last component not followed; None where there is nothing."""
        raise NotImplementedError

    def entries(self, folder: str) -> tuple[FolderEntry, ...]:
        """What is in ``folder``, in byte order of names. Raises ``FileError`` ``{folder}: cannot read: {reason}``."""
        raise NotImplementedError

    def below(self, folder: str) -> tuple[tuple[str, EntryKind], ...]:
        """Everything below ``folder`` but folders, with its kind, in byte order of paths; links are not entered."""
        raise NotImplementedError

    def real(self, path: str) -> Path:
        """Where ``path`` leads. Raises ``FileError`` if it leads nowhere or over the border."""
        raise NotImplementedError

    def read(self, path: str, limit: int | None = None) -> bytes:
        """The bytes of a regular file. Raises ``FileError`` ``{path}: cannot read: {reason}``."""
        raise NotImplementedError

    def read_text(self, path: str, limit: int | None = None) -> str:
        """The text of a regular file, strictly UTF-8."""
        raise NotImplementedError

    def is_executable(self, path: str) -> bool:
        """Whether the owner may execute the file (spec/lock.md 2.1)."""
        raise NotImplementedError

    def link_target(self, path: str) -> str:
        """What a symlink says, unresolved."""
        raise NotImplementedError
