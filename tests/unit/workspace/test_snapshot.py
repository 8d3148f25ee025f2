"""workspace/snapshot.py: one listing, one look and one read per file."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from pytest_reqfile.errors import FileError
from pytest_reqfile.workspace.snapshot import FolderWalk, Snapshot
from tests.support import Repo


def test_listing(repo: Repo) -> None:
    """spec/reqfile.md 2.2: tracked and untracked, not ignored, from the root on, once each."""
    repo.write(".gitignore", "*.log\n")
    repo.write("b/tracked", "")
    repo.write("deleted", "")
    repo.write("a.log", "")
    repo.commit()
    repo.delete("deleted")
    repo.write("untracked file", "")
    snapshot = repo.snapshot()
    assert snapshot.listed == (".gitignore", "b/tracked", "deleted", "untracked file")
    assert snapshot.regular(snapshot.listed) == (".gitignore", "b/tracked", "untracked file")
    assert snapshot.is_listed("deleted")
    assert not snapshot.is_listed("a.log")


def test_byte_order(repo: Repo) -> None:
    """Order is that of the bytes: a name that is no UTF-8 comes before characters beyond the basic plane."""
    names = [b"B", b"a", "é".encode(), "\U0001f600".encode(), b"\xff", b"a/b", b"a-b"]
    names.remove(b"a")
    for name in names:
        repo.write(os.fsdecode(name))
    assert tuple(map(os.fsencode, repo.snapshot().listed)) == tuple(sorted(names))


def test_names_that_are_not_utf8_are_kept(repo: Repo) -> None:
    """spec/reqfile.md 9: such a name must not silently leave the set that is looked at."""
    repo.write(os.fsdecode(b"caf\xe9.py"), "x = 1\n")
    repo.write("new\nline\ttab", "y")
    snapshot = repo.snapshot()
    assert snapshot.listed == (os.fsdecode(b"caf\xe9.py"), "new\nline\ttab")
    assert [snapshot.read(path) for path in snapshot.listed] == [b"x = 1\n", b"y"]


def test_conflicts_are_listed_once(repo: Repo) -> None:
    """An unmerged path has three entries in the index and is one file."""
    repo.write("f", "base\n")
    repo.commit()
    repo.branch("topic")
    repo.write("f", "topic\n")
    repo.commit()
    repo.git("switch", "-q", "main")
    repo.write("f", "main\n")
    repo.commit()
    assert repo.execute("git", "merge", "topic").code == 1
    assert repo.snapshot().listed == ("f",)


def test_what_is_no_regular_file(repo: Repo, tmp_path: Path) -> None:
    """Symlinks, submodules, nested repositories, folders and missing files do not count."""
    repo.write("file", "")
    repo.write("folder/x", "")
    repo.symlink("link", "file")
    repo.symlink("dangling", "nowhere")
    repo.write("nested/inside", "")
    repo.execute("git", "init", "-q", cwd="nested")
    (tmp_path / "other").mkdir()
    repo.git("init", "-q", str(tmp_path / "other"))
    repo.git("-C", str(tmp_path / "other"), "commit", "-q", "--allow-empty", "-m", "x")
    repo.git("-c", "protocol.file.allow=always", "submodule", "--quiet", "add", str(tmp_path / "other"), "module")
    os.mkfifo(repo.path("fifo"))
    snapshot = repo.snapshot()
    assert {"module", "nested/", "link", "dangling"} <= set(snapshot.listed)
    assert snapshot.regular(snapshot.listed) == (".gitmodules", "file", "folder/x")
    for path in ("folder", "link", "dangling", "module", "nested/", "missing", "fifo"):
        assert not snapshot.is_regular(path), path


@pytest.mark.parametrize(
    "path", ["", ".", "..", "../outside", "/etc/passwd", "a/../file", "./file", "a//b", "file/", "x\0"]
)
def test_paths_that_are_not_repository_paths(repo: Repo, path: str) -> None:
    """Nothing outside of the root, and no second spelling of a file, is ever looked at."""
    repo.write("file", "")
    repo.write("a/b", "")
    (repo.root.parent / "outside").write_text("")
    snapshot = repo.snapshot()
    assert not snapshot.is_regular(path)
    with pytest.raises(FileError, match="cannot read"):
        snapshot.read(path)


def test_below_a_symlinked_folder(repo: Repo, tmp_path: Path) -> None:
    """A folder replaced by a symlink takes its files out of the repository."""
    repo.write("sub/deep/file", "inside")
    repo.commit()
    outside = tmp_path / "outside"
    (outside / "deep").mkdir(parents=True)
    (outside / "deep" / "file").write_text("secret")
    repo.delete("sub")
    repo.symlink("sub", str(outside))
    snapshot = repo.snapshot()
    assert "sub/deep/file" in snapshot.listed
    assert not snapshot.is_regular("sub/deep/file")
    with pytest.raises(FileError) as caught:
        snapshot.read("sub/deep/file")
    assert str(caught.value) == "sub/deep/file: cannot read: a folder above it is missing or a symbolic link"


def test_read(repo: Repo) -> None:
    """Bytes as they are; text strictly; a byte order mark stays."""
    repo.write("bytes", b"\0\xff")
    repo.write("text", "é\r\n")
    repo.write("mark", b"\xef\xbb\xbfx")
    repo.write("empty")
    snapshot = repo.snapshot()
    assert snapshot.read("bytes") == b"\0\xff"
    assert snapshot.read("empty") == b""
    assert snapshot.read_text("text") == "é\r\n"
    assert snapshot.read_text("mark") == "\ufeffx"
    with pytest.raises(FileError, match=r"^bytes: not valid UTF-8$"):
        snapshot.read_text("bytes")


@pytest.mark.parametrize(
    ("path", "message"),
    [
        ("missing", "missing: cannot read: No such file or directory"),
        ("folder", "folder: cannot read: not a regular file"),
        ("link", "link: cannot read: a symbolic link"),
        ("fifo", "fifo: cannot read: not a regular file"),
        ("file/below", "file/below: cannot read: a folder above it is missing or a symbolic link"),
    ],
)
def test_cannot_read(repo: Repo, path: str, message: str) -> None:
    """spec/reqfile.md 1.0: the path and the system's reason; a FIFO does not hang."""
    repo.write("file")
    repo.write("folder/x")
    repo.symlink("link", "file")
    os.mkfifo(repo.path("fifo"))
    with pytest.raises(FileError) as caught:
        repo.snapshot().read(path)
    assert str(caught.value) == message


def test_size_limit(repo: Repo) -> None:
    """A file of exactly the limit is read, a larger one refused, also once its bytes are in memory."""
    repo.write("file", "12345")
    snapshot = repo.snapshot()
    assert snapshot.read("file", limit=5) == b"12345"
    for fresh in (snapshot, repo.snapshot()):
        with pytest.raises(FileError) as caught:
            fresh.read("file", limit=4)
        assert str(caught.value) == "file: cannot read: larger than 4 bytes"


def test_a_refused_file_is_not_remembered_in_part(repo: Repo) -> None:
    """After a refusal the whole file can still be read."""
    repo.write("file", "x" * 10_000)
    snapshot = repo.snapshot()
    with pytest.raises(FileError):
        snapshot.read("file", limit=10)
    assert len(snapshot.read("file")) == 10_000


def test_one_run_sees_one_state(repo: Repo) -> None:
    """What was listed, looked at and read stays so for the run; another snapshot looks again."""
    repo.write("file", "old")
    snapshot = repo.snapshot()
    assert (snapshot.listed, snapshot.is_regular("file"), snapshot.read("file")) == (("file",), True, b"old")
    repo.write("file", "new")
    repo.write("other")
    assert (snapshot.listed, snapshot.read("file")) == (("file",), b"old")
    repo.delete("file")
    assert (snapshot.is_regular("file"), snapshot.read("file")) == (True, b"old")
    assert repo.snapshot().listed == ("other",)


def test_memory_bound(repo: Repo) -> None:
    """Beyond the bound files are read again instead of kept; the answers are right all the same."""
    for name in ("a", "b", "c"):
        repo.write(name, name * 100)
    repo.write("large", "x" * 300)
    snapshot = Snapshot(repo.workspace_git(), memory_bound=1600)
    assert len(snapshot.read("large")) == 300
    repo.write("large", "y")
    assert snapshot.read("large") == b"y"  # more than an eighth of the bound is never kept
    tight = Snapshot(repo.workspace_git(), memory_bound=800)
    assert [tight.read(name)[:1] for name in "abc"] == [b"a", b"b", b"c"]
    for name in "abc":
        repo.write(name, "changed")
    assert {tight.read(name) for name in "abc"} == {b"a" * 100, b"b" * 100, b"c" * 100}
    tighter = Snapshot(repo.workspace_git(), memory_bound=56)
    for name in "abc":
        assert tighter.read(name) == b"changed"
    repo.write("a", "again")
    assert tighter.read("a") == b"changed"


def test_the_bound_is_shared(repo: Repo) -> None:
    """The bound holds for all files together, not for each."""
    for number in range(10):
        repo.write(str(number), "old")
    snapshot = Snapshot(repo.workspace_git(), memory_bound=24)
    for number in range(10):
        snapshot.read(str(number))
        repo.write(str(number), "new")
    assert [snapshot.read(str(number)) for number in range(10)] == [b"old"] * 8 + [b"new"] * 2


def test_root_is_canonical(repo: Repo, tmp_path: Path) -> None:
    """Entered through a symlink, the root is the real folder."""
    (tmp_path / "link").symlink_to(repo.root)
    assert Snapshot(FolderWalk(tmp_path / "link")).root == repo.root


def test_walk_outside_git(tmp_path: Path) -> None:
    """A plain folder: everything but ``.git``, symlinks as names that are not followed."""
    for name in ("b", "a/x", ".hidden/y", "sub/.git/config", ".git/config", "é"):
        file = tmp_path / "tree" / name
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(name)
    (tmp_path / "tree" / "loop").symlink_to(tmp_path / "tree")
    (tmp_path / "tree" / "empty").mkdir()
    snapshot = Snapshot(FolderWalk(tmp_path / "tree"))
    assert snapshot.listed == (".hidden/y", "a/x", "b", "loop", "é")
    assert snapshot.regular(snapshot.listed) == (".hidden/y", "a/x", "b", "é")
    assert snapshot.read_text("a/x") == "a/x"


def test_walk_skips_what_it_is_told(tmp_path: Path) -> None:
    """Folders are skipped by name at any depth; files of that name are not."""
    for name in ("node_modules/a", "x/node_modules/b", "y/c"):
        file = tmp_path / name
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text("")
    (tmp_path / "y" / "node_modules").write_text("")
    assert FolderWalk(tmp_path, frozenset({"node_modules"})).list_files() == ("y/c", "y/node_modules")


def test_walk_of_a_folder_that_is_gone(tmp_path: Path) -> None:
    """What cannot be listed is an error and not an empty tree."""
    with pytest.raises(FileError, match=r"cannot read: No such file or directory$"):
        FolderWalk(tmp_path / "gone").list_files()
