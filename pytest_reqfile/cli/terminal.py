"""Where the command line prints: stdout for answers, stderr for errors and progress."""

from __future__ import annotations

import sys
from contextlib import suppress
from dataclasses import dataclass, field
from typing import TextIO

from pytest_reqfile.syntax.printable import visible


@dataclass(slots=True, kw_only=True)
class Terminal:
    """Two streams. A reader that has gone is no error; any other failure to write is."""

    out: TextIO | None
    err: TextIO | None
    _failure: str | None = field(default=None, init=False)

    def write(self, text: str) -> None:
        """Print an answer as it is; characters the stream cannot encode are escaped."""
        if self.out is None:
            self._failure = "standard output is closed"
            return
        try:
            self.out.write(_encodable(text, self.out))
            self.out.flush()
        except BrokenPipeError:
            _silence(self.out)
        except OSError as error:
            self._failure = error.strerror or str(error)

    def error(self, message: str) -> None:
        """Print ``error: {message}`` on stderr, further lines of the message indented."""
        self.note("error: " + "\n    ".join(map(visible, message.split("\n"))))

    def note(self, text: str) -> None:
        """Print a line on stderr, if anybody reads that."""
        if self.err is not None:
            with suppress(OSError):
                self.err.write(_encodable(f"{text}\n", self.err))
                self.err.flush()

    def finish(self, code: int, failure_code: int) -> int:
        """The exit code: ``code``, or ``failure_code`` when an answer could not be written."""
        if self._failure is None:
            return code
        self.error(f"cannot write the output: {self._failure}")
        _silence(self.out)
        return failure_code

    @property
    def is_interactive(self) -> bool:
        """Whether stdout is a terminal."""
        return self.out is not None and self.out.isatty()


def _encodable(text: str, stream: TextIO) -> str:
    encoding = stream.encoding or "utf-8"
    return text.encode(encoding, "backslashreplace").decode(encoding)


def _silence(stream: TextIO | None) -> None:
    """Keep the interpreter's last flush of a broken stream from printing a traceback."""
    if stream is sys.stdout:
        sys.stdout = None  # what it is in a process without a console
