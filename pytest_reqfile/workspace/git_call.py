"""One git call that is begun now and read when its answer is needed.

What every run at the desk asks (where is the root, which files are there, which of them changed) goes this way, so
that git works while we import and parse; importing GitPython alone takes longer than those answers (issue 3.5).
"""

from __future__ import annotations

import os
import signal
from dataclasses import dataclass
from typing import Final

from pytest_reqfile.errors import GitError
from pytest_reqfile.workspace.environment import Environment
from pytest_reqfile.workspace.spawned import PATIENCE, Spawned

# Python ignores them, and whatever git starts would too.
_UNIGNORED: Final = tuple(getattr(signal, name) for name in ("SIGPIPE", "SIGXFZ", "SIGXFSZ") if hasattr(signal, name))


@dataclass(frozen=True, slots=True, kw_only=True)
class GitReply:
    """How one git call ended: exit code, stdout as bytes, stderr trimmed."""

    code: int
    out: bytes
    err: str


class GitCall:
    """git running in the background; ``shown`` is what it was asked, for messages."""

    __slots__ = ("_shown", "_spawned")

    def __init__(self, spawned: Spawned, shown: str) -> None:
        self._spawned = spawned
        self._shown = shown

    @classmethod
    def start(
        cls, argv: tuple[str, ...], environment: Environment, shown: str, *, patience: float = PATIENCE
    ) -> GitCall:
        """Begin it; ``patience`` are the seconds its answer is waited for. Raises GitError where there is no git."""
        try:
            return cls(Spawned(argv, environment.variables, _UNIGNORED, patience=patience), shown)
        except (OSError, ValueError) as error:
            raise GitError(f"could not run git: {error}") from error

    def reply(self) -> GitReply:
        """Wait for the end; the same reply however often it is asked for. Raises GitError where it does not end."""
        code, out, err = self._spawned.ended()
        if self._spawned.gave_up:
            raise unanswered(self._shown)
        return GitReply(code=code, out=out, err=os.fsdecode(err).strip())


def unanswered(shown: str) -> GitError:
    """What to say where ``git SHOWN`` was stopped because it did not answer."""
    return GitError(
        f"git {shown} did not answer and was stopped; does its configuration, an ignore file or the folder lead to a "
        "pipe, or to a disk that does not answer?"
    )
