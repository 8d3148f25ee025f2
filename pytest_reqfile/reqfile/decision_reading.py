"""The decision.yaml of each decision check, read from where its requirement keeps its files (spec reqfile.md 1.3)."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from pytest_reqfile.errors import FileError, FormatError, Problem
from pytest_reqfile.reqfile.catalog import Catalog
from pytest_reqfile.reqfile.decision import DECISION_NAME, Decision, parse_decision
from pytest_reqfile.reqfile.plan import PlannedCheck
from pytest_reqfile.reqfile.settings import CONFIG_NAME, DecisionSettings
from pytest_reqfile.reqfile.units import NoSelectorError, rule_problems
from pytest_reqfile.reqfile.values import DecisionCheck, Edition, Requirement
from pytest_reqfile.workspace.paths import relative_to_root, shown
from pytest_reqfile.workspace.walk import Walk

_PINNED_EXAMPLE: Final = "typesafe/jev-1.13-20260917"


@dataclass(frozen=True, slots=True, kw_only=True)
class DecidedCheck:
    """A planned decision check with what it asks and how its model is reached."""

    planned: PlannedCheck
    decision: Decision
    settings: DecisionSettings


def read_decisions(planned: Iterable[PlannedCheck], catalog: Catalog, edition: Edition) -> tuple[DecidedCheck, ...]:
    """Every decision check of a plan. Raises FormatError with the problems of all of them (spec 2.7, stage 5)."""
    decided: list[DecidedCheck] = []
    problems: list[Problem] = []
    for check in planned:
        if isinstance(check.check, DecisionCheck):
            try:
                decided.append(read_decision(check, catalog, edition))
            except FormatError as error:
                problems.extend(error.problems)
    if problems:
        raise FormatError(dict.fromkeys(problems))
    return tuple(decided)


def read_decision(planned: PlannedCheck, catalog: Catalog, edition: Edition) -> DecidedCheck:
    """The decision of one check. Raises FormatError with everything that is wrong with it."""
    requirement = planned.requirement
    settings = catalog.settings.decision(requirement.folder)
    decision = _parse(requirement, planned, catalog)
    unpinned = _unpinned(planned, settings, edition)
    if unpinned is not None:
        raise FormatError((unpinned,))
    return DecidedCheck(planned=planned, decision=decision, settings=settings)


def _parse(requirement: Requirement, planned: PlannedCheck, catalog: Catalog) -> Decision:
    path = _shown_path(requirement, catalog)
    try:
        text = _read(requirement, catalog)
    except FileError as error:
        reason = str(error).partition(": ")[2].removeprefix("cannot read: ")
        message = f"the decision check of {requirement.id} needs {path}: {reason}"
        declared = requirement.declaration(planned.check)
        raise FormatError((Problem(path=declared.path, line=declared.line, message=message),)) from error
    try:
        decision = parse_decision(text, path)
        _refuse_bad_rules(decision, path)
    except FormatError as error:
        raise _in_source(error, requirement) from error
    return decision


def _refuse_bad_rules(decision: Decision, path: str) -> None:
    """Without ast-grep no rule can be wrong yet: judging will say what is missing."""
    try:
        problems = rule_problems(decision, path)
    except NoSelectorError:
        return
    if problems:
        raise FormatError(problems)


def _read(requirement: Requirement, catalog: Catalog) -> str:
    """The text of decision.yaml; within the repository no symlink is followed to it."""
    folder = relative_to_root(Path(catalog.root), Path(requirement.assets))
    if folder is not None:
        return catalog.discovery.tree.read_text(f"{folder}/{DECISION_NAME}")
    data = Walk(Path(requirement.assets)).read(DECISION_NAME)
    try:
        return data.decode()
    except UnicodeDecodeError as error:
        raise FileError(f"{DECISION_NAME}: not valid UTF-8") from error


def _shown_path(requirement: Requirement, catalog: Catalog) -> str:
    """The repository path, of the source's repository where the definition is from one."""
    roots = (catalog.root, *(source.root for source in catalog.sources))
    folders = (relative_to_root(Path(root), Path(requirement.assets)) for root in roots)
    folder = next((folder for folder in folders if folder is not None), requirement.assets)
    return f"{folder}/{DECISION_NAME}"


def _in_source(error: FormatError, requirement: Requirement) -> FormatError:
    """Problems of another repository's files name it (spec 1.6)."""
    imported = requirement.imported
    if imported is None or imported.commit is None or not imported.checks_inherited:
        return error
    return FormatError(Problem(message=f"in {imported.use}: {problem}") for problem in error.problems)


def _unpinned(planned: PlannedCheck, settings: DecisionSettings, edition: Edition) -> Problem | None:
    """Edition 0.4: a model that may change tomorrow must not gate today (spec 4.6)."""
    model = settings.model
    if edition == "0.1" or planned.check.mode == "advisory" or not (model.startswith("~") or model.endswith("latest")):
        return None
    requirement = planned.requirement
    declared = requirement.declaration(planned.check)
    config = f"{requirement.folder}/{CONFIG_NAME}" if requirement.folder else CONFIG_NAME
    return Problem(
        path=declared.path,
        line=declared.line,
        message=(
            f"the decision check of {requirement.id} is blocking, so its model must be pinned, but "
            f"{shown(requirement.folder)} follows `{model}`; set `decision.model` to an exact version, "
            f"such as {_PINNED_EXAMPLE}, in {config}"
        ),
    )
