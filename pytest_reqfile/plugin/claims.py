"""``--reqfile-oracle-sink``: the claims of the missions of a run, assembled from the brief (seed 003; design 2.1)."""

from __future__ import annotations

import json
from collections.abc import Iterable
from pathlib import Path

import pytest

from pytest_reqfile.errors import FileError
from pytest_reqfile.oracle.assembly import assemble
from pytest_reqfile.oracle.classify import Ending, blocked
from pytest_reqfile.oracle.mission import Mission
from pytest_reqfile.oracle.reading import read_mission
from pytest_reqfile.oracle.sink import Sink
from pytest_reqfile.oracle.summary import summary_lines
from pytest_reqfile.outcome import Outcome, from_wire
from pytest_reqfile.plugin.missions import RUN
from pytest_reqfile.plugin.recorder import Recorder
from pytest_reqfile.plugin.state import state_of
from pytest_reqfile.reports.run_report import ItemResult
from pytest_reqfile.workspace.machine import read_if_there


def write_claims(
    config: pytest.Config, recorder: Recorder, items: Iterable[ItemResult]
) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Write the claims of every mission with a sink: what kept one from being written, and what is to be said.

    What was deselected or never reached has no outcome and is blocked in the claims.
    """
    found = tuple(items)
    problems: list[str] = []
    notes: list[str] = []
    state = state_of(config)
    for path, folder in state.sinks.items():
        origin = (str(Path(path).parent), Path(path).name)
        mine = (item.outcome for item in found if recorder.origins.get(item.nodeid) == origin)
        try:
            notes += _assemble(Path(path), folder, state.reviewed_root, mine)
        except FileError as error:
            problems.append(f"--reqfile-oracle-sink: {error}")
    return tuple(problems), tuple(notes)


def _assemble(path: Path, folder: str, root: Path, outcomes: Iterable[Outcome]) -> tuple[str, ...]:
    mission = read_mission(read_if_there(path) or b"", path.name)
    sink = Sink(folder=Path(folder))
    found, taint = _left_by_session(sink, mission)
    assembled = assemble(mission, (*outcomes, *found), sink, root, taint=taint)
    return summary_lines(mission, assembled, folder)[-2:]


def _left_by_session(sink: Sink, mission: Mission) -> tuple[tuple[Outcome, ...], Ending | None]:
    """Outcomes of all that ran, reported by pytest or not, and what holds for the whole run; nothing before it ran."""
    if sink.artifact(RUN) is None:
        return (), None
    left = json.loads(sink.read(RUN))
    if left["mission"] != mission.digest:
        return (), blocked("source-drift", "the mission was changed while it was verified")
    taint = left["taint"]
    ending = None if taint is None else blocked(taint["reason"], taint["explanation"])
    return tuple(map(from_wire, left["outcomes"])), ending
