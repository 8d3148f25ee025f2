"""The plain text of ``reqfile eval`` and ``reqfile test`` (spec reqfile.md 6.5, as in 0.4)."""

from __future__ import annotations

from collections.abc import Iterator

from pytest_reqfile.rates import wilson
from pytest_reqfile.reports.examples import ExamplesReport, Rates, RequirementExamples, case_text
from pytest_reqfile.syntax.printable import visible


def render_examples(report: ExamplesReport) -> str:
    """A line for each requirement, one for each example that is not as labeled, and how many of all there are."""
    lines = [line for requirement in report.requirements for line in _lines(requirement, report.repeat)]
    blank = [""] if lines else []
    return visible("\n".join([*lines, *blank, summary_line(report)])) + "\n"


def summary_line(report: ExamplesReport) -> str:
    """The last line: requirements by evidence, examples, and how many fail. Its words are never singular."""
    runs = f", {report.repeat} runs each, {report.unstable} unstable" if report.repeat > 1 else ""
    return (
        f"{len(report.requirements)} requirements: {report.count('asserted')} asserted, "
        f"{report.count('measured')} measured, {report.count('no evidence')} without evidence; "
        f"{len(report.outcomes)} examples{runs}. {report.failing} failing their labels."
    )


def _lines(requirement: RequirementExamples, repeat: int) -> Iterator[str]:
    yield from _head(requirement)
    for outcome in requirement.outcomes:
        text = case_text(outcome, repeat=repeat)
        if text is not None:
            yield from _indented(text)
    for gap in requirement.gaps:
        yield f"  {gap}"


def _head(requirement: RequirementExamples) -> Iterator[str]:
    label, evidence = requirement.label, requirement.evidence
    if evidence == "no evidence":
        yield f"{label}  no evidence: no labeled examples"
    elif evidence == "asserted":
        yield f"{label}  asserted: {len(requirement.outcomes)} examples, {requirement.as_labeled} as labeled"
    elif requirement.has_holdout:
        yield f"{label}  measured, no assertion"
        yield f"  tuning: {rates_text(requirement.rates(held_out=False))}"
        yield f"  held out: {rates_text(requirement.rates(held_out=True))}"
    else:
        yield f"{label}  measured, no assertion: {rates_text(requirement.rates())}"


def rates_text(rates: Rates) -> str:
    """Both rates with their intervals."""
    return (
        f"{rates.caught} of {rates.violations} violations caught "
        f"({_interval(rates.caught, rates.violations)}{rates.missed} missed, {rates.not_selected} not selected, "
        f"{rates.uncertain} uncertain); "
        f"{rates.flagged} of {rates.correct} correct examples flagged "
        f"({_interval(rates.flagged, rates.correct)}{rates.correct_uncertain} uncertain)"
    )


def _interval(hits: int, total: int) -> str:
    interval = wilson(hits, total)
    return f"95% interval {interval[0]} to {interval[1]}%; " if interval else ""


def _indented(text: str) -> Iterator[str]:
    first, *rest = text.rstrip().split("\n")
    yield f"  {first}"
    for line in rest:
        yield f"    {line}"
