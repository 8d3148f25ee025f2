"""One repository in a pytest run: what it requires, planned once, evaluated item by item."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import groupby
from typing import TYPE_CHECKING

from pytest_reqfile.errors import FileError, Problem
from pytest_reqfile.outcome import Outcome
from pytest_reqfile.plugin.narrowing import Narrowing
from pytest_reqfile.reqfile.command import CommandContext
from pytest_reqfile.reqfile.discovery import in_reqfile_folder, is_config_like
from pytest_reqfile.reqfile.example_outcomes import (
    deferred_example,
    evaluate_example,
    is_judged,
    unchanged_example,
)
from pytest_reqfile.reqfile.example_run import ExampleContext
from pytest_reqfile.reqfile.examples import BrokenExample, Example, is_listed_whole, read_examples
from pytest_reqfile.reqfile.outcomes import check_outcome
from pytest_reqfile.reqfile.plan import PlannedCheck, Selection, plan_checks
from pytest_reqfile.reqfile.repository import Repository
from pytest_reqfile.reqfile.run import evaluate_check
from pytest_reqfile.reqfile.values import CommandCheck, DecisionCheck, Edition, Requirement
from pytest_reqfile.workspace.paths import contains, folder_of
from pytest_reqfile.workspace.program import our_program
from pytest_reqfile.workspace.walk import Walk

if TYPE_CHECKING:
    from pytest_reqfile.plugin.deciding import Decisions, Deliberation

CheckKey = tuple[str, str, str]
"""Reqfile path, requirement id and check name: what an item of ours is, whatever its node id."""


class OpenedRepository:
    """Asks the layers below and keeps what they say for the rest of the run."""

    def __init__(
        self,
        *,
        repository: Repository,
        narrowing: Narrowing,
        edition: Callable[[], Edition],
        deliberation: Callable[[], Deliberation],
    ) -> None:
        self.repository = repository
        self._narrowing = narrowing
        self._edition = edition
        self._asset_names: dict[str, frozenset[str]] = {}
        self._examples: dict[tuple[str, str], tuple[Example | BrokenExample, ...]] = {}
        self._deliberation = deliberation

    @cached_property
    def files(self) -> tuple[str, ...]:
        """The repository paths that have items: Reqfiles, and files whose problems would be lost otherwise."""
        with_requirements = {r.location.path for r in self.repository.catalog.requirements}
        return tuple(sorted(with_requirements.union(self._problems_by_file)))

    @cached_property
    def _problems_by_file(self) -> Mapping[str, tuple[Problem, ...]]:
        found: dict[str, tuple[Problem, ...]] = {}
        for problem in self.repository.catalog.problems:
            if problem.path is not None:
                found[problem.path] = (*found.get(problem.path, ()), problem)
        return found

    def problems(self, path: str) -> tuple[Problem, ...]:
        """What is wrong with one file."""
        return self._problems_by_file.get(path, ())

    def requirements(self, path: str) -> tuple[Requirement, ...]:
        """The requirements of one Reqfile, in the order product, code, process."""
        return self._requirements_by_file.get(path, ())

    @cached_property
    def _requirements_by_file(self) -> Mapping[str, tuple[Requirement, ...]]:
        ordered = sorted(self.repository.catalog.requirements, key=lambda requirement: requirement.location.path)
        return {path: tuple(found) for path, found in groupby(ordered, key=lambda r: r.location.path)}

    def why_not_collected(self, path: str) -> str | None:
        """Why a file that looks like ours is none of the repository's: no target, or no file of it at all."""
        if in_reqfile_folder(path) and not is_config_like(path):
            return f"{path} is in a .reqfile folder, where no requirements are read"
        excluder = self.repository.catalog.settings.excluder(path)
        if excluder is not None:
            return f"{path} is excluded by {excluder.path}"
        if not self.repository.snapshot.is_listed(path):
            return f"{path} is ignored by git"
        if not self.repository.snapshot.is_regular(path):
            return f"{path} is not a regular file"
        return None

    def evaluate(self, requirement: Requirement, name: str) -> Outcome:
        """The outcome of one check of a requirement; an error where its settings or files are not what they should be.

        It says which labels the requirement's examples have, whether they run with it or not. Raises FileError where
        its files cannot be told from what is no file.
        """
        outcome = self._evaluated(requirement, name)
        labels = {one.label.expected for one in self.examples(requirement) if isinstance(one, Example)}
        return replace(outcome, details={**outcome.details, "labels": " ".join(sorted(labels))}) if labels else outcome

    def _evaluated(self, requirement: Requirement, name: str) -> Outcome:
        planned = self._planned[requirement.location.path, requirement.id, name]
        doubt = self._doubt(requirement.folder, planned)
        if doubt is not None:
            return check_outcome(planned, "error", reason=doubt, blocking=True)
        if isinstance(planned.check, DecisionCheck) and planned.state == "run":
            return self.decisions.judged((requirement.location.path, requirement.id, name)).outcome
        return evaluate_check(planned, self._context)

    @cached_property
    def decisions(self) -> Decisions:
        """The decision checks of this run, judged together."""
        from pytest_reqfile.plugin.deciding import Decisions

        return Decisions(
            repository=self.repository,
            planned=lambda: self._planned,
            selection=lambda: self._selection,
            context=lambda: self._context,
            deliberation=self._deliberation(),
        )

    def examples(self, requirement: Requirement) -> tuple[Example | BrokenExample, ...]:
        """The labeled examples of a requirement; a folder of them that cannot be read is one that is broken."""
        key = (requirement.location.path, requirement.id)
        if key not in self._examples:
            self._examples[key] = self._read_examples(requirement)
        return self._examples[key]

    def _read_examples(self, requirement: Requirement) -> tuple[Example | BrokenExample, ...]:
        if requirement.imported is None and requirement.id not in self._with_files(requirement.folder):
            return ()
        try:
            return read_examples(self.repository.catalog, requirement)
        except FileError as error:
            problem = Problem(message=str(error))
            where = requirement.location
            return (BrokenExample(name="examples", item="load", declared=where, path=where.path, problems=(problem,)),)

    def _with_files(self, folder: str) -> frozenset[str]:
        """The names in a folder's .reqfile/, looked at once: most requirements have no files of their own."""
        if folder not in self._asset_names:
            walk = Walk(self.repository.snapshot.root)
            path = f"{folder}/.reqfile" if folder else ".reqfile"
            names = (entry.name for entry in walk.entries(path)) if walk.kind(path) == "folder" else ()
            self._asset_names[folder] = frozenset(names)
        return self._asset_names[folder]

    def evaluate_example(self, requirement: Requirement, example: Example | BrokenExample) -> Outcome:
        """The outcome of one labeled example, in a repository of its own.

        A fast run leaves it for a full one; a changed-only one has no reason to try what no change touches.
        """
        if self._narrowing.plain.fast:
            return deferred_example(example, requirement)
        if isinstance(example, Example) and self._is_untouched(requirement, example):
            return unchanged_example(example, requirement)
        return evaluate_example(example, requirement, self._example_context)

    def _is_untouched(self, requirement: Requirement, example: Example) -> bool:
        snapshot = self.repository.snapshot
        return not self._selection.runs_examples(requirement) and is_listed_whole(example, snapshot)

    @cached_property
    def _example_context(self) -> ExampleContext:
        return ExampleContext(
            repository=self.repository,
            edition=self._edition(),
            program=our_program(),
            service=self._deliberation().service if self._judges else None,
        )

    @property
    def _judges(self) -> bool:
        return any(is_judged(requirement) for requirement in self.repository.catalog.requirements)

    def narrow(self) -> None:
        """Work out what a changed-only run looks at. Raises pytest.UsageError for a base that cannot be used."""
        if self.repository.catalog.requirements:
            _ = self._selection

    @cached_property
    def _selection(self) -> Selection:
        return self._narrowing.selection(self.repository, self._edition())

    @cached_property
    def _planned(self) -> Mapping[CheckKey, PlannedCheck]:
        checks = plan_checks(self.repository.catalog, self._selection)
        return {(c.requirement.location.path, c.requirement.id, c.name): c for c in checks}

    @cached_property
    def _context(self) -> CommandContext:
        return CommandContext(
            root=self.repository.root,
            environment=self.repository.command_environment(),
            edition=self._edition(),
            program=our_program(),
        )

    def _doubt(self, folder: str, planned: PlannedCheck) -> str | None:
        """Why the check cannot be judged rightly, though nothing is wrong with it."""
        for path, problems in self._problems_by_file.items():
            if is_config_like(path) and contains(folder_of(folder_of(path)), folder):
                return f"its settings cannot be read: {problems[0]}"
        if isinstance(planned.check, CommandCheck) and planned.check.files is None:
            return None
        unseen = (problem for problem in self.repository.catalog.discovery.unseen if problem.path is not None)
        return next((f"its files cannot all be seen: {p}" for p in unseen if contains(folder, str(p.path))), None)


@dataclass(frozen=True, slots=True, kw_only=True)
class DecisionSource:
    """What a decision item stands for."""

    opened: OpenedRepository
    key: CheckKey

    def expect(self) -> None:
        """The item is going to run, here or in another worker."""
        self.opened.decisions.expect(self.key)
