"""A full copy of a working tree, ignored files and history included, sharing nothing with it (spec oracle.md 5.3)."""

from __future__ import annotations

import os
import shutil
import stat
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from pytest_reqfile.errors import FileError
from pytest_reqfile.workspace.environment import Environment
from pytest_reqfile.workspace.git import Git

_NO_PUSH: Final = "/dev/null/no-push-from-a-copy"


@dataclass(frozen=True, slots=True, kw_only=True)
class GitFolders:
    """Where a working tree's git data is if outside of it: linked worktrees, submodules, ``--separate-git-dir``.

    ``git_dir`` holds HEAD and index, ``common`` refs and objects; they are the same but for linked worktrees.
    """

    git_dir: Path
    common: Path


def outer_git_folders(root: Path) -> GitFolders | None:
    """What the file or link ``.git`` of ``root`` points to; None where ``.git`` is a folder, missing or broken."""
    place = root / ".git"
    try:
        if place.is_symlink() and place.is_dir():
            git_dir = Path(os.path.realpath(place))
        else:
            text = place.read_text(encoding="utf-8", errors="surrogateescape")
            git_dir = Path(os.path.realpath(root / text.removeprefix("gitdir:").strip()))
        common = git_dir / _first_line(git_dir / "commondir")
    except OSError:
        return None
    return GitFolders(git_dir=git_dir, common=Path(os.path.realpath(common))) if git_dir.is_dir() else None


def _first_line(path: Path) -> str:
    return path.read_text(encoding="utf-8", errors="surrogateescape").strip() if path.exists() else "."


def copy_tree(source: Path, target: Path, env: Environment) -> None:
    """Copy ``source`` to ``target``/tree (links as links, times kept), its outer git folder to ``target``/git.

    In the copy a push has nowhere to go. Raises ``FileError`` naming what could not be copied.
    """
    tree = target / "tree"
    _copy(source, tree)
    outer = outer_git_folders(source)
    if outer is not None:
        _copy_outer_git(outer, tree, target / "git")
    config = (target / "git" if outer is not None else tree / ".git") / "config"
    if config.exists():
        _cut_off(Git(target, env), config, tree)


def _copy(source: Path, target: Path) -> None:
    try:
        shutil.copytree(source, target, symlinks=True, ignore=_special)
    except shutil.Error as error:
        first = error.args[0][0]
        raise FileError(f"cannot copy {first[0]}: {first[2]}") from error
    except OSError as error:
        raise FileError(f"cannot copy {error.filename or source}: {error.strerror}") from error


def _special(folder: str, names: list[str]) -> set[str]:
    """FIFOs, sockets and devices, which have no content to copy."""
    kinds = {name: os.lstat(os.path.join(folder, name)).st_mode for name in names}
    return {n for n, mode in kinds.items() if not (stat.S_ISREG(mode) or stat.S_ISDIR(mode) or stat.S_ISLNK(mode))}


def _copy_outer_git(outer: GitFolders, tree: Path, target: Path) -> None:
    _copy(outer.common, target)
    git_dir = target / outer.git_dir.relative_to(outer.common)
    (tree / ".git").unlink()
    (tree / ".git").write_text(f"gitdir: {git_dir}\n", encoding="utf-8", errors="surrogateescape")
    if git_dir != target:
        (git_dir / "commondir").write_text(os.path.relpath(target, git_dir) + "\n", encoding="utf-8")
        (git_dir / "gitdir").write_text(f"{tree}/.git\n", encoding="utf-8", errors="surrogateescape")


def _cut_off(git: Git, config: Path, tree: Path) -> None:
    """A submodule's ``core.worktree`` led to the original, and so would a push to a remote that is a local path."""
    change = ("config", "--file", str(config))
    if git.ask((*change, "--get", "core.worktree")).code == 0:
        git.run((*change, "core.worktree", str(tree)))
    urls = os.fsdecode(git.ask((*change, "-z", "--name-only", "--get-regexp", r"^remote\..*\.url$")).out)
    for key in urls.split("\0")[:-1]:
        git.run((*change, "--replace-all", f"{key.removesuffix('.url')}.pushurl", _NO_PUSH))
