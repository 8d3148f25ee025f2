"""``--reqfile-log``: the run log of a pytest run (seed 004 RUN_LOG)."""

from __future__ import annotations

import json
from collections.abc import Iterable

import pytest

from pytest_reqfile import __version__
from pytest_reqfile.errors import FileError, GitError
from pytest_reqfile.plugin import options
from pytest_reqfile.plugin.state import state_of
from pytest_reqfile.reports.run_log import RunFacts, parse_tags, render_run_log, run_id
from pytest_reqfile.reports.run_report import RunReport
from pytest_reqfile.workspace.clock import SystemClock
from pytest_reqfile.workspace.program import process_id
from pytest_reqfile.workspace.run_log import append_run_log


def append_log(config: pytest.Config, report: RunReport, judged: Iterable[str]) -> tuple[str, ...]:
    """Append the lines of a run to the log that was asked for, if any; what keeps it from being written.

    ``judged`` are further lines, each text the JSON of a list of them.
    """
    path = options.path(config, "log")
    if path is None:
        return ()
    lines = [line for text in judged for line in json.loads(text)]
    try:
        append_run_log(path, render_run_log(report.outcomes, _facts(config), lines), str(path))
    except FileError as error:
        return (f"--reqfile-log: {error}",)
    return ()


def _facts(config: pytest.Config) -> RunFacts:
    state = state_of(config)
    now = SystemClock().now_ms()
    try:
        head = state.repository.git.head()
    except GitError:
        head = None
    return RunFacts(
        run_id=run_id(now, process_id()),
        time_ms=now,
        git_head=head,
        version=__version__,
        fast=state.narrowing.plain.fast,
        changed=state.narrowing.is_changed_only,
        base=state.narrowing.base,
        tags=parse_tags(options.values(config, "log_tag")),
    )
