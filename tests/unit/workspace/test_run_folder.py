"""What the processes of one run share, and files that several of them replace."""

from __future__ import annotations

import threading
import time
from pathlib import Path

import pytest

from pytest_reqfile.errors import FileError
from pytest_reqfile.workspace.run_folder import new_run_folder, remove_run_folder, shared_once
from pytest_reqfile.workspace.shared_file import read_shared, update_shared


def test_the_first_computes_and_the_others_read(tmp_path: Path) -> None:
    """Once, however many come at the same time; in a folder of mode 0700."""
    folder = tmp_path / "run"
    computed: list[int] = []
    found: list[bytes] = []

    def compute() -> bytes:
        computed.append(1)
        time.sleep(0.1)
        return b"answer"

    threads = [threading.Thread(target=lambda: found.append(shared_once(folder, "name", compute))) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert (len(computed), found) == (1, [b"answer"] * 4)
    assert folder.stat().st_mode & 0o777 == 0o700
    assert shared_once(folder, "other", lambda: b"more") == b"more"
    remove_run_folder(folder)
    remove_run_folder(folder)
    assert not folder.exists()


def test_when_one_fails_the_next_computes(tmp_path: Path) -> None:
    """Nothing is left behind that would be taken for a result."""

    def fail() -> bytes:
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        shared_once(tmp_path / "run", "name", fail)
    assert shared_once(tmp_path / "run", "name", lambda: b"answer") == b"answer"


def test_a_folder_that_others_may_write_to_is_refused(tmp_path: Path) -> None:
    """What they put there would be believed."""
    folder = tmp_path / "run"
    folder.mkdir()
    folder.chmod(0o777)
    with pytest.raises(FileError, match="others may write to it"):
        shared_once(folder, "name", lambda: b"")
    assert len({new_run_folder() for _ in range(10)}) == 10


def test_updates_of_several_threads_are_all_kept(tmp_path: Path) -> None:
    """Read, changed and replaced by one at a time; unchanged files are left alone."""
    path = tmp_path / "a" / "shared"
    assert read_shared(path) == b""
    threads = [threading.Thread(target=update_shared, args=(path, lambda before: before + b"x")) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert read_shared(path) == b"x" * 8
    inode = path.stat().st_ino
    update_shared(path, lambda before: before)
    assert path.stat().st_ino == inode
