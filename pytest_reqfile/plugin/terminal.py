"""The last section of a run's terminal output: what did not fail the run, and what was looked at (design 2.3)."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from pytest_reqfile import __version__
from pytest_reqfile.outcome import Outcome
from pytest_reqfile.plugin import options
from pytest_reqfile.plugin.folding import known_requirements, linked_tests, reported_items
from pytest_reqfile.plugin.recorder import Recorder
from pytest_reqfile.reports.check import CheckReport
from pytest_reqfile.reports.check_plain import finding_lines, summary_line
from pytest_reqfile.reports.example_coverage import coverage_lines
from pytest_reqfile.reports.item_text import first_message
from pytest_reqfile.reports.llm_usage import is_estimate
from pytest_reqfile.reports.run_report import ItemResult, run_report
from pytest_reqfile.reports.traceability import trace_lines, traces, unverified_line
from pytest_reqfile.reports.verifiers import VerifierReport
from pytest_reqfile.reports.verifiers_text import summary_line as verifiers_line
from pytest_reqfile.reports.words import counted
from pytest_reqfile.syntax.printable import visible
from pytest_reqfile.workspace.memory import collection_paused


def write_section(terminal: pytest.TerminalReporter, recorder: Recorder) -> None:
    """Write the section; with ``-q`` only its summary line, with ``-qq`` nothing but what is missing."""
    verbosity = terminal.config.get_verbosity()
    with collection_paused():
        report = run_report(__version__, reported_items(terminal.config, recorder))
    lines = list(_section_lines(terminal.config, recorder, report.items)) if verbosity >= 0 else []
    if lines or (verbosity >= 0 and report.items):
        terminal.write_sep("=", "reqfile")  # unlike section(), it ends the line of the progress first
    for line in lines:
        terminal.write_line(line)
    for problem in recorder.problems:
        terminal.write_line(visible(f"error: {problem}"), red=True)
    if recorder.unreached:
        terminal.write_line(
            f"error: {counted(len(recorder.unreached), 'item')} not run: the run ended before", red=True
        )
    if verbosity >= -1:
        for cut in recorder.cuts:
            terminal.write_line(visible(cut), yellow=True)
        for line in _last_lines(report.outcomes):
            terminal.write_line(line)


def _section_lines(config: pytest.Config, recorder: Recorder, items: tuple[ItemResult, ...]) -> Iterator[str]:
    allowed = options.is_on(config, "allow_llm")
    for item in items:
        yield from _unfailing_lines(item.outcome)
        yield from _model_lines(item.outcome, allowed)
    yield from _trace_lines(config, recorder, items)
    yield from coverage_lines(item.outcome for item in items)
    yield from map(visible, recorder.notes)


def _trace_lines(config: pytest.Config, recorder: Recorder, items: tuple[ItemResult, ...]) -> Iterator[str]:
    """With ``-v`` what belongs to each requirement; under ``--reqfile`` always what nothing verified."""
    in_full = config.get_verbosity() > 0
    if not in_full and not options.is_on(config, "whole"):
        return
    requirements = known_requirements(config)
    found = traces(run_report(__version__, items, tests=linked_tests(recorder), requirements=requirements))
    if in_full:
        yield from trace_lines(trace for trace in found if trace.checks or trace.examples or trace.tests)
    unverified = unverified_line(found)
    if unverified is not None:
        yield unverified


def _last_lines(outcomes: tuple[Outcome, ...]) -> Iterator[str]:
    requirements = tuple(o for o in outcomes if o.subject == "requirement" or _is_load_of(o, ".yaml", ".yml"))
    if requirements:
        judges = any(outcome.check == "decision" for outcome in requirements)
        yield summary_line(CheckReport(outcomes=requirements, judges=judges))
    verifiers = tuple(o for o in outcomes if o.subject == "verifier" or _is_load_of(o, ".toml"))
    if verifiers:
        report = VerifierReport(outcomes=verifiers)
        yield f"verifiers: {verifiers_line(report)}"
        if report.llm is not None and report.llm.used:
            yield report.llm.line
    oracle: list[str] = [outcome.status for outcome in outcomes if outcome.subject == "oracle"]
    if oracle:
        words = (("pass", "passed"), ("fail", "failed"), ("error", "blocked"))
        yield f"oracle commands: {', '.join(f'{oracle.count(status)} {word}' for status, word in words)}"


def _is_load_of(outcome: Outcome, *endings: str) -> bool:
    """Whether the outcome is that of a file that could not be loaded, of a kind that is told by its ending."""
    return outcome.subject == "load" and outcome.owner.endswith(endings)


def _unfailing_lines(outcome: Outcome) -> list[str]:
    if is_estimate(outcome):
        return [visible(line) for line in (f"{outcome.owner}: {outcome.reason}", *_notes(outcome))]
    if outcome.status == "advisory":
        lines = [line for finding in outcome.findings for line in finding_lines(outcome, finding)]
        if outcome.fix_hint and not any(finding.fix_hint for finding in outcome.findings):
            lines.append(visible(f"  fix: {outcome.fix_hint}"))
        return lines
    if outcome.status == "error" and not outcome.blocking:
        # A decision check that could not judge one unit has judged the others (spec reqfile.md 4.6).
        findings = [line for finding in outcome.findings for line in finding_lines(outcome, finding)]
        return [*findings, f"advisory error  {outcome.owner}  {first_message(outcome)}"]
    if outcome.subject == "lock":
        # What was not looked at: a lock that passes must not pass it over (issue 6).
        return [visible(f"{outcome.declared.path}: note: {note.lstrip()}") for note in _notes(outcome)]
    return []


def _model_lines(outcome: Outcome, allowed: bool) -> list[str]:
    """What a model was not shown or what it said in vain, and why its verdict gates or does not.

    Where it was ``allowed`` to be asked also why there is no verdict: who asks expects one.

    A pass must not pass that over (seed 000 "What is sent"); that it is advisory as always says nothing new.
    """
    is_judged = outcome.details.get("advisory") or "llm_calls" in outcome.details
    if outcome.subject != "verifier" or not is_judged or is_estimate(outcome):
        return []
    from pytest_reqfile.verifiers.spec import CAPPED_NOTE

    notes = (note for note in str(outcome.details.get("notes") or "").splitlines() if note != CAPPED_NOTE)
    told = [f"note  {outcome.owner}  {note}" for note in notes]
    if allowed and outcome.status == "skipped":
        told.insert(0, f"skipped  {outcome.owner}  {outcome.reason}")
    return list(map(visible, told))


def _notes(outcome: Outcome) -> list[str]:
    """The notes of a verifier or a lock, indented."""
    return [f"  {note}" for note in str(outcome.details.get("notes") or "").splitlines()]
