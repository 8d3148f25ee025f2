"""The command ``reqfile`` (design 2.5): parses the command line, asks the layers below, prints, and exits."""

from __future__ import annotations

import sys
from collections.abc import Sequence

from pytest_reqfile.cli.parser import build_parser
from pytest_reqfile.cli.terminal import Terminal
from pytest_reqfile.errors import ReqfileError

INTERRUPTED = 130
CANNOT_WRITE = 3


def main(argv: Sequence[str] | None = None) -> int:
    """Run ``reqfile`` with ``argv`` (default: the process's own) and return its exit code.

    A wrong command line exits with 2 from the argument parser; what each subcommand returns is its own affair.
    """
    terminal = Terminal(out=sys.stdout, err=sys.stderr)
    arguments = build_parser().parse_args(argv)
    try:
        code: int = arguments.run(arguments, terminal)
    except ReqfileError as error:
        terminal.error(str(error))
        code = arguments.failure_code
    except KeyboardInterrupt:
        terminal.error("interrupted")
        return INTERRUPTED
    return terminal.finish(code, CANNOT_WRITE)
