"""Where the command line prints: stdout for answers, stderr for errors and progress."""

from __future__ import annotations

import sys
from dataclasses import dataclass, field
from typing import TextIO

from pytest_reqfile.syntax.printable import visible


@dataclass(slots=True, kw_only=True)
class Terminal:
    """Two streams. A reader that has gone is no error; any other failure to write is."""

    out: TextIO
    err: TextIO
    _failure: str | None = field(default=None, init=False)

    def write(self, text: str) -> None:
        """Print an answer as it is; characters the stream cannot encode are escaped."""
        try:
            self.out.write(_encodable(text, self.out))
            self.out.flush()
        except BrokenPipeError:
            _silence(self.out)
        except OSError as error:
            self._failure = error.strerror or str(error)

    def error(self, text: str) -> None:
        """Print ``error: …`` lines on stderr, one per line of ``text`` that starts a problem."""
        for line in text.split("\n"):
            self.err.write(_encodable(f"error: {visible(line)}\n", self.err))

    def note(self, text: str) -> None:
        """Print a line on stderr."""
        self.err.write(_encodable(f"{text}\n", self.err))

    def finish(self, code: int, failure_code: int) -> int:
        """The exit code: ``code``, or ``failure_code`` when an answer could not be written."""
        if self._failure is None:
            return code
        self.err.write(f"error: cannot write the output: {self._failure}\n")
        _silence(self.out)
        return failure_code

    @property
    def is_interactive(self) -> bool:
        """Whether stdout is a terminal."""
        return self.out.isatty()


def _encodable(text: str, stream: TextIO) -> str:
    encoding = stream.encoding or "utf-8"
    return text.encode(encoding, "backslashreplace").decode(encoding)


def _silence(stream: TextIO) -> None:
    """Keep the interpreter's last flush of a broken stream from printing a traceback."""
    if stream is sys.stdout:
        sys.stdout = None  # type: ignore[assignment]  # documented for a process without a console
