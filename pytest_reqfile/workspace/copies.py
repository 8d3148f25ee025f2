"""A throw-away copy of files, to let a program loose on."""

from __future__ import annotations

import filecmp
import shutil
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Final

from pytest_reqfile.errors import FileError
from pytest_reqfile.workspace.files import temporary_folder

_DEEPEST: Final = 100
"""Making and removing a folder costs Python a frame of its stack for each one that it is in."""


@contextmanager
def copied_files(root: Path, paths: Iterable[str]) -> Iterator[Path]:
    """A temporary folder with copies of the regular files ``paths`` of ``root``, modes included."""
    with temporary_folder("reqfile-copy-") as folder:
        for path in paths:
            place = folder / path
            try:
                place.parent.mkdir(parents=True, exist_ok=True)
                shutil.copy2(root / path, place, follow_symlinks=False)
            except OSError as error:
                raise FileError(f"{path}: cannot copy: {error.strerror or error}") from error
        yield folder


@contextmanager
def written_files(files: Iterable[tuple[str, str]]) -> Iterator[Path]:
    """A temporary folder with the given texts at the given paths; of a repeated path the last one stays."""
    with temporary_folder("reqfile-example-") as folder:
        for path, text in files:
            place = folder / path
            if path.count("/") > _DEEPEST:
                raise FileError(f"{path[:80]}...: cannot write: more than {_DEEPEST} folders in one another")
            try:
                place.parent.mkdir(parents=True, exist_ok=True)
                place.write_bytes(text.encode("utf-8", "surrogatepass"))
            except (OSError, ValueError) as error:
                raise FileError(f"{path}: cannot write: {error}") from error
        yield folder


def same_bytes(one: Path, other: Path) -> bool:
    """Whether both are regular files of the same content."""
    try:
        if one.is_symlink() or other.is_symlink():
            return False
        return filecmp.cmp(one, other, shallow=False)
    except OSError:
        return False
