"""The text of ``reqfile eval`` for people at a terminal (spec reqfile.md 6.5, pretty form)."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from pytest_reqfile.rates import wilson
from pytest_reqfile.reports.check_pretty import Style
from pytest_reqfile.reports.examples import ExamplesReport, RequirementExamples, case_text
from pytest_reqfile.reports.words import columns, counted, padded
from pytest_reqfile.syntax.printable import visible

CASES_SHOWN: Final = 8
_GREEN, _RED, _CYAN, _DIM = "32", "31", "36", "2"


def render_examples_pretty(report: ExamplesReport, style: Style) -> str:
    """A table of the requirements, each with its examples that are not as labeled, and a line that sums up."""
    blocks: list[str] = []
    if not style.quiet:
        requirements, examples = len(report.requirements), len(report.outcomes)
        blocks.append(f"reqfile eval · {counted(requirements, 'requirement')} · {counted(examples, 'example')}")
    width = max((columns(requirement.label) for requirement in report.requirements), default=0)
    shown = [r for r in report.requirements if not style.quiet or r.fails or _has_error(r)]
    rows = [line for requirement in shown for line in _rows(requirement, width, report.repeat, style)]
    if rows:
        blocks.append("\n".join(rows))
    blocks.append(_footer(report, style))
    return "\n\n".join(blocks) + "\n"


def _rows(requirement: RequirementExamples, width: int, repeat: int, style: Style) -> Iterator[str]:
    label = padded(requirement.label, width)
    yield f"  {_symbol(requirement, style)} {label}  {' · '.join(_parts(requirement))}"
    texts = [case_text(outcome, repeat=repeat) for outcome in requirement.outcomes]
    cases = [text.split("\n")[0] if not style.verbose else text for text in texts if text is not None]
    limit = len(cases) if style.verbose else CASES_SHOWN
    for text in cases[:limit]:
        yield "      " + visible(text.rstrip()).replace("\n", "\n        ")
    if len(cases) > limit:
        yield style.paint(f"      … {len(cases) - limit} more (reqfile eval -v)", _DIM)
    for gap in requirement.gaps:
        yield style.paint(f"      {gap}", _DIM)


def _symbol(requirement: RequirementExamples, style: Style) -> str:
    if _has_error(requirement):
        return style.paint("!", _RED)
    if requirement.evidence == "no evidence":
        return style.paint("–", _DIM)
    if requirement.evidence == "measured":
        return style.paint("≈", _CYAN)
    return style.paint("✗", _RED) if requirement.fails else style.paint("✓", _GREEN)


def _parts(requirement: RequirementExamples) -> Iterator[str]:
    if requirement.evidence == "no evidence":
        yield "no labeled examples"
    elif requirement.evidence == "asserted":
        yield "asserted"
        yield f"{requirement.as_labeled}/{len(requirement.outcomes)} as labeled"
    else:
        yield "measured"
        sides = ((" tuning", False), (" held out", True)) if requirement.has_holdout else (("", None),)
        for name, held_out in sides:
            rates = requirement.rates(held_out=held_out)
            yield f"caught{name} {_rate(rates.caught, rates.violations)}"
            yield f"false alarms{name} {_rate(rates.flagged, rates.correct)}"


def _rate(hits: int, total: int) -> str:
    interval = wilson(hits, total)
    return f"{hits}/{total} ({interval[0]}–{interval[1]}%)" if interval else "0/0"


def _has_error(requirement: RequirementExamples) -> bool:
    return any(outcome.status == "error" for outcome in requirement.outcomes)


def _footer(report: ExamplesReport, style: Style) -> str:
    errors = sum(outcome.status == "error" for outcome in report.outcomes)
    parts = []
    if report.failing:
        parts.append(style.paint(f"✗ {counted(report.failing, 'requirement')} failing their labels", _RED))
    if errors:
        parts.append(style.paint(f"! {counted(errors, 'example')} that could not run", _RED))
    if not report.outcomes:
        parts.append(style.paint("– no labeled examples: nothing was measured", _DIM))
    elif not parts:
        parts.append(style.paint("✓ no requirement fails its labels", _GREEN))
    if report.repeat > 1:
        parts.append(f"{report.repeat} runs each · {report.unstable} unstable")
    return "   ".join(parts)
