"""workspace/files.py: whole files, whole lines, nothing left."""

from __future__ import annotations

import fcntl
import os
import stat
from pathlib import Path

import pytest

from pytest_reqfile.errors import FileError
from pytest_reqfile.workspace.files import append_lines, replaced_file, temporary_folder, write_atomic


def mode(path: Path) -> int:
    return stat.S_IMODE(path.stat().st_mode)


def test_write(tmp_path: Path) -> None:
    """The bytes given, and no temporary file beside them."""
    write_atomic(tmp_path / "file", b"\0data")
    write_atomic(tmp_path / "file", b"other")
    assert (tmp_path / "file").read_bytes() == b"other"
    assert os.listdir(tmp_path) == ["file"]


def test_mode(tmp_path: Path) -> None:
    """A new file follows the umask, a replaced one keeps its mode."""
    before = os.umask(0o027)
    try:
        write_atomic(tmp_path / "new", b"")
    finally:
        os.umask(before)
    assert mode(tmp_path / "new") == 0o640
    (tmp_path / "new").chmod(0o751)
    write_atomic(tmp_path / "new", b"x")
    assert mode(tmp_path / "new") == 0o751


def test_a_symlink_is_replaced(tmp_path: Path) -> None:
    """design 3: the link becomes a regular file, its target is untouched."""
    (tmp_path / "target").write_bytes(b"precious")
    (tmp_path / "link").symlink_to("target")
    write_atomic(tmp_path / "link", b"new")
    assert not (tmp_path / "link").is_symlink()
    assert (tmp_path / "link").read_bytes() == b"new"
    assert (tmp_path / "target").read_bytes() == b"precious"


def test_what_is_no_file_is_never_replaced(tmp_path: Path) -> None:
    """A pipe, and a link to a device: for root, a rename would put a file in the place of /dev/null itself."""
    os.mkfifo(tmp_path / "pipe")
    (tmp_path / "null").symlink_to(os.devnull)
    for name in ("pipe", "null"):
        with pytest.raises(FileError, match=rf"cannot write .*/{name}: not a regular file$"):
            write_atomic(tmp_path / name, b"x", parents=True)
    assert (tmp_path / "pipe").is_fifo()
    assert (tmp_path / "null").readlink() == Path(os.devnull)
    assert sorted(os.listdir(tmp_path)) == ["null", "pipe"]


def test_links_of_the_machine_are_never_replaced(tmp_path: Path) -> None:
    """``/dev/stdout`` leads to a regular file where output is redirected to one; a rename would replace the link."""
    with (tmp_path / "out").open("wb") as stream:
        link = Path("/proc/self/fd", str(stream.fileno()))
        if not link.is_symlink():
            pytest.skip("no /proc here")
        assert link.is_file()
        with pytest.raises(FileError, match=rf"^cannot write {link}: not a regular file$"):
            write_atomic(link, b"x")


def test_other_names_of_the_file_keep_the_old_content(tmp_path: Path) -> None:
    """A hard link shows that the file is replaced and not written into."""
    (tmp_path / "one").write_bytes(b"old")
    (tmp_path / "two").hardlink_to(tmp_path / "one")
    write_atomic(tmp_path / "one", b"new")
    assert (tmp_path / "two").read_bytes() == b"old"


def test_parents_on_request(tmp_path: Path) -> None:
    """Missing folders are made only if asked for."""
    path = tmp_path / "a" / "b" / "file"
    with pytest.raises(FileError) as caught:
        write_atomic(path, b"x")
    assert str(caught.value) == f"cannot write {path}: No such file or directory"
    write_atomic(path, b"x", parents=True)
    assert path.read_bytes() == b"x"


def test_a_folder_in_the_way(tmp_path: Path) -> None:
    """A failed write leaves what was there, and no temporary file."""
    (tmp_path / "folder").mkdir()
    with pytest.raises(FileError, match=r"cannot write .*/folder: Is a directory$"):
        write_atomic(tmp_path / "folder", b"x")
    assert os.listdir(tmp_path) == ["folder"]


def test_the_longest_name(tmp_path: Path) -> None:
    """The temporary name is not made from a name that may already be as long as the system allows."""
    name = "n" * os.pathconf(tmp_path, "PC_NAME_MAX")
    write_atomic(tmp_path / name, b"x")
    assert os.listdir(tmp_path) == [name]


def test_a_file_that_is_replaced_for_good(tmp_path: Path) -> None:
    """With the mode it had, and nothing beside it."""
    path = tmp_path / "file"
    path.write_bytes(b"old")
    path.chmod(0o640)
    with replaced_file(path, b"new"):
        assert path.read_bytes() == b"new"
    assert (path.read_bytes(), mode(path), os.listdir(tmp_path)) == (b"new", 0o640, ["file"])


@pytest.mark.parametrize("error", [KeyboardInterrupt, FileError, SystemExit])
def test_a_file_that_comes_back(tmp_path: Path, error: type[BaseException]) -> None:
    """It is the very file that was there, whatever ended the block."""
    path = tmp_path / "file"
    path.write_bytes(b"old")
    path.chmod(0o640)
    before = path.stat()
    with pytest.raises(error), replaced_file(path, b"new"):
        raise error
    after = path.stat()
    assert (path.read_bytes(), os.listdir(tmp_path)) == (b"old", ["file"])
    assert (after.st_ino, after.st_mtime_ns, after.st_mode) == (before.st_ino, before.st_mtime_ns, before.st_mode)


def test_a_file_that_cannot_be_replaced(tmp_path: Path) -> None:
    """It stays, and the block is not entered; one that is missing is an error, too."""
    path = tmp_path / "file"
    path.write_bytes(b"old")
    path.chmod(0o640)
    with pytest.raises(TypeError), replaced_file(path, "no bytes"):  # type: ignore[arg-type]
        raise AssertionError
    assert (path.read_bytes(), os.listdir(tmp_path)) == (b"old", ["file"])
    with pytest.raises(FileError), replaced_file(tmp_path / "none", b"new"):
        raise AssertionError
    assert os.listdir(tmp_path) == ["file"]


def test_append(tmp_path: Path) -> None:
    """Lines are added after what is there."""
    log = tmp_path / "logs" / "run"
    append_lines(log, b"one\n", parents=True)
    append_lines(log, b"two\nthree\n")
    assert log.read_bytes() == b"one\ntwo\nthree\n"


def test_append_takes_whole_lines(tmp_path: Path) -> None:
    """Half a line is a bug of the caller."""
    with pytest.raises(ValueError, match="whole lines"):
        append_lines(tmp_path / "log", b"half")
    assert not (tmp_path / "log").exists()


def test_append_after_a_torn_line(tmp_path: Path) -> None:
    """What a crash left unfinished does not swallow the next line."""
    (tmp_path / "log").write_bytes(b"one\ntor")
    append_lines(tmp_path / "log", b"two\n")
    assert (tmp_path / "log").read_bytes() == b"one\ntor\ntwo\n"


def test_append_does_not_wait_forever(tmp_path: Path) -> None:
    """Whoever holds the file may never let go of it."""
    log = tmp_path / "log"
    append_lines(log, b"one\n")
    with open(log, "rb") as held:
        fcntl.flock(held, fcntl.LOCK_EX)
        with pytest.raises(FileError, match=f"^cannot write {log}: another process has held it for 0.1 seconds$"):
            append_lines(log, b"two\n", seconds=0.1)
    append_lines(log, b"three\n")
    assert log.read_bytes() == b"one\nthree\n"


@pytest.mark.parametrize("kind", ["symlink", "fifo", "folder"])
def test_append_to_what_is_no_file(tmp_path: Path, kind: str) -> None:
    """Refused without waiting and without following."""
    log = tmp_path / "log"
    if kind == "symlink":
        (tmp_path / "target").write_bytes(b"")
        log.symlink_to("target")
    elif kind == "fifo":
        os.mkfifo(log)
    else:
        log.mkdir()
    with pytest.raises(FileError, match=f"^cannot write {log}: "):
        append_lines(log, b"x\n")
    assert not (tmp_path / "target").exists() or (tmp_path / "target").read_bytes() == b""


def test_temporary_folder() -> None:
    """Private while it lasts, canonical, gone afterwards even with read-only folders and links out of it."""
    with temporary_folder("reqfile-test-") as outer, temporary_folder("reqfile-test-") as folder:
        assert mode(folder) == 0o700
        assert folder == folder.resolve()
        assert folder.name.startswith("reqfile-test-")
        outer.chmod(0o755)
        (folder / "a" / "b").mkdir(parents=True)
        (folder / "a" / "b" / "file").write_text("")
        (folder / "a" / "out").symlink_to(outer)
        (folder / "a" / "b").chmod(0o500)
        (folder / "a").chmod(0o000)
        folder.chmod(0o500)
        inner_path = folder
    assert not inner_path.exists()
    assert not outer.exists()


def test_temporary_folder_that_was_removed() -> None:
    """Somebody else's cleaning up is no error."""
    with temporary_folder("reqfile-test-") as folder:
        folder.rmdir()


def test_temporary_folder_after_an_error() -> None:
    """The folder is gone, the error travels on."""
    with pytest.raises(KeyError), temporary_folder("reqfile-test-") as folder:
        raise KeyError
    assert not folder.exists()
