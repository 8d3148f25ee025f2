"""Everything one command has started, found again and killed: nothing outlives its check (design 4; spec 3.2).

A process belongs to a command if it is in the command's session, descends from its first process, carries the
command's cookie in its environment (which survives ``setsid`` and double forks), or still holds the write end of the
command's output. What remains out of reach: a process that leaves the session, clears its environment, is orphaned and
closes its output, all before the command ends; and one that runs as another user.
"""

from __future__ import annotations

import os
import signal
import subprocess
import time
from collections import defaultdict
from collections.abc import Iterable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Final

COOKIE: Final = "REQFILE_RUN"
"""Variable that names the commands a process was started by, outermost first, joined with colons."""

_GIVE_UP_SECONDS: Final = 5.0
_LONGEST_PAUSE: Final = 0.05
_MOST_LISTINGS: Final = 200
_LOOKS_DURING_EXEC: Final = 3
_EXEC_PAUSE: Final = 0.0003
_PROC: Final = Path("/proc")
_READ_AT_ONCE: Final = 65536


@dataclass(frozen=True, slots=True, kw_only=True)
class ProcessRow:
    """A living process. ``started`` tells it from a later one of the same ``pid``; 0 where that is not known."""

    pid: int
    parent: int
    session: int
    started: int


@dataclass(frozen=True, slots=True, kw_only=True)
class ProcessTree:
    """What the command started as ``leader`` (first process of its own session) with cookie ``token`` consists of.

    ``leader`` must not have been waited for before ``kill`` is done: until then its number cannot go to a stranger.
    """

    leader: int
    token: str

    def kill(self, pipes: frozenset[int] = frozenset()) -> None:
        """SIGKILL to all of it, again until none is left; ``pipes`` are inodes of outputs that are still held open.

        Gives up after five seconds: processes stuck in the kernel or started faster than they can be killed.
        """
        give_up = time.monotonic() + _GIVE_UP_SECONDS
        pause = 0.001
        refused: set[int] = set()
        while True:
            _kill_group(self.leader)
            alive = [row for row in self.members(pipes) if row.pid not in refused]
            if not alive or time.monotonic() > give_up:
                return
            refused.update(row.pid for row in alive if not _kill(row))
            time.sleep(pause)
            pause = min(2 * pause, _LONGEST_PAUSE)

    def members(self, pipes: frozenset[int] = frozenset()) -> tuple[ProcessRow, ...]:
        """Its living processes, at this moment; none is older than the first one, which spares looking at most.

        Each is judged as soon as it is seen, since one that forks and dies again and again is soon another.
        """
        born = _started(_stat(self.leader))
        table, marked = [], {self.leader}
        for row in _living():
            table.append(row)
            if row.started >= born and self._is_marked(row, pipes):
                marked.add(row.pid)
        own = _with_descendants(table, marked) - {os.getpid()}
        return tuple(row for row in table if row.pid in own)

    def _is_marked(self, row: ProcessRow, pipes: frozenset[int]) -> bool:
        if row.session == self.leader or self.token.encode() in _environ(row.pid):
            return True
        return bool(pipes) and row.pid != os.getpid() and not pipes.isdisjoint(_written_pipes(row.pid))


def _with_descendants(table: Iterable[ProcessRow], roots: set[int]) -> set[int]:
    children: defaultdict[int, list[int]] = defaultdict(list)
    for row in table:
        children[row.parent].append(row.pid)
    found, todo = set(roots), list(roots)
    while todo:
        fresh = set(children[todo.pop()]) - found
        found |= fresh
        todo.extend(fresh)
    return found


def process_table() -> tuple[ProcessRow, ...]:
    """All living processes, zombies left out; from /proc, elsewhere from ``ps``."""
    return tuple(_living())


def _living() -> Iterator[ProcessRow]:
    """Lists until a listing shows no new number: a process that is gone before it is read has its children in the next.

    So whatever forks and dies while we look is caught up with, unless numbers are used up faster than they are listed.
    """
    if not (_PROC / "self" / "stat").exists():
        yield from table_from_ps()
        return
    seen: set[int] = set()
    for _ in range(_MOST_LISTINGS):
        fresh = {int(name) for name in os.listdir(_PROC) if name.isdecimal()} - seen
        if not fresh:
            return
        seen |= fresh
        # Newest first: they are the ones that may soon be gone.
        yield from filter(None, map(_row_from_proc, sorted(fresh, reverse=True)))


def table_from_ps() -> tuple[ProcessRow, ...]:
    """The table where there is no /proc; the process group stands for the session, which not every ``ps`` can show."""
    command = ("ps", "-A", "-o", "pid=,ppid=,pgid=,stat=")
    done = subprocess.run(command, stdin=subprocess.DEVNULL, capture_output=True, check=False)
    rows = (line.split() for line in done.stdout.decode("ascii", "replace").splitlines())
    return tuple(
        ProcessRow(pid=int(pid), parent=int(parent), session=int(group), started=0)
        for pid, parent, group, state in rows
        if not state.startswith("Z")
    )


def _row_from_proc(pid: int) -> ProcessRow | None:
    facts = _stat(pid)
    if not facts or facts[0] in {b"Z", b"X"}:
        return None
    return ProcessRow(pid=pid, parent=int(facts[1]), session=int(facts[3]), started=_started(facts))


def _stat(pid: int) -> list[bytes]:
    """State, parent, group, session and so on; the name before them may itself hold spaces and parentheses."""
    return _contents(f"/proc/{pid}/stat").rpartition(b")")[2].split()


def _started(facts: list[bytes]) -> int:
    """Clock ticks from the start of the system; 0 where that is not known."""
    return int(facts[19]) if facts else 0


def _environ(pid: int) -> bytes:
    """Asked again where it is empty: for a moment within ``exec`` a process has none."""
    for _ in range(_LOOKS_DURING_EXEC):
        if found := _contents(f"/proc/{pid}/environ"):
            return found
        time.sleep(_EXEC_PAUSE)
    return b""


def _contents(path: str) -> bytes:
    """A file of /proc; empty if the process is gone or somebody else's."""
    try:
        descriptor = os.open(path, os.O_RDONLY | os.O_CLOEXEC)
    except OSError:
        return b""
    try:
        return b"".join(iter(lambda: os.read(descriptor, _READ_AT_ONCE), b""))
    except OSError:
        return b""
    finally:
        os.close(descriptor)


def _written_pipes(pid: int) -> frozenset[int]:
    """Inodes of the pipes a process can write to: the link's own mode says how it was opened."""
    found = set()
    with suppress(OSError):
        for entry in os.scandir(f"/proc/{pid}/fd"):
            with suppress(OSError):
                target = os.readlink(entry.path)
                if target.startswith("pipe:[") and entry.stat(follow_symlinks=False).st_mode & 0o200:
                    found.add(int(target[len("pipe:[") : -1]))
    return frozenset(found)


def _kill_group(leader: int) -> None:
    with suppress(ProcessLookupError, PermissionError):  # macOS refuses for a group of zombies
        os.killpg(leader, signal.SIGKILL)


def _kill(row: ProcessRow) -> bool:
    """Kill that very process; False if it is not ours to kill."""
    try:
        with process_handle(row.pid) as descriptor:
            if descriptor is None:
                os.kill(row.pid, signal.SIGKILL)
            elif _is_still(row):
                signal.pidfd_send_signal(descriptor, signal.SIGKILL)
    except ProcessLookupError:
        pass
    except PermissionError:
        return False
    return True


def _is_still(row: ProcessRow) -> bool:
    """Parent and session change when a process is orphaned or calls ``setsid``; its start does not."""
    now = _row_from_proc(row.pid)
    return now is not None and now.started == row.started


@contextmanager
def process_handle(pid: int) -> Iterator[int | None]:
    """A descriptor that stays with this very process and is readable once it has exited; None where there is none.

    Raises ``ProcessLookupError`` if no process has this number.
    """
    descriptor = _open_handle(pid)
    try:
        yield descriptor
    finally:
        if descriptor is not None:
            os.close(descriptor)


def _open_handle(pid: int) -> int | None:
    if not hasattr(os, "pidfd_open"):
        return None
    try:
        return os.pidfd_open(pid)
    except ProcessLookupError:
        raise
    except OSError:  # an old kernel, or a sandbox that forbids the call
        return None
