"""Directories on a real file system, and the cache that saves reading them again (spec/lock.md 2.4; cases B)."""

from __future__ import annotations

import os
import shutil
import socket
from pathlib import Path

import pytest

from pytest_reqfile.errors import FileError
from pytest_reqfile.lock.directories import Hasher
from pytest_reqfile.workspace.clock import Clock
from pytest_reqfile.workspace.leaf_cache import LeafCache
from tests.unit.lock.vectors import Vector, content, kind, name_of, named

HASHER = Hasher()


class _Later:
    """The clock of an hour from now, as if nothing had been touched for a while."""

    def now_ms(self) -> int:
        return self._now + 3_600_000

    def monotonic(self) -> float:
        return 0.0

    def __init__(self) -> None:
        self._now = Path("/proc/self").stat().st_mtime_ns // 1_000_000


def _tree(root: Path) -> Path:
    for path, text in {"docs/a.md": "# A\n", "bin/t.sh": "#!/bin/sh\n", "rules/a.md": "x\n"}.items():
        (root / path).parent.mkdir(parents=True, exist_ok=True)
        (root / path).write_text(text)
    (root / "bin/t.sh").chmod(0o755)
    return root


@pytest.mark.case("lock:B1")
@pytest.mark.case("lock:B8")
@pytest.mark.case("lock:B10")
@pytest.mark.parametrize("vector", named("directories"), ids=name_of)
def test_vectors_on_disk(tmp_path: Path, vector: Vector) -> None:
    """The vectors as real files, bookkeeping and ``.git`` among them."""
    for file in vector["files"]:
        place = tmp_path / file["path"]
        place.parent.mkdir(parents=True, exist_ok=True)
        if "symlink" in file:
            place.symlink_to(file["symlink"])
        else:
            place.write_bytes(content(file))
            place.chmod(0o755 if file["mode"] == "100755" else 0o644)
    assert HASHER.directory(kind(vector), tmp_path) == vector["expected"]


@pytest.mark.case("lock:B2")
def test_each_change_counts(tmp_path: Path) -> None:
    """Text, execute bit, CRLF in a script: each gives a new digest; CRLF in text and empty folders do not."""
    root = _tree(tmp_path)
    seen = [HASHER.directory("include", root)]
    for act in (
        lambda: (root / "docs/a.md").write_text("# B\n"),
        lambda: (root / "bin/t.sh").chmod(0o644),
        lambda: (root / "bin/t.sh").write_bytes(b"#!/bin/sh\r\n"),
    ):
        act()
        seen.append(HASHER.directory("include", root))
    assert len(set(seen)) == len(seen)
    (root / "docs/a.md").write_bytes(b"# B\r\n")
    (root / "empty").mkdir()
    assert HASHER.directory("include", root) == seen[-1]


@pytest.mark.case("lock:B4")
@pytest.mark.parametrize("what", ["link", "file", "nothing"])
def test_the_root_is_a_real_directory(tmp_path: Path, what: str) -> None:
    """A symlink to one is not followed."""
    place = tmp_path / "x"
    if what == "link":
        place.symlink_to(tmp_path)
    elif what == "file":
        place.write_text("")
    with pytest.raises(FileError) as caught:
        HASHER.directory("include", place)
    assert str(caught.value) == f"digest directory: {place} is not a real directory (a symlink is not followed)"


@pytest.mark.case("lock:B6")
def test_links_are_leaves(tmp_path: Path) -> None:
    """To a file, to a folder, dangling: one leaf each, and every retarget shows; nothing behind them is read."""
    root = _tree(tmp_path / "tree")
    secret = tmp_path / "secret"
    secret.write_text("a")
    for name, target in (("f", "docs/a.md"), ("d", "docs"), ("dead", "nowhere"), ("out", str(secret))):
        (root / name).symlink_to(target)
    before = HASHER.directory("include", root)
    secret.write_text("b")
    assert HASHER.directory("include", root) == before
    seen = {before}
    for name in ("f", "d", "dead", "out"):
        (root / name).unlink()
        (root / name).symlink_to("elsewhere")
        seen.add(HASHER.directory("include", root))
    assert len(seen) == 5


@pytest.mark.case("lock:B8")
def test_only_exact_bookkeeping_at_the_root_is_left_out(tmp_path: Path) -> None:
    """Deeper, or with a longer name, it is content."""
    root = _tree(tmp_path)
    before = HASHER.directory("include", root)
    (root / ".cache_meta.json").write_text("1")
    (root / ".cache_meta.json.tmp").write_text("2")
    assert HASHER.directory("include", root) == before
    (root / ".cache_meta.json.tmp2").write_text("3")
    longer = HASHER.directory("include", root)
    (root / "docs/.cache_meta.json").write_text("4")
    assert len({before, longer, HASHER.directory("include", root)}) == 3


@pytest.mark.case("lock:B10")
def test_a_file_or_link_called_git_is_content(tmp_path: Path) -> None:
    """Only folders of that name are git's."""
    root = _tree(tmp_path)
    before = HASHER.directory("include", root)
    (root / "sub/.git").mkdir(parents=True)
    (root / "sub/.git/x").write_text("x")
    assert HASHER.directory("include", root) == before
    (root / "docs/.git").write_text("gitdir: elsewhere\n")
    as_file = HASHER.directory("include", root)
    (root / "docs/.git").unlink()
    (root / "docs/.git").symlink_to("elsewhere")
    assert len({before, as_file, HASHER.directory("include", root)}) == 3


@pytest.mark.case("lock:B12")
@pytest.mark.case("lock:Z8")
@pytest.mark.parametrize("what", ["fifo", "socket"])
def test_irregular_entries_are_never_opened(tmp_path: Path, what: str) -> None:
    """A FIFO does not block, a socket is not connected to; both are the same leaf."""
    place = tmp_path / "s"
    listener = socket.socket(socket.AF_UNIX)
    if what == "fifo":
        os.mkfifo(place)
    else:
        here = Path.cwd()
        os.chdir(tmp_path)  # the path of a socket is short
        listener.bind("s")
        os.chdir(here)
    digest = HASHER.directory("include", tmp_path)
    listener.close()
    assert digest == "sha256:c2bbcbd0b3a7697c3ee83742a66d49fdc1c37ad76c37fc1cf697d05479f8cc54"


@pytest.mark.case("lock:B16")
def test_a_limited_root(tmp_path: Path) -> None:
    """Only the entries that are asked for, at the top alone."""
    root = _tree(tmp_path)
    top = frozenset({"rules", "skills"})
    before = HASHER.directory("include", root, top)
    (root / "README.md").write_text("r")
    (root / "notes").mkdir()
    (root / "notes/a.md").write_text("n")
    assert HASHER.directory("include", root, top) == before
    (root / "rules/a.md").write_text("y\n")
    assert HASHER.directory("include", root, top) != before


@pytest.mark.case("lock:Z9")
def test_a_huge_file_is_streamed(tmp_path: Path) -> None:
    """A sparse file larger than any buffer is hashed without being held."""
    with (tmp_path / "big.bin").open("wb") as stream:
        stream.truncate(96 << 20)
    import tracemalloc

    tracemalloc.start()
    HASHER.directory("include", tmp_path)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 8 << 20


def test_an_unreadable_file_is_an_error(tmp_path: Path) -> None:
    """Nothing is left out of a digest in silence."""
    root = _tree(tmp_path)
    (root / "docs/a.md").chmod(0)
    if os.access(root / "docs/a.md", os.R_OK):
        pytest.skip("this user may read everything")
    with pytest.raises(FileError, match=r"docs/a\.md: cannot read: Permission denied"):
        HASHER.directory("include", root)


class _Counting(LeafCache):
    """Counts the folders that had to be read."""

    misses = 0

    def find(self, key: str, facts: object) -> bytes | None:
        known = super().find(key, facts)  # type: ignore[arg-type]
        self.misses += known is None
        return known


def _cache(folder: Path, clock: Clock | None = None) -> _Counting:
    return _Counting(folder / "cache.json", clock or _Later())


def test_unchanged_folders_are_not_read_again(tmp_path: Path) -> None:
    """The same digest, and only what changed is read."""
    root = _tree(tmp_path / "tree")
    first = _cache(tmp_path)
    digest = Hasher(first).directory("include", root)
    first.save()
    second = _cache(tmp_path)
    assert Hasher(second).directory("include", root) == digest == HASHER.directory("include", root)
    assert (first.misses, second.misses) == (4, 0)  # three folders, and the directory as a whole
    second.save()  # what is unchanged as a whole keeps its parts
    (root / "docs/a.md").write_text("# B\n")
    third = _cache(tmp_path)
    assert Hasher(third).directory("include", root) == HASHER.directory("include", root) != digest
    assert third.misses == 2


@pytest.mark.parametrize(
    "what", ["same size", "mode", "restored mtime", "renamed", "new", "gone", "link", "retargeted", "fifo", "moved"]
)
def test_no_change_hides_behind_the_cache(tmp_path: Path, what: str) -> None:
    """Same size, a mode, a set-back time, names, kinds: whatever the change, the digest is the true one."""
    root = _tree(tmp_path / "tree")
    (root / "to").symlink_to("docs")
    cache = _cache(tmp_path)
    before = Hasher(cache).directory("include", root)
    cache.save()
    file = root / "docs/a.md"
    times = file.stat()
    if what in {"same size", "restored mtime"}:
        file.write_text("# B\n")
    elif what == "mode":
        file.chmod(0o755)
    elif what == "renamed":
        file.rename(root / "docs/b.md")
    elif what == "new":
        (root / "docs/b.md").write_text("")
    elif what == "gone":
        file.unlink()
    elif what == "retargeted":
        (root / "to").unlink()
        (root / "to").symlink_to("bin")
    elif what == "fifo":
        os.mkfifo(root / "docs/fifo")
    elif what == "moved":
        (root / "docs").rename(root / "texts")
    else:
        file.unlink()
        file.symlink_to("../rules/a.md")
    if what == "restored mtime":
        os.utime(file, ns=(times.st_atime_ns, times.st_mtime_ns))
    after = Hasher(_cache(tmp_path)).directory("include", root)
    assert after == HASHER.directory("include", root) != before


def test_what_was_just_written_is_not_trusted(tmp_path: Path) -> None:
    """Within the tick of a clock a later write would not show, so nothing fresh is kept."""

    class Now:
        def now_ms(self) -> int:
            return (root / "docs/a.md").stat().st_mtime_ns // 1_000_000 + 1_000

        def monotonic(self) -> float:
            return 0.0

    root = _tree(tmp_path / "tree")
    cache = _cache(tmp_path, Now())
    Hasher(cache).directory("include", root)
    cache.save()
    assert not (tmp_path / "cache.json").exists()


@pytest.mark.parametrize(
    "text",
    [
        "",
        "[]",
        "{",
        '{"format":1,"folders":[]}',
        '{"format":9,"folders":{}}',
        '{"format":1,"folders":{"a":["b"]}}',
        "\xff",
    ],
)
def test_a_damaged_cache_is_as_good_as_none(tmp_path: Path, text: str) -> None:
    """Whatever stands in the file, digests are right and the next save repairs it."""
    root = _tree(tmp_path / "tree")
    (tmp_path / "cache.json").write_text(text, "latin-1")
    cache = _cache(tmp_path)
    assert Hasher(cache).directory("include", root) == HASHER.directory("include", root)
    cache.save()
    assert Hasher(again := _cache(tmp_path)).directory("include", root) == HASHER.directory("include", root)
    assert again.misses == 0


def test_a_cache_that_cannot_be_written(tmp_path: Path) -> None:
    """Costs time only."""
    root = _tree(tmp_path / "tree")
    (tmp_path / "file").write_text("")
    cache = LeafCache(tmp_path / "file/below/cache.json", _Later())
    assert Hasher(cache).directory("include", root) == HASHER.directory("include", root)
    cache.save()


def test_a_moved_tree_is_another(tmp_path: Path) -> None:
    """Keys are absolute: a copy is hashed anew."""
    root = _tree(tmp_path / "tree")
    cache = _cache(tmp_path)
    digest = Hasher(cache).directory("include", root)
    cache.save()
    shutil.copytree(root, tmp_path / "copy")
    again = _cache(tmp_path)
    assert Hasher(again).directory("include", tmp_path / "copy") == digest
    assert again.misses == 4
