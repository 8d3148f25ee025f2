"""The command line's grammar: one function per subcommand, which imports what it needs only when it runs."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Callable, Sequence
from typing import Any, Final

from pytest_reqfile import __version__
from pytest_reqfile.workspace.program import terminal_columns

EDITIONS: Final = ("0.1", "0.4")
FORMATS: Final = ("auto", "pretty", "plain", "summary", "json")
Subparsers = Any
"""What ``ArgumentParser.add_subparsers`` returns; argparse keeps its class private."""


class _HelpFormatter(argparse.HelpFormatter):
    """Help as wide as the terminal; argparse makes one for every argument, and would import shutil to know that."""

    def __init__(self, prog: str) -> None:
        super().__init__(prog, width=terminal_columns() - 2)


class _Parser(argparse.ArgumentParser):
    def _get_formatter(self) -> argparse.HelpFormatter:
        return _HelpFormatter(self.prog)


class _Program(_Parser):
    """The whole command line; two words that are one command are made one before anything else looks at them."""

    def parse_known_args(self, args: Sequence[str] | None = None, namespace: Any = None) -> Any:  # type: ignore[override]
        from pytest_reqfile.cli.lock_update import joined

        words = sys.argv[1:] if args is None else list(args)
        return super().parse_known_args(joined(words), namespace)


def build_parser(argv: Sequence[str] = ()) -> argparse.ArgumentParser:
    """The parser of the command line ``argv``; ``arguments.run`` is the subcommand's function.

    Where ``argv`` begins with a subcommand, only that one is made: each costs as much as git takes to answer.
    """
    parser = _Program(
        prog="reqfile",
        description="Checks what a repository requires: Reqfile requirements, verifiers, the lock and oracles.",
        allow_abbrev=False,
    )
    parser.add_argument("--version", action="version", version=f"reqfile {__version__}")
    _add_edition(parser, default=None)
    commands = parser.add_subparsers(
        prog="reqfile", title="commands", metavar="COMMAND", required=True, parser_class=_Parser
    )
    alone = _ALONE.get(argv[0]) if argv else None
    for add in (alone,) if alone else _COMMANDS:
        add(commands)
    if alone in {_add_verifiers, _add_lock}:
        from pytest_reqfile.cli.verifiers import exit_with_one

        exit_with_one(parser)
    return parser


def add_command(
    commands: Subparsers, name: str, summary: str, run: Callable[..., int], *, failure_code: int = 3
) -> argparse.ArgumentParser:
    """A subcommand that ``run(arguments, terminal)`` carries out; ``failure_code`` is its exit code for errors.

    ``summary`` stands in the list of commands and opens the command's own help.
    """
    parser: argparse.ArgumentParser = commands.add_parser(
        name, help=summary, description=f"{summary[0].upper()}{summary[1:]}.", allow_abbrev=False
    )
    parser.set_defaults(run=run, failure_code=failure_code)
    _add_edition(parser, default=argparse.SUPPRESS)
    return parser


def add_only(parser: argparse.ArgumentParser) -> None:
    """``--only``: which requirements (seed 004 SELECTION)."""
    parser.add_argument(
        "--only", action="append", default=[], metavar="ID,…", help="only the listed requirements; repeatable"
    )


def add_use(parser: argparse.ArgumentParser) -> None:
    """``--use``: requirements tried for this run (spec reqfile.md 5.4)."""
    parser.add_argument(
        "--use",
        action="append",
        default=[],
        metavar="LOCATION",
        help="also try, at the root and for this run, the code and process requirements defined in a folder (./std) or "
        "a repository (owner/repo@v1.0.0); repeatable",
    )


def add_log(parser: argparse.ArgumentParser) -> None:
    """``--log`` with its tags (seed 004 RUN_LOG)."""
    parser.add_argument("--log", metavar="FILE", help="append a JSON line for each check and finding to FILE")
    parser.add_argument(
        "--log-tag",
        action="append",
        default=[],
        metavar="KEY=VALUE",
        help="a tag on every line; needs --log; repeatable",
    )
    parser.set_defaults(usage_error=parser.error)


def add_format(parser: argparse.ArgumentParser) -> None:
    """``--format`` of a report, with ``-v`` and ``-q`` for its pretty form."""
    parser.add_argument(
        "--format",
        choices=FORMATS,
        default="auto",
        help="pretty on a terminal and plain elsewhere (auto), or one of them, or json",
    )
    amount = parser.add_mutually_exclusive_group()
    amount.add_argument("-v", "--verbose", action="store_true", help="also list what each check ran, and every finding")
    amount.add_argument("-q", "--quiet", action="store_true", help="only what fails, and the summary")
    parser.add_argument("--no-color", action="store_true", help="no colour, as with NO_COLOR")


def _add_edition(parser: argparse.ArgumentParser, *, default: str | None) -> None:
    parser.add_argument(
        "--edition",
        choices=EDITIONS,
        default=default,
        help="which published behaviour of reqfile applies where two contradict (default: $REQFILE_EDITION, else 0.1)",
    )


def _add_check(commands: Subparsers) -> None:
    def run(arguments: argparse.Namespace, terminal: Any) -> int:
        from pytest_reqfile.cli.check import run_check

        return run_check(arguments, terminal)

    parser = add_command(commands, "check", "run the checks of the repository's requirements", run)
    add_only(parser)
    add_use(parser)
    parser.add_argument("--fast", action="store_true", help="only decision checks and commands declared fast")
    parser.add_argument(
        "--changed",
        nargs="?",
        const="",
        metavar="BASE",
        help="only files changed since HEAD left BASE (default: the config's base, else origin/HEAD)",
    )
    add_log(parser)
    add_format(parser)


def _add_eval(commands: Subparsers) -> None:
    """``test`` is the older name of ``eval``; without a help text it is left out of the list of commands."""
    from pytest_reqfile.cli.example_commands import add_eval_options, run_eval

    older = commands.add_parser("test", description="The older name of `reqfile eval`.", allow_abbrev=False)
    older.set_defaults(run=run_eval, failure_code=3)
    _add_edition(older, default=argparse.SUPPRESS)
    newer = add_command(commands, "eval", "run the checks on their labeled examples", run_eval)
    for parser in (older, newer):
        add_only(parser)
        add_use(parser)
        add_eval_options(parser)
        add_format(parser)


def _add_list(commands: Subparsers) -> None:
    def run(arguments: argparse.Namespace, terminal: Any) -> int:
        from pytest_reqfile.cli.catalog import run_list

        return run_list(arguments, terminal)

    parser = add_command(commands, "list", "list every requirement of the repository with its checks", run)
    parser.add_argument("--kind", choices=("product", "code", "process"), help="only requirements of this type")
    parser.add_argument("--format", choices=FORMATS, default="auto", help="json, or the text for any other")


def _add_explain(commands: Subparsers) -> None:
    def run(arguments: argparse.Namespace, terminal: Any) -> int:
        from pytest_reqfile.cli.catalog import run_explain

        return run_explain(arguments, terminal)

    parser = add_command(commands, "explain", "show the requirements that apply to a file or folder", run)
    parser.add_argument(
        "path", metavar="PATH", help="a file or folder, relative to the current folder; may not exist yet"
    )


def _add_add(commands: Subparsers) -> None:
    def run(arguments: argparse.Namespace, terminal: Any) -> int:
        from pytest_reqfile.cli.imports import run_add

        return run_add(arguments, terminal)

    parser = add_command(commands, "add", "take requirements from elsewhere into the current folder's Reqfile", run)
    parser.add_argument("location", metavar="LOCATION", help="a folder (./std) or a repository (owner/repo@v1.0.0)")
    parser.add_argument(
        "ids", nargs="*", default=[], metavar="ID", help="which ones; all code and process requirements without any"
    )
    _add_dry_run(parser)


def _add_update(commands: Subparsers) -> None:
    def run(arguments: argparse.Namespace, terminal: Any) -> int:
        from pytest_reqfile.cli.imports import run_update

        return run_update(arguments, terminal)

    parser = add_command(commands, "update", "move every pinned repository to its latest release tag", run)
    _add_dry_run(parser)


def _add_dry_run(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--dry-run", action="store_true", help="show what would be written, and write nothing")


def _add_example(commands: Subparsers) -> None:
    from pytest_reqfile.cli.example_commands import add_example_commands

    add_example_commands(commands, add_command)


def _add_oracle(commands: Subparsers) -> None:
    from pytest_reqfile.cli.oracle import add_oracle_commands

    add_oracle_commands(commands, add_command)


def _add_verifiers(commands: Subparsers) -> None:
    from pytest_reqfile.cli.verifiers import add_verifiers_commands

    add_verifiers_commands(commands, add_command)


def _add_lock(commands: Subparsers) -> None:
    from pytest_reqfile.cli.lock import add_lock_commands

    add_lock_commands(commands, add_command)


_COMMANDS: Final[tuple[Callable[[Subparsers], None], ...]] = (
    _add_check,
    _add_eval,
    _add_list,
    _add_explain,
    _add_add,
    _add_update,
    _add_example,
    _add_oracle,
    _add_verifiers,
    _add_lock,
)
_ALONE: Final[dict[str, Callable[[Subparsers], None]]] = {
    "check": _add_check,
    "eval": _add_eval,
    "test": _add_eval,
    "list": _add_list,
    "explain": _add_explain,
    "add": _add_add,
    "update": _add_update,
    "example": _add_example,
    "oracle": _add_oracle,
    "verifiers": _add_verifiers,
    "lock": _add_lock,
}
