"""``reqfile verifiers suggest`` (seed 000 "Suggesting verifiers"; spec/verifiers.md 7)."""

from __future__ import annotations

import argparse
from contextlib import closing

from pytest_reqfile.cli.models import llm_options, use_of
from pytest_reqfile.cli.terminal import Terminal
from pytest_reqfile.cli.verifiers_run import check_format, load_here
from pytest_reqfile.cli.verifiers_show import FORMATS
from pytest_reqfile.errors import UsageError
from pytest_reqfile.project.values import Project
from pytest_reqfile.verifiers.chat import Disabled, open_client
from pytest_reqfile.verifiers.llm_settings import read_llm_settings
from pytest_reqfile.verifiers.run import VerifierRun, open_run
from pytest_reqfile.verifiers.suggest import (
    Suggested,
    Wanted,
    estimate,
    file_for,
    question,
    refuse_existing,
    suggest,
    with_cap,
    write_suggestions,
)
from pytest_reqfile.verifiers.suggest_prompt import target_kind
from pytest_reqfile.verifiers.suggest_report import estimate_json, header, render_json, render_text
from pytest_reqfile.verifiers.values import Target
from pytest_reqfile.workspace.environment import Environment


def run_suggest(arguments: argparse.Namespace, terminal: Terminal) -> int:
    """Ask, check, print; with ``--write`` put what is usable into a new file. 0 also without any proposal."""
    check_format(arguments.format, FORMATS)
    wanted = _wanted(arguments)
    project = load_here(local=not arguments.no_local)
    run = open_run(project, Environment.current())
    if arguments.estimate:
        return _estimate(arguments, terminal, run, project, wanted)
    return _suggest(arguments, terminal, run, project, wanted)


def _wanted(arguments: argparse.Namespace) -> Wanted:
    if arguments.write and arguments.estimate:
        raise UsageError(
            "--write and --estimate cannot be combined: an estimate calls nothing, so there is nothing to write"
        )
    if arguments.max_proposals < 1:
        raise UsageError(f"--max-proposals must be 1 or more, found {arguments.max_proposals}")
    return Wanted(
        kind=target_kind(arguments.kind),
        name=arguments.id,
        most=arguments.max_proposals,
        replay=arguments.replay,
    )


def _estimate(
    arguments: argparse.Namespace, terminal: Terminal, run: VerifierRun, project: Project, wanted: Wanted
) -> int:
    target = Target(kind=wanted.kind, id=wanted.name, path=question(run, project, wanted).item.path)
    settings = read_llm_settings(Environment.current(), project)
    text = estimate(run, project, wanted, settings, llm_options(arguments))
    terminal.write(estimate_json(target, text) if arguments.format == "json" else f"{header(target)}\n\n{text}\n")
    return 0


def _suggest(
    arguments: argparse.Namespace, terminal: Terminal, run: VerifierRun, project: Project, wanted: Wanted
) -> int:
    options = llm_options(arguments)
    target = Target(kind=wanted.kind, id=wanted.name)
    question(run, project, wanted)
    if arguments.write:
        refuse_existing(project.place, target)  # before anything is paid for
    client = open_client(Environment.current(), project, options)
    if isinstance(client, Disabled):
        raise UsageError(f"LLM use is off ({client.reason})")
    with closing(client):
        suggested = with_cap(suggest(run, project, wanted, client), options.max_cost_usd)
    ending = _written(arguments, terminal, project, suggested)
    used = use_of(suggested.usage) if suggested.usage is not None else None
    if arguments.format == "json":
        terminal.write(render_json(suggested, used.document if used is not None else None))
    else:
        terminal.write(render_text(suggested, used.line if used is not None else "", ending))
    return 0


def _written(arguments: argparse.Namespace, terminal: Terminal, project: Project, suggested: Suggested) -> str:
    """Write if asked to; the last line of the report."""
    usable = suggested.usable
    if not usable:
        if arguments.write:
            terminal.note("warning: no usable proposal, so nothing was written")
        return ""
    if not arguments.write:
        path = file_for(project.place, suggested.target)
        return f"Dry run: nothing was written. Re-run with --write to save what is usable to {path}."
    path = write_suggestions(project.place, suggested.target, usable)
    return f"Wrote {len(usable)} proposal(s) to {path}. Review them, then run `reqfile verifiers test`."
