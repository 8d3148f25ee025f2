"""Looking at processes from outside."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, suppress
from pathlib import Path

from pytest_reqfile.workspace.process_tree import process_table
from tests.support.repo import Repo


def is_alive(pid: int) -> bool:
    """Whether a process runs under this number; a zombie does not."""
    return any(row.pid == pid for row in process_table())


def wait_until(condition: Callable[[], bool], seconds: float = 10.0) -> bool:
    """Whether ``condition`` becomes true within ``seconds``."""
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        if condition():
            return True
        time.sleep(0.005)
    return condition()


@contextmanager
def started(repo: Repo, *module: str, env: Mapping[str, str]) -> Iterator[subprocess.Popen[bytes]]:
    """``python -m MODULE …`` at the root in a process group of its own, gone afterwards whatever happens."""
    command = (sys.executable, "-P", "-m", *module)
    variables = {**repo.variables, **env}
    pipe = subprocess.PIPE
    with subprocess.Popen(
        command, cwd=repo.root, env=variables, stdout=pipe, stderr=pipe, start_new_session=True
    ) as process:
        try:
            yield process
        finally:
            with suppress(ProcessLookupError):
                os.killpg(process.pid, signal.SIGKILL)


def pid_in(file: Path) -> int:
    """The number that a process wrote into ``file`` with ``echo``, waiting for it to be complete."""
    assert wait_until(lambda: file.is_file() and file.read_bytes().endswith(b"\n")), f"nothing wrote {file}"
    return int(file.read_text())
