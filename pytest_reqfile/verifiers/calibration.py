"""How often a model's fail is right, measured on labeled examples (seed 000 "Calibrating llm verifiers"; spec 6)."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import Final, Literal

from pytest_reqfile.rates import wilson_interval
from pytest_reqfile.verifiers.calibration_digests import examples_digest, spec_digest
from pytest_reqfile.verifiers.models import full_model
from pytest_reqfile.verifiers.predicates import Checklist, leaves
from pytest_reqfile.verifiers.results import VerifierStatus
from pytest_reqfile.verifiers.values import Expectation, SpecVerifier

SCHEMA_VERSION: Final = 1
MIN_EXAMPLES: Final = 10
MIN_OF_A_CLASS: Final = 3
MIN_PRECISION: Final = 0.8
_VERDICTS: Final = frozenset({"pass", "fail", "not_applicable"})


@dataclass(frozen=True, slots=True, kw_only=True)
class Labeled:
    """One example: what its label expects and what the verifier said."""

    name: str
    expect: Expectation
    got: VerifierStatus


@dataclass(frozen=True, slots=True, kw_only=True)
class Confusion:
    """Counts of the fail verdict against labels; ``errors`` are examples without a verdict, in none of the others."""

    tp: int = 0
    fp: int = 0
    fn: int = 0
    tn: int = 0
    errors: int = 0

    @property
    def total(self) -> int:
        return self.tp + self.fp + self.fn + self.tn + self.errors

    @property
    def flagged(self) -> int:
        return self.tp + self.fp

    @property
    def precision(self) -> float:
        """How often a fail was right, in 0..1; 0 where there was none."""
        return self.tp / self.flagged if self.flagged else 0.0

    @property
    def recall(self) -> float:
        """How many of the real failures were found, in 0..1; 0 where there was none."""
        return self.tp / (self.tp + self.fn) if self.tp + self.fn else 0.0

    @property
    def f1(self) -> float:
        """The harmonic mean of both."""
        both = self.precision + self.recall
        return 2 * self.precision * self.recall / both if both else 0.0

    @property
    def precision_interval(self) -> tuple[float, float]:
        return wilson_interval(self.tp, self.flagged)

    @property
    def recall_interval(self) -> tuple[float, float]:
        return wilson_interval(self.tp, self.tp + self.fn)


@dataclass(frozen=True, slots=True, kw_only=True)
class Record:
    """One calibration. ``date`` is the day of the run in UTC, ``YYYY-MM-DD``; ``model`` the full name that answered.

    ``positives`` counts examples that are expected to fail. ``misses`` says why it does not meet the bar.
    """

    verifier: str
    spec_digest: str
    examples_digest: str
    prompt_version: str
    model: str
    date: str
    n_items: int
    positives: int
    counts: Confusion
    misses: tuple[str, ...] = ()
    cases: tuple[tuple[str, str], ...] = field(default=())
    status: Literal["pass", "fail"] = "fail"


def effective_model(verifier: SpecVerifier, run_model: str) -> str:
    """The model that judges, in full: the first one its checklists name, else the run's."""
    checklists = (leaf.model for leaf in leaves(verifier.require) if isinstance(leaf, Checklist))
    named = next(filter(None, checklists), "")
    return full_model(named, run_model) if run_model else named


def measure(
    verifier: SpecVerifier, labeled: Sequence[Labeled], *, prompt_version: str, model: str, date: str
) -> Record:
    """The record of one verifier whose examples have all been run."""
    positives = sum(one.expect == "fail" for one in labeled)
    counts = confusion((one.expect, one.got) for one in labeled)
    misses = bar_misses(len(labeled), positives, counts)
    return Record(
        verifier=verifier.id,
        spec_digest=spec_digest(verifier, prompt_version),
        examples_digest=examples_digest(verifier.examples),
        prompt_version=prompt_version,
        model=model,
        date=date,
        n_items=len(labeled),
        positives=positives,
        counts=counts,
        misses=misses,
        cases=tuple((one.name, one.got) for one in labeled),
        status="fail" if misses else "pass",
    )


def confusion(pairs: Iterable[tuple[str, str]]) -> Confusion:
    """Counts over what was expected and what was said; pass and not_applicable are both the absence of a fail."""
    labeled = tuple(pairs)
    judged = [(expect == "fail", got == "fail") for expect, got in labeled if got in _VERDICTS]
    return Confusion(
        tp=judged.count((True, True)),
        fp=judged.count((False, True)),
        fn=judged.count((True, False)),
        tn=judged.count((False, False)),
        errors=len(labeled) - len(judged),
    )


def bar_misses(total: int, positives: int, counts: Confusion) -> tuple[str, ...]:
    """What keeps a record of ``total`` examples from the bar of seed 000; recall has none.

    A verdict that gates must rarely be wrong; what a model overlooks costs what it did without one.
    """
    misses = []
    negatives = total - positives
    if total < MIN_EXAMPLES or min(positives, negatives) < MIN_OF_A_CLASS:
        misses.append(
            f"needs at least {MIN_EXAMPLES} labeled examples with at least {MIN_OF_A_CLASS} expected to fail and "
            f"{MIN_OF_A_CLASS} to pass (has {total}: {positives} fail, {negatives} pass)"
        )
    if counts.errors:
        misses.append(f"{counts.errors} example(s) could not be evaluated")
    if counts.precision < MIN_PRECISION:
        misses.append(
            f"precision {counts.precision:.2f} is below {MIN_PRECISION:.2f} "
            f"({counts.tp} of {counts.flagged} flagged examples were real failures)"
        )
    return tuple(misses)
