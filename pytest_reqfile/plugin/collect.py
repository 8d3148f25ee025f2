"""Reqfiles as pytest files, and what is in them as items (design 2.1)."""

from __future__ import annotations

import os
from collections.abc import Iterator
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from pytest_reqfile.errors import GitError, Problem
from pytest_reqfile.outcome import Location, Outcome
from pytest_reqfile.plugin.items import ItemPlan, ReqfileItem
from pytest_reqfile.plugin.opened import OpenedRepository, load_outcome
from pytest_reqfile.reqfile.example_outcomes import CHECK_PREFIX, is_judged
from pytest_reqfile.reqfile.values import Check, CommandCheck, Requirement
from pytest_reqfile.workspace.paths import canonical, relative_to_root

if TYPE_CHECKING:
    from pytest_reqfile.plugin.state import RunState

LOAD = "load"
_FAST = pytest.mark.fast
_MODES = {"blocking": pytest.mark.blocking, "advisory": pytest.mark.advisory}
_JUDGED: pytest.MarkDecorator = getattr(pytest.mark, "llm-advisory")


class ReqfileFile(pytest.File):
    """A Reqfile.yaml, a near miss of one, or a .reqfile/config.yaml with something wrong in it."""

    def collect(self) -> Iterator[pytest.Item]:
        """An item of every check, in declaration order; ``load`` where the file has a problem."""
        for plan in self._plans():
            yield ReqfileItem.from_parent(self, name=plan.name, plan=plan)

    def _plans(self) -> Iterator[ItemPlan]:
        from pytest_reqfile.plugin.state import state_of

        state = state_of(self.config)
        try:
            opened = state.opened(self.path.parent)
        except GitError as error:
            problem = Problem(path=self.path.name, message=f"{error}; requirements need one")
            yield _load_plan(self.path.name, (problem,), str(self.path.parent))
            return
        path = relative_to_root(opened.repository.snapshot.root, canonical(self.path))
        if path is not None:
            yield from plans_of(opened, path, state)


def collect_file(session: pytest.Session, path: Path) -> Iterator[pytest.Item]:
    """The items of a file that pytest's walk did not meet, announced to every plugin as pytest announces its own."""
    inside = path.is_relative_to(session.config.rootpath)
    # pytest leaves files outside its root folder without a path in their ids, so two of one name would be one.
    named: dict[str, Any] = {} if inside else {"nodeid": os.path.relpath(path, session.config.rootpath)}
    collector: ReqfileFile = ReqfileFile.from_parent(session, path=path, **named)
    hooks = session.gethookproxy(path)
    hooks.pytest_collectstart(collector=collector)
    report = hooks.pytest_make_collect_report(collector=collector)
    for item in report.result if report.passed else ():
        hooks.pytest_itemcollected(item=item)
        yield item
    hooks.pytest_collectreport(report=report)


def plans_of(opened: OpenedRepository, path: str, state: RunState) -> Iterator[ItemPlan]:
    """The items of one file of a repository."""
    problems = opened.problems(path)
    if problems:
        yield _load_plan(path, problems, opened.repository.root)
    requirements = opened.requirements(path)
    for requirement in requirements:
        for name, check in requirement.named_checks():
            yield _check_plan(opened, requirement, name, check)
        yield from _example_plans(opened, requirement)
    if not problems and not requirements:
        absolute = opened.repository.snapshot.root / path
        reason = opened.why_not_collected(path) if state.is_named(absolute) else None
        if reason is not None:
            yield _skipped_plan(path, reason, opened.repository.root)


def _check_plan(opened: OpenedRepository, requirement: Requirement, name: str, check: Check) -> ItemPlan:
    return ItemPlan(
        name=f"{requirement.id}/{name}",
        line=requirement.declaration(check).line,
        markers=markers_of(requirement, check),
        evaluate=partial(opened.evaluate, requirement, name),
        base=opened.repository.root,
    )


def _example_plans(opened: OpenedRepository, requirement: Requirement) -> Iterator[ItemPlan]:
    """The labeled examples of a requirement; of a judged one they measure and never fail (seed 004 EXAMPLES)."""
    measured = is_judged(requirement)
    modes = (_MODES["advisory"], _JUDGED) if measured else (_MODES["blocking"],)
    for example in opened.examples(requirement):
        yield ItemPlan(
            name=f"{requirement.id}/{CHECK_PREFIX}{example.item}",
            line=requirement.location.line,
            markers=(requirement_mark(requirement), pytest.mark.example(of=requirement.id), *modes),
            evaluate=partial(opened.evaluate_example, requirement, example),
            base=opened.repository.root,
        )


def markers_of(requirement: Requirement, check: Check) -> tuple[pytest.MarkDecorator, ...]:
    """The markers of a check's item (design 2.2)."""
    markers = [requirement_mark(requirement)]
    if check.fast:
        markers.append(_FAST)
    markers.append(_MODES[check.mode])
    if not isinstance(check, CommandCheck) and check.mode == "advisory":
        markers.append(_JUDGED)
    return tuple(markers)


def requirement_mark(requirement: Requirement) -> pytest.MarkDecorator:
    """``requirement(id=…, kind=…)``, as ``-m "requirement(id='X')"`` finds it."""
    return pytest.mark.requirement(id=requirement.id, kind=requirement.kind)


def _load_plan(path: str, problems: tuple[Problem, ...], base: str) -> ItemPlan:
    outcome = load_outcome(path, problems)
    line = outcome.declared.line
    return ItemPlan(name=LOAD, line=line, markers=(pytest.mark.blocking,), evaluate=lambda: outcome, base=base)


def _skipped_plan(path: str, reason: str, base: str) -> ItemPlan:
    declared = Location(path=path, line=1)
    outcome = Outcome(subject="load", owner=path, check=LOAD, status="not_applicable", declared=declared, reason=reason)
    return ItemPlan(name=LOAD, line=1, markers=(), evaluate=lambda: outcome, base=base)
