"""A commit's files on disk, exactly as committed."""

from __future__ import annotations

import os
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest

from pytest_reqfile.errors import GitError, WorkspaceError
from pytest_reqfile.workspace import extraction
from pytest_reqfile.workspace.extraction import (
    WHOLE,
    ExtractedTree,
    HasFolder,
    NoSuchPartError,
    Part,
    extract_tree,
    is_same_tree,
)
from pytest_reqfile.workspace.tree_listing import CommitTree
from tests.support import Repo
from tests.support.trees import blob, hash_object, tree
from tests.support.trees import commit as commit_tree


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


@pytest.mark.parametrize("part", [replace(WHOLE, max_files=1), replace(WHOLE, max_bytes=5)], ids=["files", "bytes"])
def test_a_tree_that_is_too_large_is_refused(repo: Repo, tmp_path: Path, part: Part) -> None:
    """Before anything is written."""
    repo.write("a", "one")
    repo.write("b", "two")
    commit = repo.commit()
    with pytest.raises(WorkspaceError, match=f"commit {commit} is too large to be a source"):
        extract_tree(repo.workspace_git(), commit, tmp_path, part)
    assert not (tmp_path / "a").exists()


def test_a_tree_that_names_more_than_any_disk_holds_is_refused(repo: Repo, tmp_path: Path) -> None:
    """Ten objects that name ten to the tenth files; folders in folders without end; each within a moment."""
    inner = tree(repo, [("100644", str(number), blob(repo, b"x")) for number in range(10)])
    for _ in range(9):
        inner = tree(repo, [("40000", str(number), inner) for number in range(10)])
    with pytest.raises(WorkspaceError, match=r"is too large to be a source: .*; it names more than is looked at"):
        extract_tree(repo.workspace_git(), commit_tree(repo, inner), tmp_path, replace(WHOLE, max_files=10))
    for _ in range(201):
        inner = tree(repo, [("40000", "d", inner)])
    with pytest.raises(WorkspaceError, match="nested deeper than 200 levels"):
        extract_tree(repo.workspace_git(), commit_tree(repo, inner), tmp_path)


def test_a_malformed_tree_is_an_error(repo: Repo, tmp_path: Path) -> None:
    """What git would not have written: an id that is cut, a mode of letters."""
    for content in (b"100644 a\0" + b"1" * 19, b"10x644 a\0" + b"1" * 20):
        folder = tree(repo, [("40000", "d", hash_object(repo, "tree", content))])
        with pytest.raises(GitError, match=r"malformed|not a valid object|failed"):
            extract_tree(repo.workspace_git(), commit_tree(repo, folder), tmp_path)


def test_files_are_listed_as_git_lists_them(repo: Repo, tmp_path: Path) -> None:
    """Order, modes (an old 100664 is a plain file) and ids."""
    for path in ("a.b", "a/b", "a-b", "A", "z/y/x"):
        repo.write(path, path)
    repo.write("run", "run", mode=0o755)
    repo.symlink("link", "a")
    commit = repo.commit()
    git = repo.workspace_git()
    assert CommitTree(git=git, commit=commit).files("", 100) == git.tree_files(commit)
    old = commit_tree(repo, tree(repo, [("100664", "a", blob(repo, b"x")), ("100775", "b", blob(repo, b"x"))]))
    assert CommitTree(git=git, commit=old).files("", 100) == git.tree_files(old)


def test_a_part_of_a_commit(repo: Repo, tmp_path: Path) -> None:
    """The folder that is chosen becomes the root; a link to a folder is none."""
    repo.write("x/rules/a.md", "a")
    repo.symlink("rules", "x/rules")
    commit = repo.commit()
    seen: list[bool] = []

    def choose(has_folder: HasFolder) -> str | None:
        seen.extend(map(has_folder, ("", "rules", "x", "x/rules/a.md", "nowhere")))
        return "x"

    extract_tree(repo.workspace_git(), commit, tmp_path, Part(choose=choose))
    assert [path.name for path in tmp_path.glob("rules/*")] == ["a.md"]
    assert seen == [True, False, True, False, False]
    with pytest.raises(NoSuchPartError, match=f"^commit {commit} has no rules$"):
        extract_tree(repo.workspace_git(), commit, tmp_path, Part(choose=lambda _: None, what="rules"))


def test_exact_parts_keep_every_link_as_it_is_written(repo: Repo, tmp_path: Path) -> None:
    """Their digest covers where links lead; nothing is written through one."""
    links = {"inner": "dir/file", "abs": "/etc/passwd", "out": "../secret"}
    repo.write("dir/file")
    for path, target in links.items():
        repo.symlink(path, target)
    folder = tmp_path / "extracted"
    folder.mkdir()
    extract_tree(repo.workspace_git(), repo.commit(), folder, replace(WHOLE, exact=True))
    assert {path: os.readlink(folder / path) for path in links} == links


@pytest.mark.parametrize(
    ("change", "same"),
    [
        (lambda _: None, True),
        (lambda root: (root / "d/empty").mkdir(), True),
        (lambda root: (root / "a").write_text("A"), False),
        (lambda root: (root / "a").chmod(0o644), False),
        (lambda root: (root / "more").write_text(""), False),
        (lambda root: (root / "d/b").unlink(), False),
        (lambda root: ((root / "l").unlink(), (root / "l").symlink_to("d")), False),
        (lambda root: ((root / "a").unlink(), (root / "a").symlink_to("d/b")), False),
        (lambda root: (root / "d/b").chmod(0), None),
        (lambda root: root.rename(root.with_name("gone")), False),
        (lambda root: (root.rename(root.with_name("gone")), root.symlink_to(root.with_name("gone"))), False),
    ],
)
def test_equal_trees(tmp_path: Path, change: Callable[[Path], object], same: bool | None) -> None:
    """Contents, execute bits, links and names; what cannot be read is not the same."""
    one, other = tmp_path / "one", tmp_path / "other"
    for root in (one, other):
        (root / "d").mkdir(parents=True)
        (root / "a").write_text("a")
        (root / "a").chmod(0o755)
        (root / "d/b").write_text("b")
        (root / "l").symlink_to("a")
    change(one)
    if same is None:
        same = os.access(one / "d/b", os.R_OK)  # for root everything can be read
    assert is_same_tree(one, other) is same


@pytest.mark.parametrize(
    ("first", "second"), [("a/X.md", "a/x.md"), ("Rules/a.md", "rules/b.md"), ("caf\u00e9", "cafe\u0301")]
)
def test_names_that_some_disks_take_for_one_are_refused(repo: Repo, tmp_path: Path, first: str, second: str) -> None:
    """In what is pinned; elsewhere the disk decides."""
    content = blob(repo, b"x")
    entries = sorted(
        ("40000", path.partition("/")[0], tree(repo, [("100644", path.partition("/")[2], content)]))
        if "/" in path
        else ("100644", path, content)
        for path in (first, second)
    )
    if first.startswith("a/"):
        entries = [("40000", "a", tree(repo, [("100644", "X.md", content), ("100644", "x.md", content)]))]
    commit = commit_tree(repo, tree(repo, entries))
    with pytest.raises(WorkspaceError, match="which are one on some disks"):
        extract_tree(repo.workspace_git(), commit, tmp_path, replace(WHOLE, exact=True))
    assert not any(path.is_file() for path in tmp_path.rglob("*.md"))


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
