"""What holds for every report of ``check``, whatever tools and files say."""

from __future__ import annotations

import json

from hypothesis import given
from hypothesis import strategies as st

from pytest_reqfile.outcome import Finding, FindingKind, Outcome
from pytest_reqfile.reports.check import CheckReport, RunError
from pytest_reqfile.reports.check_json import render_json
from pytest_reqfile.reports.check_plain import render_plain
from pytest_reqfile.reports.check_pretty import Style, render_pretty
from tests.support.outcomes import outcome

KINDS: tuple[FindingKind, ...] = ("violation", "advisory", "uncertain")
# Undecodable bytes of names arrive as lone surrogates.
texts = st.text(st.characters(exclude_categories=()), max_size=40)
some_text = st.text(st.characters(exclude_categories=()), min_size=1, max_size=40)
lines = st.none() | st.integers(1, 10**6)


@st.composite
def findings(draw: st.DrawFn) -> Finding:
    file = draw(st.none() | some_text)
    return Finding(
        message=draw(texts),
        kind=draw(st.sampled_from(KINDS)),
        file=file,
        line=draw(lines) if file is not None else None,
        fix_hint=draw(texts),
        probability=draw(st.none() | st.floats(0, 1)),
    )


@st.composite
def outcomes(draw: st.DrawFn) -> Outcome:
    owner = draw(st.sampled_from(("A", "B", "LONG_NAME")))
    kind = draw(st.sampled_from(("looked", "error", "left")))
    common = {
        "folder": draw(st.sampled_from(("", "app", "a\nb"))),
        "must": draw(texts),
        "seconds": draw(st.floats(0, 9999)),
    }
    details = {"command": draw(texts), "files": draw(st.integers(0, 3)), "block": "b:1", "source": draw(texts)}
    if kind == "error":
        return outcome(owner, error=draw(some_text), blocking=draw(st.booleans()), details=details, **common)  # type: ignore[arg-type]
    if kind == "left":
        return outcome(owner, left=draw(st.sampled_from(("deferred", "nothing_to_check"))), details=details, **common)  # type: ignore[arg-type]
    return outcome(owner, findings=tuple(draw(st.lists(findings(), max_size=7))), details=details, **common)  # type: ignore[arg-type]


reports = st.builds(
    CheckReport,
    outcomes=st.lists(outcomes(), max_size=5).map(tuple),
    run_errors=st.lists(st.builds(RunError, message=some_text), max_size=2).map(tuple),
    judges=st.booleans(),
)


def _harmless(text: str) -> bool:
    return all(char in "\n\t" or char.isprintable() for char in text)


@given(reports)
def test_plain_text_cannot_be_forged(report: CheckReport) -> None:
    """Nothing unprintable; what starts a line is ours; the last line counts everything."""
    text = render_plain(report)
    assert _harmless(text)
    starts = [line for line in text.split("\n")[:-3] if line and not line.startswith(" ")]
    assert len(starts) == (len(report.findings) + len(report.errors) if len(text.split("\n")) > 2 else 0)
    assert text.endswith(f", {len(report.errors)} error{'s' * (len(report.errors) != 1)}.\n") or report.advisory_errors


@given(reports, st.booleans(), st.booleans(), st.integers(1, 200))
def test_pretty_text_is_harmless_and_never_says_pass_for_nothing(
    report: CheckReport, verbose: bool, quiet: bool, width: int
) -> None:
    """Whatever is asked for; a run that fails never says that every check passes."""
    text = render_pretty(report, Style(verbose=verbose, quiet=quiet, width=width))
    assert _harmless(text)
    footer = text.rstrip("\n").rpartition("\n")[2]
    passes = "every check passes" in footer
    assert passes == (not report.findings and not report.errors and report.checks_run > 0)


@given(reports)
def test_json_holds_every_finding_and_error_unchanged(report: CheckReport) -> None:
    """As one ASCII document that reads back."""
    text = render_json(report)
    document = json.loads(text)
    assert text.isascii()
    assert [finding["message"] for finding in document["findings"]] == [f.message for _, f in report.findings]
    assert [error["message"] for error in document["errors"]] == [error.message for error in report.errors]
    assert document["exit_code"] == report.exit_code
