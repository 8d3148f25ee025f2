"""``reqfile verifiers run`` (seed 000 "Commands", "Output and failure mapping")."""

from __future__ import annotations

import argparse
import shlex
from dataclasses import replace
from typing import Final

from pytest_reqfile import __version__
from pytest_reqfile.cli.models import llm_options, with_models
from pytest_reqfile.cli.terminal import Terminal
from pytest_reqfile.errors import GitError, ReqfileError, UsageError
from pytest_reqfile.lock.imported import fetched_content
from pytest_reqfile.project.load import load_project
from pytest_reqfile.project.places import find_project, user_config_folder
from pytest_reqfile.project.values import Project
from pytest_reqfile.reports.verifiers import COULD_NOT_RUN, FailOn, VerifierReport
from pytest_reqfile.reports.verifiers_json import error_document, render_json
from pytest_reqfile.reports.verifiers_text import render_text
from pytest_reqfile.verifiers.changes import Scope, refuse_revision
from pytest_reqfile.verifiers.command import is_allowed
from pytest_reqfile.verifiers.outcomes import FAIL_ON, outcome_of
from pytest_reqfile.verifiers.run import RunOptions, open_run
from pytest_reqfile.verifiers.words import go_quoted
from pytest_reqfile.workspace.environment import Environment
from pytest_reqfile.workspace.files import write_atomic
from pytest_reqfile.workspace.git import discover_root
from pytest_reqfile.workspace.git_ahead import Ahead
from pytest_reqfile.workspace.processes import Cancellation
from pytest_reqfile.workspace.program import current_folder

FORMATS: Final = ("text", "json", "sarif", "junit")
NO_PROJECT: Final = "no .ai-rulez/config.toml here or in a folder above"


def run_verifiers(arguments: argparse.Namespace, terminal: Terminal) -> int:
    """Evaluate, print or write the report, and return 0, 2 (a failure that gates) or 1 (could not run)."""
    check_format(arguments.format, FORMATS)
    try:
        report = _run(arguments)
    except ReqfileError as error:
        if arguments.format == "json" and not arguments.output:
            terminal.write(error_document(str(error), COULD_NOT_RUN))
        raise
    text = _render(report, arguments.format)
    if arguments.output:
        write_atomic(current_folder() / arguments.output, text.encode("utf-8", "backslashreplace"))
    else:
        terminal.write(text)
    return report.exit_code


def check_format(found: str, known: tuple[str, ...]) -> None:
    """Raise UsageError for a ``--format`` that is none of ``known``."""
    if found not in known:
        raise UsageError(f"unknown --format {go_quoted(found)} (use {', '.join(known)})")


def load_here(*, local: bool, ahead: Ahead | None = None) -> Project:
    """The project of the current folder. Raises UsageError where there is none."""
    environment = Environment.current()
    try:
        top = discover_root(current_folder(), environment, ahead)
    except GitError:
        top = None
    place = find_project(current_folder(), top=top, user_config=user_config_folder(environment))
    if place is None:
        raise UsageError(NO_PROJECT)
    return load_project(place, local=local, fetched=fetched_content(place, environment))


def _run(arguments: argparse.Namespace) -> VerifierReport:
    fail_on = _fail_on(arguments)
    environment = Environment.current()
    options = RunOptions(
        scope=_scope(arguments),
        profile=arguments.profile,
        role=arguments.role,
        allow_exec=is_allowed(arguments.allow_exec, environment),
        strict_applicability=arguments.strict_applicability,
        generator=_generator(arguments.generator),
    )
    asking = llm_options(arguments)
    ahead: Ahead | None = arguments.ahead
    project = load_here(local=not arguments.no_local, ahead=ahead)
    if options.generator == ("lock",):
        from pytest_reqfile.lock.drift import lock_drift

        options = replace(options, drift=lock_drift(project.place, environment))
    run = open_run(project, environment, options, cancellation=Cancellation(), ahead=ahead)
    chosen = run.select(_split(arguments.name), arguments.rule)
    with with_models(run, chosen, project, asking, gates=arguments.gate_llm) as ready:
        ready.prepare(chosen)
        outcomes = tuple(outcome_of(result, fail_on) for result in ready.evaluate(chosen))
    return VerifierReport(outcomes=outcomes, root=str(run.root), mode=run.mode(chosen), fail_on=fail_on)


def _render(report: VerifierReport, form: str) -> str:
    if form == "json":
        return render_json(report)
    if form == "sarif":
        from pytest_reqfile.reports.verifiers_sarif import render_sarif

        return render_sarif(report, __version__)
    if form == "junit":
        from pytest_reqfile.reports.verifiers_junit import render_junit

        return render_junit(report)
    return render_text(report)


def _fail_on(arguments: argparse.Namespace) -> FailOn:
    """The lowest failing severity: an explicit one wins over ``--strict``."""
    if arguments.fail_on is None:
        return "warning" if arguments.strict else "error"
    for known in FAIL_ON:
        if arguments.fail_on == known:
            return known
    raise UsageError(f"unknown --fail-on {go_quoted(arguments.fail_on)} (use {', '.join(FAIL_ON)})")


def _scope(arguments: argparse.Namespace) -> Scope:
    if sum((arguments.since is not None, arguments.staged, arguments.all)) > 1:
        raise UsageError("use only one of --since, --staged and --all")
    if arguments.since is not None:
        refuse_revision(arguments.since)
        return Scope(kind="since", revision=arguments.since.strip())
    return Scope(kind="staged") if arguments.staged else Scope()


def _generator(text: str | None) -> tuple[str, ...]:
    try:
        return tuple(shlex.split(text or ""))
    except ValueError as error:
        raise UsageError(
            f"--generator {go_quoted(text or '')} cannot be read as a command: {error}; close the quote, or put a "
            "backslash before it"
        ) from None


def _split(names: list[str]) -> tuple[str, ...]:
    """Repeatable and comma-separated."""
    return tuple(part.strip() for name in names for part in name.split(",") if part.strip())
