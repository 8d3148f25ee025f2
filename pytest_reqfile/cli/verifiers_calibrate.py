"""``reqfile verifiers calibrate`` (seed 000 "Calibrating llm verifiers"; spec/verifiers.md 6)."""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from contextlib import closing
from datetime import UTC, datetime
from typing import Final

from pytest_reqfile.cli.models import llm_options, use_of
from pytest_reqfile.cli.terminal import Terminal
from pytest_reqfile.cli.verifiers_run import check_format, load_here
from pytest_reqfile.cli.verifiers_show import FORMATS
from pytest_reqfile.errors import UsageError
from pytest_reqfile.project.values import Place
from pytest_reqfile.verifiers.calibrate import Calibrated, calibrate, estimates, select_calibrated
from pytest_reqfile.verifiers.calibrate_report import (
    estimates_json,
    records_json,
    render_estimates,
    render_records,
)
from pytest_reqfile.verifiers.calibration_records import write_record
from pytest_reqfile.verifiers.command import is_allowed
from pytest_reqfile.verifiers.costs import total_usage
from pytest_reqfile.verifiers.llm_run import LlmRun, open_llm
from pytest_reqfile.verifiers.run import RunOptions, VerifierRun, open_run
from pytest_reqfile.verifiers.values import SpecVerifier
from pytest_reqfile.workspace.clock import SystemClock
from pytest_reqfile.workspace.environment import Environment

BELOW_THE_BAR: Final = 2


def run_calibrate(arguments: argparse.Namespace, terminal: Terminal) -> int:
    """Measure, write records, print them: 0 where all meet the bar, 2 where one does not, 1 could not run."""
    check_format(arguments.format, FORMATS)
    if arguments.no_write and arguments.estimate:
        raise UsageError(
            "--no-write and --estimate cannot be combined: an estimate calls nothing, so there is nothing to write"
        )
    environment = Environment.current()
    project = load_here(local=not arguments.no_local)
    run = open_run(project, environment, RunOptions(allow_exec=is_allowed(arguments.allow_exec, environment)))
    llm = open_llm(environment, project, llm_options(arguments))
    with closing(llm):
        if llm.disabled:
            raise UsageError(f"calibration needs a model: {llm.disabled}")
        chosen = select_calibrated(run, arguments.names)
        if not arguments.estimate:
            return _calibrate(arguments, terminal, run, llm, chosen, project.place)
        results = estimates(run, chosen, llm.evaluate)
    terminal.write(estimates_json(results) if arguments.format == "json" else render_estimates(results))
    return 0


def _calibrate(
    arguments: argparse.Namespace,
    terminal: Terminal,
    run: VerifierRun,
    llm: LlmRun,
    chosen: Sequence[SpecVerifier],
    place: Place,
) -> int:
    done: list[Calibrated] = []
    for one in calibrate(run, chosen, llm.evaluate, model=llm.model, date=_today()):
        if not arguments.no_write:
            write_record(place, one.record)  # at once: what was paid for is not lost to an interrupt
        done.append(one)
    records = [one.record for one in done]
    usage = total_usage(one.usage for one in done)
    if arguments.format == "json":
        terminal.write(records_json(records, use_of(usage).document if usage is not None else None))
    else:
        terminal.write(render_records(records, usage, place.folder, written=not arguments.no_write))
    return 0 if all(record.status == "pass" for record in records) else BELOW_THE_BAR


def _today() -> str:
    """The day in UTC."""
    return datetime.fromtimestamp(SystemClock().now_ms() / 1000, UTC).date().isoformat()
