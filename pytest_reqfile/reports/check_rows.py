"""A run of ``reqfile check`` requirement by requirement, as the pretty report tells it (spec reqfile.md 8.5)."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final, Literal

from pytest_reqfile.outcome import NOT_LOOKED_AT, Finding, FindingKind, Outcome
from pytest_reqfile.reports.words import counted
from pytest_reqfile.syntax.printable import visible

Grade = Literal["violation", "error", "advisory", "uncertain", "pass", "nothing"]

GRADES: Final[tuple[Grade, ...]] = ("violation", "error", "advisory", "uncertain", "pass", "nothing")
"""Most severe first."""
FAILING: Final = frozenset({"violation", "error"})
_KINDS: Final[tuple[FindingKind, ...]] = ("violation", "advisory", "uncertain")
_SENTENCE_END: Final = re.compile(r"(?<=[.!?])\s+(?=[A-Z0-9`\"'(])")


@dataclass(frozen=True, kw_only=True)
class Row:
    """One selected requirement with the outcomes of its checks, never empty."""

    outcomes: tuple[Outcome, ...]

    @property
    def id(self) -> str:
        """The requirement."""
        return self.outcomes[0].owner

    @property
    def folder(self) -> str:
        """The folder of its Reqfile; the empty string for the root."""
        return self.outcomes[0].declared.path.rpartition("/")[0]

    @property
    def must(self) -> str:
        """The first sentence of what is required."""
        return _SENTENCE_END.split(" ".join(self.outcomes[0].title.split()), maxsplit=1)[0]

    @property
    def source(self) -> str | None:
        """Where it is taken from, for a use block."""
        source = self.outcomes[0].details.get("source")
        return None if source is None else str(source)

    @property
    def findings(self) -> tuple[Finding, ...]:
        """What was found, violations first, each kind in plan order."""
        found = [finding for outcome in self.outcomes for finding in outcome.findings]
        return tuple(sorted(found, key=lambda finding: _KINDS.index(finding.kind)))

    @property
    def errors(self) -> tuple[Outcome, ...]:
        """The checks that could not be evaluated."""
        return tuple(outcome for outcome in self.outcomes if outcome.status == "error")

    @property
    def told_errors(self) -> tuple[Outcome, ...]:
        """The errors that a section tells; a key that is not set was told once, before the table."""
        return tuple(outcome for outcome in self.errors if not outcome.details.get("unset"))

    @property
    def seconds(self) -> float:
        """How long its commands took, one after the other."""
        return sum(outcome.seconds for outcome in self.outcomes)

    @property
    def grade(self) -> Grade:
        """The most severe thing there is to say."""
        kinds = {finding.kind for finding in self.findings}
        if "violation" in kinds:
            return "violation"
        if self.errors:
            return "error"
        for kind in ("advisory", "uncertain"):
            if kind in kinds:
                return kind
        looked = any(outcome.status not in NOT_LOOKED_AT for outcome in self.outcomes)
        return "pass" if looked else "nothing"

    def parts(self) -> Iterator[str]:
        """What the row says about it."""
        yield from self.counts()
        if self.grade == "pass":
            yield "pass"
        if all(outcome.status == "nothing_to_check" for outcome in self.outcomes):
            yield "nothing to check"
        units = sum(int(outcome.details.get("units") or 0) for outcome in self.outcomes)
        if units:
            yield f"{counted(units, 'unit')} judged"
        deferred = sum(outcome.status == "deferred" for outcome in self.outcomes)
        if deferred:
            yield f"{deferred} left for a full run"

    def counts(self) -> Iterator[str]:
        """What does not pass: violations, errors with their cause, then what does not gate."""
        count = {kind: sum(finding.kind == kind for finding in self.findings) for kind in _KINDS}
        if count["violation"]:
            yield counted(count["violation"], "violation")
        for outcome in self.errors:
            word = "not run" if outcome.check == "decision" else "error"
            yield f"{word} · {first_line(error_text(outcome))}"
        for kind in ("advisory", "uncertain"):
            if count[kind]:
                yield f"{count[kind]} {kind}"


def rows_of(outcomes: tuple[Outcome, ...]) -> tuple[Row, ...]:
    """A row for each requirement, in plan order; blocks of one id in several folders are several."""
    grouped: dict[tuple[str, str], list[Outcome]] = {}
    for outcome in outcomes:
        grouped.setdefault((outcome.owner, outcome.declared.path), []).append(outcome)
    return tuple(Row(outcomes=tuple(group)) for group in grouped.values())


def first_line(text: str) -> str:
    """The first line of a text of unknown origin, fit for a terminal."""
    return visible(text.strip().split("\n", 1)[0].rstrip())


def error_text(outcome: Outcome) -> str:
    """Why a check could not be evaluated; a command of several lines is named by its first."""
    reason, command = outcome.reason or "", str(outcome.details.get("command") or "")
    named = f"`{command}`"
    if "\n" not in command or not reason.startswith(named):
        return reason
    return f"`{command_line(command)}`{reason[len(named) :]}"


def command_line(command: str) -> str:
    """A command on one line: the first that does something, marked if there are more."""
    lines = [line.strip() for line in command.split("\n") if line.strip()]
    doing = [line for line in lines if not line.startswith("#")] or lines or [""]
    return visible(doing[0] + " …" * (len(doing) > 1))


def without_place(message: str, finding: Finding, identifier: str) -> str:
    """``message`` without what its line already says: the file and position before it, the id in brackets after it."""
    if finding.file is not None:
        place = re.compile(rf"(?:\./)?{re.escape(finding.file)}(?::\d+){{0,2}}:?\s+")
        found = place.match(message)
        message = message[found.end() :] if found else message
    return message.removesuffix(f" ({identifier})") or message
