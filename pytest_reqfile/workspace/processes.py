"""Commands: started in a session of their own, read within bounds, gone with all they started when they end."""

from __future__ import annotations

import os
import selectors
import subprocess
import threading
import time
import weakref
from collections.abc import Callable, Sequence
from concurrent.futures import Future, ThreadPoolExecutor, wait
from contextlib import nullcontext
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import IO, Final, Literal, TypeVar

from pytest_reqfile.workspace.environment import Environment
from pytest_reqfile.workspace.files import readable_file
from pytest_reqfile.workspace.process_tree import COOKIE, ProcessTree, process_handle

OUTPUT_LIMIT: Final = 8 * 1024 * 1024
_READ_AT_ONCE: Final = 65536
_READS_AFTER_THE_END: Final = 32
_TICK_SECONDS: Final = 0.01
_LONGEST_WAIT_SECONDS: Final = 86_400.0
_LONGEST_SLEEP_SECONDS: Final = 0.1

Keep = Literal["head", "tail"]
_End = Literal["ended", "timed_out", "cancelled"]
_Result = TypeVar("_Result")


@dataclass(frozen=True, slots=True, kw_only=True)
class CommandResult:
    """How a command ended: by exactly one of ``exit``, ``signal``, ``timed_out``, ``cancelled`` and ``launch_error``.

    ``stdout`` (stderr included if merged) and ``stderr`` are within the limit; ``dropped`` and ``dropped_stderr`` count
    the bytes beyond it. ``seconds`` is the time it took.
    """

    exit: int | None = None
    signal: int | None = None
    timed_out: bool = False
    cancelled: bool = False
    launch_error: str | None = None
    stdout: bytes = b""
    stderr: bytes = b""
    dropped: int = 0
    dropped_stderr: int = 0
    seconds: float = 0.0

    def __post_init__(self) -> None:
        known = (self.exit is not None, self.signal is not None, self.launch_error is not None)
        if sum((*known, self.timed_out, self.cancelled)) != 1:
            raise ValueError(f"a command ends in exactly one way, found {self}")


class Cancellation:
    """Ends all commands that were given it, now and later: ``cancel`` may be called from any thread."""

    def __init__(self) -> None:
        self._event = threading.Event()
        # A pipe that is never emptied: once written to, it wakes every command that waits.
        self._reader, self._writer = os.pipe()
        weakref.finalize(self, _close_all, (self._reader, self._writer))

    def cancel(self) -> None:
        """Each running command is killed by the thread that waits for it, without delay."""
        if not self._event.is_set():
            self._event.set()
            os.write(self._writer, b"!")

    def is_set(self) -> bool:
        return self._event.is_set()

    def fileno(self) -> int:
        """Readable once cancelled."""
        return self._reader


def _close_all(descriptors: Sequence[int]) -> None:
    for descriptor in descriptors:
        os.close(descriptor)


def run_command(  # noqa: PLR0913 - nine independent facts, all but the first by name
    argv: Sequence[str],
    *,
    cwd: Path,
    env: Environment,
    timeout: float | None,
    limit: int = OUTPUT_LIMIT,
    keep: Keep = "head",
    merge: bool = False,
    stdin: bytes | None = None,
    cancel: Cancellation | None = None,
    grace: float | None = None,
) -> CommandResult:
    """Run ``argv`` (no shell unless it names one) until it has exited and its output is closed, or ``timeout`` seconds.

    At the timeout, on ``cancel``, on KeyboardInterrupt and after a normal end, everything the command started is
    killed; a background child that keeps the output open makes it time out (spec/reqfile.md 3.2), unless ``grace`` says
    how many seconds after the exit the output is still waited for (spec/verifiers.md 4.2). Of each stream
    ``limit`` bytes are kept: the first with ``keep="head"``, the last with "tail". ``merge`` sends stderr where
    stdout goes. stdin is empty unless given. Never raises for what the command does; safe in any thread.
    """
    run = partial(_run, tuple(argv), cwd, env, timeout, limit, keep, merge, stdin, grace)
    if threading.current_thread() is threading.main_thread():
        return _beside_main_thread(run, cancel or Cancellation())
    return run(cancel)


def _beside_main_thread(run: Callable[[Cancellation | None], CommandResult], cancel: Cancellation) -> CommandResult:
    """In a thread of its own: KeyboardInterrupt strikes the main thread anywhere, also while a process is started."""
    pool = ThreadPoolExecutor(max_workers=1, thread_name_prefix="reqfile-command")
    try:
        return result_of(pool.submit(run, cancel))
    except BaseException:
        cancel.cancel()
        raise
    finally:
        pool.shutdown()


def result_of(future: Future[_Result]) -> _Result:
    """The future's result, waited for so that Ctrl-C is noticed.

    The system may hand a signal to any thread, and only the main one, when it next wakes, does anything about it.
    """
    while not future.done():
        wait((future,), timeout=_LONGEST_SLEEP_SECONDS)
    return future.result()


def _run(  # noqa: PLR0913, PLR0917 - the facts of run_command
    argv: Sequence[str],
    cwd: Path,
    env: Environment,
    timeout: float | None,
    limit: int,
    keep: Keep,
    merge: bool,
    stdin: bytes | None,
    grace: float | None,
    cancel: Cancellation | None,
) -> CommandResult:
    started = time.monotonic()
    if cancel is not None and cancel.is_set():
        return CommandResult(cancelled=True)
    token = os.urandom(16).hex()
    try:
        process = _start(argv, cwd, env.updated({COOKIE: _cookie(env, token)}), merge, stdin)
    except (OSError, ValueError) as error:  # ValueError: a NUL in an argument
        return CommandResult(launch_error=_launch_error(error), seconds=time.monotonic() - started)
    streams = tuple(_Stream(pipe, limit, keep) for pipe in (process.stdout, process.stderr) if pipe is not None)
    deadline = None if timeout is None else started + timeout
    end = _finish(process, ProcessTree(leader=process.pid, token=token), streams, _Patience(deadline, grace), cancel)
    out, err = streams[0], streams[1] if len(streams) > 1 else None
    code = process.returncode if end == "ended" else None
    return CommandResult(
        exit=code if code is not None and code >= 0 else None,
        signal=-code if code is not None and code < 0 else None,
        timed_out=end == "timed_out",
        cancelled=end == "cancelled",
        stdout=out.kept(),
        stderr=err.kept() if err else b"",
        dropped=out.dropped,
        dropped_stderr=err.dropped if err else 0,
        seconds=time.monotonic() - started,
    )


def _cookie(env: Environment, token: str) -> str:
    """Ours after those of the commands we run in, so that an outer command finds what an inner one started."""
    outer = env.get(COOKIE)
    return f"{outer}:{token}" if outer else token


def _start(
    argv: Sequence[str], cwd: Path, env: Environment, merge: bool, stdin: bytes | None
) -> subprocess.Popen[bytes]:
    with nullcontext(subprocess.DEVNULL) if stdin is None else readable_file(stdin) as source:
        return subprocess.Popen(
            tuple(argv),
            cwd=cwd,
            env=dict(env.variables),
            stdin=source,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT if merge else subprocess.PIPE,
            start_new_session=True,  # preexec_fn would be unsafe beside threads, and slow
            bufsize=0,
        )


def _launch_error(error: OSError | ValueError) -> str:
    if isinstance(error, OSError) and error.strerror:
        return f"{error.strerror}: {error.filename}" if error.filename else error.strerror
    return str(error)


class _Patience:
    """Until ``deadline`` (None: for ever), and at most ``grace`` seconds once the command has exited."""

    def __init__(self, deadline: float | None, grace: float | None) -> None:
        self.grace = grace
        self._deadline = deadline

    def leader_has_ended(self) -> None:
        if self.grace is not None:
            self._deadline = time.monotonic() + self.grace

    def remaining(self) -> float | None:
        return None if self._deadline is None else self._deadline - time.monotonic()


def _finish(
    process: subprocess.Popen[bytes],
    tree: ProcessTree,
    streams: tuple[_Stream, ...],
    patience: _Patience,
    cancel: Cancellation | None,
) -> _End:
    """Wait for the end, and leave nothing behind, whatever interrupts the wait."""
    try:
        return _wait(process, streams, patience, cancel)
    finally:
        tree.kill(frozenset(stream.inode for stream in streams if stream.is_open))
        process.wait()
        for stream in streams:
            stream.finish()


def _wait(
    process: subprocess.Popen[bytes],
    streams: tuple[_Stream, ...],
    patience: _Patience,
    cancel: Cancellation | None,
) -> _End:
    """Read until the process has exited and every stream is at its end."""
    with selectors.DefaultSelector() as selector, process_handle(process.pid) as handle:
        for stream in streams:
            selector.register(stream, selectors.EVENT_READ, stream)
        for extra in (handle, cancel):
            if extra is not None:
                selector.register(extra, selectors.EVENT_READ)
        running = True
        while running or any(stream.is_open for stream in streams):
            if cancel is not None and cancel.is_set():
                return "cancelled"
            remaining = patience.remaining()
            if remaining is not None and remaining <= 0:
                return "timed_out" if running or patience.grace is None else "ended"
            _serve(selector, _bounded(remaining) if handle is not None else _TICK_SECONDS)
            if running and _has_exited(process):
                running = False
                patience.leader_has_ended()
                if handle is not None:
                    selector.unregister(handle)
    return "ended"


def _bounded(seconds: float | None) -> float | None:
    """No longer than the system can be asked to wait at once."""
    return None if seconds is None else min(seconds, _LONGEST_WAIT_SECONDS)


def _serve(selector: selectors.BaseSelector, seconds: float | None) -> None:
    for key, _ in selector.select(seconds):
        if isinstance(key.data, _Stream) and not key.data.read():
            selector.unregister(key.fileobj)


def _has_exited(process: subprocess.Popen[bytes]) -> bool:
    """Without waiting for it, which would free its number while its group is still to be killed."""
    if not hasattr(os, "waitid"):
        return process.poll() is not None
    return os.waitid(os.P_PID, process.pid, os.WEXITED | os.WNOHANG | os.WNOWAIT) is not None


class _Stream:
    """One output of a command, kept within a limit while it is read."""

    def __init__(self, pipe: IO[bytes], limit: int, keep: Keep) -> None:
        os.set_blocking(pipe.fileno(), False)
        self._pipe = pipe
        self._limit = limit
        self._keep = keep
        self._buffer = bytearray()
        self._seen = 0
        self.inode = os.fstat(pipe.fileno()).st_ino
        self.is_open = True

    @property
    def dropped(self) -> int:
        return max(0, self._seen - self._limit)

    def fileno(self) -> int:
        return self._pipe.fileno()

    def kept(self) -> bytes:
        return bytes(self._buffer[-self._limit :] if self._limit else b"")

    def read(self) -> bool:
        """Take what is there; False at the end of the stream."""
        try:
            chunk = os.read(self._pipe.fileno(), _READ_AT_ONCE)
        except BlockingIOError:
            return True
        self.is_open = bool(chunk)
        self._take(chunk)
        return self.is_open

    def finish(self) -> None:
        """Take what a killed command had already written, no more than a pipe holds, and close."""
        reads = 0
        while self.is_open and reads < _READS_AFTER_THE_END:
            before = self._seen
            if not self.read() or self._seen == before:
                break
            reads += 1
        self._pipe.close()

    def _take(self, chunk: bytes) -> None:
        self._seen += len(chunk)
        if self._keep == "head":
            self._buffer += chunk[: max(0, self._limit - len(self._buffer))]
            return
        self._buffer += chunk
        if len(self._buffer) > 2 * self._limit + _READ_AT_ONCE:
            del self._buffer[: -self._limit or None]
