"""A mission in a pytest run: its commands run in order, once, whichever worker comes first (seed 003; design 2.1)."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from functools import cached_property, partial
from hashlib import sha256
from pathlib import Path
from typing import Any, Final

import pytest

from pytest_reqfile.oracle.mission import Mission
from pytest_reqfile.oracle.opening import open_session
from pytest_reqfile.oracle.plan import PlannedItem, plan_mission
from pytest_reqfile.oracle.reading import read_mission
from pytest_reqfile.oracle.session import OracleOptions, OracleSession
from pytest_reqfile.oracle.sink import Sink
from pytest_reqfile.outcome import Outcome, from_wire, to_wire
from pytest_reqfile.plugin.marks import BLOCKING
from pytest_reqfile.plugin.plans import ItemPlan
from pytest_reqfile.plugin.wires import from_json, to_json
from pytest_reqfile.workspace.environment import Environment
from pytest_reqfile.workspace.files import temporary_folder
from pytest_reqfile.workspace.machine import read_if_there
from pytest_reqfile.workspace.run_folder import shared_once

RUN: Final = "run.json"
"""In the sink: what every command came to, which reports may not tell (``-x``, Ctrl-C), and a changed workspace."""
_MARKS: Final = (b'"verificationOracle"', b'"acceptanceCriteria"', b'"mustNotRegress"')
"""What is a mission even where the oracle is missing, which must then be told."""


def looks_like_mission(path: Path) -> bool:
    """Whether a JSON file that was named on the command line asks for a verification."""
    if path.suffix != ".json":
        return False
    data = read_if_there(path) or b""
    return any(mark in data for mark in _MARKS)


@dataclass(frozen=True, slots=True, kw_only=True)
class MissionSource:
    """What an item of a mission is planned from."""

    mission: OpenedMission
    name: str

    def expect(self) -> None:
        """The item is going to run, here or in another worker."""
        self.mission.expect(self.name)


@dataclass(frozen=True, kw_only=True)
class OpenedMission:
    """One mission; ``sink`` is where evidence goes, None for a run that nobody asked claims of.

    ``folder`` is where the workers of a run share what only one of them does, None in a run without workers.
    """

    path: Path
    root: Path
    sink: str | None
    folder: Path | None
    environment: Environment
    inside_reviewed: Callable[[], bool]

    @cached_property
    def mission(self) -> Mission:
        """The mission as read; its problems block every item of it."""
        return read_mission(read_if_there(self.path) or b"", self.path.name)

    @cached_property
    def _expected(self) -> set[str]:
        return set()

    def expect(self, name: str) -> None:
        """The item of this name is going to run, here or in another worker."""
        self._expected.add(name)

    def plans(self) -> Iterator[ItemPlan]:
        """An item of every oracle command and regression guard, in the order of the brief."""
        for item in plan_mission(self.mission):
            yield ItemPlan(
                name=item.name,
                line=item.location.line,
                markers=(pytest.mark.oracle, BLOCKING),
                evaluate=partial(self._outcome, item.name),
                base=str(self.path.parent),
                source=MissionSource(mission=self, name=item.name),
            )

    def _outcome(self, name: str) -> Outcome:
        return self._outcomes[name]

    @cached_property
    def _outcomes(self) -> dict[str, Outcome]:
        """Every expected item's outcome, in one isolated workspace: commands may build on each other."""
        items = [item for item in plan_mission(self.mission) if item.name in self._expected]
        if self.folder is None:
            wires = self._verify(items)
        else:
            key = sha256(json.dumps([str(self.path), [item.name for item in items]]).encode()).hexdigest()
            wires = from_json(shared_once(self.folder, key, lambda: to_json(self._verify(items))))
        return {wire["owner"] + "/" + wire["check"]: from_wire(wire) for wire in wires}

    def _verify(self, items: Sequence[PlannedItem]) -> list[dict[str, Any]]:
        options = OracleOptions(inside_reviewed=self.inside_reviewed())
        with ExitStack() as stack:
            folder = self.sink or str(stack.enter_context(temporary_folder("reqfile-oracle-")) / "sink")
            sink = Sink(folder=Path(folder))
            session = stack.enter_context(open_session(self.mission, self.root, sink, self.environment, options))
            try:
                for item in items:
                    session.evaluate(item)
            finally:
                _leave(session, sink)
            return [to_wire(outcome) for outcome in session.outcomes]


def _leave(session: OracleSession, sink: Sink) -> None:
    taint = session.final_check()
    found = None if taint is None else {"reason": taint.blocked, "explanation": taint.explanation}
    outcomes = [to_wire(outcome) for outcome in session.outcomes]
    sink.write_json(RUN, {"mission": session.mission.digest, "outcomes": outcomes, "taint": found})
