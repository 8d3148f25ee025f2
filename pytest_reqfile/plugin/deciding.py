"""The decision items of a repository: judged together, once per run, whichever worker comes first (issue 8.6)."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from hashlib import sha256
from pathlib import Path
from typing import TYPE_CHECKING

from pytest_reqfile.errors import FileError
from pytest_reqfile.outcome import Outcome, from_wire, to_wire
from pytest_reqfile.plugin.wires import from_json, to_json
from pytest_reqfile.reqfile.answers import answers_of
from pytest_reqfile.reqfile.asking import Asking, Service
from pytest_reqfile.reqfile.command import CommandContext
from pytest_reqfile.reqfile.judging import AdvisoryErrors, unit_lines
from pytest_reqfile.reqfile.jury import Jury
from pytest_reqfile.reqfile.plan import PlannedCheck, Selection
from pytest_reqfile.reqfile.repository import Repository
from pytest_reqfile.reqfile.run import evaluate_checks
from pytest_reqfile.reqfile.values import DecisionCheck
from pytest_reqfile.workspace.processes import Cancellation
from pytest_reqfile.workspace.run_folder import shared_once

if TYPE_CHECKING:
    from pytest_reqfile.plugin.opened import CheckKey


@dataclass(frozen=True, slots=True, kw_only=True)
class Deliberation:
    """What judging in a pytest run needs besides the checks: ``folder`` is where workers share, if there are any."""

    service: Service
    advisory_errors: AdvisoryErrors | None
    folder: Path | None


@dataclass(frozen=True, slots=True, kw_only=True)
class JudgedItem:
    """An item's outcome, and its lines of the run log as JSON text."""

    outcome: Outcome
    log: str


class Decisions:
    """Judges the decision checks that a run was left with, at the first of them that runs."""

    def __init__(
        self,
        *,
        repository: Repository,
        planned: Callable[[], Mapping[CheckKey, PlannedCheck]],
        selection: Callable[[], Selection],
        context: Callable[[], CommandContext],
        deliberation: Deliberation,
    ) -> None:
        self._repository = repository
        self._planned = planned
        self._selection = selection
        self._context = context
        self._deliberation = deliberation
        self._expected: set[CheckKey] = set()
        self._judged: dict[CheckKey, JudgedItem] = {}

    def expect(self, key: CheckKey) -> None:
        """The item of this check is going to run, here or in another worker."""
        self._expected.add(key)

    def judged(self, key: CheckKey) -> JudgedItem:
        """What a check came to; asked for the first time, it judges all that are expected."""
        if key not in self._judged:
            open_checks = (self._expected | {key}) - self._judged.keys()
            keys = [k for k, check in self._planned().items() if k in open_checks and _is_to_judge(check)]
            self._judged |= self._together(keys)
        return self._judged[key]

    def log(self, key: CheckKey) -> str | None:
        """The lines of the run log of a check that was judged."""
        found = self._judged.get(key)
        return found.log if found is not None else None

    def _together(self, keys: Sequence[CheckKey]) -> dict[CheckKey, JudgedItem]:
        folder = self._deliberation.folder
        if folder is None:
            return dict(zip(keys, self._judge(keys), strict=True))
        name = sha256(json.dumps([self._repository.root, keys]).encode()).hexdigest()
        return dict(zip(keys, _decoded(shared_once(folder, name, lambda: _encoded(self._judge(keys)))), strict=True))

    def _judge(self, keys: Sequence[CheckKey]) -> list[JudgedItem]:
        """In a thread beside this one, which an interrupt may strike anywhere."""
        context = replace(self._context(), cancellation=Cancellation())
        checks = [self._planned()[key] for key in keys]
        answers = answers_of(self._repository.git)
        asking = Asking(self._deliberation.service, answers=answers, cancellation=context.cancellation)
        jury = Jury(
            catalog=self._repository.catalog,
            edition=context.edition,
            asking=asking,
            advisory_errors=self._deliberation.advisory_errors,
        )
        outcomes = list(evaluate_checks(checks, context, workers=1, judge=jury.judge))
        try:
            asking.save(prune=jury.saw_everything and self._is_everything(keys))
        except FileError as error:
            outcomes[0] = _with_error(outcomes[0], str(error), gates=jury.gates)
        lines = [tuple(unit_lines(v.judged)) if v.judged is not None else () for v in jury.verdicts]
        return [JudgedItem(outcome=o, log=json.dumps(found)) for o, found in zip(outcomes, lines, strict=True)]

    def _is_everything(self, keys: Sequence[CheckKey]) -> bool:
        """Whether no unit of the repository is left out, so that unused answers are those of no unit (seed 004)."""
        selection = self._selection()
        everything = {k for k, check in self._planned().items() if isinstance(check.check, DecisionCheck)}
        return selection.only is None and selection.candidates is None and everything == self._expected == set(keys)


def _is_to_judge(check: PlannedCheck) -> bool:
    return check.state == "run" and isinstance(check.check, DecisionCheck)


def _with_error(outcome: Outcome, message: str, *, gates: bool) -> Outcome:
    """A problem of the run that belongs to no check is told by its first item: none may be lost."""
    reason = f"{outcome.reason}\n{message}" if outcome.status == "error" else message
    return replace(outcome, status="error", reason=reason, blocking=outcome.blocking or gates)


def _encoded(items: Iterable[JudgedItem]) -> bytes:
    return to_json([{"outcome": to_wire(item.outcome), "log": item.log} for item in items])


def _decoded(data: bytes) -> Iterator[JudgedItem]:
    for wire in from_json(data):
        yield JudgedItem(outcome=from_wire(wire["outcome"]), log=wire["log"])
