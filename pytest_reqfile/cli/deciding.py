"""What ``reqfile check`` asks a model: decision checks, and whether fixes break other requirements (seed 004)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

from pytest_reqfile.cli.terminal import Terminal
from pytest_reqfile.errors import FileError
from pytest_reqfile.outcome import Finding, Outcome
from pytest_reqfile.reports.check import RunError
from pytest_reqfile.reports.decisions import Conflict, Setup
from pytest_reqfile.reqfile.answers import answers_of
from pytest_reqfile.reqfile.asking import Asking, Service
from pytest_reqfile.reqfile.conflicts import Conflicts, conflict_lines, find_conflicts
from pytest_reqfile.reqfile.jury import Jury
from pytest_reqfile.reqfile.plan import Candidates, Selection, plan_checks
from pytest_reqfile.reqfile.repository import Repository
from pytest_reqfile.reqfile.values import DecisionCheck, Edition
from pytest_reqfile.syntax.printable import visible
from pytest_reqfile.workspace.http import HttpTransport
from pytest_reqfile.workspace.processes import Cancellation


@dataclass(kw_only=True)
class Deciding:
    """One run's questions: ``jury`` judges, ``conflicts`` are known once ``look_for_conflicts`` was called."""

    repository: Repository
    service: Service
    asking: Asking
    jury: Jury
    cancellation: Cancellation
    prune: bool
    conflicts: Conflicts = field(default_factory=Conflicts)

    def look_for_conflicts(self, findings: Sequence[tuple[Outcome, Finding]]) -> None:
        """Ask about the findings of all checks (spec 7.6)."""
        self.conflicts = find_conflicts(findings, self.repository.catalog, self.asking)

    def finish(self) -> tuple[RunError, ...]:
        """Keep the answers; what went wrong beside the checks. Only blocking decision checks make a lost cache gate."""
        self.service.transport.close()
        errors: list[RunError] = []
        if self.conflicts.error is not None:
            errors.append(RunError(message=self.conflicts.error, blocking=False))
        try:
            self.asking.save(prune=self.prune and self.jury.saw_everything)
        except FileError as error:
            errors.append(RunError(message=str(error), blocking=self.jury.gates))
        return tuple(errors)

    @property
    def setup(self) -> tuple[Setup, ...]:
        """The keys that decision checks waited for."""
        return tuple(
            Setup(variable=unset.variable, requirements=unset.requirements, blocking=unset.blocking)
            for unset in self.jury.unset
        )

    @property
    def found_conflicts(self) -> tuple[Conflict, ...]:
        """Fixes that would probably break another requirement."""
        return tuple(
            Conflict(
                requirement=answer.outcome.owner,
                declared=answer.outcome.declared,
                finding=answer.finding,
                breaks=answer.breaks,
                probability=answer.probability,
            )
            for answer in self.conflicts.answers
            if answer.is_conflict
        )

    def log_lines(self) -> tuple[dict[str, object], ...]:
        """What was asked, for the run log."""
        return (*self.jury.log_lines(), *conflict_lines(self.conflicts.answers))


def open_deciding(
    repository: Repository, selection: Selection, *, changed: bool, edition: Edition, terminal: Terminal
) -> Deciding:
    """What to ask in this run, with every decision.yaml read.

    Raises FormatError with the problems of every selected decision check.
    """
    catalog = repository.catalog
    cancellation = Cancellation()
    service = open_service(repository, terminal)
    asking = Asking(service, answers=answers_of(repository.git), cancellation=cancellation)
    jury = Jury(catalog=catalog, edition=edition, asking=asking)
    selected = plan_checks(catalog, Selection(only=selection.only, fast=selection.fast, candidates=_none))
    decisions = [check for check in selected if isinstance(check.check, DecisionCheck)]
    jury.read(decisions)
    prune = bool(decisions) and selection.only is None and not changed
    return Deciding(
        repository=repository, service=service, asking=asking, jury=jury, cancellation=cancellation, prune=prune
    )


def open_service(repository: Repository, terminal: Terminal) -> Service:
    """How this run reaches models; what the repository's own config chose is told on stderr before anything is sent."""
    return Service(
        environment=repository.environment,
        transport=HttpTransport(repository.environment),
        announce=lambda text: terminal.note(f"note: {visible(text)}"),
    )


def _none(requirement: object) -> Candidates:
    """Reading comes before anything is narrowed (spec 2.7)."""
    del requirement
    return Candidates(existing=())
