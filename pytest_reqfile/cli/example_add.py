"""``reqfile example add`` (spec reqfile.md 7.5)."""

from __future__ import annotations

import argparse

from pytest_reqfile.cli.session import open_valid
from pytest_reqfile.cli.terminal import Terminal
from pytest_reqfile.reports.words import counted
from pytest_reqfile.reqfile.example_add import ExampleRequest, add_example
from pytest_reqfile.syntax.printable import visible
from pytest_reqfile.workspace.environment import Environment
from pytest_reqfile.workspace.program import current_folder


def run_example_add(arguments: argparse.Namespace, terminal: Terminal) -> int:
    """Make the example and say how to measure it."""
    request = ExampleRequest(
        identifier=arguments.id,
        name=arguments.name,
        expected=arguments.expected,
        files=tuple(arguments.files),
        cwd=str(current_folder()),
        findings=tuple(arguments.finding),
        rationale=arguments.rationale,
        held_out=arguments.holdout,
    )
    added = add_example(open_valid(Environment.current()), request)
    terminal.write(
        f"Added {visible(added.path)}/ ({counted(added.files, 'file')}).\n"
        f"Measure it with: reqfile eval --only {arguments.id}\n"
    )
    return 0
