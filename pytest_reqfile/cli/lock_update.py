"""``reqfile lock update``: its grammar and what may not be asked together (seed 001 "update"; spec/lock.md 6.10)."""

from __future__ import annotations

import argparse
from typing import Any, Final

from pytest_reqfile.cli.verifiers import exit_with_one
from pytest_reqfile.errors import UsageError

COMMAND: Final = "lock update"
"""What two words of the command line are made; as one word nobody can write it."""
KINDS: Final = ("include", "skill", "source")
FORMATS: Final = ("text", "json")
OFFLINE: Final = "{what} reads the remote's tags and needs the network; it cannot run with --offline"
Subparsers = Any


def joined(words: list[str]) -> list[str]:
    """``words`` with ``lock update`` as one, where it is the command: ``update`` is then no NAME of a source."""
    at = 0
    while at < len(words) and words[at].startswith("--edition"):
        at += 1 if "=" in words[at] else 2
    return [*words[:at], COMMAND, *words[at + 2 :]] if words[at : at + 2] == COMMAND.split() else words


def add_update_command(commands: Subparsers) -> None:
    """Adds ``lock update``, which is not in the list of commands."""

    def run(arguments: argparse.Namespace, terminal: Any) -> int:
        refuse_contradictions(arguments)
        from pytest_reqfile.cli.lock_update_run import run_update

        return run_update(arguments, terminal)

    summary = "Move range pins to the newest tag that their version constraints allow."
    parser = commands.add_parser(COMMAND, prog=f"reqfile {COMMAND}", description=summary, allow_abbrev=False)
    parser.set_defaults(run=run, failure_code=1)
    exit_with_one(parser)
    _add_options(parser)


def _add_options(parser: argparse.ArgumentParser) -> None:
    add = parser.add_argument
    add("names", nargs="*", metavar="NAME", help="only these sources (default: all with a version constraint)")
    add("--kind", metavar="KIND", help=f"only one kind of sources: {', '.join(KINDS)}")
    add("--dry-run", action="store_true", help="fetch, compare and scan, and write neither the lock nor config.toml")
    add("--allow-downgrade", action="store_true", help="also move a pin to a lower version, or from what is none")
    add("--accept-moved-tag", action="store_true", help="re-pin a tag that leads to another commit now")
    add("--accept-findings", action="store_true", help="pin content in which the security scan has found errors")
    add("--major", action="store_true", help="show the constraints that take a newer major version")
    add("--write-config", action="store_true", help="with --major: write them to config.toml and move the pins")
    add("--format", metavar="FORMAT", default="text", help=" or ".join(FORMATS))
    add("--offline", action="store_true", help="refused: an update reads the tags of remotes")


def refuse_contradictions(flags: argparse.Namespace) -> None:
    """Raises ``UsageError`` for values that nobody knows and flags that do not belong together."""
    for wrong, message in (
        (flags.kind not in {None, *KINDS}, f'unknown --kind "{flags.kind}" (use include, skill or source)'),
        (flags.format not in FORMATS, f'unknown --format "{flags.format}" (use text or json)'),
        (flags.write_config and not flags.major, "--write-config needs --major"),
        (flags.offline, OFFLINE.format(what=COMMAND)),
    ):
        if wrong:
            raise UsageError(message)
