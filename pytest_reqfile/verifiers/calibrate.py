"""``verifiers calibrate``: examples through the model, and the records they make (seed 000; spec/verifiers.md 6)."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from pytest_reqfile.errors import UsageError
from pytest_reqfile.verifiers.calibration import Labeled, Record, effective_model, measure
from pytest_reqfile.verifiers.costs import LlmUsage, total_usage
from pytest_reqfile.verifiers.examples import ExampleResult, run_example
from pytest_reqfile.verifiers.predicate_eval import EvaluateChecklist
from pytest_reqfile.verifiers.predicates import has_checklist
from pytest_reqfile.verifiers.prompts import PROMPT_VERSION
from pytest_reqfile.verifiers.run import VerifierRun
from pytest_reqfile.verifiers.values import SpecVerifier
from pytest_reqfile.verifiers.words import go_quoted


@dataclass(frozen=True, slots=True, kw_only=True)
class Calibrated:
    """One verifier: its record, and what its examples used of the model."""

    record: Record
    usage: LlmUsage | None


def select_calibrated(run: VerifierRun, names: Sequence[str]) -> tuple[SpecVerifier, ...]:
    """The llm verifiers to measure: the named ones in that order, or all of them by id.

    Raises UsageError for an unknown name, for a verifier without a model's verdict, and where any declaration is
    invalid: what is measured must be what is declared.
    """
    if run.declarations.invalid:
        raise UsageError(f"a verifier declaration is invalid: {run.declarations.invalid[0].message}")
    specs = {spec.id: spec for spec in run.declarations.specs}
    flat = {verifier.name for verifier in run.declarations.flat}
    if not names:
        return tuple(specs[name] for name in sorted(specs) if has_checklist(specs[name].require))
    for name in names:
        if name not in specs and name not in flat:
            raise UsageError(f"unknown verifier {go_quoted(name)}")
        if name in flat or not has_checklist(specs[name].require):
            raise UsageError(
                f"verifier {go_quoted(name)} has no llm predicate: only a model's verdict needs calibrating "
                "(`reqfile verifiers test` runs the examples of the others)"
            )
    return tuple(specs[name] for name in dict.fromkeys(names))


def calibrate(
    run: VerifierRun, chosen: Sequence[SpecVerifier], checklist: EvaluateChecklist, *, model: str, date: str
) -> Iterator[Calibrated]:
    """A record for each verifier, as soon as its examples have been judged. ``model`` is the run's, in full."""
    for verifier in chosen:
        results = tuple(run_example(verifier, example, run, checklist) for example in verifier.examples)
        labeled = [Labeled(name=one.example.name, expect=one.example.expect, got=one.got) for one in results]
        judge = effective_model(verifier, model)
        record = measure(verifier, labeled, prompt_version=PROMPT_VERSION, model=judge, date=date)
        yield Calibrated(record=record, usage=total_usage(one.usage for one in results))


def estimates(
    run: VerifierRun, chosen: Sequence[SpecVerifier], checklist: EvaluateChecklist
) -> tuple[ExampleResult, ...]:
    """What each example would send and cost; nothing is sent."""
    return tuple(run_example(verifier, example, run, checklist) for verifier in chosen for example in verifier.examples)
