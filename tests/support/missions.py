"""Missions for tests, and verifying them in this process."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from pytest_reqfile.errors import UsageError
from pytest_reqfile.oracle.assembly import Assembled, assemble
from pytest_reqfile.oracle.mission import Mission
from pytest_reqfile.oracle.opening import open_session
from pytest_reqfile.oracle.reading import read_mission
from pytest_reqfile.oracle.results import Result
from pytest_reqfile.oracle.session import OracleOptions
from pytest_reqfile.oracle.sink import Sink, open_sink
from pytest_reqfile.outcome import Outcome
from pytest_reqfile.workspace.environment import Environment
from pytest_reqfile.workspace.isolation import Request, isolated_workspace
from pytest_reqfile.workspace.processes import Cancellation
from tests.support.repo import Repo

PATH = "mission.json"


def entry(command: str | Sequence[str], expected: int = 0, check_id: str = "C", **more: object) -> dict[str, object]:
    """An oracle command."""
    given = command if isinstance(command, str) else list(command)
    return {"command": given, "expectedExitCode": expected, "checkId": check_id, **more}


def criterion(identifier: str = "AC-1", check_id: str | None = "C", text: str = "It works.") -> dict[str, object]:
    """An acceptance criterion."""
    return {"id": identifier, "text": text, **({} if check_id is None else {"checkId": check_id})}


def mission_text(*oracle: object, criteria: Sequence[object] = (), **more: object) -> str:
    """A mission with these oracle entries."""
    return json.dumps({"verificationOracle": list(oracle), "acceptanceCriteria": list(criteria), **more})


def mission(*oracle: object, criteria: Sequence[object] = (), **more: object) -> Mission:
    """As ``mission_text``, read; fails the test if anything is wrong with it."""
    read = read_mission(mission_text(*oracle, criteria=criteria, **more).encode(), PATH)
    assert read.problems == ()
    return read


@dataclass(frozen=True, slots=True, kw_only=True)
class Verified:
    """What one run over a mission left behind."""

    mission: Mission
    outcomes: tuple[Outcome, ...]
    assembled: Assembled
    sink: Sink

    @property
    def overall(self) -> str:
        return self.assembled.overall

    @property
    def claims(self) -> dict[str, Any]:
        document: dict[str, Any] = json.loads(self.sink.read("worker-claims.json"))
        return document

    def result(self, name: str) -> Result:
        return self.assembled.results[name]

    @property
    def only(self) -> Result:
        """The result of the one item."""
        (result,) = self.assembled.results.values()
        return result

    def receipt(self, name: str = "") -> dict[str, Any]:
        """The receipt of an item, or of the only one."""
        result = self.result(name) if name else self.only
        assert result.receipt is not None
        receipt: dict[str, Any] = json.loads(self.sink.read(result.receipt.ref))
        return receipt

    def output(self, name: str = "", stream: str = "stdout") -> bytes:
        """What an item's command wrote."""
        return self.sink.read(self.receipt(name)[stream]["path"])


def verify(
    repo: Repo,
    what: Mission,
    *,
    isolation: Request = "auto",
    options: OracleOptions | None = None,
    variables: Mapping[str, str] | None = None,
    sink: Path | None = None,
    root: Path | None = None,
    cancel: Cancellation | None = None,
) -> Verified:
    """Run every item of the mission over ``repo`` and assemble; evidence goes beside the repository."""
    root = root or repo.root
    evidence = open_sink(sink or repo.home / "sink", root)
    chosen = options or OracleOptions(isolation=isolation, timeout_ms=20_000)
    env = Environment(variables={**repo.variables, **(variables or {})})
    with open_session(what, root, evidence, env, chosen, cancel=cancel) as session:
        outcomes = tuple(session.evaluate(item) for item in session.items)
        taint = session.final_check()
    assembled = assemble(what, outcomes, evidence, root, taint=taint)
    return Verified(mission=what, outcomes=outcomes, assembled=assembled, sink=evidence)


def is_offered(folder: Path, mode: Request) -> bool:
    """Whether this machine offers an isolation mode."""
    folder.mkdir(parents=True, exist_ok=True)
    try:
        with isolated_workspace(folder, Environment.current(), mode):
            return True
    except UsageError:
        return False
