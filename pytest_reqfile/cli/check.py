"""``reqfile check`` (seed 004 COMMAND_CHECK, FAST_PATH, OUTPUT, NO_FALSE_GREEN)."""

from __future__ import annotations

import argparse

from pytest_reqfile.cli.log import start_log
from pytest_reqfile.cli.progress import Progress
from pytest_reqfile.cli.session import edition_of, open_here, trials_of
from pytest_reqfile.cli.terminal import Terminal
from pytest_reqfile.errors import FormatError, ReqfileError
from pytest_reqfile.outcome import Outcome
from pytest_reqfile.reports.check import CheckReport, ResolvedSource, RunError
from pytest_reqfile.reports.check_json import render_json
from pytest_reqfile.reports.check_plain import render_plain
from pytest_reqfile.reqfile.catalog import Catalog
from pytest_reqfile.reqfile.changes import change_set
from pytest_reqfile.reqfile.command import CommandContext
from pytest_reqfile.reqfile.plan import PlannedCheck, Selection, parse_only, plan_checks, refuse_unknown_ids
from pytest_reqfile.reqfile.repository import Repository
from pytest_reqfile.reqfile.run import evaluate_checks
from pytest_reqfile.reqfile.values import DecisionCheck, Edition
from pytest_reqfile.workspace.environment import Environment
from pytest_reqfile.workspace.processes import Cancellation
from pytest_reqfile.workspace.program import our_program, processors


def run_check(arguments: argparse.Namespace, terminal: Terminal) -> int:
    """Run the selected checks, print the report, and return 0, 1 or 3 (2 is the argument parser's)."""
    environment = Environment.current()
    if arguments.log_tag and arguments.log is None:
        arguments.usage_error("argument --log-tag: needs --log")
    try:
        report = _check(arguments, environment, terminal)
    except ReqfileError as error:
        report = CheckReport(run_errors=tuple(RunError(message=message) for message in error.messages))
    terminal.write(_render(report, arguments, environment, terminal))
    return report.exit_code


def _check(arguments: argparse.Namespace, environment: Environment, terminal: Terminal) -> CheckReport:
    edition = edition_of(arguments, environment)
    repository = open_here(environment, trials_of(arguments))
    catalog = repository.catalog
    if catalog.first_problems:
        raise FormatError(catalog.first_problems)
    selection = Selection(only=parse_only(arguments.only), fast=arguments.fast)
    refuse_unknown_ids(catalog, selection.only)
    logging = start_log(arguments, repository)
    if arguments.changed is not None:
        changes = change_set(repository, selection, arguments.changed or None, edition)
        selection = changes.narrow(selection)
    planned = plan_checks(catalog, selection)
    outcomes = _evaluate(planned, repository, edition, terminal)
    judges = any(isinstance(check.check, DecisionCheck) for check in planned)
    errors = logging.write(outcomes) if logging is not None else ()
    return CheckReport(outcomes=outcomes, run_errors=errors, judges=judges, sources=resolved_sources(catalog))


def resolved_sources(catalog: Catalog) -> tuple[ResolvedSource, ...]:
    """The sources whose tag was resolved in this run; a commit needs no resolving (spec 8.2)."""
    return tuple(
        ResolvedSource(location=str(source.use), commit=source.commit, offline=source.offline)
        for source in catalog.sources
        if not source.use.commit
    )


def _evaluate(
    planned: tuple[PlannedCheck, ...], repository: Repository, edition: Edition, terminal: Terminal
) -> tuple[Outcome, ...]:
    context = CommandContext(
        root=repository.root,
        environment=repository.command_environment(),
        edition=edition,
        program=our_program(),
        cancellation=Cancellation(),
    )
    with Progress(terminal, planned) as progress:
        return evaluate_checks(planned, context, workers=processors(), observer=progress)


def _render(report: CheckReport, arguments: argparse.Namespace, environment: Environment, terminal: Terminal) -> str:
    if arguments.format == "json":
        return render_json(report)
    if arguments.format == "pretty" or (arguments.format == "auto" and terminal.is_interactive):
        from pytest_reqfile.reports.check_pretty import Style, render_pretty

        color = terminal.is_interactive and not arguments.no_color and not environment.get("NO_COLOR")
        style = Style(color=color, verbose=arguments.verbose, quiet=arguments.quiet)
        return render_pretty(report, style)
    return render_plain(report)
