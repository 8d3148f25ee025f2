"""workspace/spawned.py and git_ahead.py: processes begun before anything is imported (issue 3.5)."""

from __future__ import annotations

import contextlib
import gc
import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from pytest_reqfile.workspace.git import Git, find_repository
from pytest_reqfile.workspace.git_ahead import (
    IS_INSIDE,
    LISTING,
    PATCH,
    PLACE,
    begin_listing,
    begin_since,
    git_command,
    merging,
    place_of,
    resolving,
    thread_options,
)
from pytest_reqfile.workspace.spawned import Spawned
from tests.support import Repo

HERE = {"PATH": os.environ["PATH"]}


def shell(script: str, **variables: str) -> Spawned:
    return Spawned(("sh", "-c", script), {**HERE, **variables})


def test_what_it_wrote_and_how_it_ended() -> None:
    """More than a pipe holds, on both streams; the same however often it is asked for."""
    spawned = shell('head -c 300000 /dev/zero; echo "$X" >&2; cat; exit 3', X="grüß")
    assert spawned.ended() == spawned.ended() == (3, bytes(300_000), "grüß\n".encode())


def test_a_signal_is_a_negative_code() -> None:
    """As for subprocess."""
    assert shell("kill -TERM $$").ended()[0] == -signal.SIGTERM


def test_what_does_not_end_is_killed() -> None:
    """After its patience, counted from when somebody waits; what ends in time was not given up."""
    late = Spawned(("sleep", "600"), HERE, patience=0.2)
    assert late.ended() == late.ended() == (-signal.SIGKILL, b"", b"")
    assert late.gave_up
    slow = Spawned(("sh", "-c", "sleep 0.2; echo done"), HERE, patience=60)
    assert (slow.ended(), slow.gave_up) == ((0, b"done\n", b""), False)


def test_python_ignores_what_the_process_need_not() -> None:
    """SIGPIPE does to it what it does to any program where that is asked for."""
    script = 'kill -PIPE $$; echo "still here"'
    assert Spawned(("sh", "-c", script), HERE, (signal.SIGPIPE,)).ended() == (-signal.SIGPIPE, b"", b"")
    assert shell(script).ended() == (0, b"still here\n", b"")


def test_the_program_is_looked_for_along_the_given_path(tmp_path: Path) -> None:
    """Folders, files that cannot be run and folders that are not there are passed over."""
    (tmp_path / "a" / "tool").mkdir(parents=True)
    for name, mode in (("b", 0o644), ("c", 0o755)):
        (tmp_path / name).mkdir()
        (tmp_path / name / "tool").write_text(f"#!/bin/sh\necho {name}\n")
        (tmp_path / name / "tool").chmod(mode)
    path = os.pathsep.join(str(tmp_path / name) for name in ("nothing", "a", "b", "c"))
    assert Spawned(("tool",), {"PATH": path}).ended() == (0, b"c\n", b"")


@pytest.mark.parametrize(("folder", "error"), [("", FileNotFoundError), ("a", PermissionError)])
def test_a_program_that_is_not_there(tmp_path: Path, folder: str, error: type[OSError]) -> None:
    """Said at once, by name; no file stays open."""
    (tmp_path / "a" / "tool").mkdir(parents=True)
    before = len(os.listdir("/proc/self/fd"))
    with pytest.raises(error, match="tool"):
        Spawned(("tool",), {"PATH": str(tmp_path / folder)})
    assert len(os.listdir("/proc/self/fd")) == before


def test_nobody_waits_for_an_answer_that_nobody_wants() -> None:
    """The process ends with the last reference to it."""
    spawned = shell("exec sleep 60")
    number = spawned._pid
    del spawned
    gc.collect()
    with pytest.raises(ProcessLookupError):
        os.kill(number, 0)


CLOSED = """
import os
for number in (CLOSED):
    os.close(number)
from pytest_reqfile.workspace.spawned import Spawned
code, out, err = Spawned(("sh", "-c", "cat; echo out; echo err >&2"), {"PATH": os.environ["PATH"]}).ended()
os._exit(0 if (code, out, err) == (0, b"out\\n", b"err\\n") else 1)
"""


@pytest.mark.parametrize("closed", ["0,", "1,", "2,", "0, 1", "0, 2", "1, 2", "0, 1, 2"])
def test_our_own_streams_may_be_closed(closed: str) -> None:
    """Its output lands in our files, whatever numbers these got."""
    subprocess.run((sys.executable, "-c", CLOSED.replace("CLOSED", closed)), check=True, timeout=20)


def test_a_place_is_a_top_folder_and_a_git_folder() -> None:
    """Names with a newline included; nothing where git found no repository."""
    assert place_of(0, b"/a\nb\n.git\n") == ("/a\nb", ".git")
    assert place_of(128, b"") == place_of(0, b"\n") == ("", "")


def test_git_is_asked_ahead_for_the_place_and_the_files(repo: Repo, monkeypatch: pytest.MonkeyPatch) -> None:
    """From a folder below the top: all files, for the first who asks in the same words; others ask anew."""
    repo.write("a/b", "x")
    monkeypatch.chdir(repo.path("a"))
    ahead = begin_listing()
    git = Git(repo.root, repo.environment, ahead)
    assert git.has_begun(*LISTING)
    assert find_repository(repo.path("a"), repo.environment, ahead).root == repo.root
    assert git.start(*LISTING).reply().out == b"? a/b\0"
    assert not git.has_begun(*LISTING)
    repo.write("c", "x")
    assert git.start(*LISTING).reply().out == b"? a/b\0? c\0"


def test_outside_of_a_repository_only_the_place_is_asked_for(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """What git says of it is told later; without git there is nothing to tell."""
    monkeypatch.setenv("GIT_CEILING_DIRECTORIES", str(tmp_path.parent))
    monkeypatch.chdir(tmp_path)
    ahead = begin_listing()
    place = ahead.take(git_command(tmp_path, PLACE))
    assert place is not None
    assert place.ended()[0] == 128
    assert not ahead.holds(git_command(tmp_path, LISTING))
    monkeypatch.setenv("PATH", str(tmp_path))
    assert not begin_listing().holds(git_command(tmp_path, PLACE))


def test_a_change_is_asked_ahead_in_the_nearest_folder_with_a_mark(repo: Repo, monkeypatch: pytest.MonkeyPatch) -> None:
    """In the words in which a run on what changed will ask, so that it asks nothing."""
    repo.write("sub/mark", "x")
    repo.commit()
    repo.write("sub/mark", "y")
    monkeypatch.chdir(repo.path("sub"))
    git = Git(repo.path("sub"), repo.environment, begin_since("main", ("mark",)))
    head = repo.git("rev-parse", "HEAD").strip()
    asked = (LISTING, IS_INSIDE, resolving("main"), merging(head), (*thread_options(), *PATCH, head, "--"))
    assert all(git.has_begun(*arguments) for arguments in asked)


@pytest.mark.parametrize(("revision", "mark"), [("main", "nothing"), ("nowhere", "mark"), ("--help", "mark")])
def test_a_wrong_guess_of_a_change_is_silent(repo: Repo, revision: str, mark: str) -> None:
    """No comparison is begun."""
    repo.write("mark", "x")
    repo.commit()
    with contextlib.chdir(repo.root):
        git = Git(repo.root, repo.environment, begin_since(revision, (mark,)))
    assert not git.has_begun(*thread_options(), *PATCH, repo.git("rev-parse", "HEAD").strip(), "--")
    assert git.has_begun(*LISTING) is (mark == "mark")


LEAN = """
import os, sys
before = set(sys.modules)
import pytest_reqfile.cli
print(sorted(name for name in set(sys.modules) - before if "reqfile" not in name))
"""


def test_git_begins_before_anything_is_imported() -> None:
    """The command's first module imports nothing but what every interpreter has loaded."""
    done = subprocess.run(
        (sys.executable, "-c", LEAN), env={"PYTHONPATH": str(_root())}, capture_output=True, check=True
    )
    assert done.stdout == b"['__future__', 'gc']\n"


def _root() -> Path:
    import pytest_reqfile

    return Path(pytest_reqfile.__file__).parents[1]
