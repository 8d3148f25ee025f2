"""Running the selected checks and printing their report (seed 004 COMMAND_CHECK, FAST_PATH, OUTPUT, NO_FALSE_GREEN)."""

from __future__ import annotations

import argparse
from dataclasses import replace
from typing import TYPE_CHECKING

from pytest_reqfile.cli.session import edition_of
from pytest_reqfile.cli.terminal import Terminal
from pytest_reqfile.errors import FormatError, ReqfileError
from pytest_reqfile.outcome import Outcome
from pytest_reqfile.reports.check import CheckReport, ResolvedSource, RunError
from pytest_reqfile.reqfile.catalog import Catalog
from pytest_reqfile.reqfile.outcomes import left_out
from pytest_reqfile.reqfile.plan import PlannedCheck, Selection, parse_only, plan_checks, refuse_unknown_ids
from pytest_reqfile.reqfile.repository import Repository
from pytest_reqfile.reqfile.values import DecisionCheck, Edition
from pytest_reqfile.workspace.environment import Environment

if TYPE_CHECKING:
    from pytest_reqfile.cli.deciding import Deciding
    from pytest_reqfile.cli.log import Log

# What only some runs need (commands, a change, the log, other forms of the report) is imported where it is needed:
# a run after an edit has a tenth of a second (issue 3.5).


def run_checks(
    opened: Repository | ReqfileError, arguments: argparse.Namespace, environment: Environment, terminal: Terminal
) -> int:
    """Run the checks of a repository, or report why it could not be opened."""
    try:
        if isinstance(opened, ReqfileError):
            raise opened
        report = _check(opened, arguments, edition_of(arguments, environment), terminal)
    except ReqfileError as error:
        report = CheckReport(run_errors=tuple(RunError(message=message) for message in error.messages))
    terminal.write(_render(report, arguments, environment, terminal))
    return report.exit_code


def _check(repository: Repository, arguments: argparse.Namespace, edition: Edition, terminal: Terminal) -> CheckReport:
    catalog = repository.catalog
    if catalog.first_problems:
        raise FormatError(catalog.first_problems)
    selection = Selection(only=parse_only(arguments.only), fast=arguments.fast)
    refuse_unknown_ids(catalog, selection.only)
    log = _log(arguments, repository)
    deciding = _deciding(repository, selection, arguments, edition, terminal)
    if arguments.changed is not None:
        selection = _narrowed(repository, selection, arguments.changed, edition)
    planned = plan_checks(catalog, selection)
    outcomes = _evaluate(planned, repository, edition, terminal, deciding)
    judges = any(isinstance(check.check, DecisionCheck) for check in planned)
    report = CheckReport(outcomes=outcomes, judges=judges, sources=resolved_sources(catalog))
    return _completed(report, deciding, log)


def _completed(report: CheckReport, deciding: Deciding | None, log: Log | None) -> CheckReport:
    """The report with what models said, and the run in its log."""
    judged: tuple[dict[str, object], ...] = ()
    if deciding is not None:
        deciding.look_for_conflicts(report.findings)
        report = replace(
            report,
            run_errors=deciding.finish(),
            setup=deciding.setup,
            conflicts=deciding.found_conflicts,
            conflicts_not_checked=deciding.conflicts.unchecked,
        )
        judged = deciding.log_lines()
    unwritten = log.write(report.outcomes, judged) if log is not None else ()
    return replace(report, run_errors=(*report.run_errors, *unwritten))


def _deciding(
    repository: Repository,
    selection: Selection,
    arguments: argparse.Namespace,
    edition: Edition,
    terminal: Terminal,
) -> Deciding | None:
    """What this run may ask a model; nothing is imported for a repository that never asks one."""
    from pytest_reqfile.reqfile.consent import may_ask

    if not may_ask(repository.catalog):
        return None
    from pytest_reqfile.cli.deciding import open_deciding

    changed = arguments.changed is not None
    return open_deciding(repository, selection, changed=changed, edition=edition, terminal=terminal)


def _narrowed(repository: Repository, selection: Selection, base: str, edition: Edition) -> Selection:
    from pytest_reqfile.reqfile.changes import change_set

    return change_set(repository, selection, base or None, edition).narrow(selection)


def _log(arguments: argparse.Namespace, repository: Repository) -> Log | None:
    if arguments.log is None:
        return None
    from pytest_reqfile.cli.log import start_log

    return start_log(arguments, repository)


def resolved_sources(catalog: Catalog) -> tuple[ResolvedSource, ...]:
    """The sources whose tag was resolved in this run; a commit needs no resolving (spec 8.2)."""
    return tuple(
        ResolvedSource(location=str(source.use), commit=source.commit, offline=source.offline)
        for source in catalog.sources
        if not source.use.commit
    )


def _evaluate(
    planned: tuple[PlannedCheck, ...],
    repository: Repository,
    edition: Edition,
    terminal: Terminal,
    deciding: Deciding | None,
) -> tuple[Outcome, ...]:
    if not any(check.state == "run" for check in planned):
        return tuple(map(left_out, planned))
    from pytest_reqfile.cli.progress import Progress
    from pytest_reqfile.reqfile.command import CommandContext
    from pytest_reqfile.reqfile.run import evaluate_checks
    from pytest_reqfile.workspace.processes import Cancellation
    from pytest_reqfile.workspace.program import our_program, processors

    context = CommandContext(
        root=repository.root,
        environment=repository.command_environment(),
        edition=edition,
        program=our_program(),
        cancellation=deciding.cancellation if deciding is not None else Cancellation(),
    )
    judge = deciding.jury.judge if deciding is not None else None
    with Progress(terminal, planned) as progress:
        return evaluate_checks(planned, context, workers=processors(), judge=judge, observer=progress)


def _render(report: CheckReport, arguments: argparse.Namespace, environment: Environment, terminal: Terminal) -> str:
    if arguments.format == "json":
        from pytest_reqfile.reports.check_json import render_json

        return render_json(report)
    if arguments.format == "pretty" or (arguments.format == "auto" and terminal.is_interactive):
        from pytest_reqfile.reports.check_pretty import DEFAULT_WIDTH, Style, render_pretty
        from pytest_reqfile.workspace.program import terminal_columns

        color = terminal.is_interactive and not arguments.no_color and not environment.get("NO_COLOR")
        width = terminal_columns() if terminal.is_interactive else DEFAULT_WIDTH
        style = Style(color=color, verbose=arguments.verbose, quiet=arguments.quiet, width=width)
        return render_pretty(report, style)
    from pytest_reqfile.reports.check_plain import render_plain

    return render_plain(report)
