"""One outcome as the text of a pytest failure (design 2.3; seed 004 OUTPUT)."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Final

from pytest_reqfile.outcome import Finding, Location, Outcome
from pytest_reqfile.syntax.printable import visible

_NOTHING: Final = frozenset[str]()


def first_message(outcome: Outcome) -> str:
    """The first line of what went wrong: the summary line of a run."""
    text = outcome.reason if outcome.status == "error" else _leading(outcome).message
    return visible((text or "").strip().split("\n", 1)[0])


def crash_place(outcome: Outcome) -> Location:
    """Where an editor should go: the first finding that has a line, else where the item is declared."""
    for finding in _by_weight(outcome) if outcome.findings else ():
        if finding.file is not None and finding.line is not None:
            return Location(path=finding.file, line=finding.line)
    return outcome.declared


def failure_lines(outcome: Outcome, shown: Callable[[str], str]) -> list[str]:
    """What is required and why, each finding with place, message and fix hint, and where it is declared."""
    lines = list(_requirement_lines(outcome))
    if outcome.status == "error":
        lines += _indented("error: ", outcome.reason or "")
    for finding in _by_weight(outcome):
        lines += _finding_lines(finding, shown)
    if outcome.fix_hint and outcome.findings and not any(finding.fix_hint for finding in outcome.findings):
        lines += _indented("  fix: ", outcome.fix_hint)
    if outcome.details.get("block"):
        lines.append(f"from: {outcome.details['block']}, use {outcome.details['source']}")
    declared = outcome.declared
    return [visible(line) for line in (*lines, f"declared at {shown(declared.path)}:{declared.line}")]


def skip_reason(outcome: Outcome) -> str:
    """Why nothing was looked at, after the code that a verifier has for it (AR9H4)."""
    code = outcome.details.get("code")
    return visible(f"{code}: {outcome.reason}" if code else f"{outcome.reason}")


def advisory_reason(outcome: Outcome) -> str:
    """Why an advisory item shows: its first finding or error, and how many more there are."""
    more = len(outcome.findings) - 1
    place = crash_place(outcome) if outcome.findings and outcome.findings[0].line else None
    at = f"{visible(place.path, kept=_NOTHING)}:{place.line}: " if place else ""
    return f"{at}{first_message(outcome)}" + (f" (and {more} more)" if more > 0 else "")


def first_place(outcome: Outcome) -> tuple[str, int | None]:
    """The file of what went wrong first, and its line if it has one; where the item is declared otherwise."""
    leading = _leading(outcome)
    return (outcome.declared.path, outcome.declared.line) if leading.file is None else (leading.file, leading.line)


def enforced(outcome: Outcome) -> str | None:
    """What a verifier enforces and where that is written: ``rule "database" (.ai-rulez/rules/database.md:3)``."""
    target = outcome.details.get("target_id")
    if not target:
        return None
    path, line = outcome.details.get("target_path"), outcome.details.get("target_line")
    at = f" ({path}:{line})" if path and line else f" ({path})" if path else ""
    return f'{outcome.details.get("target_kind")} "{target}"{at}'


def _requirement_lines(outcome: Outcome) -> Iterator[str]:
    code = outcome.details.get("code")
    if outcome.title or code:
        yield (f"{code} " if code else "") + outcome.owner + (f": {outcome.title}" if outcome.title else "")
    target = enforced(outcome)
    if target:
        yield f"  enforces: {target}"
    elif outcome.why:
        yield f"  why: {outcome.why}"
    summary = str(outcome.details.get("message") or "")
    stated = outcome.details.get("stated") or any(finding.message in summary for finding in outcome.findings)
    if summary and outcome.findings and not stated:
        yield summary  # of a flat verifier no finding may say what was found: `key check failed` names no value


def _finding_lines(finding: Finding, shown: Callable[[str], str]) -> Iterator[str]:
    kind = "" if finding.kind == "violation" else f"{finding.kind}: "
    place = ""
    if finding.file is not None:
        # A name may hold line breaks: it must not look like a line of ours.
        place = visible(shown(finding.file), kept=_NOTHING) + (f":{finding.line}" if finding.line else "") + ": "
    probability = f"p={finding.probability:.2f} " if finding.probability is not None else ""
    found = f"  [{visible(finding.match, kept=_NOTHING)}]" if finding.match else ""
    yield from _indented(f"{place}{kind}{probability}", finding.message + found)
    if finding.fix_hint:
        yield from _indented("  fix: ", finding.fix_hint)


def _indented(start: str, text: str) -> Iterator[str]:
    first, *rest = text.rstrip().split("\n")
    yield start + first
    for line in rest:
        yield f"    {line}"


def _leading(outcome: Outcome) -> Finding:
    return _by_weight(outcome)[0] if outcome.findings else Finding(message=outcome.reason or outcome.status)


def _by_weight(outcome: Outcome) -> tuple[Finding, ...]:
    return tuple(sorted(outcome.findings, key=lambda finding: finding.kind != "violation"))
