"""A process that works while we import: started, and read when its answer is needed (issue 3.5).

Nothing but what every interpreter has loaded is imported here, not even typing: that alone takes as long as git takes
to list a thousand files.
"""

from __future__ import annotations

import _thread
import os

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

PATIENCE = 600.0
"""Seconds that an answer is waited for: git takes minutes in the largest of repositories, and for ever at a pipe."""

_STANDARD_ERROR = 2
_KILL = 9  # signal takes five milliseconds to import


class Spawned:
    """A process without input, its output going to files that need nobody to read along.

    ``gave_up`` says that it was killed because it did not end within its patience.
    """

    __slots__ = ("_end", "_patience", "_pid", "_sinks", "gave_up")

    def __init__(
        self,
        argv: tuple[str, ...],
        variables: Mapping[str, str],
        unignored: Iterable[int] = (),
        *,
        patience: float = PATIENCE,
    ) -> None:
        """Start it; it does what is usual on the signals of ``unignored``, which Python ignores.

        Raises OSError where there is no such program, ValueError for a NUL in ``argv``.
        """
        self._end: tuple[int, bytes, bytes] | None = None
        self._patience = patience
        self.gave_up = False
        self._sinks = [_sink(), _sink()]
        try:
            self._pid = self._start(argv, variables, unignored)
        except BaseException:
            self._close()
            raise

    def _start(self, argv: tuple[str, ...], variables: Mapping[str, str], unignored: Iterable[int]) -> int:
        out, err = self._sinks
        streams = (
            (os.POSIX_SPAWN_DUP2, out, 1),
            (os.POSIX_SPAWN_DUP2, err, 2),
            (os.POSIX_SPAWN_OPEN, 0, os.devnull, os.O_RDONLY, 0),
        )
        # posix_spawnp would look along our own PATH instead of the given one.
        missing: OSError = FileNotFoundError(2, "No such file or directory", argv[0])
        for folder in variables.get("PATH", os.defpath).split(os.pathsep):
            program = os.path.join(folder, argv[0])
            if os.access(program, os.X_OK):
                try:
                    return os.posix_spawn(program, argv, variables, file_actions=streams, setsigdef=unignored)
                except PermissionError as error:  # a folder of that name, as for a shell
                    missing = error
        raise missing

    def ended(self) -> tuple[int, bytes, bytes]:
        """Wait for the end: the exit code, below zero for a signal, and what it wrote on stdout and stderr.

        The same however often it is asked for. What has not ended ``patience`` seconds after the first time is killed.
        """
        if self._end is None:
            try:
                status = self._status()
            except BaseException:
                self.drop()
                raise
            out, err = map(_content, self._sinks)
            self._end = (os.waitstatus_to_exitcode(status), out, err)
            self._close()
        return self._end

    def _status(self) -> int:
        """A thread watches while we wait: it costs nothing where the process has ended, and delays nobody."""
        ended, status = os.waitpid(self._pid, os.WNOHANG)
        if not ended:
            waiting = _thread.allocate_lock()
            waiting.acquire()
            _thread.start_new_thread(self._kill_late, (waiting,))
            try:
                _, status = os.waitpid(self._pid, 0)
            finally:
                waiting.release()
        return status

    def _kill_late(self, waiting: _thread.LockType) -> None:
        if not waiting.acquire(timeout=self._patience):
            self.gave_up = True
            os.kill(self._pid, _KILL)

    def drop(self) -> None:
        """Nobody wants the answer any more."""
        if self._end is None:
            self._end = (-_KILL, b"", b"")
            self._close()
            try:
                os.kill(self._pid, _KILL)
                os.waitpid(self._pid, 0)
            except (ProcessLookupError, ChildProcessError):
                return  # it ended, and somebody else was told

    def __del__(self) -> None:
        """A run may end before it needs the answer; the process must not outlive it."""
        if hasattr(self, "_pid"):
            self.drop()

    def _close(self) -> None:
        while self._sinks:
            os.close(self._sinks.pop())


def _sink() -> int:
    """A file in memory where the system has them: tempfile costs more to import than git takes to answer."""
    if hasattr(os, "memfd_create"):
        return _above_standard(os.memfd_create("reqfile"))
    from tempfile import TemporaryFile

    with TemporaryFile(buffering=0) as file:
        return _above_standard(os.dup(file.fileno()))


def _above_standard(number: int) -> int:
    """The same file under a number that is no standard stream's: ours may have been closed."""
    if number > _STANDARD_ERROR:
        return number
    try:
        return _above_standard(os.dup(number))
    finally:
        os.close(number)


def _content(number: int) -> bytes:
    size = os.fstat(number).st_size
    parts = []
    at = 0
    while at < size and (part := os.pread(number, size - at, at)):
        parts.append(part)
        at += len(part)
    return b"".join(parts)
