"""``reqfile lock --outdated`` (seed 001 "lock --outdated"; spec/lock.md 6.9)."""

from __future__ import annotations

import argparse
from typing import Final

from pytest_reqfile.cli.lock_around import Surroundings
from pytest_reqfile.cli.lock_places import online, project_here
from pytest_reqfile.cli.terminal import Terminal
from pytest_reqfile.lock.opening import lock_file
from pytest_reqfile.lock.outdated import OutdatedReport, outdated_severity
from pytest_reqfile.lock.standing import look_up, range_sources
from pytest_reqfile.project.load import load_config
from pytest_reqfile.syntax.printable import braced

FOUND: Final = 2


def run_outdated(arguments: argparse.Namespace, terminal: Terminal, around: Surroundings) -> int:
    """Print which sources could move: 2 for errors, and with ``--fail-on-outdated`` for allowed updates; else 0.

    Reads tags only and writes nothing but the first-seen record.
    """
    place = project_here(around)
    config = load_config(place).config
    sources = range_sources(config, arguments.names, arguments.kind)
    lock = lock_file(place).read()
    with online(place, config.lock, around.environment) as remotes:
        standings = look_up(sources, lock, remotes.fetcher.tags, remotes.gates)
    report = OutdatedReport(standings=standings, severity=outdated_severity(config))
    if arguments.format == "json":
        terminal.write(report.as_json())
    else:
        terminal.write("".join(f"{braced(line)}\n" for line in report.lines()))
    failing = report.errors > 0 or (arguments.fail_on_outdated and report.updatable > 0)
    return FOUND if failing else 0
