"""Writes the reports of a run, in the process that has all of it (design 2.6)."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Final

import pytest

from pytest_reqfile.errors import FileError
from pytest_reqfile.plugin import options
from pytest_reqfile.plugin.claims import write_claims
from pytest_reqfile.plugin.folding import fold
from pytest_reqfile.plugin.logging import append_log
from pytest_reqfile.plugin.recorder import Recorder
from pytest_reqfile.reports.html import html_report
from pytest_reqfile.reports.junit import junit_report
from pytest_reqfile.reports.run_json import json_report
from pytest_reqfile.reports.run_report import RunReport
from pytest_reqfile.reports.sarif import sarif_report
from pytest_reqfile.workspace.files import write_atomic

Rendered = tuple[str, tuple[str, ...]]
"""The text of a report, and what had to be left out of it."""


def _sarif(report: RunReport) -> Rendered:
    done = sarif_report(report)
    return done.text, done.cuts


RENDERERS: Final[dict[str, Callable[[RunReport], Rendered]]] = {
    "sarif": _sarif,
    "junit": lambda report: (junit_report(report), ()),
    "json": lambda report: (json_report(report), ()),
    "html": lambda report: (html_report(report), ()),
}


Lines = tuple[str, ...]


def write_reports(session: pytest.Session, recorder: Recorder) -> tuple[Lines, Lines, Lines]:
    """Write each report that was asked for: what could not be written, what was, and what is missing in it."""
    report = fold(session.config, recorder, _why_stopped(session, recorder))
    problems = list(append_log(session.config, report, recorder.log_lines.values()))
    refused, claimed = write_claims(session.config, recorder, report.items)
    problems += refused
    notes, missing = list(claimed), []
    for name, path in options.report_paths(session.config):
        text, cuts = RENDERERS[name](report)
        try:
            write_atomic(path, text.encode(), parents=True)
        except FileError as error:
            problems.append(f"--reqfile-{name}: {error}")
            continue
        notes.append(f"{name} report: {_shown(session.config, path)}")
        missing += [f"{name} report: {cut}" for cut in cuts]
    return tuple(problems), tuple(notes), tuple(missing)


def _shown(config: pytest.Config, path: Path) -> str:
    start = config.invocation_params.dir
    return str(path.relative_to(start)) if path.is_relative_to(start) else str(path)


def _why_stopped(session: pytest.Session, recorder: Recorder) -> str | None:
    """Why the run did not reach its end, if so."""
    exit_status = recorder.exit_status
    for reason in (session.shouldfail, session.shouldstop):
        if reason:
            return str(reason)
    if recorder.lost_workers and not recorder.has_collected:
        return f"every worker ended while it collected: {recorder.lost_workers[0]}"
    if exit_status == pytest.ExitCode.INTERRUPTED:
        return "interrupted"
    return "an internal error of pytest" if exit_status == pytest.ExitCode.INTERNAL_ERROR else None
