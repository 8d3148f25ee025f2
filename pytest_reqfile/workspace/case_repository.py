"""A fresh repository for one labeled example, untouched by the user's git configuration (spec reqfile.md 9)."""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Final

from pytest_reqfile.errors import FileError
from pytest_reqfile.workspace.environment import Environment
from pytest_reqfile.workspace.files import remove_folder, temporary_folder
from pytest_reqfile.workspace.git import Git
from pytest_reqfile.workspace.paths import ancestors, folder_of
from pytest_reqfile.workspace.walk import Walk

PREFIX: Final = "reqfile-example-"
# A global ignore file applies even without a global configuration, and would hide files of the case.
_CONFIG: Final = f"[core]\n\texcludesFile = {os.devnull}\n\tattributesFile = {os.devnull}\n\thooksPath = {os.devnull}\n"
GIT_FOLDER: Final = ".git"


@contextmanager
def case_repository(environment: Environment) -> Iterator[Git]:
    """An empty repository in a private folder, gone afterwards."""
    with temporary_folder(PREFIX) as root:
        git = Git(root, without_user_git(environment))
        git.answer("init", "-q", "--template=", "-b", "main")
        with open(root / GIT_FOLDER / "config", "a", encoding="utf-8") as config:
            config.write(_CONFIG)
        yield git


def without_user_git(environment: Environment) -> Environment:
    """The variables with which git, also when a command asks it, finds no configuration but the repository's."""
    inherited = [name for name in environment.variables if name.startswith("GIT_CONFIG")]
    own = {"GIT_CONFIG_GLOBAL": os.devnull, "GIT_CONFIG_NOSYSTEM": "1"}
    return environment.without(inherited).updated(own)


def copy_case(base: Path, folder: str, target: Path, *, without: str | None = None) -> int:
    """Copy the regular files below ``folder`` with their modes, replacing what is there; returns how many.

    ``folder`` and ``without``, a folder that is left out, are relative to ``base``. Anything that is no regular file
    is refused, and so is a repository inside of the case: it would be the one that git looks at.
    """
    walk = Walk(base)
    copied = 0
    for path, kind in walk.below(folder):
        if without is not None and path.startswith(f"{without}/"):
            continue
        relative = path[len(folder) + 1 :] if folder else path
        if kind != "file":
            what = "a symlink" if kind == "link" else "no regular file"
            raise FileError(f"{path} is {what}; examples hold regular files only")
        if GIT_FOLDER in relative.lower().split("/"):
            raise FileError(f"{path} belongs to a git repository; examples hold none")
        copy_regular(walk, path, target / relative)
        copied += 1
    return copied


def copy_regular(walk: Walk, path: str, target: Path) -> None:
    """Copy one regular file with its mode; missing folders are made and a file that is there is replaced."""
    source = walk.real(path)
    try:
        target.parent.mkdir(parents=True, exist_ok=True)
        target.unlink(missing_ok=True)
        shutil.copy(source, target, follow_symlinks=False)
    except OSError as error:
        raise FileError(f"{path}: cannot copy: {error.strerror or error}") from error


def text_of(walk: Walk, path: str) -> str:
    """The text of a regular file, strictly UTF-8. Raises FileError."""
    try:
        return walk.read(path).decode("utf-8")
    except UnicodeDecodeError:
        raise FileError(f"{path}: not valid UTF-8") from None


def write_case_file(git: Git, path: str, text: str) -> None:
    """Write a file of the case's repository, its folders included, replacing a file that is there."""
    target = git.root / path
    try:
        target.parent.mkdir(parents=True, exist_ok=True)
        target.unlink(missing_ok=True)
        target.write_text(text, encoding="utf-8")
    except OSError as error:
        raise FileError(f"cannot put {path} into the case: {error.strerror or error}") from error


class NewFolder:
    """A folder being filled; paths of what is copied are those of ``walk``."""

    def __init__(self, walk: Walk, root: Path) -> None:
        self._walk = walk
        self._root = root

    def copy(self, path: str, target: str) -> None:
        """Copy a regular file to ``target`` inside of the folder."""
        copy_regular(self._walk, path, self._root / target)

    def write(self, target: str, text: str) -> None:
        """Write a file inside of the folder."""
        (self._root / target).write_text(text, encoding="utf-8")


@contextmanager
def new_folder(walk: Walk, path: str) -> Iterator[NewFolder]:
    """A folder below the root of ``walk`` that was not there; removed again if filling it fails.

    Raises FileError ``{path} already exists``; nothing is made through a symlink.
    """
    root = walk.root / path
    for above in reversed(ancestors(folder_of(path))):
        if above and walk.kind(above) not in {"folder", None}:
            raise FileError(f"{above} is no folder")
    if walk.kind(path) is not None:
        raise FileError(f"{path} already exists")
    try:
        root.mkdir(parents=True)
        yield NewFolder(walk, root)
    except OSError as error:
        remove_folder(root)
        raise FileError(f"cannot write {path}: {error.strerror or error}") from error
    except BaseException:
        remove_folder(root)
        raise
