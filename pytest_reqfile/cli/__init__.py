"""The command ``reqfile`` (design 2.5): parses the command line, asks the layers below, prints, and exits."""

from __future__ import annotations

import gc
import sys

from pytest_reqfile.cli.ahead import begin_ahead

SELDOM = 20_000
TYPE_CHECKING = False  # typing takes as long to import as git to list a thousand files (issue 3.5)
if TYPE_CHECKING:
    from collections.abc import Sequence


def main(argv: Sequence[str] | None = None) -> int:
    """Run ``reqfile`` with ``argv`` (default: the process's own) and return its exit code.

    A wrong command line exits with 2 from the argument parser; what each subcommand returns is its own affair.
    Ctrl-C, SIGTERM and SIGHUP stop every running command first and then give 128 + the signal's number.
    """
    words = sys.argv[1:] if argv is None else argv
    ahead = begin_ahead(words)  # git works while everything else is imported
    if argv is None:
        # What a short run makes stays to its end: looking for cycles every 700 values finds none.
        gc.set_threshold(SELDOM)
    from pytest_reqfile.cli.program import run_program

    return run_program(words, ahead, is_process=argv is None)
