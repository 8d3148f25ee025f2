"""What can go wrong in an expected way: shown to people without a traceback.

    ReqfileError
    ├── FormatError          files that say something the format does not allow; carries every problem found
    ├── WorkspaceError       the outside world refused
    │   ├── FileError        a file could not be read or written
    │   ├── GitError         git is missing, failed, or there is no repository
    │   ├── ProcessError     a command could not be started
    │   └── HttpError        a server gave no complete answer
    └── UsageError           the command line or an option asks for something impossible

Anything that is not a ``ReqfileError`` is a bug of ours and keeps its traceback.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass


class ReqfileError(Exception):
    """Base of every expected error; ``str()`` is the text for people."""

    @property
    def messages(self) -> tuple[str, ...]:
        """Each thing that is wrong, in a text of its own."""
        return (str(self),)


@dataclass(frozen=True, slots=True, kw_only=True)
class Problem:
    """One thing wrong in one file: printed as ``path:line: message`` (seed 004 REQFILE_FORMAT).

    ``path`` is a repository path (``/``-separated); ``line`` is 1-based, or None where no line can be given.
    """

    message: str
    path: str | None = None
    line: int | None = None

    def __post_init__(self) -> None:
        if not self.message:
            raise ValueError("a problem needs a message")
        if self.line is not None and (self.line < 1 or self.path is None):
            raise ValueError(f"a line must be at least 1 and belong to a file, found {self.path}:{self.line}")

    def __str__(self) -> str:
        place = "".join(f"{part}:" for part in (self.path, self.line) if part is not None)
        return f"{place} {self.message}" if place else self.message


class FormatError(ReqfileError):
    """Files that are wrong. ``problems`` holds all of them, in file and line order; never empty."""

    def __init__(self, problems: Iterable[Problem]) -> None:
        self.problems = tuple(problems)
        if not self.problems:
            raise ValueError("a FormatError needs at least one problem")
        super().__init__("\n".join(map(str, self.problems)))

    @property
    def messages(self) -> tuple[str, ...]:
        """Each problem as ``path:line: message``."""
        return tuple(map(str, self.problems))


class WorkspaceError(ReqfileError):
    """The outside world refused; the text names what was tried."""


class FileError(WorkspaceError):
    """A file could not be read or written; the text names the file."""


class GitError(WorkspaceError):
    """git is missing, failed, or there is no repository; the text names the git command."""


class ProcessError(WorkspaceError):
    """A command could not be started; the text names it."""


class HttpError(WorkspaceError):
    """A server gave no complete answer. ``answered`` says that its answer had begun, so that the request was taken."""

    def __init__(self, message: str, *, answered: bool = False) -> None:
        super().__init__(message)
        self.answered = answered


class UsageError(ReqfileError):
    """The command line or an option asks for something that cannot be done; nothing has run."""

    def __init__(self, *messages: str) -> None:
        self._messages = messages
        super().__init__("\n".join(messages))

    @property
    def messages(self) -> tuple[str, ...]:
        """Each thing asked for that cannot be done."""
        return self._messages
