"""A pytest run as JUnit XML: every item exactly once, suites as in spec verifiers 9.5."""

from __future__ import annotations

from collections.abc import Iterable
from hashlib import sha256

from pytest_reqfile.outcome import NOT_LOOKED_AT, Outcome
from pytest_reqfile.reports.item_text import crash_place, failure_lines, first_message, first_place
from pytest_reqfile.reports.junit_document import Case, Suite, Verdict, junit_text
from pytest_reqfile.reports.run_report import RunReport, place_text
from pytest_reqfile.syntax.printable import visible

NAME = "pytest-reqfile"


def junit_report(report: RunReport) -> str:
    """One suite for each requirement, for what verifiers enforce, and for what is read; one case for each item."""
    grouped: dict[str, list[Case]] = {}
    for item in report.items:
        grouped.setdefault(_suite_name(item.outcome), []).append(_case(item.outcome))
    properties = {} if report.stopped is None else {"incomplete": report.stopped}
    suites = [Suite(name=name, cases=tuple(grouped[name]), properties=properties) for name in sorted(grouped)]
    if properties and not suites:
        suites = [Suite(name="run", cases=(), properties=properties)]
    return junit_text(NAME, suites)


def _suite_name(outcome: Outcome) -> str:
    target = outcome.details.get("target_id")
    if outcome.subject == "verifier":
        return f"{outcome.details.get('target_kind')}:{target}" if target else "config"
    if outcome.subject == "load":
        return "load"
    return f"{outcome.subject}:{outcome.owner}"


def _case(outcome: Outcome) -> Case:
    advisory = outcome.status == "advisory" or (outcome.status == "error" and not outcome.blocking)
    return Case(
        name=place_text(outcome.name, None),
        classname=outcome.owner,
        seconds=outcome.seconds,
        verdict=None if advisory else _verdict(outcome),
        output=f"{_weight(outcome)}: {_text(failure_lines(outcome, str))}" if advisory else "",
    )


def _weight(outcome: Outcome) -> str:
    """What an advisory case is called in its output: the verifier's severity (spec verifiers 9.5)."""
    return outcome.severity if outcome.subject == "verifier" else "advisory"


def _verdict(outcome: Outcome) -> Verdict | None:
    code = str(outcome.details.get("code") or "")
    if outcome.status in NOT_LOOKED_AT:
        return Verdict(kind="skipped", message=outcome.reason or "")
    if outcome.status == "error":
        text = _text(failure_lines(outcome, str))
        return Verdict(kind="error", message=first_message(outcome), text=text, type=code)
    if outcome.status == "fail":
        message = f"{place_text(*first_place(outcome))}: {first_message(outcome)}"
        return Verdict(
            kind="failure", message=message, text=_text(failure_lines(outcome, str)), type=code or "violation"
        )
    return None


def _text(lines: Iterable[str]) -> str:
    return "\n".join(lines)


def properties(outcome: Outcome) -> list[tuple[str, str]]:
    """What a test case of pytest's own ``--junitxml`` says of an outcome: few, flat, fit for XML (user-asks 26, 29).

    ``digest`` changes when what is required, or how it is checked, does.
    """
    place = crash_place(outcome)
    owner = outcome.subject if outcome.subject in {"verifier", "lock", "oracle", "load"} else "requirement"
    told = {
        owner: outcome.owner,
        "check": outcome.check,
        "status": outcome.status,
        "file": place.path,
        "line": str(place.line),
        "model": str(outcome.details.get("model") or ""),
        "digest": str(outcome.details.get("digest") or _digest(outcome)),
    }
    return [(name, visible(value)) for name, value in told.items() if value]


def _digest(outcome: Outcome) -> str:
    command = str(outcome.details.get("command") or "")
    said = (outcome.subject, outcome.name, outcome.title, outcome.why, outcome.fix_hint or "", command)
    return f"sha256:{sha256(chr(0).join(said).encode('utf-8', 'surrogatepass')).hexdigest()}"
