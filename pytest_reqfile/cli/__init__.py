"""The command ``reqfile`` (design 2.5): parses the command line, asks the layers below, prints, and exits."""

from __future__ import annotations

import gc
import sys
from collections.abc import Sequence
from typing import TYPE_CHECKING

from pytest_reqfile.cli.terminal import Terminal
from pytest_reqfile.errors import ReqfileError
from pytest_reqfile.workspace.program import end_bugs_with, end_on_signals, ending_signal

if TYPE_CHECKING:
    from pytest_reqfile.reqfile.repository import Repository

CANNOT_WRITE = 3


def main(argv: Sequence[str] | None = None) -> int:
    """Run ``reqfile`` with ``argv`` (default: the process's own) and return its exit code.

    A wrong command line exits with 2 from the argument parser; what each subcommand returns is its own affair.
    Ctrl-C, SIGTERM and SIGHUP stop every running command first and then give 128 + the signal's number.
    """
    end_on_signals()
    if argv is None:
        end_bugs_with(CANNOT_WRITE)
    terminal = Terminal(out=sys.stdout, err=sys.stderr)
    words = sys.argv[1:] if argv is None else argv
    opened = _opened_ahead(words)
    from pytest_reqfile.cli.parser import build_parser

    arguments = build_parser(words).parse_args(words)
    arguments.opened = opened
    if argv is None:
        end_bugs_with(arguments.failure_code)
    try:
        code: int = arguments.run(arguments, terminal)
    except ReqfileError as error:
        for message in error.messages:
            terminal.error(message)
        code = arguments.failure_code
    except KeyboardInterrupt as stop:
        terminal.error("interrupted")
        code = 128 + ending_signal(stop)
    if argv is None:
        # The process ends now: the interpreter's last collections would look through everything for nothing.
        gc.freeze()
    return terminal.finish(code, CANNOT_WRITE)


def _opened_ahead(words: Sequence[str]) -> Repository | ReqfileError | None:
    """For ``check``, the repository of the current folder: git lists its files while we read the command line."""
    if words[:1] != ["check"] or {"-h", "--help"}.intersection(words):
        return None
    from pytest_reqfile.reqfile.repository import open_repository
    from pytest_reqfile.workspace.environment import Environment
    from pytest_reqfile.workspace.program import current_folder

    try:
        return open_repository(current_folder(), Environment.current(), keep_parsed=True)
    except ReqfileError as error:
        return error
