"""What of the machine a command meets: other file systems, terminals, services (spec oracle.md 5.3)."""

from __future__ import annotations

import json
import os
import pty
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from pytest_reqfile.workspace.isolation import Request
from pytest_reqfile.workspace.mounts import mounts_below
from tests.support import Completed, Repo
from tests.support.missions import entry, is_offered, mission_text

may_mount = pytest.mark.skipif(
    os.geteuid() != 0
    or shutil.which("unshare") is None
    or subprocess.run(("unshare", "-m", "true"), check=False, capture_output=True).returncode != 0,
    reason="only root may mount",
)


@pytest.fixture(params=["overlay", "readonly-namespace"])
def mode(request: pytest.FixtureRequest, tmp_path: Path) -> Request:
    """The modes in which the kernel keeps commands from writing."""
    chosen: Request = request.param
    if not is_offered(tmp_path / "offered", chosen):
        pytest.skip(f"this machine offers no {chosen}")
    return chosen


def _command(repo: Repo, mode: Request, *oracle: object) -> tuple[str, ...]:
    (repo.home / "mission.json").write_text(mission_text(*oracle))
    words = ("oracle", "run", str(repo.home / "mission.json"), "--sink", str(repo.home / "sink"), "--isolation", mode)
    return (sys.executable, "-P", "-m", "pytest_reqfile", *words)


def _mounted(repo: Repo, prepare: str, *command: str) -> Completed:
    """``command`` in a namespace of its own in which the script ``prepare`` has mounted something."""
    return repo.execute("unshare", "-m", "sh", "-c", f'set -e; {prepare}; exec "$@"', "sh", *command)


def _output(repo: Repo, name: str) -> str:
    return (repo.home / "sink" / "oracle" / name).read_text()


@may_mount
@pytest.mark.parametrize("folder", ["sub", "a b"])
def test_what_is_mounted_in_the_workspace_is_seen(repo: Repo, mode: Request, folder: str) -> None:
    """An overlay shows one file system only; what is not seen would pass for absent."""
    repo.write(f"{folder}/keep")
    repo.commit()
    place = f"'{repo.root}/{folder}'"
    prepare = f"mount -t tmpfs none {place}; echo inner > {place}/f; mkdir {place}/deep"
    prepare += f"; mount -t tmpfs none {place}/deep; echo deeper > {place}/deep/f"
    oracle = (
        entry(f"cat '{folder}/f' '{folder}/deep/f'", check_id="see"),
        entry(f"echo x > '{folder}/f'", check_id="write"),
    )
    done = _mounted(repo, prepare, *_command(repo, mode, *oracle))
    assert _output(repo, "01-see.stdout") == "inner\ndeeper\n", done.out + done.err
    assert "blocked oracle/write: needs to write outside of the disposable workspace" in done.out
    receipt = json.loads(_output(repo, "01-see.json"))
    assert receipt["isolation"]["mode"] == mode


@may_mount
def test_mounts_are_found(repo: Repo) -> None:
    """Outermost only, names as they are."""
    script = (
        "from pathlib import Path; from pytest_reqfile.workspace.mounts import mounts_below as m; print(m(Path({!r})))"
    )
    mount = "mount -t tmpfs none"
    prepare = f"cd '{repo.root}'; mkdir 'a b' d e; {mount} 'a b'; mkdir 'a b/c'; {mount} 'a b/c'; {mount} d"
    done = _mounted(repo, prepare, sys.executable, "-P", "-c", script.format(str(repo.root)))
    assert done.out == f"{[f'{repo.root}/a b', f'{repo.root}/d']}\n", done.err
    assert mounts_below(repo.root) == []


def test_terminals_of_the_machine_are_out_of_reach(repo: Repo, mode: Request) -> None:
    """Root may write to devices on a read-only file system: the operator's terminal must not be one of them."""
    leader, follower = pty.openpty()
    try:
        name = os.ttyname(follower)
        oracle = (
            entry(f"echo EVIL > {name}", 1, check_id="write"),
            entry(["python3", "-c", "import pty, os; a, b = pty.openpty(); os.write(b, b'x')"], check_id="own"),
        )
        done = repo.execute(*_command(repo, mode, *oracle))
        assert "pass    oracle/write: " in done.out, done.out + done.err
        assert "pass    oracle/own: " in done.out
        os.set_blocking(leader, False)
        with pytest.raises(BlockingIOError):
            os.read(leader, 10)
    finally:
        os.close(leader)
        os.close(follower)


@may_mount
@pytest.mark.parametrize("path", ["systemd/private", "user/1000/bus", "docker.sock", "dbus/system_bus_socket"])
def test_services_that_start_programs_are_out_of_reach(repo: Repo, mode: Request, path: str) -> None:
    """They run outside of the isolation what they are told to run."""
    listen = "import socket, sys; s = socket.socket(socket.AF_UNIX); s.bind(sys.argv[1])"
    prepare = (
        f"mount -t tmpfs none /run; mkdir -p /run/$(dirname {path}) /run/other;"
        f" '{sys.executable}' -c '{listen}' /run/{path}; '{sys.executable}' -c '{listen}' /run/other/kept"
    )
    oracle = (entry(f"test -S /run/{path}", 1, check_id="hidden"), entry("test -S /run/other/kept", check_id="kept"))
    done = _mounted(repo, prepare, *_command(repo, mode, *oracle))
    assert done.code == 0, done.out + done.err


@may_mount
@pytest.mark.case("oracle:9.16")
def test_no_room_for_scratch_space_is_blocked(repo: Repo, tmp_path: Path, mode: Request) -> None:
    """Found at the start, or after a command took all of it; the claims are written, since the sink is elsewhere."""
    (tmp_path / "scratch").mkdir()
    place = f"'{tmp_path / 'scratch'}'"
    command = _command(repo, mode, entry("true"))
    done = _mounted(repo, f"mount -t tmpfs -o size=1m,nr_inodes=4 none {place}; export TMPDIR={place}", *command)
    assert done.code == 4, done.out + done.err
    assert re.match(r"blocked oracle/C: .*: No space left on device", done.out)
    assert (repo.home / "sink" / "worker-claims.json").exists()


@may_mount
@pytest.mark.case("oracle:9.16")
def test_a_command_that_fills_the_scratch_space(repo: Repo, tmp_path: Path, mode: Request) -> None:
    """What runs after it lacks the room to be started, and has not failed."""
    (tmp_path / "scratch").mkdir()
    place = f"'{tmp_path / 'scratch'}'"
    fill = "cat /dev/zero > $TMPDIR/x; for i in $(seq 99); do echo a > $TMPDIR/y$i; done; exit 0"
    command = _command(repo, mode, entry(fill, check_id="fill"), entry(f"true {'x' * 9000}", check_id="next"))
    done = _mounted(repo, f"mount -t tmpfs -o size=1m none {place}; export TMPDIR={place}", *command)
    assert done.code == 4, done.out + done.err
    assert "pass    oracle/fill: " in done.out
    assert f"blocked oracle/next: the isolation failed: cannot write to the scratch space in {tmp_path}" in done.out
