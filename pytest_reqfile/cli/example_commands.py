"""The grammar of ``reqfile eval``, its older name ``test``, and ``reqfile example add``."""

from __future__ import annotations

import argparse
from collections.abc import Callable
from typing import Any

AddCommand = Callable[..., argparse.ArgumentParser]


def add_eval_options(parser: argparse.ArgumentParser) -> None:
    """``--repeat``: examples are run several times where their outcome may change."""
    parser.add_argument(
        "--repeat", type=_positive, default=1, metavar="N", help="run each example N times, for unstable outcomes"
    )


def add_example_commands(commands: Any, add_command: AddCommand) -> None:
    """``example add``, below a command of its own."""
    group = commands.add_parser("example", help="add a labeled example", description="Labeled examples.")
    inner = group.add_subparsers(title="commands", metavar="COMMAND", required=True)
    summary = "turn files of the repository into a labeled example of a requirement"
    parser = add_command(inner, "add", summary, _run_example_add)
    parser.add_argument("id", metavar="ID", help="the requirement")
    parser.add_argument("name", metavar="NAME", help="the example's name: a folder that does not exist yet")
    parser.add_argument("files", metavar="FILE", nargs="+", help="files and folders, relative to the current folder")
    parser.add_argument("--expected", choices=("violation", "ok"), required=True, help="what checks should find")
    parser.add_argument(
        "--finding", action="append", default=[], metavar="FILE", help="a file that must be flagged; repeatable"
    )
    parser.add_argument("--rationale", metavar="TEXT", help="why it is labeled so")
    parser.add_argument("--holdout", action="store_true", help="keep it apart from examples that checks are tuned on")


def _run_example_add(arguments: argparse.Namespace, terminal: Any) -> int:
    from pytest_reqfile.cli.example_add import run_example_add

    return run_example_add(arguments, terminal)


def run_eval(arguments: argparse.Namespace, terminal: Any) -> int:
    """Lazily what cli.examples does."""
    from pytest_reqfile.cli.examples import run_eval as run

    return run(arguments, terminal)


def _positive(text: str) -> int:
    if not text.isdecimal() or int(text) < 1:
        raise argparse.ArgumentTypeError(f"expected a number of at least 1, found {text!r}")
    return int(text)
