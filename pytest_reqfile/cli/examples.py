"""``reqfile eval``, also called ``test``: the checks on their labeled examples (seed 004 EXAMPLES)."""

from __future__ import annotations

import argparse
from collections import Counter
from typing import TYPE_CHECKING

from pytest_reqfile.cli.session import edition_of, open_valid, trials_of
from pytest_reqfile.cli.terminal import Terminal
from pytest_reqfile.errors import FormatError, Problem, UsageError
from pytest_reqfile.outcome import Outcome
from pytest_reqfile.reports.examples import ExamplesReport, RequirementExamples
from pytest_reqfile.reqfile.catalog import Catalog
from pytest_reqfile.reqfile.example_outcomes import evaluate_examples, is_judged
from pytest_reqfile.reqfile.example_run import ExampleContext
from pytest_reqfile.reqfile.examples import Example, read_examples, usable
from pytest_reqfile.reqfile.plan import parse_only, refuse_unknown_ids
from pytest_reqfile.reqfile.values import Requirement
from pytest_reqfile.workspace.environment import Environment
from pytest_reqfile.workspace.processes import Cancellation
from pytest_reqfile.workspace.program import our_program, processors

if TYPE_CHECKING:
    from pytest_reqfile.reqfile.asking import Service
    from pytest_reqfile.reqfile.repository import Repository

Cases = list[tuple[Requirement, tuple[Example, ...]]]


def run_eval(arguments: argparse.Namespace, terminal: Terminal) -> int:
    """Run the selected requirements' examples and print how their checks did: 0, 1 (asserted labels fail) or 3."""
    if arguments.format == "json":
        raise UsageError("reqfile eval has no JSON output")
    environment = Environment.current()
    edition = edition_of(arguments, environment)
    repository = open_valid(environment, trials_of(arguments))
    only = parse_only(arguments.only)
    refuse_unknown_ids(repository.catalog, only)
    cases = _read(repository.catalog, only)
    context = ExampleContext(
        repository=repository,
        edition=edition,
        program=our_program(),
        cancellation=Cancellation(),
        service=_service(repository, cases, terminal),
    )
    flat = [(requirement, example) for requirement, examples in cases for example in examples]
    outcomes = evaluate_examples(flat, context, workers=processors(), repeat=arguments.repeat)
    if context.service is not None:
        context.service.transport.close()
    report = ExamplesReport(requirements=_grouped(cases, outcomes), repeat=arguments.repeat)
    terminal.write(_render(report, arguments, environment, terminal))
    return report.exit_code


def _service(repository: Repository, cases: Cases, terminal: Terminal) -> Service | None:
    """How models are reached, where a selected requirement is judged by one."""
    if not any(is_judged(requirement) for requirement, _ in cases):
        return None
    from pytest_reqfile.cli.deciding import open_service

    return open_service(repository, terminal)


def _read(catalog: Catalog, only: frozenset[str] | None) -> Cases:
    """The examples of every selected requirement. Raises FormatError with the problems of all of them."""
    cases: Cases = []
    problems: list[Problem] = []
    for requirement in catalog.requirements:
        if only is None or requirement.id in only:
            try:
                cases.append((requirement, usable(read_examples(catalog, requirement))))
            except FormatError as error:
                problems.extend(error.problems)
    if problems:
        raise FormatError(dict.fromkeys(problems))
    return cases


def _grouped(cases: Cases, outcomes: tuple[Outcome, ...]) -> tuple[RequirementExamples, ...]:
    counts = Counter(requirement.id for requirement, _ in cases)
    rest = iter(outcomes)
    return tuple(
        RequirementExamples(
            label=f"{r.id} ({r.location.path})" if counts[r.id] > 1 else r.id,
            judged=is_judged(r),
            outcomes=tuple(next(rest) for _ in examples),
        )
        for r, examples in cases
    )


def _render(report: ExamplesReport, arguments: argparse.Namespace, environment: Environment, terminal: Terminal) -> str:
    if arguments.format == "pretty" or (arguments.format == "auto" and terminal.is_interactive):
        from pytest_reqfile.reports.check_pretty import Style
        from pytest_reqfile.reports.examples_pretty import render_examples_pretty

        color = terminal.is_interactive and not arguments.no_color and not environment.get("NO_COLOR")
        style = Style(color=color, verbose=arguments.verbose, quiet=arguments.quiet)
        return render_examples_pretty(report, style)
    from pytest_reqfile.reports.examples_plain import render_examples

    return render_examples(report)
