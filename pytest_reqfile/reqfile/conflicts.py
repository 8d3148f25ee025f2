"""Findings whose fix would break another requirement (spec reqfile.md 7.6): for people to decide, never gating."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from pytest_reqfile.errors import FileError
from pytest_reqfile.outcome import Finding, Outcome
from pytest_reqfile.reqfile.asking import Answer, Asking, Failure, Request
from pytest_reqfile.reqfile.catalog import Catalog
from pytest_reqfile.reqfile.judging import canonical_json, yes_no
from pytest_reqfile.reqfile.settings import DecisionSettings
from pytest_reqfile.reqfile.values import Requirement
from pytest_reqfile.syntax.printable import visible
from pytest_reqfile.workspace.paths import folder_of

CONFLICT_ABOVE: Final = 0.7
SOURCE_LIMIT: Final = 20_000
"""Characters of a file that a question about a finding carries."""
_CUT: Final = "\n… (cut)"
_SUBJECT: Final = "the change `finding.fix` asks for in `file`"
_YES: Final = "After the change the other requirement no longer holds, or cannot hold together with this one."
_NO: Final = "The change can be made while the other requirement still holds."


@dataclass(frozen=True, slots=True, kw_only=True)
class ConflictAnswer:
    """What was said of fixing one finding of ``outcome``: how probably it breaks the requirement ``breaks``."""

    outcome: Outcome
    finding: Finding
    breaks: str
    probability: float

    @property
    def is_conflict(self) -> bool:
        """Whether people should decide which of the two requirements wins."""
        return self.probability > CONFLICT_ABOVE


@dataclass(frozen=True, slots=True, kw_only=True)
class Conflicts:
    """Every answer in report order; ``unchecked`` says why nothing was asked, ``failed`` how much was not answered."""

    answers: tuple[ConflictAnswer, ...] = ()
    unchecked: str | None = None
    failed: int = 0
    first_failure: str = ""

    @property
    def error(self) -> str | None:
        """All failures as one message."""
        if not self.failed:
            return None
        return f"{self.failed} conflict questions could not be answered, first: {self.first_failure}"


@dataclass(frozen=True, slots=True, kw_only=True)
class _Asked:
    outcome: Outcome
    finding: Finding
    settings: DecisionSettings
    request: Request


def find_conflicts(findings: Iterable[tuple[Outcome, Finding]], catalog: Catalog, asking: Asking) -> Conflicts:
    """Ask about every finding that has a file and does not only wonder, with the settings of its requirement."""
    asked = tuple(_questions(findings, catalog))
    answers: dict[int, list[ConflictAnswer]] = {}
    failures: list[Failure] = []
    for settings in dict.fromkeys(each.settings for each in asked):
        group = [index for index, each in enumerate(asked) if each.settings == settings]
        replies = asking.ask(settings, [asked[index].request for index in group])
        for index, found in zip(group, replies, strict=True):
            failures += [reply for reply in found.values() if isinstance(reply, Failure)]
            answers[index] = [
                ConflictAnswer(
                    outcome=asked[index].outcome, finding=asked[index].finding, breaks=i, probability=r.probability
                )
                for i, r in found.items()
                if isinstance(r, Answer)
            ]
    return _together([answer for index in sorted(answers) for answer in answers[index]], failures)


def _together(answers: Iterable[ConflictAnswer], failures: Sequence[Failure]) -> Conflicts:
    unset = next((failure.unset for failure in failures if failure.unset is not None), None)
    told = [failure for failure in failures if failure.unset is None]
    return Conflicts(
        answers=tuple(answers),
        unchecked=f"{unset} is not set" if unset is not None else None,
        failed=len(told),
        first_failure=told[0].reason if told else "",
    )


def _questions(findings: Iterable[tuple[Outcome, Finding]], catalog: Catalog) -> Iterator[_Asked]:
    folders = {(r.location.path, r.id): r.folder for r in catalog.requirements}
    targets = frozenset(catalog.discovery.candidates)
    applying: dict[str, tuple[Requirement, ...]] = {}
    for outcome, finding in findings:
        own = folders.get((outcome.declared.path, outcome.owner))
        if own is None or finding.file is None or finding.kind == "uncertain":
            continue
        folder = folder_of(finding.file)
        if folder not in applying:
            applying[folder] = catalog.applying_to(folder)
        others = {r.id: _question(r) for r in applying[folder] if r.id != outcome.owner}
        if others:
            source = _source(finding.file, catalog) if finding.file in targets else None
            request = Request(state=_state(outcome, finding, source), questions=others)
            yield _Asked(outcome=outcome, finding=finding, settings=catalog.settings.decision(own), request=request)


def _question(other: Requirement) -> str:
    return yes_no(
        subject=_SUBJECT,
        question=f"Would making this change break this other requirement? {other.id}: {other.must} (why: {other.why})",
        yes=_YES,
        no=_NO,
    )


def _state(outcome: Outcome, finding: Finding, source: str | None) -> str:
    """Text from tools may hold anything; what a request carries is text that UTF-8 can hold."""
    found: Mapping[str, object] = {
        "requirement": outcome.owner,
        "must": outcome.title,
        "line": finding.line,
        "message": visible(finding.message),
        "fix": visible(finding.fix_hint or ""),
    }
    state: dict[str, object] = {"file": visible(finding.file or "", kept=frozenset()), "finding": found}
    if source is not None:
        state["source"] = source
    return canonical_json(state)


def _source(path: str, catalog: Catalog) -> str | None:
    """A target's text. What else a tool names may be ignored by git, or lie anywhere on the machine: it is not sent."""
    if not catalog.discovery.is_target(path):
        return None
    try:
        text = catalog.discovery.tree.read_text(path)
    except FileError:
        return None
    return text if len(text) <= SOURCE_LIMIT else text[:SOURCE_LIMIT] + _CUT


def conflict_lines(answers: Iterable[ConflictAnswer]) -> Iterator[dict[str, object]]:
    """A line of the run log for each answer (spec 8.6)."""
    for answer in answers:
        yield {
            "kind": "conflict",
            "requirement": answer.outcome.owner,
            "file": answer.finding.file,
            "line": answer.finding.line,
            "breaks": answer.breaks,
            "probability": answer.probability,
            "conflict": answer.is_conflict,
        }
