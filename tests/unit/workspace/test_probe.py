"""Whether something is at a path, and where a program is."""

from __future__ import annotations

from pathlib import Path

import pytest

from pytest_reqfile.errors import FileError, ProcessError
from pytest_reqfile.workspace.environment import Environment
from pytest_reqfile.workspace.lookup import find_program
from pytest_reqfile.workspace.probe import path_exists, resolved_path


@pytest.fixture
def root(tmp_path: Path) -> Path:
    root = tmp_path.resolve() / "root"
    (root / "folder").mkdir(parents=True)
    (root / "folder/file").write_text("x")
    (root / "link").symlink_to("folder")
    (root / "out").symlink_to("..")
    return root


@pytest.mark.parametrize(
    ("path", "where"),
    [
        ("folder/file", "folder/file"),
        ("./folder//file", "folder/file"),
        ("link/file", "folder/file"),
        ("link", "folder"),
        (".", "."),
        ("gone", None),
        ("folder/file/below", None),
        ("folder/../folder", "folder"),
    ],
)
def test_resolved(root: Path, path: str, where: str | None) -> None:
    """Where a path leads, free of symlinks."""
    assert resolved_path(root, path) == where
    assert path_exists(root, path) is (where is not None)


@pytest.mark.parametrize("path", ["../x", "/etc", "out", "out/root/folder/file", "a\0b"])
def test_beyond_the_root(root: Path, path: str) -> None:
    """Nothing is said about what lies beyond, not even on a way that leads back."""
    with pytest.raises(FileError, match="outside the project"):
        path_exists(root, path)


def test_program_on_path(tmp_path: Path) -> None:
    """The first executable regular file of an absolute PATH entry."""
    for folder in ("one", "two", "three"):
        (tmp_path / folder).mkdir()
    (tmp_path / "one/tool").mkdir()
    (tmp_path / "two/tool").write_text("")
    (tmp_path / "three/tool").write_text("#!/bin/sh\n")
    (tmp_path / "three/tool").chmod(0o755)
    path = ":".join(["", ".", *(str(tmp_path / folder) for folder in ("one", "two", "three"))])
    env = Environment(variables={"PATH": path})
    assert find_program("tool", tmp_path, env) == tmp_path / "three/tool"
    with pytest.raises(ProcessError, match="not found in PATH"):
        find_program("tool", tmp_path, Environment(variables={}))


def test_program_of_the_folder(tmp_path: Path) -> None:
    """A symlink that leads out of the folder is no program of it."""
    (tmp_path / "sh").symlink_to("/bin/sh")
    with pytest.raises(ProcessError, match="outside the project"):
        find_program("./sh", tmp_path, Environment(variables={}))
