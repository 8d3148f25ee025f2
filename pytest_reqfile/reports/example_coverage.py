"""How well labeled examples cover requirements and verifiers: which classes each of them has (design 2.3)."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator
from typing import Final

from pytest_reqfile.outcome import Outcome
from pytest_reqfile.reports.words import counted

_VIOLATION: Final = frozenset({"violation", "fail"})
_CORRECT: Final = frozenset({"ok", "pass", "not_applicable"})
Owner = tuple[str, str]
"""A requirement's id and nothing, or a verifier's name and its file."""


def coverage_lines(outcomes: Iterable[Outcome]) -> Iterator[str]:
    """A line for the requirements and one for the verifiers of a run, where there are any.

    A verifier without a target cannot have examples and does not count. What was selected without its examples has
    them all the same.
    """
    found = tuple(outcomes)
    labels = _labels_by_owner(found)
    for noun, owners in (("requirement", _requirements(found)), ("verifier", _verifiers(found))):
        if owners:
            classes = Counter(_class_of(labels[owner]) for owner in owners)
            yield f"labeled examples of {counted(len(owners), noun)}: {_words(classes)}"


def _requirements(outcomes: tuple[Outcome, ...]) -> tuple[Owner, ...]:
    return tuple(dict.fromkeys((o.owner, "") for o in outcomes if o.subject == "requirement"))


def _verifiers(outcomes: tuple[Outcome, ...]) -> tuple[Owner, ...]:
    """By name and file: projects of one repository may have verifiers of one name."""
    found = (o for o in outcomes if o.subject == "verifier" and o.details.get("target_id"))
    return tuple(dict.fromkeys((o.owner, o.declared.path) for o in found))


def _labels_by_owner(outcomes: tuple[Outcome, ...]) -> defaultdict[Owner, set[str]]:
    labels: defaultdict[Owner, set[str]] = defaultdict(set)
    for outcome in outcomes:
        if outcome.subject == "example":
            labels[outcome.owner, ""].add(_label(outcome))
            labels[outcome.owner, outcome.declared.path].add(_label(outcome))
        elif outcome.subject in ("requirement", "verifier"):
            place = outcome.declared.path if outcome.subject == "verifier" else ""
            labels[outcome.owner, place].update(str(outcome.details.get("labels") or "").split())
    return labels


def _class_of(labels: set[str]) -> str:
    has = labels & _VIOLATION, labels & _CORRECT
    if all(has):
        return "both"
    if not any(has):
        return "none"
    return "violations" if has[0] else "correct"


def _label(outcome: Outcome) -> str:
    return str(outcome.details.get("label") or outcome.details.get("want"))


def _words(classes: Counter[str]) -> str:
    words = [f"{classes['both']} with both classes"]
    words += [f"{classes['violations']} with violations only"] * bool(classes["violations"])
    words += [f"{classes['correct']} with correct ones only"] * bool(classes["correct"])
    return ", ".join([*words, f"{classes['none']} with none"])
