"""``reqfile lock``: its grammar and what may not be asked together (seed 001 "Commands"; spec/lock.md 5.3)."""

from __future__ import annotations

import argparse
from collections.abc import Callable
from typing import Any, Final

from pytest_reqfile.cli.lock_update import KINDS as RANGE_KINDS
from pytest_reqfile.cli.lock_update import OFFLINE, add_update_command
from pytest_reqfile.cli.verifiers import exit_with_one
from pytest_reqfile.errors import UsageError

KINDS: Final = ("include", "skill", "source", "served")
CONTENT: Final = "content"
"""What a comparison may be limited to besides: items and outputs."""
FORMATS: Final = ("text", "json")
Subparsers = Any
"""What ``ArgumentParser.add_subparsers`` returns; argparse keeps its class private."""


def add_lock_commands(commands: Subparsers, add_command: Callable[..., argparse.ArgumentParser]) -> None:
    """Adds ``lock`` and ``lock update``."""

    def run(arguments: argparse.Namespace, terminal: Any) -> int:
        refuse_contradictions(arguments)
        from pytest_reqfile.cli.lock_around import Surroundings
        from pytest_reqfile.workspace.environment import Environment

        around = Surroundings(environment=Environment.current())
        if arguments.fetch:
            from pytest_reqfile.cli.lock_fetch import run_fetch

            return run_fetch(arguments, terminal, around)
        if arguments.outdated:
            from pytest_reqfile.cli.lock_outdated import run_outdated

            return run_outdated(arguments, terminal, around)
        if not arguments.subject:
            _ = around.listing  # git begins now, the rest is imported meanwhile
        from pytest_reqfile.cli.lock_run import run_lock

        return run_lock(arguments, terminal, around)

    parser = add_command(
        commands, "lock", "pin what agents are told and what is required, or check the pins", run, failure_code=1
    )
    parser.epilog = "`reqfile lock update` moves the pins of version ranges; see `reqfile lock update --help`."
    exit_with_one(parser)
    parser.add_argument(
        "names", nargs="*", metavar="NAME", help="re-pin only these includes or skills; content pins are kept"
    )
    _add_modes(parser.add_argument_group("instead of writing the lock").add_argument)
    _add_what(parser.add_argument_group("what is pinned or compared").add_argument)
    _add_how(parser.add_argument_group("how").add_argument)
    add_update_command(commands)


def _add_what(add: Callable[..., object]) -> None:
    add("--kind", metavar="KIND", help=f"only one kind of entries: {', '.join(KINDS)}; to compare also {CONTENT}")
    add("--content-only", action="store_true", help="re-pin authored content and outputs only; remote pins are kept")
    add("--requirements", action="store_true", help="also pin the requirements of Reqfiles in .reqfile/reqfile.lock")
    add("--profile", metavar="NAME", help="the profile the outputs were generated with (default: the lock's)")
    add("--role", action="append", default=[], metavar="NAME", help="also pin this role's outputs, or check only them")
    add("--roles", action="store_true", help="pin the outputs of every role")
    add("--generator", metavar="PROGRAM", help="renders the outputs of roles in a scratch copy: ai-rulez")
    add("-r", "--recursive", action="store_true", help="every project of the repository")


def _add_how(add: Callable[..., object]) -> None:
    add("--offline", action="store_true", help="ask no remote: pins that cover their source are kept, others refused")
    add("--accept-findings", action="store_true", help="pin content in which the security scan has found errors")
    add("--refuse-findings", action="store_true", help="refuse served skills with findings; none is served here")
    add("--no-cache", action="store_true", help="read every file, though nothing says that it has changed")


def _add_modes(add: Callable[..., object]) -> None:
    add("--check", action="store_true", help="compare and write nothing; exit 2 on any difference")
    add("--verify-tags", action="store_true", help="with --check: ask the remotes whether pinned tags have moved")
    add("--fetch", action="store_true", help="bring the content that the lock pins to this machine; write no lock")
    add("--outdated", action="store_true", help="show which version constraints allow a newer tag; asks the remotes")
    add("--fail-on-outdated", action="store_true", help="with --outdated: exit 2 when a source has an allowed update")
    add("--diff", action="store_true", help="show what `reqfile lock` would change; exit 0")
    add("--subject", action="store_true", help="print the digest that a signature over the lock commits to")
    add("--output", metavar="FILE", help="with --subject: write the statement that is signed")
    add("--format", metavar="FORMAT", help=f"of --check, --diff, --outdated and --subject: {' or '.join(FORMATS)}")


def refuse_contradictions(arguments: argparse.Namespace) -> None:
    """Raises ``UsageError`` in the words of spec/lock.md 5.3 for flags that do not belong together."""
    for wrong, message in (
        *_unknown_values(arguments),
        *_wrong_company(arguments),
        *_partial_runs(arguments),
        *_outdated_runs(arguments),
        *_fetching_runs(arguments),
    ):
        if wrong:
            raise UsageError(message)


def _unknown_values(flags: argparse.Namespace) -> tuple[tuple[bool, str], ...]:
    compares = flags.check or flags.diff
    known: tuple[str, ...] = (*KINDS, CONTENT) if compares else KINDS
    kinds = "include, skill, source, served or content" if compares else "include, skill, source or served"
    if flags.outdated:
        known, kinds = RANGE_KINDS, "include, skill or source"
    return (
        (flags.kind not in {None, *known}, f'unknown --kind "{flags.kind}" (use {kinds})'),
        (flags.format not in {None, *FORMATS}, f'unknown --format "{flags.format}" (use text or json)'),
    )


def _wrong_company(flags: argparse.Namespace) -> tuple[tuple[bool, str], ...]:
    reading = flags.check or flags.diff or flags.subject or flags.outdated
    both = "--check and --diff are mutually exclusive"
    one_file = "--output cannot be combined with --recursive: each project has a statement of its own"
    return (
        (flags.check and flags.diff, both),
        (
            flags.format is not None and not reading,
            "--format applies to --check, --diff, --outdated and --subject only",
        ),
        (flags.output is not None and not flags.subject, "--output needs --subject"),
        (flags.verify_tags and not flags.check, "--verify-tags only applies to --check"),
        (flags.verify_tags and flags.offline, "--verify-tags reads the remote's tags and needs the network"),
        (
            reading and (flags.accept_findings or flags.refuse_findings),
            "--accept-findings and --refuse-findings apply to a lock that is written only",
        ),
        (flags.output is not None and flags.recursive, one_file),
    )


def _partial_runs(flags: argparse.Namespace) -> tuple[tuple[bool, str], ...]:
    entries = bool(flags.kind or flags.names)
    keeps = (
        "--content-only keeps every remote pin, so it cannot be combined with --kind include, skill or source or with "
        "names; drop --content-only to refresh them"
    )
    reads = flags.check or flags.diff or flags.subject
    return (
        (flags.content_only and (bool(flags.names) or flags.kind in {"include", "skill", "source"}), keeps),
        (
            flags.roles and (reads or entries),
            "--roles pins outputs, so it cannot be combined with --check, --diff, --subject, --kind or names",
        ),
        (
            flags.subject and (flags.check or flags.diff or flags.content_only or entries),
            "--subject only reads the lock, so it cannot be combined with --check, --diff, --content-only, --kind or "
            "names",
        ),
        (
            flags.content_only and (flags.check or flags.diff),
            "--content-only writes the lock, so it cannot be combined with --check or --diff",
        ),
        (
            bool(flags.names) and (flags.check or flags.diff),
            "--check and --diff compare everything, so they cannot be combined with names",
        ),
    )


def _outdated_runs(flags: argparse.Namespace) -> tuple[tuple[bool, str], ...]:
    others = (
        *("check", "diff", "subject", "content_only", "requirements", "profile", "role", "roles", "generator"),
        *("recursive", "verify_tags", "accept_findings", "refuse_findings"),
    )
    wrong = _first_of(flags, others)
    return (
        (flags.fail_on_outdated and not flags.outdated, "--fail-on-outdated needs --outdated"),
        (flags.outdated and flags.offline, OFFLINE.format(what="lock --outdated")),
        (
            flags.outdated and bool(wrong),
            f"--outdated only reads the tags of remotes, so it cannot be combined with {wrong}",
        ),
    )


def _fetching_runs(flags: argparse.Namespace) -> tuple[tuple[bool, str], ...]:
    others = (
        *("check", "diff", "subject", "outdated", "content_only", "requirements", "profile", "role", "roles", "kind"),
        *("generator", "accept_findings", "refuse_findings"),
    )
    wrong = _first_of(flags, others) or ("names" if flags.names else "")
    return (
        (flags.fetch and flags.offline, "lock --fetch asks the remotes; it cannot run with --offline"),
        (
            flags.fetch and bool(wrong),
            f"--fetch brings everything that the lock pins; it cannot be combined with {wrong}",
        ),
    )


def _first_of(flags: argparse.Namespace, names: tuple[str, ...]) -> str:
    """The first of these flags that is given, as it is written."""
    return next((f"--{name.replace('_', '-')}" for name in names if getattr(flags, name)), "")
