"""What the command ``reqfile`` does once git has begun: read the command line, run the subcommand, and end."""

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
    from pytest_reqfile.workspace.git_ahead import Ahead

BUG_BEFORE_A_COMMAND = 3


def run_program(words: Sequence[str], ahead: Ahead | None, *, is_process: bool) -> int:
    """``main`` of the command line ``words``; ``ahead`` is git at work for it."""
    end_on_signals()
    if is_process:
        end_bugs_with(BUG_BEFORE_A_COMMAND)
    terminal = Terminal(out=sys.stdout, err=sys.stderr)
    opened = _opened(ahead) if ahead is not None and words[0] == "check" else None
    from pytest_reqfile.cli.parser import build_parser

    arguments = build_parser(words).parse_args(words)
    arguments.opened, arguments.ahead = opened, ahead
    if is_process:
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
    if is_process:
        # The process ends now: the interpreter's last collections would look through everything for nothing.
        gc.freeze()
    return terminal.finish(code, arguments.failure_code)


def _opened(ahead: Ahead) -> Repository | ReqfileError:
    """The repository of the current folder, or why there is none."""
    from pytest_reqfile.reqfile.repository import open_repository
    from pytest_reqfile.workspace.environment import Environment
    from pytest_reqfile.workspace.program import current_folder

    try:
        return open_repository(current_folder(), Environment.current(), keep_parsed=True, ahead=ahead)
    except ReqfileError as error:
        return error
