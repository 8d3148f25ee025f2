"""The rules of a SARIF report: what was required, why, and how to meet it (user-asks 36)."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace
from itertools import islice
from typing import TYPE_CHECKING, Final

from pytest_reqfile.outcome import Outcome, Subject
from pytest_reqfile.syntax.printable import visible

if TYPE_CHECKING:
    import sarif_om

FAILED_VERIFIER: Final = "AR9H1"
_DESCRIPTION_LIMIT: Final = 1024
"""Characters of a rule's descriptions that GitHub takes."""
_NAME_LIMIT: Final = 255
_TITLES: Final[dict[Subject, str]] = {
    "requirement": "{owner} is met",
    "verifier": "verifier {owner} holds",
    "example": "the checks of {owner} agree with its labeled examples",
    "lock": "the lock and what it pins agree",
    "oracle": "{owner} passes",
    "load": "every file that declares something can be read",
}

RuleKey = tuple[Subject, str]


def rule_key(outcome: Outcome) -> RuleKey:
    """The rule of an outcome: of a verifier ``AR9H1/ID`` (seed 000 "Design decisions"), of a flat one its name."""
    match outcome.subject:
        case "verifier":
            code = outcome.details.get("code") if outcome.status == "error" else None
            code = code or (FAILED_VERIFIER if outcome.details.get("target_id") else "")
            return "verifier", f"{code}/{outcome.owner}" if code else outcome.owner
        case "example":
            return "example", f"{outcome.owner}/examples"
        case "lock":
            return "lock", f"lock/{outcome.check or outcome.owner}"
        case "oracle":
            return "oracle", outcome.name
        case "load":
            return "load", "load"
        case "requirement":
            return "requirement", outcome.owner


@dataclass(frozen=True, slots=True, kw_only=True)
class RuleBook:
    """The rules in id order, and where each is; an id that two subjects claim carries the second one's subject."""

    rules: tuple[tuple[str, tuple[Outcome, ...]], ...]
    places: dict[RuleKey, int]
    written: dict[int, int]
    """Where in the report's list the rule of a place is; one that is not there is left out."""

    def id_of(self, key: RuleKey) -> str:
        """The id of a rule in the report."""
        return self.rules[self.places[key]][0]

    def index_of(self, place: int) -> int:
        """The index in the report; -1 is SARIF's word for a rule that is not described there."""
        return self.written.get(place, -1)

    def within(self, limit: int, needed: Iterable[int]) -> RuleBook:
        """At most ``limit`` rules in the report, those at the places ``needed`` before the others."""
        if len(self.rules) <= limit:
            return self
        kept = islice(dict.fromkeys((*sorted(needed), *range(len(self.rules)))), limit)
        return replace(self, written={place: index for index, place in enumerate(sorted(kept))})

    def descriptors(self) -> list[sarif_om.ReportingDescriptor]:
        """The rules as SARIF knows them."""
        return [_descriptor(*self.rules[place]) for place in self.written]


def rule_book(outcomes: Iterable[Outcome]) -> RuleBook:
    """The rules of everything that was evaluated or should have been, passes included."""
    grouped: dict[RuleKey, list[Outcome]] = {}
    for outcome in outcomes:
        grouped.setdefault(rule_key(outcome), []).append(outcome)
    ids: dict[str, RuleKey] = {}
    for key in sorted(grouped):
        subject, identifier = key
        ids[f"{subject}/{identifier}" if identifier in ids else identifier] = key
    ordered = sorted(ids)
    return RuleBook(
        rules=tuple((identifier, tuple(grouped[ids[identifier]])) for identifier in ordered),
        places={ids[identifier]: index for index, identifier in enumerate(ordered)},
        written={index: index for index in range(len(ordered))},
    )


def _descriptor(identifier: str, outcomes: tuple[Outcome, ...]) -> sarif_om.ReportingDescriptor:
    import sarif_om

    first = outcomes[0]
    title = _title(first)
    why = "" if first.subject in {"verifier", "example"} else first.why
    full = f"{title}\n\nWhy: {why}" if why else title
    return sarif_om.ReportingDescriptor(
        id=identifier,
        name=limited(first.owner, _NAME_LIMIT) if first.subject != "load" else "load",
        short_description=_message(title),
        full_description=_message(full),
        help=sarif_om.MultiformatMessageString(text=_help(outcomes, full)),
        properties=_properties(first),
    )


def _title(outcome: Outcome) -> str:
    told = "" if outcome.subject == "example" else outcome.title
    return told.strip() or _TITLES[outcome.subject].format(owner=outcome.owner)


def _help(outcomes: tuple[Outcome, ...], full: str) -> str:
    hints = dict.fromkeys(outcome.fix_hint for outcome in outcomes if outcome.fix_hint)
    return "\n".join(f"Fix: {hint}" for hint in hints) or full


def _properties(outcome: Outcome) -> dict[str, object]:
    enforced = {"rule": outcome.details.get("target_id"), "kind": outcome.details.get("target_kind")}
    if outcome.subject == "requirement":
        enforced = {"requirement": outcome.owner, "kind": outcome.details.get("kind")}
    return {key: value for key, value in enforced.items() if value} | {"tags": [outcome.subject]}


def _message(text: str) -> sarif_om.MultiformatMessageString:
    import sarif_om

    return sarif_om.MultiformatMessageString(text=limited(text, _DESCRIPTION_LIMIT))


def limited(text: str, limit: int) -> str:
    """``text`` as it is shown, in at most ``limit`` characters: what does not print takes up to ten, not one."""
    shown = visible(text[: limit + 1])
    return shown if len(shown) <= limit else f"{shown[: limit - 1]}…"
