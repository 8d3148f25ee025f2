"""How one run evaluates checklists: asking a model, estimating, or saying why not (seed 000 "Opt-in and gated")."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from pytest_reqfile.project.values import Project
from pytest_reqfile.verifiers.calibration_records import open_gate
from pytest_reqfile.verifiers.chat import Disabled, LlmOptions, open_client
from pytest_reqfile.verifiers.checklist import ask_model
from pytest_reqfile.verifiers.costs import Spending
from pytest_reqfile.verifiers.estimates import Estimate
from pytest_reqfile.verifiers.llm_settings import read_llm_settings
from pytest_reqfile.verifiers.predicate_eval import EvaluateChecklist, llm_is_off
from pytest_reqfile.verifiers.prompts import PROMPT_VERSION
from pytest_reqfile.verifiers.spec import Gate
from pytest_reqfile.workspace.environment import Environment
from pytest_reqfile.workspace.http import Transport


def _nothing() -> None:
    """Nothing is open."""


@dataclass(frozen=True, slots=True, kw_only=True)
class LlmRun:
    """``model`` is the run's in full, empty where there is none; ``disabled`` says why no model is asked."""

    evaluate: EvaluateChecklist
    model: str = ""
    disabled: str = ""
    close: Callable[[], None] = _nothing


def open_llm(
    environment: Environment,
    project: Project,
    options: LlmOptions,
    *,
    spending: Spending | None = None,
    transport: Transport | None = None,
) -> LlmRun:
    """What evaluates the checklists of ``project``. Only for runs with an llm verifier among the selected ones.

    Raises FormatError, FileError, UsageError for the user's ``[llm]`` settings: a broken one cannot break a project
    that has no llm verifier.
    """
    if options.estimate:
        return _estimating(environment, project, options)
    client = open_client(environment, project, options, spending=spending, transport=transport)
    if isinstance(client, Disabled):
        return LlmRun(evaluate=llm_is_off(client.reason), disabled=client.reason)
    evaluate = ask_model(client, options.max_cost_usd)
    return LlmRun(evaluate=evaluate, model=client.model, close=client.close)


def gate_of(project: Project, llm: LlmRun) -> Gate:
    """``--gate-llm``: a failure gates where the verifier is calibrated for the prompt and model of this run."""
    return open_gate(project.place, PROMPT_VERSION, llm.model)


def _estimating(environment: Environment, project: Project, options: LlmOptions) -> LlmRun:
    settings = read_llm_settings(environment, project)
    estimate = Estimate(
        model=settings.model,
        prices=settings.prices,
        max_cost_usd=options.max_cost_usd,
        cost_flag=options.cost_flag,
    )
    return LlmRun(evaluate=estimate.evaluate, model=settings.model)
