"""A pytest run as one HTML page: no script, no other file, readable without colours, by keyboard and screen reader."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from datetime import UTC, datetime
from html import escape
from typing import Final

from pytest_reqfile.outcome import Finding, Outcome, Status
from pytest_reqfile.reports.html_style import STYLE
from pytest_reqfile.reports.item_text import enforced
from pytest_reqfile.reports.run_report import ItemResult, RunReport, place_text
from pytest_reqfile.reports.traceability import Trace, traces
from pytest_reqfile.reports.words import counted, duration
from pytest_reqfile.syntax.printable import visible

_WORDS: Final[dict[Status, str]] = {
    "fail": "failed",
    "error": "error",
    "advisory": "advisory",
    "pass": "passed",
    "not_applicable": "not applicable",
    "nothing_to_check": "nothing to check",
    "skipped": "skipped",
    "inactive": "inactive",
    "deferred": "left for a full run",
}
"""Gravest first: the order of the page."""
_OPEN: Final = frozenset({"fail", "error", "advisory"})


def html_report(report: RunReport) -> str:
    """The page, with a final newline. Everything that did not pass is unfolded; text from outside is escaped."""
    return "\n".join(_page(report)) + "\n"


def _page(report: RunReport) -> Iterator[str]:
    yield '<!DOCTYPE html>\n<html lang="en">\n<head>\n<meta charset="utf-8">'
    yield '<meta name="viewport" content="width=device-width, initial-scale=1">'
    yield f"<title>{_title(report)}</title>\n<style>\n{STYLE}</style>\n</head>\n<body>"
    yield f"<header>\n<h1>{_title(report)}</h1>\n{_facts(report)}\n</header>\n<main>"
    if report.stopped is not None:
        told = f"The run ended early, so this report is not complete: {report.stopped}"
        yield f'<p class="stopped" role="alert">{_text(told)}</p>'
    yield from _summary(report)
    yield from _items(report)
    yield from _requirements(traces(report))
    yield "</main>\n</body>\n</html>"


def _title(report: RunReport) -> str:
    counts = report.counts()
    bad = [f"{counts['fail']} failed"] if counts["fail"] else []
    bad += [counted(counts["error"], "error")] if counts["error"] else []
    return "Requirements: " + (", ".join(bad) if bad else f"{counts['pass']} passed" if report.items else "nothing ran")


def _facts(report: RunReport) -> str:
    facts = [f"pytest-reqfile {_text(report.version)}", counted(len(report.items), "item")]
    if report.started:
        began = datetime.fromtimestamp(report.started, UTC)
        facts.append(f'<time datetime="{began:%Y-%m-%dT%H:%M:%SZ}">{began:%Y-%m-%d %H:%M} UTC</time>')
        facts.append(duration(report.seconds))
    return f"<p>{' · '.join(facts)}</p>"


def _summary(report: RunReport) -> Iterator[str]:
    counts = report.counts()
    yield '<section aria-labelledby="summary">\n<h2 id="summary">Summary</h2>\n<table>'
    yield '<thead><tr><th scope="col">Result</th><th scope="col">Items</th></tr></thead>\n<tbody>'
    for status in _WORDS:
        if counts[status]:
            yield f'<tr><th scope="row">{_badge(status)}</th><td>{counts[status]}</td></tr>'
    yield "</tbody>\n</table>\n</section>"


def _items(report: RunReport) -> Iterator[str]:
    yield '<section aria-labelledby="items">\n<h2 id="items">Items</h2>'
    if not report.items:
        yield "<p>This run looked at nothing.</p>"
    for status in _WORDS:
        for item in report.items:
            if item.outcome.status == status:
                yield from _item(item)
    yield "</section>"


def _item(item: ItemResult) -> Iterator[str]:
    outcome = item.outcome
    opened = " open" if outcome.status in _OPEN else ""
    yield f'<details class="{outcome.status}"{opened}>'
    name = f"<code>{_text(outcome.name)}</code>"
    yield f"<summary>{_badge(outcome.status)} {name} <span>{_lead(outcome)}</span></summary>"
    yield "<dl>"
    for term, told in _terms(outcome):
        yield f"<dt>{term}</dt><dd>{told}</dd>"
    yield "</dl>"
    if outcome.findings:
        yield "<ol>"
        yield from (_finding(outcome, finding) for finding in outcome.findings)
        yield "</ol>"
    yield "</details>"


def _lead(outcome: Outcome) -> str:
    return _text(outcome.title or outcome.reason or "")


def _terms(outcome: Outcome) -> Iterator[tuple[str, str]]:
    if outcome.why and outcome.subject == "requirement":
        yield "Why", _text(outcome.why)
    target = enforced(outcome)
    if target:
        yield "Enforces", _text(target)
    if outcome.reason:
        yield ("Error" if outcome.status == "error" else "Reason"), _text(outcome.reason)
    if outcome.details.get("block"):
        yield "Taken from", _text(str(outcome.details["source"]))
    if not outcome.blocking:
        yield "Gate", "advisory: it never fails the run"
    yield "Declared at", f"<code>{_place(outcome.declared.path, outcome.declared.line)}</code>"


def _finding(outcome: Outcome, finding: Finding) -> str:
    parts = []
    if finding.file is not None:
        parts.append(f"<code>{_place(finding.file, finding.line)}</code>")
    if finding.kind != "violation":
        parts.append(f"<b>{finding.kind}</b>")
    if finding.probability is not None:
        parts.append(
            f"probability {finding.probability:.2f}" + (f" by {_text(finding.model)}" if finding.model else "")
        )
    hint = finding.fix_hint or outcome.fix_hint
    fix = f'<p class="fix"><b>Fix:</b> {_text(hint)}</p>' if hint else ""
    return f"<li>{' '.join(parts)}<p>{_text(finding.message)}</p>{fix}</li>"


def _requirements(found: Iterable[Trace]) -> Iterator[str]:
    known = tuple(found)
    if not known:
        return
    yield '<section aria-labelledby="requirements">\n<h2 id="requirements">Requirements</h2>\n<table>'
    heads = ("Requirement", "Verified in this run", "Checks", "Examples", "Linked tests")
    yield "<thead><tr>" + "".join(f'<th scope="col">{head}</th>' for head in heads) + "</tr></thead>\n<tbody>"
    yield from map(_requirement, known)
    yield "</tbody>\n</table>\n</section>"


def _requirement(trace: Trace) -> str:
    requirement = trace.requirement
    cells = (
        "yes" if trace.is_verified else "<b>no</b>",
        _list((_badge(item.outcome.status), item.outcome.check) for item in trace.checks),
        _list((_badge(item.outcome.status), item.outcome.check.partition("/")[2]) for item in trace.examples),
        _list((f"<b>{test.result}</b>", test.nodeid) for test in trace.tests),
    )
    head = f'<th scope="row"><code>{_text(requirement.id)}</code><p>{_text(requirement.must)}</p></th>'
    return f"<tr>{head}{''.join(f'<td>{cell}</td>' for cell in cells)}</tr>"


def _list(rows: Iterable[tuple[str, str]]) -> str:
    told = "".join(f"<li>{badge} <code>{_text(name)}</code></li>" for badge, name in rows)
    return f"<ul>{told}</ul>" if told else "none"


def _badge(status: Status) -> str:
    return f'<span class="badge {status}">{_WORDS[status]}</span>'


def _place(path: str, line: int | None) -> str:
    return escape(place_text(path, line))


def _text(text: str) -> str:
    """Text from outside: nothing in it is markup, and control characters show."""
    return escape(visible(text.strip()))
