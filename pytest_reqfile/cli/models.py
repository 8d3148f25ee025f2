"""What commands say about models, and a run that may ask them (seed 000 "LLM checklist verifiers")."""

from __future__ import annotations

import argparse
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import replace

from pytest_reqfile.project.values import Project
from pytest_reqfile.reports.llm_usage import ModelUse
from pytest_reqfile.verifiers.chat import LlmOptions
from pytest_reqfile.verifiers.costs import LlmUsage, read_max_cost
from pytest_reqfile.verifiers.run import Declared, VerifierRun, asks_model
from pytest_reqfile.workspace.environment import Environment


def llm_options(arguments: argparse.Namespace) -> LlmOptions:
    """``--allow-llm``, ``--max-cost`` and ``--estimate``. Raises UsageError."""
    return LlmOptions(
        allowed=arguments.allow_llm,
        estimate=arguments.estimate,
        max_cost_usd=read_max_cost(arguments.max_cost, "--max-cost"),
    )


def use_of(usage: LlmUsage) -> ModelUse:
    """What was used of models, for reports."""
    return ModelUse(
        calls=usage.calls,
        cached=usage.cached,
        prompt_tokens=usage.prompt_tokens,
        completion_tokens=usage.completion_tokens,
        cost_usd=usage.cost_usd,
        max_cost_usd=usage.max_cost_usd,
        unpriced=usage.unpriced,
        estimated=usage.estimated,
    )


@contextmanager
def with_models(
    run: VerifierRun, chosen: Iterable[Declared], project: Project, options: LlmOptions, *, gates: bool
) -> Iterator[VerifierRun]:
    """The run with what judges its checklists; ``gates`` is ``--gate-llm``.

    Without an llm verifier among ``chosen`` the user's ``[llm]`` settings are not even read: broken ones cannot break
    a project that has none.
    """
    if not any(asks_model(declared) for declared in chosen):
        yield run
        return
    from pytest_reqfile.verifiers.llm_run import gate_of, open_llm

    llm = open_llm(Environment.current(), project, options)
    gate = gate_of(project, llm) if gates else None
    try:
        yield replace(run, options=replace(run.options, checklist=llm.evaluate, gate=gate))
    finally:
        llm.close()
