"""workspace/paths.py: repository paths as text (spec/reqfile.md 2.1)."""

from __future__ import annotations

import os
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pytest_reqfile.workspace import paths


@pytest.mark.parametrize(
    ("path", "normal"),
    [
        ("a/b", "a/b"),
        ("./a/./b/", "a/b"),
        ("a//b", "a/b"),
        ("a/../b", "b"),
        ("a/..", ""),
        ("", ""),
        (".", ""),
        ("..", None),
        ("a/../../b", None),
        ("/a", None),
        ("...", "..."),
        ("a\\b", "a\\b"),
    ],
)
def test_normalised(path: str, normal: str | None) -> None:
    """Lexical, never above the root, never absolute."""
    assert paths.normalised(path) == normal


@given(st.text(st.sampled_from("ab./"), max_size=12))
def test_normalising_agrees_with_the_system(path: str) -> None:
    """The same answer as ``os.path.normpath`` wherever that stays inside, None wherever it does not."""
    system = os.path.normpath(path)
    outside = system.startswith(("/", "../")) or system == ".."
    assert paths.normalised(path) == (None if outside else "" if system == "." else system)


@pytest.mark.parametrize(
    ("folder", "path", "expected"),
    [
        ("", "x", "x"),
        ("a/b", "../x", "a/x"),
        ("a", "../..", None),
        ("a", "/x", None),
        ("a", ".", "a"),
        ("", "..", None),
    ],
)
def test_joined(folder: str, path: str, expected: str | None) -> None:
    """As seen from a folder."""
    assert paths.joined(folder, path) == expected


@pytest.mark.parametrize(
    ("path", "expected"),
    [
        ("/r", ""),
        ("/r/a/b", "a/b"),
        ("/r/a/../b", "b"),
        ("/r/..", None),
        ("/r/../rx/a", None),
        ("/rx", None),
        ("/", None),
        ("r/a", None),
    ],
)
def test_relative_to_root(path: str, expected: str | None) -> None:
    """An absolute path as a repository path; None outside."""
    assert paths.relative_to_root(Path("/r"), Path(path)) == expected


def test_parts() -> None:
    """Folders, names, ancestors and their wording."""
    assert [paths.folder_of(path) for path in ("a/b/c", "a", "")] == ["a/b", "", ""]
    assert [paths.name_of(path) for path in ("a/b/c", "a", "")] == ["c", "a", ""]
    assert paths.ancestors("a/b") == ("a/b", "a", "")
    assert paths.ancestors("") == ("",)
    assert [paths.shown(folder) for folder in ("", "a")] == ["the repository root", "a"]
    assert [paths.is_below("a/b", folder) for folder in ("", "a", "a/b", "b", "A")] == [True, True, False, False, False]
    assert not paths.is_below("ab/c", "a")
