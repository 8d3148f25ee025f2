"""The items of a Reqfile (design 2.1, 2.6)."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial

from pytest_reqfile.plugin import marks
from pytest_reqfile.plugin.opened import CheckKey, DecisionSource, OpenedRepository
from pytest_reqfile.plugin.plans import ItemPlan, load_plan, skipped_plan
from pytest_reqfile.reqfile.example_outcomes import CHECK_PREFIX, answers_with_probabilities, is_judged
from pytest_reqfile.reqfile.examples import Example
from pytest_reqfile.reqfile.values import DecisionCheck, Requirement


def requirement_plans(opened: OpenedRepository, path: str, *, is_named: bool) -> Iterator[ItemPlan]:
    """The items of one file: its requirements' checks, each followed by its examples.

    ``is_named`` says that the file itself was asked for, so that one which is left out says by what.
    """
    problems = opened.problems(path)
    if problems:
        yield load_plan(path, problems, opened.repository.root)
    requirements = opened.requirements(path)
    for requirement in requirements:
        yield from _check_plans(opened, requirement)
        yield from _example_plans(opened, requirement)
    reason = None if problems or requirements or not is_named else opened.why_not_collected(path)
    if reason is not None:
        yield skipped_plan(path, reason, opened.repository.root)


def _check_plans(opened: OpenedRepository, requirement: Requirement) -> Iterator[ItemPlan]:
    for name, check in requirement.named_checks():
        decides = isinstance(check, DecisionCheck)
        key = (requirement.location.path, requirement.id, name)
        yield ItemPlan(
            name=f"{requirement.id}/{name}",
            line=requirement.declaration(check).line,
            markers=marks.of_check(requirement, check),
            evaluate=partial(opened.evaluate, requirement, name),
            base=opened.repository.root,
            source=DecisionSource(opened=opened, key=key) if decides else None,
            log=partial(_log, opened, key) if decides else None,
        )


def _log(opened: OpenedRepository, key: CheckKey) -> str | None:
    return opened.decisions.log(key)


def _example_plans(opened: OpenedRepository, requirement: Requirement) -> Iterator[ItemPlan]:
    judged = is_judged(requirement)
    measured = judged or answers_with_probabilities(requirement)
    for example in opened.examples(requirement):
        yield ItemPlan(
            name=f"{requirement.id}/{CHECK_PREFIX}{example.item}",
            line=requirement.location.line,
            markers=marks.of_example(requirement, measured=measured, judged=judged),
            evaluate=partial(opened.evaluate_example, requirement, example),
            base=opened.repository.root,
            label=example.label.expected if isinstance(example, Example) else None,
        )
