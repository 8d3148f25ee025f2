"""Other repositories, reached through git and within a time limit; the only git calls that use the network."""

from __future__ import annotations

import os
import re
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from pytest_reqfile.errors import GitError
from pytest_reqfile.workspace.environment import Environment, for_git
from pytest_reqfile.workspace.git import HARDENED
from pytest_reqfile.workspace.processes import run_command

LISTING_SECONDS: Final = 30.0
FETCH_SECONDS: Final = 300.0
_LISTING_LIMIT: Final = 64 * 1024 * 1024
# Nobody is there to answer: no helper may ask, and nothing that git starts on its own may outlive the call.
_UNATTENDED: Final = {"GCM_INTERACTIVE": "never"}
_NO_HOUSEKEEPING: Final = ("-c", "gc.auto=0", "-c", "maintenance.auto=false")
_FETCH: Final = ("fetch", "--quiet", "--no-tags", "--no-write-fetch-head", "--no-recurse-submodules")
_CREDENTIALS: Final = re.compile(r"(?<=://)[^/@\s]+@")


@dataclass(frozen=True, slots=True, kw_only=True)
class Remotes:
    """Asks remote repositories. Limits are in seconds; a remote that does not answer in time is a ``GitError``.

    git never prompts: there is no terminal, and credentials come from helpers and agents only.
    """

    environment: Environment
    listing_seconds: float = LISTING_SECONDS
    fetch_seconds: float = FETCH_SECONDS

    def tags(self, url: str, *patterns: str) -> str:
        """The listing of ``git ls-remote --tags`` for ``patterns`` (all tags without one)."""
        # No repository around us has a say in where the tags are read.
        arguments = (f"--git-dir={os.devnull}", "ls-remote", "--tags", "--end-of-options", url, *patterns)
        return os.fsdecode(self._run(arguments, url, self.listing_seconds))

    def fetch(self, store: Path, url: str, commit: str) -> None:
        """Bring one commit and its history into the bare repository ``store``; no reference is written."""
        into = (f"--git-dir={store}", *_NO_HOUSEKEEPING, *_FETCH)
        self._run((*into, "--end-of-options", url, commit), url, self.fetch_seconds)

    def shown(self, text: str) -> str:
        """``text`` without user and password of its URLs: what a remote is reached with is no one's to read."""
        return _CREDENTIALS.sub("", text)

    def _run(self, arguments: Sequence[str], url: str, seconds: float) -> bytes:
        done = run_command(
            ("git", *HARDENED, *arguments),
            cwd=Path.cwd(),
            env=for_git(self.environment).updated(_UNATTENDED),
            timeout=seconds,
            limit=_LISTING_LIMIT,
        )
        if done.launch_error is not None:
            raise GitError(f"could not run git: {done.launch_error}")
        if done.timed_out:
            raise GitError(f"{self.shown(url)} did not answer within {seconds:g} seconds")
        if done.exit != 0 or done.dropped:
            said = os.fsdecode(done.stderr).strip() or f"git ended with {_ending(done.exit, done.signal)}"
            raise GitError(self.shown(said))
        return done.stdout


def _ending(code: int | None, signal: int | None) -> str:
    return f"signal {signal}" if code is None else f"exit code {code}"
