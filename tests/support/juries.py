"""Decision checks judged in memory: a tree that is a mapping, a service that is a function."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from pytest_reqfile.outcome import Outcome
from pytest_reqfile.reqfile.answers import Answers
from pytest_reqfile.reqfile.asking import Asking, Service
from pytest_reqfile.reqfile.jury import Jury
from pytest_reqfile.reqfile.patience import Patience
from pytest_reqfile.reqfile.plan import PlannedCheck, Selection, plan_checks
from pytest_reqfile.reqfile.values import Edition
from pytest_reqfile.workspace.environment import Environment
from pytest_reqfile.workspace.http import Transport
from pytest_reqfile.workspace.processes import Cancellation
from tests.support.memory_tree import catalog_of

KEYED = Environment(variables={"OPENROUTER_API_KEY": "test-key"})


class Court:
    """One run over files in memory. ``cache`` is where answers are kept, if anywhere."""

    def __init__(
        self,
        files: Mapping[str, str | bytes],
        transport: Transport,
        *,
        cache: Path | None = None,
        edition: Edition = "0.1",
        environment: Environment = KEYED,
        cancellation: Cancellation | None = None,
        patience: Patience | None = None,
    ) -> None:
        self.catalog = catalog_of(files)
        assert self.catalog.problems == ()
        self.announced: list[str] = []
        service = Service(
            environment=environment,
            transport=transport,
            announce=self.announced.append,
            patience=patience or Patience(),
        )
        answers = Answers(cache) if cache is not None else None
        self.asking = Asking(service, answers=answers, cancellation=cancellation)
        self.jury = Jury(catalog=self.catalog, edition=edition, asking=self.asking)

    @property
    def planned(self) -> tuple[PlannedCheck, ...]:
        """Every check of the tree."""
        return plan_checks(self.catalog, Selection())

    def judge(self) -> tuple[Outcome, ...]:
        """All checks together, the answers kept."""
        outcomes = self.jury.judge(self.planned)
        self.asking.save(prune=True)
        return outcomes
