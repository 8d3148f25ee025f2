"""Small files by key in a folder of the user's cache, bounded in number, readable by the user alone."""

from __future__ import annotations

import os
import re
from contextlib import suppress
from pathlib import Path
from typing import Final

from pytest_reqfile.errors import FileError
from pytest_reqfile.workspace.files import write_atomic
from pytest_reqfile.workspace.snapshot import read_regular, reason_of

MOST: Final = 4096
MAX_BYTES: Final = 4 * 1024 * 1024
_KEY: Final = re.compile(r"[0-9a-f]{64}")


class KeptReplies:
    """One file per key, a SHA-256 in hex. When there are too many, those written longest ago go."""

    def __init__(self, folder: Path, most: int = MOST) -> None:
        self._folder = folder
        self._most = most

    def read(self, key: str) -> bytes | None:
        """What is kept; None where there is nothing of use."""
        try:
            return read_regular(self._folder / key, key, MAX_BYTES)
        except (OSError, FileError):
            return None

    def write(self, key: str, data: bytes) -> None:
        """Keep ``data``, completely or not at all. Raises FileError."""
        assert _KEY.fullmatch(key), key
        try:
            self._folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        except OSError as error:
            raise FileError(f"cannot write {self._folder}: {reason_of(error)}") from error
        write_atomic(self._folder / key, data)
        self._prune()

    def _prune(self) -> None:
        """Half of them at once, so that it does not happen at every write."""
        with suppress(OSError):
            found = [entry for entry in os.scandir(self._folder) if _KEY.fullmatch(entry.name)]
            if len(found) <= self._most:
                return
            found.sort(key=lambda entry: entry.stat(follow_symlinks=False).st_mtime_ns)
            for entry in found[: len(found) - self._most // 2]:
                os.unlink(entry.path)
