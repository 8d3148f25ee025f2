"""Commands that do not want to end, to be quiet or to be found (design 4 Processes; spec/reqfile.md 3.2)."""

from __future__ import annotations

import signal
import subprocess
import sys
import textwrap
import threading
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Protocol

import pytest

from pytest_reqfile.workspace.environment import Environment
from pytest_reqfile.workspace.process_tree import COOKIE, ProcessTree, process_table, table_from_ps
from pytest_reqfile.workspace.processes import Cancellation, CommandResult, run_command
from tests.support.processes import is_alive, pid_in, wait_until

SOON = 0.6
PATIENT = 30.0


class Shell(Protocol):
    """Runs a shell script in the test's folder, where ``$PWD/pid`` is the usual place for a process number."""

    def __call__(
        self, script: str, *, timeout: float | None = PATIENT, cancel: Cancellation | None = None
    ) -> CommandResult: ...


@pytest.fixture
def shell(tmp_path: Path) -> Shell:
    """A shell whose working folder is the test's own."""

    def run(script: str, *, timeout: float | None = PATIENT, cancel: Cancellation | None = None) -> CommandResult:
        argv = ("sh", "-c", script)
        return run_command(argv, cwd=tmp_path, env=Environment.current(), timeout=timeout, limit=65536, cancel=cancel)

    return run


@pytest.mark.parametrize(
    "script",
    [
        pytest.param("echo $$ > pid; sleep 600", id="plain"),
        pytest.param("trap '' TERM INT HUP; echo $$ > pid; while :; do sleep 0.05; done", id="ignores-signals"),
        pytest.param("sleep 600 & echo $! > pid", id="background-child-holds-the-output"),
        pytest.param("setsid sh -c 'echo $$ > pid; sleep 600' & wait", id="own-session"),
        pytest.param("(setsid sh -c 'echo $$ > pid; sleep 600' &) ; sleep 600", id="double-fork-own-session"),
        pytest.param("(setsid sh -c 'echo $$ > pid; exec sleep 600' >/dev/null 2>&1 &) ; sleep 600", id="daemon"),
        pytest.param("env -i setsid sh -c 'echo $$ > pid; sleep 600' & wait", id="no-cookie-but-a-descendant"),
        pytest.param("(env -i setsid sh -c 'echo $$ > pid; sleep 600' &)", id="no-cookie-but-holds-the-output"),
        pytest.param("set -m; sh -c 'echo $$ > pid; sleep 600' & wait", id="own-process-group"),
        pytest.param("sh -c 'echo $$ > pid; kill -STOP $$; sleep 600'", id="stopped"),
    ],
)
def test_the_deadline_ends_all_of_it(shell: Shell, tmp_path: Path, script: str) -> None:
    """Whatever the child did to get away, it is gone when the command timed out, and the wait was not longer."""
    result = shell(script, timeout=SOON)
    assert (result.timed_out, result.exit, result.signal) == (True, None, None)
    assert SOON <= result.seconds < SOON + 3
    assert not is_alive(pid_in(tmp_path / "pid"))


@pytest.mark.parametrize(
    "start",
    [
        pytest.param("sleep 600 >/dev/null 2>&1 &", id="plain"),
        pytest.param("setsid sleep 600 >/dev/null 2>&1 &", id="own-session"),
        pytest.param("set -m; env -i sleep 600 >/dev/null 2>&1 &", id="own-group-without-cookie"),
    ],
)
def test_nothing_outlives_a_command_that_ended(shell: Shell, tmp_path: Path, start: str) -> None:
    """A quiet background child does not hold the command up, and is killed when it has ended."""
    result = shell(f"{start} echo $! > pid; echo done; exit 3")
    assert (result.exit, result.stdout) == (3, b"done\n")
    assert result.seconds < PATIENT / 2
    assert not is_alive(pid_in(tmp_path / "pid"))


def test_a_flood_is_bounded_while_it_is_read(shell: Shell) -> None:
    """50 MB come to 64 KiB and a count."""
    result = shell("yes | head -c 50000000")
    assert (result.exit, len(result.stdout), result.dropped) == (0, 65536, 50_000_000 - 65536)


@pytest.mark.parametrize("keep", ["head", "tail"])
def test_an_endless_flood_meets_the_deadline(tmp_path: Path, keep: str) -> None:
    """``yes`` without end on both streams: the deadline holds, memory does too."""
    result = run_command(
        ("sh", "-c", "yes 1>&2 & yes"),
        cwd=tmp_path,
        env=Environment.current(),
        timeout=SOON,
        limit=1000,
        keep="head" if keep == "head" else "tail",
    )
    assert result.timed_out
    assert result.seconds < SOON + 3
    assert (len(result.stdout), len(result.stderr)) == (1000, 1000)
    assert min(result.dropped, result.dropped_stderr) > 0


def test_many_children_at_once(shell: Shell, tmp_path: Path) -> None:
    """A (bounded) bomb of processes that each leave the session is swept until none is left."""
    bomb = "i=0; while [ $i -lt 60 ]; do setsid sh -c 'echo $$ >> pids; sleep 600 & wait' & i=$((i+1)); done; wait"
    assert shell(bomb, timeout=1.5).timed_out
    pids = [int(line) for line in (tmp_path / "pids").read_text().split()]
    assert len(pids) > 10
    living = {row.pid for row in process_table()}
    assert living.isdisjoint(pids)


def test_children_that_keep_forking_while_they_are_killed(shell: Shell, tmp_path: Path) -> None:
    """A chain of processes, each starting its successor in a new session and dying, comes to its end."""
    (tmp_path / "hop.py").write_text(
        textwrap.dedent(
            """
            import os, time
            for hop in range(4000):
                if os.fork():
                    os._exit(0)
                os.setsid()
                if hop % 50 == 0:
                    open("hops", "w").write(f"{hop} {os.getpid()}\\n")
                time.sleep(0.01)
            """
        )
    )
    assert shell(f"{sys.executable} hop.py; sleep 600", timeout=2.0).timed_out
    first = (tmp_path / "hops").read_text()
    time.sleep(1.2)
    assert (tmp_path / "hops").read_text() == first


def test_a_command_that_closes_its_output_is_waited_for(shell: Shell) -> None:
    """The end of the output is not the end of the command."""
    result = shell("exec >&- 2>&-; sleep 0.4; exit 5")
    assert result.exit == 5
    assert result.seconds >= 0.4


def test_no_deadline(shell: Shell) -> None:
    """Without a timeout the command takes the time it takes."""
    assert shell("sleep 0.2; echo late", timeout=None).stdout == b"late\n"


def test_cancel_kills_every_running_command(shell: Shell, tmp_path: Path) -> None:
    """One call ends commands in other threads at once, and commands that start later do not start."""
    cancel = Cancellation()
    script = "echo $$ > {0}; setsid sleep 600 & sleep 600"
    with ThreadPoolExecutor(4) as pool:
        running = [pool.submit(shell, script.format(f"pid{n}"), cancel=cancel) for n in range(4)]
        pids = [pid_in(tmp_path / f"pid{n}") for n in range(4)]
        started = time.monotonic()
        cancel.cancel()
        cancel.cancel()
        results = [future.result(timeout=10) for future in running]
        assert time.monotonic() - started < 5
    assert all(result.cancelled and result.exit is None and not result.timed_out for result in results)
    assert not any(map(is_alive, pids))
    late = shell("echo > started", cancel=cancel)
    assert late.cancelled
    assert not (tmp_path / "started").exists()


def test_cancel_reaches_a_command_whose_shell_is_gone(shell: Shell, tmp_path: Path) -> None:
    """Waiting for a background child's output is cancelled as well."""
    cancel = Cancellation()
    with ThreadPoolExecutor(1) as pool:
        future = pool.submit(shell, "setsid sleep 600 & echo $! > pid", timeout=None, cancel=cancel)
        pid = pid_in(tmp_path / "pid")
        cancel.cancel()
        assert future.result(timeout=10).cancelled
    assert not is_alive(pid)


def test_keyboard_interrupt_leaves_nothing(shell: Shell, tmp_path: Path) -> None:
    """Ctrl-C in the thread that waits: it travels on, and the command's tree is gone."""

    main = threading.get_ident()

    def interrupt() -> None:
        pid_in(tmp_path / "pid")
        signal.pthread_kill(main, signal.SIGINT)

    helper = threading.Thread(target=interrupt)
    helper.start()
    with pytest.raises(KeyboardInterrupt):
        shell("setsid sh -c 'echo $$ > pid; sleep 600' & sleep 600")
    helper.join()
    assert not is_alive(pid_in(tmp_path / "pid"))


def test_ctrl_c_on_a_real_process(tmp_path: Path) -> None:
    """SIGINT to a process that waits without deadline: prompt end, nothing left."""
    program = """
        import sys
        from pathlib import Path
        from pytest_reqfile.workspace.environment import Environment
        from pytest_reqfile.workspace.processes import run_command
        script = "setsid sh -c 'echo $$ > pid; sleep 600' & sleep 600"
        run_command(("sh", "-c", script), cwd=Path.cwd(), env=Environment.current(), timeout=None)
    """
    process = subprocess.Popen((sys.executable, "-c", textwrap.dedent(program)), cwd=tmp_path, stderr=subprocess.PIPE)
    pid = pid_in(tmp_path / "pid")
    process.send_signal(signal.SIGINT)
    _, err = process.communicate(timeout=20)
    assert err.rstrip().endswith(b"KeyboardInterrupt")
    assert wait_until(lambda: not is_alive(pid))


def test_an_outer_command_takes_inner_ones_along(shell: Shell, tmp_path: Path) -> None:
    """A check that itself runs checks: the outer deadline also ends what the inner runner started."""
    (tmp_path / "inner.py").write_text(
        textwrap.dedent(
            """
            from pathlib import Path
            from pytest_reqfile.workspace.environment import Environment
            from pytest_reqfile.workspace.processes import run_command
            script = "(setsid sh -c 'echo $$ > pid; sleep 600' >/dev/null 2>&1 &); sleep 600"
            run_command(("sh", "-c", script), cwd=Path.cwd(), env=Environment.current(), timeout=None)
            """
        )
    )
    assert shell(f"{sys.executable} inner.py", timeout=2.0).timed_out
    assert not is_alive(pid_in(tmp_path / "pid"))


def test_commands_side_by_side_leave_each_other_alone(shell: Shell) -> None:
    """The sweep of one command that ends does not touch those that still run, in any number of threads."""
    with ThreadPoolExecutor(8) as pool:
        scripts = [f"setsid sleep 600 >/dev/null 2>&1 & sleep 0.{n % 4}; echo {n}" for n in range(40)]
        results = list(pool.map(shell, scripts))
    assert [result.stdout for result in results] == [f"{n}\n".encode() for n in range(40)]
    assert {result.exit for result in results} == {0}


def test_arguments_beyond_what_the_system_takes(tmp_path: Path) -> None:
    """E2BIG is the command's fault and a result, not a crash."""
    result = run_command(("true", "x" * 5_000_000), cwd=tmp_path, env=Environment.current(), timeout=PATIENT)
    assert result.launch_error is not None
    assert result.launch_error.startswith("Argument list too long")
    assert result.exit is None


def test_without_proc_descendants_are_found_through_ps(tmp_path: Path) -> None:
    """The table of systems without /proc names the same parents as the one of /proc."""
    with subprocess.Popen(("sh", "-c", "sleep 600 & wait"), start_new_session=True, cwd=tmp_path) as process:
        try:
            tree = ProcessTree(leader=process.pid, token="no such cookie")
            assert wait_until(lambda: len(tree.members()) == 2)
            members = {row.pid for row in tree.members()}
            rows = {row.pid: row for row in table_from_ps()}
            assert members <= rows.keys()
            assert {rows[pid].session for pid in members} == {process.pid}
            assert {rows[pid].parent for pid in members - {process.pid}} == {process.pid}
        finally:
            tree.kill()
    assert not any(map(is_alive, members))


def test_only_the_tree_is_killed(tmp_path: Path, shell: Shell) -> None:
    """A process of ours that is no part of the command survives it."""
    with subprocess.Popen(("sleep", "600"), cwd=tmp_path) as bystander:
        try:
            assert shell("sleep 600", timeout=0.2).timed_out
            assert bystander.poll() is None
        finally:
            bystander.kill()


def test_the_cookie_names_the_run(shell: Shell) -> None:
    """Each command has a cookie of its own."""
    first, second = (shell(f"echo ${COOKIE}").stdout for _ in range(2))
    assert len({first, second, b"\n"}) == 3


def test_descriptors_are_given_back(shell: Shell) -> None:
    """Hundreds of commands, good and bad, leave no descriptor open."""

    def count(run: Callable[[], object]) -> int:
        run()
        return len(list(Path("/proc/self/fd").iterdir()))

    before = count(lambda: shell("true"))
    for _ in range(50):
        shell("exit 1")
        shell("nosuch-program")
        run_command(("nosuch-program",), cwd=Path("/"), env=Environment.current(), timeout=1)
    assert count(Cancellation) == before
