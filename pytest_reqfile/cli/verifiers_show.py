"""``reqfile verifiers list``, ``explain`` and ``test`` (seed 000 "Commands", "Self-tests")."""

from __future__ import annotations

import argparse
from typing import Final

from pytest_reqfile.cli.terminal import Terminal
from pytest_reqfile.cli.verifiers_run import check_format, load_here
from pytest_reqfile.reports.verifiers_text import NOTHING, table
from pytest_reqfile.verifiers.codes import CODES
from pytest_reqfile.verifiers.command import is_allowed
from pytest_reqfile.verifiers.example_report import ExampleReport, render_json, render_text
from pytest_reqfile.verifiers.examples import run_example, select_tested
from pytest_reqfile.verifiers.listing import (
    explain_json,
    explain_text,
    find_declared,
    list_cells,
    list_json,
    list_rows,
)
from pytest_reqfile.verifiers.run import RunOptions, VerifierRun, open_run
from pytest_reqfile.workspace.environment import Environment

FORMATS: Final = ("text", "json")
TEST_COMMAND: Final = "reqfile verifiers test"


def run_list(arguments: argparse.Namespace, terminal: Terminal) -> int:
    """Print what is declared; 0 also where some of it is invalid."""
    check_format(arguments.format, FORMATS)
    rows = list_rows(_open(arguments).declarations)
    if arguments.format == "json":
        terminal.write(list_json(rows))
    elif rows:
        terminal.write("".join(f"{line.rstrip()}\n" for line in table(list_cells(rows))))
    else:
        terminal.write(f"{NOTHING}\n")
    return 0


def run_explain(arguments: argparse.Namespace, terminal: Terminal) -> int:
    """Print one verifier, or what a code of theirs means."""
    check_format(arguments.format, FORMATS)
    code = CODES.get(arguments.name)
    if code is not None:
        terminal.write(code.document if arguments.format == "json" else code.text)
        return 0
    verifier = find_declared(_open(arguments).declarations, arguments.name)
    render = explain_json if arguments.format == "json" else explain_text
    terminal.write(render(verifier, TEST_COMMAND))
    return 0


def run_test(arguments: argparse.Namespace, terminal: Terminal) -> int:
    """Run the examples of all or the named verifiers; 2 where one does not match or a declaration is invalid."""
    check_format(arguments.format, FORMATS)
    run = _open(arguments, allow_exec=is_allowed(arguments.allow_exec, Environment.current()))
    tested = select_tested(run, arguments.names)
    report = ExampleReport(
        results=tuple(run_example(spec, example, run) for spec in tested for example in spec.examples),
        untested=tuple(spec for spec in tested if not spec.examples),
        problems=run.declarations.invalid,
    )
    terminal.write(render_json(report) if arguments.format == "json" else render_text(report))
    return report.exit_code


def _open(arguments: argparse.Namespace, *, allow_exec: bool = False) -> VerifierRun:
    project = load_here(local=not arguments.no_local)
    return open_run(project, Environment.current(), RunOptions(allow_exec=allow_exec, test_command=TEST_COMMAND))
