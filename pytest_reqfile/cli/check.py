"""``reqfile check``: what must be known before anything heavy is imported (issue 3.5)."""

from __future__ import annotations

import argparse
from dataclasses import replace

from pytest_reqfile.cli.session import edition_of, open_here, trials_of
from pytest_reqfile.cli.terminal import Terminal
from pytest_reqfile.errors import ReqfileError
from pytest_reqfile.reqfile.repository import Repository
from pytest_reqfile.workspace.environment import Environment


def run_check(arguments: argparse.Namespace, terminal: Terminal) -> int:
    """Run the selected checks, print the report, and return 0, 1 or 3 (2 is the argument parser's)."""
    if arguments.log_tag and arguments.log is None:
        arguments.usage_error("argument --log-tag: needs --log")
    environment = Environment.current()
    opened = _open(arguments, environment)
    from pytest_reqfile.cli.check_run import run_checks

    return run_checks(opened, arguments, environment, terminal)


def _open(arguments: argparse.Namespace, environment: Environment) -> Repository | ReqfileError:
    """The repository of the current folder, or the error that its report will hold."""
    try:
        edition_of(arguments, environment)
        opened: Repository | ReqfileError | None = arguments.opened
        if opened is None:
            return open_here(environment, trials_of(arguments))
        trials = trials_of(arguments)
    except ReqfileError as error:
        return error
    if isinstance(opened, ReqfileError):
        return opened
    if trials is not None:
        opened = replace(opened, trials=trials)
    if arguments.changed is not None:
        opened.expect_changes(arguments.changed or None)
    return opened
