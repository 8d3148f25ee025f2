"""A commit's files on disk, exactly as committed."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from pytest_reqfile.errors import WorkspaceError
from pytest_reqfile.workspace import extraction
from pytest_reqfile.workspace.extraction import ExtractedTree, extract_tree
from tests.support import Repo


def extract(repo: Repo, commit: str, tmp_path: Path) -> ExtractedTree:
    folder = tmp_path / "extracted"
    folder.mkdir()
    manifest = tmp_path / "manifest"
    manifest.write_bytes(extract_tree(repo.workspace_git(), commit, folder))
    tree = ExtractedTree.read(folder, manifest)
    assert tree is not None
    return tree


def test_files_are_as_committed(repo: Repo, tmp_path: Path) -> None:
    """Bytes, executable bits, empty files, names with spaces, newlines and no UTF-8; no attribute changes anything."""
    repo.write(".gitattributes", "* export-ignore text eol=crlf ident\n*.bin filter=lfs\n")
    repo.write("a/run.sh", "#!/bin/sh\n$Id$\n", mode=0o755)
    repo.write("b.bin", bytes(range(256)) * 300)
    repo.write("empty")
    strange = "new\nline \udcff"
    repo.write(strange, "strange")
    repo.git("config", "filter.lfs.clean", "cat")
    commit = repo.commit()
    tree = extract(repo, commit, tmp_path)
    assert set(tree.list_files()) == {".gitattributes", "a/run.sh", "b.bin", "empty", strange}
    assert (tree.root / "a/run.sh").read_bytes() == b"#!/bin/sh\n$Id$\n"
    assert os.access(tree.root / "a/run.sh", os.X_OK)
    assert not os.access(tree.root / "b.bin", os.X_OK)
    assert (tree.root / "b.bin").read_bytes() == bytes(range(256)) * 300
    assert (tree.root / "empty").read_bytes() == b""
    assert (tree.root / strange).read_text() == "strange"


def test_contents_come_in_batches(repo: Repo, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A tree of more bytes than are held at once, with the same content twice."""
    monkeypatch.setattr(extraction, "_BYTES_AT_ONCE", 1000)
    contents = {f"{number}": bytes([number]) * 400 for number in range(9)} | {"again": bytes([8]) * 400}
    for name, content in contents.items():
        repo.write(name, content)
    tree = extract(repo, repo.commit(), tmp_path)
    assert {name: (tree.root / name).read_bytes() for name in tree.list_files()} == contents


def test_symlinks_inside_are_kept_and_others_left_out(repo: Repo, tmp_path: Path) -> None:
    """Absolute, climbing, and climbing by way of another link."""
    (tmp_path / "secret").write_text("secret")
    repo.write("dir/file", "content")
    kept = {"inner": "dir/file", "dir/up": "../dir/file", "dangling": "nowhere", "dir/root": ".."}
    left_out = {"abs": "/etc/passwd", "out": "../secret", "dir/chain": "root/../secret", "dir/deep": "root/dir/../../x"}
    for path, target in (kept | left_out).items():
        repo.symlink(path, target)
    tree = extract(repo, repo.commit(), tmp_path)
    assert set(tree.list_files()) == {"dir/file", *kept}
    assert (tree.root / "inner").read_text() == "content"
    assert {path for path in kept | left_out if os.path.lexists(tree.root / path)} == set(kept)


def test_submodules_are_left_out(repo: Repo, tmp_path: Path) -> None:
    """Another repository inside is not part of this one."""
    repo.write("a", "a")
    head = repo.commit()
    repo.git("update-index", "--add", "--cacheinfo", f"160000,{head},sub")
    repo.git("commit", "-qm", "with a submodule")
    assert extract(repo, repo.git("rev-parse", "HEAD"), tmp_path).list_files() == ("a",)


def test_an_empty_commit_is_an_empty_tree(repo: Repo, tmp_path: Path) -> None:
    """No file, and that is whole."""
    assert extract(repo, repo.git("rev-parse", "HEAD"), tmp_path).list_files() == ()


@pytest.mark.parametrize("bound", ["MAX_FILES", "MAX_BYTES"])
def test_a_tree_that_is_too_large_is_refused(
    repo: Repo, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, bound: str
) -> None:
    """Before anything is written."""
    monkeypatch.setattr(extraction, bound, 1)
    repo.write("a", "one")
    repo.write("b", "two")
    commit = repo.commit()
    with pytest.raises(WorkspaceError, match=f"commit {commit} is too large to be a source"):
        extract_tree(repo.workspace_git(), commit, tmp_path)
    assert not (tmp_path / "a").exists()


@pytest.mark.parametrize(
    "damage",
    [
        lambda root: (root / "b").unlink(),
        lambda root: (root / "b").write_text(""),
        lambda root: (root / "run").chmod(0o644),
        lambda root: ((root / "b").unlink(), (root / "b").symlink_to("run")),
        lambda root: root.rename(root.with_name("elsewhere")),
    ],
    ids=["removed", "truncated", "not executable", "symlink", "no folder"],
)
def test_damage_is_noticed(repo: Repo, tmp_path: Path, damage: object) -> None:
    """A file that is gone, cut, not executable any more or a symlink; a file beside them is nobody's."""
    repo.write("run", "run", mode=0o755)
    repo.write("b", "content")
    tree = extract(repo, repo.commit(), tmp_path)
    (tree.root / "beside").write_text("left by a command")
    manifest = tmp_path / "manifest"
    read = ExtractedTree.read(tree.root, manifest)
    assert read is not None
    assert read.list_files() == ("b", "run")
    assert callable(damage)
    damage(tree.root)
    assert ExtractedTree.read(tree.root, manifest) is None


def test_every_cut_manifest_is_noticed(repo: Repo, tmp_path: Path) -> None:
    """However short it was cut, and when it is missing."""
    repo.write("a", "a")
    repo.write("b", "b")
    tree = extract(repo, repo.commit(), tmp_path)
    manifest = tmp_path / "manifest"
    whole = manifest.read_bytes()
    for length in range(len(whole) - 1):  # the last byte is the final NUL
        manifest.write_bytes(whole[:length])
        assert ExtractedTree.read(tree.root, manifest) is None, whole[:length]
    manifest.unlink()
    assert ExtractedTree.read(tree.root, manifest) is None
