"""``reqfile verifiers …``: the grammar (seed 000 "Commands"; design 2.5)."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Callable
from functools import partial
from typing import Any, Final, NoReturn

COULD_NOT_RUN: Final = 1
Subparsers = Any
"""What ``ArgumentParser.add_subparsers`` returns; argparse keeps its class private."""
AddCommand = Callable[..., argparse.ArgumentParser]


def add_verifiers_commands(commands: Subparsers, add_command: AddCommand) -> None:
    """Adds ``verifiers`` and all its commands. Exit 1 means that it could not run."""
    summary = "check facts about the repository that its rules and skills depend on"
    group = commands.add_parser("verifiers", help=summary, description=f"{summary.capitalize()}.", allow_abbrev=False)
    exit_with_one(group)
    subcommands = group.add_subparsers(title="commands", metavar="COMMAND", required=True)
    _add_run(subcommands, add_command)
    _add_list(subcommands, add_command)
    _add_explain(subcommands, add_command)
    _add_test(subcommands, add_command)
    _add_calibrate(subcommands, add_command)
    _add_suggest(subcommands, add_command)


def _add_run(commands: Subparsers, add_command: AddCommand) -> None:
    def run(arguments: argparse.Namespace, terminal: Any) -> int:
        from pytest_reqfile.cli.verifiers_run import run_verifiers

        return run_verifiers(arguments, terminal)

    parser = _new(commands, add_command, "run", "evaluate the verifiers", run)
    add = parser.add_argument
    add("--format", default="text", metavar="FORMAT", help="text, json, sarif or junit")
    add("--output", metavar="FILE", help="write the report there instead of printing it")
    add("--name", action="append", default=[], metavar="NAME", help="only the named verifiers; repeatable")
    add("--rule", default="", metavar="ID", help="only verifiers that enforce this rule or skill")
    add("--since", metavar="REV", help="only what changed since the merge base of REV and HEAD")
    add("--staged", action="store_true", help="only what is staged")
    add("--all", action="store_true", help="everything (the default)")
    add("--strict", action="store_true", help="failures of severity warning fail the run too")
    add("--fail-on", metavar="SEVERITY", help="lowest severity that fails the run: error, warning, info or none")
    add("--strict-applicability", action="store_true", help="report a when_changed that matches no file at all")
    add("--generator", metavar="COMMAND", help="what regenerates outputs, for generated_in_sync: ai-rulez or a command")
    add("--gate-llm", action="store_true", help="let calibrated llm verifiers of severity error fail the run")
    _add_selection(parser)
    _add_exec(parser)
    add_llm(parser)


def _add_list(commands: Subparsers, add_command: AddCommand) -> None:
    def run(arguments: argparse.Namespace, terminal: Any) -> int:
        from pytest_reqfile.cli.verifiers_show import run_list

        return run_list(arguments, terminal)

    parser = _new(commands, add_command, "list", "list what is declared, without evaluating it", run)
    _add_show_format(parser)


def _add_explain(commands: Subparsers, add_command: AddCommand) -> None:
    def run(arguments: argparse.Namespace, terminal: Any) -> int:
        from pytest_reqfile.cli.verifiers_show import run_explain

        return run_explain(arguments, terminal)

    parser = _new(commands, add_command, "explain", "say what a verifier checks and how to fix a failure", run)
    parser.add_argument("name", metavar="NAME", help="a verifier, or a code such as AR9H1")
    _add_show_format(parser)


def _add_test(commands: Subparsers, add_command: AddCommand) -> None:
    def run(arguments: argparse.Namespace, terminal: Any) -> int:
        from pytest_reqfile.cli.verifiers_show import run_test

        return run_test(arguments, terminal)

    parser = _new(commands, add_command, "test", "run the self-test examples, offline", run)
    parser.add_argument("names", nargs="*", metavar="NAME", help="only these verifiers")
    _add_show_format(parser)
    _add_exec(parser)


def _add_calibrate(commands: Subparsers, add_command: AddCommand) -> None:
    def run(arguments: argparse.Namespace, terminal: Any) -> int:
        from pytest_reqfile.cli.verifiers_calibrate import run_calibrate

        return run_calibrate(arguments, terminal)

    parser = _new(commands, add_command, "calibrate", "measure llm verifiers on their labeled examples", run)
    parser.add_argument("names", nargs="*", metavar="NAME", help="only these verifiers")
    parser.add_argument("--no-write", action="store_true", help="print the records, write none")
    _add_show_format(parser)
    _add_exec(parser)
    add_llm(parser, "ask the model; sends it the files of the examples")


def _add_suggest(commands: Subparsers, add_command: AddCommand) -> None:
    def run(arguments: argparse.Namespace, terminal: Any) -> int:
        from pytest_reqfile.cli.verifiers_suggest import run_suggest

        return run_suggest(arguments, terminal)

    parser = _new(commands, add_command, "suggest", "ask a model for verifiers that a prose rule could have", run)
    add = parser.add_argument
    add("id", metavar="ID", help="the rule, skill, agent or command")
    add("--kind", default="rule", metavar="KIND", help="what it is: rule (the default), skill, agent or command")
    add("--max-proposals", type=int, default=5, metavar="N", help="how many at most (default 5)")
    add("--replay", type=int, default=10, metavar="N", help="over how many merged diffs they are tried (default 10)")
    add("--write", action="store_true", help="save what is usable to a new verifier file")
    _add_show_format(parser)
    add_llm(parser, "ask the model; sends it the text of the rule, names of folders and verifiers, file extensions")


def _new(
    commands: Subparsers, add_command: AddCommand, name: str, summary: str, run: Callable[..., int]
) -> argparse.ArgumentParser:
    parser = add_command(commands, name, summary, run, failure_code=COULD_NOT_RUN)
    parser.add_argument("--no-local", action="store_true", help="leave config.local.toml out")
    exit_with_one(parser)
    return parser


def _add_selection(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--profile", metavar="NAME", help="which rules count as active")
    parser.add_argument("--role", metavar="NAME", help="which rules count as active")


def _add_exec(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--allow-exec", action="store_true", help="run command predicates (trusted refs only)")


_ASK: Final = "ask a model about llm checklists; sends it the changed lines"


def add_llm(parser: argparse.ArgumentParser, ask: str = _ASK) -> None:
    """The options of every command that may ask a model; ``ask`` says what that sends."""
    add = parser.add_argument
    add("--allow-llm", action="store_true", help=ask)
    add("--max-cost", metavar="USD", help="refuse calls that could cost more than is left of it (0.50; 0: no cap)")
    add("--estimate", action="store_true", help="say what would be sent to a model and cost; send nothing")


def _add_show_format(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--format", default="text", metavar="FORMAT", help="text or json")


def exit_with_one(parser: argparse.ArgumentParser) -> None:
    """A wrong command line is a run that could not start: 2 would say that a verifier failed."""
    setattr(parser, "error", partial(_refuse, parser))  # noqa: B010 - a method, which mypy lets nobody assign


def _refuse(parser: argparse.ArgumentParser, message: str) -> NoReturn:
    parser.print_usage(sys.stderr)
    parser.exit(COULD_NOT_RUN, f"{parser.prog}: error: {message}\n")
