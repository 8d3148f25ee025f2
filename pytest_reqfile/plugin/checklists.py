"""llm verifiers of a pytest run: one purse for all of them, asked by whichever worker comes first (issue 9.6)."""

from __future__ import annotations

import json
from collections.abc import Callable
from functools import cached_property
from hashlib import sha256
from pathlib import Path
from typing import TYPE_CHECKING, Final

import pytest

from pytest_reqfile.errors import FileError, FormatError, UsageError
from pytest_reqfile.outcome import Outcome, from_wire, to_wire
from pytest_reqfile.plugin import options
from pytest_reqfile.plugin.wires import from_json, to_json
from pytest_reqfile.plugin.workers import run_folder_of
from pytest_reqfile.project.values import Project
from pytest_reqfile.verifiers.chat import NOT_ASKED_FOR, LlmOptions
from pytest_reqfile.verifiers.costs import Spending, read_max_cost
from pytest_reqfile.verifiers.predicate_eval import EvaluateChecklist, llm_is_off
from pytest_reqfile.verifiers.spec import Gate
from pytest_reqfile.workspace.environment import Environment
from pytest_reqfile.workspace.run_folder import shared_once

if TYPE_CHECKING:
    from pytest_reqfile.verifiers.llm_run import LlmRun

ALLOW_FLAG: Final = "--reqfile-allow-llm"
COST_FLAG: Final = "--reqfile-max-cost"
Evaluate = Callable[[], Outcome]


def max_cost(config: pytest.Config) -> float:
    """``--reqfile-max-cost`` in US dollars. Raises UsageError."""
    return read_max_cost(options.value(config, "max_cost"), COST_FLAG)


class Checklists:
    """What the options say about models, and the outcomes of llm verifiers that workers share.

    Each would have its own cap on costs otherwise, and which of them reached it would be chance.
    """

    def __init__(self, config: pytest.Config, environment: Environment) -> None:
        self._config = config
        self._environment = environment
        self._spending = Spending()
        self._folder: Path | None = run_folder_of(config)
        self._expected: dict[tuple[str, str], Evaluate] = {}
        self._llm: dict[Path, LlmRun] = {}
        self.gates = options.is_on(config, "gate_llm")

    @cached_property
    def options(self) -> LlmOptions:
        """Raises UsageError for a cap that is none."""
        return LlmOptions(
            allowed=options.is_on(self._config, "allow_llm"),
            estimate=options.is_on(self._config, "estimate"),
            max_cost_usd=max_cost(self._config),
            allow_flag=ALLOW_FLAG,
            cost_flag=COST_FLAG,
        )

    @property
    def is_on(self) -> bool:
        """Whether the user asked for anything but skipping; only then are the user's settings read."""
        return self.options.allowed or self.options.estimate

    def evaluator(self, project: Project) -> EvaluateChecklist:
        """What evaluates the checklists of a project. Raises UsageError for the user's ``[llm]`` settings."""
        return self._of(project).evaluate if self.is_on else llm_is_off(NOT_ASKED_FOR.format(flag=ALLOW_FLAG))

    def gate(self, project: Project) -> Gate | None:
        """``--reqfile-gate-llm`` for a project; None where it is off. Raises UsageError."""
        if not (self.gates and self.is_on):
            return None
        from pytest_reqfile.verifiers.llm_run import gate_of

        return gate_of(project, self._of(project))

    def _of(self, project: Project) -> LlmRun:
        root = project.place.root
        if root not in self._llm:
            from pytest_reqfile.verifiers.llm_run import open_llm

            try:
                self._llm[root] = open_llm(self._environment, project, self.options, spending=self._spending)
            except (FormatError, FileError) as error:
                raise UsageError(*error.messages) from error
            self._config.add_cleanup(self._llm[root].close)
        return self._llm[root]

    def expect(self, root: Path, name: str, evaluate: Evaluate) -> None:
        """This verifier is left to run, here or in another worker."""
        if self.is_on:
            self._expected[str(root), name] = evaluate

    def outcome(self, root: Path, name: str, evaluate: Evaluate) -> Outcome:
        """What the verifier comes to: under xdist all that are expected are evaluated by the first worker to ask."""
        key = (str(root), name)
        if self._folder is None or key not in self._expected:
            return evaluate()
        return self._together[key]

    @cached_property
    def _together(self) -> dict[tuple[str, str], Outcome]:
        assert self._folder is not None
        keys = list(self._expected)
        name = sha256(json.dumps(keys).encode("utf-8", "surrogatepass")).hexdigest()
        wires = from_json(shared_once(self._folder, f"llm-{name}", self._work_out))
        return dict(zip(keys, map(from_wire, wires), strict=True))

    def _work_out(self) -> bytes:
        return to_json([to_wire(evaluate()) for evaluate in self._expected.values()])
