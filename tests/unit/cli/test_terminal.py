"""Writing to streams that are narrow, closed, full or gone."""

from __future__ import annotations

import errno
import io

import pytest

from pytest_reqfile.cli.terminal import Terminal


class Failing(io.StringIO):
    """A stream that takes nothing."""

    def __init__(self, error: OSError) -> None:
        super().__init__()
        self.error = error

    def write(self, text: str) -> int:
        raise self.error


def test_an_answer_is_written_as_it_is() -> None:
    """And changes no exit code."""
    out = io.StringIO()
    terminal = Terminal(out=out, err=io.StringIO())
    terminal.write("a\x1b[1mé\n")
    assert (out.getvalue(), terminal.finish(1, 3)) == ("a\x1b[1mé\n", 1)


def test_an_error_is_one_line_for_each_message() -> None:
    """Further lines are indented; nothing moves the cursor."""
    err = io.StringIO()
    Terminal(out=io.StringIO(), err=err).error("Reqfile.yaml:1: wrong\x1b[2J\nerror: forged")
    assert err.getvalue() == "error: Reqfile.yaml:1: wrong\\x1b[2J\n    error: forged\n"


def test_what_the_encoding_cannot_hold_is_escaped() -> None:
    """Lone surrogates of file names too."""
    raw = io.BytesIO()
    out = io.TextIOWrapper(raw, encoding="latin-1")
    Terminal(out=out, err=None).write("é ✗ \udcff\n")
    assert raw.getvalue() == b"\xe9 \\u2717 \\udcff\n"


@pytest.mark.parametrize(
    ("error", "code", "text"),
    [
        (BrokenPipeError(errno.EPIPE, "Broken pipe"), 1, ""),
        (
            OSError(errno.ENOSPC, "No space left on device"),
            3,
            "error: cannot write the output: No space left on device\n",
        ),
        (OSError("odd"), 3, "error: cannot write the output: odd\n"),
    ],
)
def test_a_reader_that_has_gone_is_no_error_and_all_else_is(error: OSError, code: int, text: str) -> None:
    """Spec 8.4."""
    err = io.StringIO()
    terminal = Terminal(out=Failing(error), err=err)
    terminal.write("x")
    assert (terminal.finish(1, 3), err.getvalue()) == (code, text)


def test_closed_streams_are_no_crash() -> None:
    """As a daemon starts programs."""
    terminal = Terminal(out=None, err=None)
    terminal.write("x")
    terminal.error("y")
    assert (terminal.finish(0, 3), terminal.is_interactive) == (3, False)
    assert Terminal(out=io.StringIO(), err=Failing(OSError())).finish(0, 3) == 0
