"""Verification that is interrupted, killed or runs out of disk (spec oracle.md 9.16, 9.17; issue 10)."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import threading
from collections.abc import Iterator
from pathlib import Path

import pytest

from pytest_reqfile.oracle.session import OracleOptions
from pytest_reqfile.workspace.isolation import Request
from pytest_reqfile.workspace.manifest import take_manifest
from pytest_reqfile.workspace.processes import Cancellation
from tests.support import Repo
from tests.support.missions import criterion, entry, is_offered, mission, mission_text, verify
from tests.support.processes import wait_until
from tests.support.sleepers import sleeping

LENGTH = f"473.{os.getpid()}"
"""Of sleeps, by which this worker's own are told from those of others."""


@pytest.fixture(params=["overlay", "copy"])
def mode(request: pytest.FixtureRequest, tmp_path: Path) -> Request:
    """Both kinds of disposable workspace."""
    chosen: Request = request.param
    if not is_offered(tmp_path / "offered", chosen):
        pytest.skip(f"this machine offers no {chosen}")
    return chosen


@pytest.fixture
def scratch(tmp_path: Path) -> Path:
    """A temporary folder of the program's own, to see what it leaves there."""
    folder = tmp_path / "scratch"
    folder.mkdir()
    return folder


@pytest.fixture
def running(repo: Repo, scratch: Path, mode: Request) -> Iterator[subprocess.Popen[bytes]]:
    """``reqfile oracle run`` in the middle of its second command, which sleeps."""
    repo.write("a", "1")
    repo.commit()
    sleep = f"(setsid sleep {LENGTH} &) ; touch $TMPDIR/started; sleep {LENGTH}"
    what = mission_text(
        entry("true"),
        entry(sleep, check_id="S"),
        entry("true", check_id="L"),
        criteria=[criterion(), criterion("AC-2", "S"), criterion("AC-3", "L")],
    )
    (repo.home / "m.json").write_text(what)
    command = (sys.executable, "-P", "-m", "pytest_reqfile", "oracle", "run", str(repo.home / "m.json"))
    process = subprocess.Popen(
        (*command, "--sink", str(repo.home / "sink"), "--isolation", mode),
        cwd=repo.root,
        env={**repo.variables, "TMPDIR": str(scratch)},
        stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
    )
    assert wait_until(lambda: any(scratch.glob("*/tmp/started")), 20), process.stderr
    yield process
    process.kill()
    process.communicate()


def mounts() -> int:
    """How many mounts this process sees."""
    return Path("/proc/self/mountinfo").read_text().count("\n")


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
@pytest.mark.case("oracle:9.17")
def test_an_interrupted_run_still_tells_what_was_not_run(
    repo: Repo, scratch: Path, running: subprocess.Popen[bytes], number: int
) -> None:
    """spec 9.17: nothing is left behind, and the claims are whole: what was stopped or not reached is blocked."""
    before = mounts()
    running.send_signal(number)
    _, errors = running.communicate(timeout=30)
    assert running.returncode == 128 + number
    assert b"interrupted" in errors
    assert wait_until(lambda: not sleeping(LENGTH))
    assert (list(scratch.iterdir()), mounts()) == ([], before)
    claims = json.loads((repo.home / "sink" / "worker-claims.json").read_text())
    texts = [claim["text"] for claim in claims["claims"]]
    assert texts == [
        "[pass] (confidence: high) AC-1: It works."
        if "overlay" in claims["checks"][0]["environment"]
        else "[pass] (confidence: medium) AC-1: It works.",
        "[blocked] (confidence: high) AC-2: It works. — interrupted",
        "[blocked] (confidence: high) AC-3: It works. — not-run",
    ]
    assert [check["exitCode"] for check in claims["checks"]] == [0, None, None]


@pytest.mark.case("oracle:9.17")
def test_a_killed_run_leaves_no_process_and_no_half_file(
    repo: Repo, scratch: Path, running: subprocess.Popen[bytes], mode: Request
) -> None:
    """spec 9.17: SIGKILL cannot be handled; the kernel takes the command along, the next run clears the folder."""
    before = take_manifest(repo.root), mounts()
    running.kill()
    running.communicate(timeout=30)
    if mode == "overlay":
        assert wait_until(lambda: not sleeping(LENGTH))
    else:  # without a namespace only the command itself is tied to us, not what it started in its own session
        assert wait_until(lambda: len(sleeping(LENGTH)) <= 2)
        for pid in sleeping(LENGTH):
            os.kill(pid, signal.SIGKILL)
    assert (before[0].changed(take_manifest(repo.root)), mounts()) == ((), before[1])
    sink = repo.home / "sink"
    assert not (sink / "worker-claims.json").exists()
    for path in sink.rglob("*.json"):
        json.loads(path.read_text())
    assert len(list(scratch.iterdir())) == 1
    done = repo.execute(
        *(sys.executable, "-P", "-m", "pytest_reqfile", "oracle", "run", str(repo.home / "m2.json")),
        *("--sink", str(sink), "--isolation", mode),
        env={"TMPDIR": str(scratch)},
    )
    assert done.code == 2
    (repo.home / "m2.json").write_text(mission_text(entry("true")))
    done = repo.execute(
        *(sys.executable, "-P", "-m", "pytest_reqfile", "oracle", "run", str(repo.home / "m2.json")),
        *("--sink", str(sink), "--isolation", mode),
        env={"TMPDIR": str(scratch)},
    )
    assert (done.code, list(scratch.iterdir())) == (0, [])
    assert (sink / "run-2" / "worker-claims.json").exists()


def test_cancelling_from_another_thread(repo: Repo, mode: Request) -> None:
    """What a front does on its own Ctrl-C: the running command is blocked, later ones too."""
    cancel = Cancellation()
    timer = threading.Timer(0.5, cancel.cancel)
    timer.start()
    verified = verify(
        repo, mission(entry(f"sleep {LENGTH}"), entry("true", check_id="L")), isolation=mode, cancel=cancel
    )
    timer.join()
    assert {result.blocked for result in verified.assembled.results.values()} == {"interrupted"}
    assert wait_until(lambda: not sleeping(LENGTH))


@pytest.mark.skipif(os.geteuid() != 0, reason="a small file system needs root")
@pytest.mark.case("oracle:9.16")
def test_a_full_disk_leaves_the_claims_whole_or_absent(repo: Repo, tmp_path: Path) -> None:
    """spec 9.16: evidence that cannot be written is an error, and nothing is half there."""
    (repo.home / "m.json").write_text(mission_text(entry("head -c 300000 /dev/urandom"), criteria=[criterion()]))
    (tmp_path / "small").mkdir()
    script = (
        f"mount -t tmpfs -o size=128k small {tmp_path}/small &&"
        f" {sys.executable} -P -m pytest_reqfile oracle run {repo.home}/m.json --sink {tmp_path}/small/sink;"
        f" echo code $?; find {tmp_path}/small -type f"
    )
    done = repo.execute("unshare", "-m", "sh", "-c", script)
    if "code" not in done.out:
        pytest.skip(f"no private mount: {done.err}")
    assert "code 2" in done.out
    assert "No space left on device" in done.err
    assert "worker-claims.json" not in done.out
    assert ".tmp" not in done.out


def test_concurrent_runs_do_not_disturb_each_other(repo: Repo, tmp_path: Path, mode: Request) -> None:
    """Two verifications of one workspace at once: both see their own writes only."""
    repo.write("a", "1")
    repo.commit()
    what = mission(entry("test ! -e mine && touch mine && sleep 0.3"))
    results: list[str] = []

    def run(number: int) -> None:
        options = OracleOptions(isolation=mode)
        results.append(verify(repo, what, options=options, sink=tmp_path / str(number)).overall)

    threads = [threading.Thread(target=run, args=(number,)) for number in range(3)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert results == ["pass"] * 3
