"""Writing while others write, disks fill up and permissions are missing."""

from __future__ import annotations

import os
import subprocess
import sys
import textwrap
from pathlib import Path

import pytest

from pytest_reqfile.errors import FileError
from pytest_reqfile.workspace.files import append_lines, write_atomic


def python(program: str, *args: str, cwd: Path) -> subprocess.Popen[bytes]:
    return subprocess.Popen((sys.executable, "-c", textwrap.dedent(program), *args), cwd=cwd, stderr=subprocess.PIPE)


def test_several_processes_append_whole_lines(tmp_path: Path) -> None:
    """Four processes, long and short lines: every line arrives once and complete."""
    program = """
        import sys
        from pathlib import Path
        from pytest_reqfile.workspace.files import append_lines
        for number in range(100):
            line = f"{sys.argv[1]} {number} " + "x" * (number * 397) + " end\\n"
            append_lines(Path("log"), line.encode() * 2)
    """
    writers = [python(program, str(n), cwd=tmp_path) for n in range(4)]
    for writer in writers:
        assert writer.communicate(timeout=60)[1] == b""
    lines = (tmp_path / "log").read_text().splitlines()
    expected = [f"{n} {number} {'x' * (number * 397)} end" for n in range(4) for number in range(100)]
    assert sorted(lines) == sorted(2 * expected)
    # both lines of one call lie together
    assert all(first == second for first, second in zip(lines[::2], lines[1::2], strict=True))


def test_readers_never_see_half_a_file(tmp_path: Path) -> None:
    """While one process replaces the file again and again, each read gives one of the complete versions."""
    write_atomic(tmp_path / "file", b"a" * 100_000)
    program = """
        from pathlib import Path
        from pytest_reqfile.workspace.files import write_atomic
        for number in range(150):
            write_atomic(Path("file"), (b"a", b"b")[number % 2] * 100_000)
    """
    writer = python(program, cwd=tmp_path)
    seen = set()
    while writer.poll() is None:
        data = (tmp_path / "file").read_bytes()
        seen.add((len(data), data[:1], len(set(data))))
    assert writer.communicate()[1] == b""
    assert seen <= {(100_000, b"a", 1), (100_000, b"b", 1)}
    assert len(seen) == 2
    assert os.listdir(tmp_path) == ["file"]


def test_a_full_disk_keeps_the_old_file(tmp_path: Path) -> None:
    """A write that does not fit leaves the old content and no temporary file, and says why."""
    (tmp_path / "file").write_bytes(b"old")
    (tmp_path / "log").write_bytes(b"line\n")
    program = """
        import resource, signal, sys
        from pathlib import Path
        from pytest_reqfile.errors import FileError
        from pytest_reqfile.workspace.files import append_lines, write_atomic
        signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
        resource.setrlimit(resource.RLIMIT_FSIZE, (4096, 4096))
        for write in (write_atomic, append_lines):
            try:
                write(Path({write_atomic: "file", append_lines: "log"}[write]), b"x" * 10_000 + b"\\n")
            except FileError as error:
                print(error, file=sys.stderr)
    """
    _, err = python(program, cwd=tmp_path).communicate(timeout=30)
    assert err == b"cannot write file: File too large\ncannot write log: File too large\n"
    assert (tmp_path / "file").read_bytes() == b"old"
    assert (tmp_path / "log").read_bytes() == b"line\n"
    assert sorted(os.listdir(tmp_path)) == ["file", "log"]


def test_dev_full(tmp_path: Path) -> None:
    """A device is no log file."""
    with pytest.raises(FileError, match=r"^cannot write /dev/full: not a regular file$"):
        append_lines(Path("/dev/full"), b"x\n")


AS_ORDINARY_USER = """
import os, shutil, sys, tempfile  # nobody may not be allowed to read the standard library
from pathlib import Path
from pytest_reqfile.errors import FileError
from pytest_reqfile.workspace.files import temporary_folder, write_atomic
from pytest_reqfile.workspace.snapshot import FolderWalk, Snapshot
if os.geteuid() == 0:
    os.setuid(65534)
os.chdir("/")
with temporary_folder("reqfile-test-") as folder:
    (folder / "a" / "b").mkdir(parents=True)
    (folder / "a" / "b" / "file").write_text("")
    (folder / "secret").write_text("x")
    (folder / "secret").chmod(0)
    for below in ("a/b", "a"):
        (folder / below).chmod(0)
    for attempt in (
        lambda: Snapshot(FolderWalk(folder)).read("secret"),
        lambda: FolderWalk(folder).list_files(),
        lambda: write_atomic(folder / "a" / "new", b""),
    ):
        try:
            print(attempt(), file=sys.stderr)
        except FileError as error:
            print(str(error).replace(str(folder), "FOLDER"), file=sys.stderr)
    folder.chmod(0)
assert not folder.exists(), folder
"""


def test_without_permission() -> None:
    """Where root's rights do not help: refusals name the reason, and a temporary folder is removed all the same."""
    _, err = python(AS_ORDINARY_USER, cwd=Path("/")).communicate(timeout=30)
    assert err.decode().splitlines() == [
        "secret: cannot read: Permission denied",
        "a: cannot read: Permission denied",
        "cannot write FOLDER/a/new: Permission denied",
    ]
