"""``--log`` and ``--log-tag`` of ``reqfile check`` (seed 004 RUN_LOG)."""

from __future__ import annotations

import argparse
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path

from pytest_reqfile import __version__
from pytest_reqfile.cli.session import absolute
from pytest_reqfile.errors import FileError
from pytest_reqfile.outcome import Outcome
from pytest_reqfile.reports.check import RunError
from pytest_reqfile.reports.run_log import RunFacts, parse_tags, render_run_log, run_id
from pytest_reqfile.reqfile.repository import Repository
from pytest_reqfile.workspace.clock import SystemClock
from pytest_reqfile.workspace.program import process_id
from pytest_reqfile.workspace.run_log import append_run_log


@dataclass(frozen=True, slots=True, kw_only=True)
class Log:
    """Where this run is logged, and what its lines share."""

    path: Path
    shown: str
    facts: RunFacts

    def write(self, outcomes: Iterable[Outcome], judged: Iterable[Mapping[str, object]] = ()) -> tuple[RunError, ...]:
        """Append the lines, ``judged`` last; a log that cannot be written is an error of the run."""
        try:
            append_run_log(self.path, render_run_log(outcomes, self.facts, judged), self.shown)
        except FileError as error:
            return (RunError(message=str(error)),)
        return ()


def start_log(arguments: argparse.Namespace, repository: Repository) -> Log:
    """The log of this run. Raises UsageError for a malformed tag, before anything runs."""
    now = SystemClock().now_ms()
    facts = RunFacts(
        run_id=run_id(now, process_id()),
        time_ms=now,
        git_head=repository.git.head(),
        version=__version__,
        fast=arguments.fast,
        changed=arguments.changed is not None,
        base=arguments.changed or None,
        tags=parse_tags(arguments.log_tag),
    )
    return Log(path=absolute(arguments.log), shown=arguments.log, facts=facts)
