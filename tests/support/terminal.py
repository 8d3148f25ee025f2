"""The program on a real terminal."""

from __future__ import annotations

import os
import pty
import subprocess
import sys
from collections.abc import Mapping, Sequence

from tests.support.repo import RUN_SECONDS, Repo


def on_terminal(repo: Repo, argv: Sequence[str], variables: Mapping[str, str]) -> str:
    """What ``reqfile ARGV`` writes to a terminal that is its stdout; stderr is dropped."""
    ours, theirs = pty.openpty()
    try:
        process = subprocess.Popen(
            (sys.executable, "-P", "-m", "pytest_reqfile", *argv),
            cwd=repo.root,
            env={**repo.variables, **variables},
            stdin=subprocess.DEVNULL,
            stdout=theirs,
            stderr=subprocess.DEVNULL,
        )
    finally:
        os.close(theirs)
    with os.fdopen(ours, "rb", buffering=0) as terminal:
        data = b"".join(iter(lambda: _read(terminal.fileno()), b""))
    process.wait(RUN_SECONDS)
    return data.decode().replace("\r\n", "\n")


def _read(descriptor: int) -> bytes:
    try:
        return os.read(descriptor, 65536)
    except OSError:  # Linux: the other end is closed
        return b""
