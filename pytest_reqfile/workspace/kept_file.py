"""A file of ours in the git folder that saves work and may be gone at any time."""

from __future__ import annotations

import os
import sys
from collections.abc import Sequence
from importlib.util import find_spec
from pathlib import Path
from typing import Final

from pytest_reqfile.errors import FileError

_FOLDER: Final = "reqfile"
_LARGEST: Final = 64 * 1024 * 1024
_OPEN_FLAGS: Final = os.O_RDONLY | os.O_CLOEXEC | os.O_NOFOLLOW | os.O_NONBLOCK


class KeptFile:
    """``name`` in the ``reqfile`` folder of the git folder, which all worktrees share."""

    def __init__(self, git_folder: Path, name: str) -> None:
        self._path = git_folder / _FOLDER / name

    def read(self) -> bytes | None:
        """What is kept; None where there is nothing of use."""
        try:
            descriptor = os.open(self._path, _OPEN_FLAGS)
        except OSError:
            return None
        with open(descriptor, "rb") as stream:
            try:
                return stream.read(_LARGEST)
            except OSError:
                return None

    def write(self, data: bytes) -> None:
        """Keep it, completely or not at all; where that is impossible, as in a read-only checkout, it is not kept."""
        from pytest_reqfile.workspace.files import write_atomic

        try:
            write_atomic(self._path, data, parents=True)
        except FileError:
            return

    def source_state(self, sources: Sequence[str], libraries: Sequence[str]) -> str | None:
        """Times and sizes of files of our own package and of libraries, and Python's version.

        The measure by which Python itself tells whether its compiled files are those of a source. None where the
        package is not a folder of files.
        """
        package = Path(__file__).parent.parent
        specs = (find_spec(library) for library in libraries)
        origins = [spec.origin for spec in specs if spec is not None and spec.origin is not None]
        try:
            states = [os.stat(path) for path in (*(f"{package}/{source}" for source in sources), *origins)]
        except OSError:
            return None
        return " ".join([sys.version, *(f"{state.st_mtime_ns}:{state.st_size}" for state in states)])
