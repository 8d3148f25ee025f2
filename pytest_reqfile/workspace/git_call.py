"""One git process that is started now and read when its answer is needed.

What every run at the desk asks (where is the root, which files are there, which of them changed) goes this way, so
that git works while we import and parse; importing GitPython alone takes longer than those answers (issue 3.5).
"""

from __future__ import annotations

import os
import subprocess
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import IO

from pytest_reqfile.errors import GitError
from pytest_reqfile.workspace.environment import Environment


@dataclass(frozen=True, slots=True, kw_only=True)
class GitReply:
    """How one git call ended: exit code, stdout as bytes, stderr trimmed."""

    code: int
    out: bytes
    err: str


class GitCall:
    """``git`` running in the background, its output going to files that need nobody to read along."""

    __slots__ = ("_err", "_out", "_process", "_reply")

    def __init__(self, argv: Sequence[str], root: Path, environment: Environment) -> None:
        """Start it. Raises GitError where git, or the folder, is not there."""
        self._out, self._err = _sink(), _sink()
        self._reply: GitReply | None = None
        try:
            self._process = subprocess.Popen(
                argv,
                cwd=root,
                env=dict(environment.variables),
                stdin=subprocess.DEVNULL,
                stdout=self._out,
                stderr=self._err,
            )
        except (OSError, ValueError) as error:
            self._close()
            raise GitError(f"could not run git: {error}") from error

    def reply(self) -> GitReply:
        """Wait for the end; the same reply however often it is asked for."""
        if self._reply is None:
            try:
                code = self._process.wait()
            except BaseException:
                self.drop()
                raise
            error = os.fsdecode(_content(self._err)).strip()
            self._reply = GitReply(code=code, out=_content(self._out), err=error)
            self._close()
        return self._reply

    def drop(self) -> None:
        """Nobody wants the answer any more."""
        if self._reply is None:
            self._process.kill()
            self._process.wait()
            self._close()

    def __del__(self) -> None:
        """A run may end before it needs the answer; git must not outlive it."""
        if hasattr(self, "_process"):
            self.drop()

    def _close(self) -> None:
        self._out.close()
        self._err.close()


def _sink() -> IO[bytes]:
    """A file in memory where the system has them: tempfile costs more to import than git takes to answer."""
    if hasattr(os, "memfd_create"):
        return os.fdopen(os.memfd_create("reqfile-git"), "w+b", buffering=0)
    from tempfile import TemporaryFile

    return TemporaryFile(buffering=0)


def _content(stream: IO[bytes]) -> bytes:
    stream.seek(0)
    return stream.read()
