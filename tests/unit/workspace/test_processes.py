"""workspace/processes.py: what a command gets, and what is known of it afterwards."""

from __future__ import annotations

from pathlib import Path

import pytest

from pytest_reqfile.workspace.environment import Environment
from pytest_reqfile.workspace.processes import CommandResult, Keep, run_command


def sh(script: str, cwd: Path, *, limit: int = 1000, keep: Keep = "head", merge: bool = False) -> CommandResult:
    argv = ("sh", "-c", script)
    return run_command(argv, cwd=cwd, env=Environment.current(), timeout=30, limit=limit, keep=keep, merge=merge)


@pytest.mark.parametrize("code", [0, 1, 126, 127, 255])
def test_exit_code(tmp_path: Path, code: int) -> None:
    """The exit code is that of the command."""
    result = sh(f"exit {code}", tmp_path)
    assert (result.exit, result.signal, result.timed_out, result.launch_error) == (code, None, False, None)


def test_signal(tmp_path: Path) -> None:
    """Killed by a signal is not an exit code (spec/reqfile.md 3.3)."""
    result = sh("kill -15 $$", tmp_path)
    assert (result.exit, result.signal) == (None, 15)


def test_streams_apart_and_merged(tmp_path: Path) -> None:
    """stderr is kept apart, or goes where stdout goes in the order written."""
    script = "echo a; echo b >&2; echo c"
    apart, merged = sh(script, tmp_path), sh(script, tmp_path, merge=True)
    assert (apart.stdout, apart.stderr) == (b"a\nc\n", b"b\n")
    assert (merged.stdout, merged.stderr) == (b"a\nb\nc\n", b"")


@pytest.mark.parametrize(
    ("keep", "limit", "kept", "dropped"),
    [
        ("head", 10, b"0123456789", 0),
        ("head", 4, b"0123", 6),
        ("tail", 10, b"0123456789", 0),
        ("tail", 4, b"6789", 6),
        ("head", 0, b"", 10),
        ("tail", 0, b"", 10),
    ],
)
def test_limit(tmp_path: Path, keep: Keep, limit: int, kept: bytes, dropped: int) -> None:
    """The first or the last bytes, and how many were lost."""
    result = sh("printf 0123456789", tmp_path, limit=limit, keep=keep)
    assert (result.stdout, result.dropped, result.dropped_stderr) == (kept, dropped, 0)


def test_the_tail_of_a_long_output_is_its_end(tmp_path: Path) -> None:
    """The ring is trimmed while it is read, without losing the end."""
    result = sh("seq 1 200000", tmp_path, limit=14, keep="tail")
    assert result.stdout == b"199999\n200000\n"
    assert result.dropped == len("".join(f"{n}\n" for n in range(1, 200_001))) - 14


def test_both_streams_are_bounded_apart(tmp_path: Path) -> None:
    """A flood of warnings does not make the report incomplete."""
    result = sh("echo report; seq 1 100000 >&2", tmp_path, limit=100)
    assert (result.stdout, result.dropped) == (b"report\n", 0)
    assert len(result.stderr) == 100
    assert result.dropped_stderr > 0


def test_stdin_is_empty_or_given(tmp_path: Path) -> None:
    """A command never waits for a terminal; bytes given are read to the end, more than a pipe holds."""
    assert sh("cat; echo end", tmp_path).stdout == b"end\n"
    data = b"x" * 300_000
    env = Environment.current()
    result = run_command(("wc", "-c"), cwd=tmp_path, env=env, timeout=30, stdin=data)
    assert int(result.stdout) == len(data)


def test_folder_and_environment(tmp_path: Path) -> None:
    """Exactly the variables given, and the folder given."""
    env = Environment(variables={"PATH": Environment.current().get("PATH") or "", "ONE": "1"})
    result = run_command(("sh", "-c", "pwd -P; env | cut -d= -f1 | sort"), cwd=tmp_path, env=env, timeout=30)
    folder, *names = result.stdout.decode().split()
    assert Path(folder) == tmp_path.resolve()
    assert set(names) - {"PWD", "_", "SHLVL", "OLDPWD"} == {"ONE", "PATH", "REQFILE_RUN"}


def test_no_shell_unless_named(tmp_path: Path) -> None:
    """Arguments are passed as they are."""
    argv = ("printf", "%s|", "a b", "$HOME", "*", "", "é")
    result = run_command(argv, cwd=tmp_path, env=Environment.current(), timeout=30)
    assert result.stdout.decode() == "a b|$HOME|*||é|"


@pytest.mark.parametrize(
    ("program", "error"),
    [
        ("no-such-program", "No such file or directory: no-such-program"),
        ("./script", "Permission denied: ./script"),
        ("a\0b", "embedded null byte"),
    ],
)
def test_cannot_start(tmp_path: Path, program: str, error: str) -> None:
    """What cannot be started is a result with the system's reason."""
    (tmp_path / "script").write_text("no program")
    result = run_command((program,), cwd=tmp_path, env=Environment.current(), timeout=30)
    assert (result.launch_error, result.exit, result.signal, result.timed_out) == (error, None, None, False)


def test_folder_that_is_missing(tmp_path: Path) -> None:
    """The message names the folder and not the program."""
    gone = tmp_path / "gone"
    assert run_command(("true",), cwd=gone, env=Environment.current(), timeout=30).launch_error == (
        f"No such file or directory: {gone}"
    )


def test_seconds(tmp_path: Path) -> None:
    """The time from start to end."""
    assert 0.2 <= sh("sleep 0.2", tmp_path).seconds < 10


def test_a_result_ends_in_one_way() -> None:
    """Neither two ends nor none can be built."""
    with pytest.raises(ValueError, match="exactly one way"):
        CommandResult()
    with pytest.raises(ValueError, match="exactly one way"):
        CommandResult(exit=0, timed_out=True)
