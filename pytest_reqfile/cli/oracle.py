"""``reqfile oracle run`` (seed 003; design 2.5)."""

from __future__ import annotations

import argparse
from collections.abc import Callable
from typing import Any, Final

ISOLATIONS: Final = ("auto", "overlay", "readonly-namespace", "copy", "external")
PROFILES: Final = ("seed", "mission", "dataset")
TOKENIZERS: Final = ("estimate", "bytes")
Subparsers = Any
"""What ``ArgumentParser.add_subparsers`` returns; argparse keeps its class private."""


def add_oracle_commands(commands: Subparsers, add_command: Callable[..., argparse.ArgumentParser]) -> None:
    """Adds ``oracle`` with its one subcommand ``run``."""
    summary = "verify a mission by its own oracle"
    group = commands.add_parser("oracle", help=summary, description=f"{summary.capitalize()}.", allow_abbrev=False)
    subcommands = group.add_subparsers(title="commands", metavar="COMMAND", required=True)

    def run(arguments: argparse.Namespace, terminal: Any) -> int:
        from pytest_reqfile.cli.oracle_run import run_oracle

        return run_oracle(arguments, terminal)

    parser = add_command(subcommands, "run", "run every oracle command of a mission in isolation", run, failure_code=2)
    _add_what(parser)
    _add_how(parser)
    _add_output(parser)


def _add_what(parser: argparse.ArgumentParser) -> None:
    add = parser.add_argument
    add("mission", metavar="MISSION", help="the mission or brief, a JSON file")
    add("--sink", required=True, metavar="DIR", help="folder for claims and evidence, outside the workspace")
    add("--workspace", metavar="DIR", help="the reviewed folder (default: the repository of the current folder)")


def _add_how(parser: argparse.ArgumentParser) -> None:
    add = parser.add_argument
    add(
        "--isolation",
        choices=ISOLATIONS,
        default="auto",
        help="what keeps commands from writing (auto: the strongest)",
    )
    add("--allow", action="append", default=[], metavar="CHECKID", help="run it although it is refused; repeatable")
    add("--pass-env", action="append", default=[], metavar="NAME", help="a variable commands may see; repeatable")
    add("--timeout", type=_seconds, default=600.0, metavar="SECONDS", help="per command (default: 600)")
    add("--require-exit-codes", action="store_true", help="block what has no expectedExitCode instead of expecting 0")


def _add_output(parser: argparse.ArgumentParser) -> None:
    add = parser.add_argument
    add("--profile", choices=PROFILES, help="spelling of artifacts (default: the first that fits the schema)")
    add("--schema", metavar="FILE", help="to validate claims (default: $AIWG_ROOT/schemas/mission-v1.schema.json)")
    add("--tokenizer", choices=TOKENIZERS, default="estimate", help="how the budget is counted (bytes: a sure bound)")
    add("--statement", action="store_true", help="also write an in-toto test-result statement, unsigned")
    add("--ctrf", action="store_true", help="also write a CTRF report")


def _seconds(text: str) -> float:
    seconds = float(text)
    if not 0 < seconds <= 3600:
        raise argparse.ArgumentTypeError(f"expected seconds in 0..3600, found {text}")
    return seconds
