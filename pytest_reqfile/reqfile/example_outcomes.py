"""A labeled example as an outcome, for pytest items and for the report of ``reqfile eval`` (design 2.1, 2.3)."""

from __future__ import annotations

from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import Final

from pytest_reqfile.outcome import Finding, FindingKind, Outcome, Status
from pytest_reqfile.reqfile.example_cells import CaseResult
from pytest_reqfile.reqfile.example_run import ExampleContext, run_example
from pytest_reqfile.reqfile.examples import BrokenExample, Example
from pytest_reqfile.reqfile.labels import Expected
from pytest_reqfile.reqfile.outcomes import DEFERRED
from pytest_reqfile.reqfile.values import CommandCheck, DecisionCheck, Requirement

CHECK_PREFIX: Final = "examples/"
UNCHANGED: Final = "nothing to check: neither the requirement nor the example changed"
_FIX_HINT: Final = "Make the checks agree with the label, or correct the label."
_EXPECTED: Final[dict[Expected, str]] = {"violation": "a violation", "ok": "none"}


def evaluate_example(
    example: Example | BrokenExample, requirement: Requirement, context: ExampleContext, *, repeat: int = 1
) -> Outcome:
    """The outcome of one example, run ``repeat`` times, each time in a repository of its own.

    Of an asserted requirement a wrong label fails; of a measured one, or where the failure is known, it is advisory.
    A requirement is measured if a model judges it, or a command of it answers with probabilities: without a model,
    an item knows only of its own. ``details`` carry label, cell and what ``reports.examples`` counts.
    """
    if isinstance(example, BrokenExample):
        return _outcome(example, requirement, None, reason="\n".join(map(str, example.problems)))
    runs = tuple(run_example(example, requirement, context) for _ in range(repeat))
    result = CaseResult(label=example.label, runs=runs)
    reason = result.errors[0].text.removeprefix("error: ") if result.errors else None
    return _outcome(example, requirement, result, reason=reason)


def deferred_example(example: Example | BrokenExample, requirement: Requirement) -> Outcome:
    """The outcome of an example that a fast run leaves for a full one."""
    return _left_out(example, requirement, "deferred", DEFERRED)


def unchanged_example(example: Example | BrokenExample, requirement: Requirement) -> Outcome:
    """The outcome of an example that a changed-only run has no reason to try."""
    return _left_out(example, requirement, "nothing_to_check", UNCHANGED)


def _left_out(example: Example | BrokenExample, requirement: Requirement, status: Status, reason: str) -> Outcome:
    """Labels are known all the same, so that coverage can be told."""
    label = example.label.expected if isinstance(example, Example) else None
    return Outcome(
        subject="example",
        owner=requirement.id,
        check=f"{CHECK_PREFIX}{example.item}",
        status=status,
        declared=example.declared,
        reason=reason,
        blocking=not is_judged(requirement),
        title=requirement.must,
        why=requirement.why,
        details={"example": example.name, "path": example.path, "label": label},
    )


def evaluate_examples(
    cases: Sequence[tuple[Requirement, Example]], context: ExampleContext, *, workers: int, repeat: int = 1
) -> tuple[Outcome, ...]:
    """The outcomes in the order of ``cases``; at most ``workers`` run at a time, each in a repository of its own.

    An interrupt stops every running command and is raised again once none is left.
    """
    if workers == 1 or len(cases) <= 1:
        return tuple(evaluate_example(e, requirement, context, repeat=repeat) for requirement, e in cases)
    with ThreadPoolExecutor(max_workers=workers, thread_name_prefix="reqfile") as pool:
        futures = [pool.submit(evaluate_example, e, requirement, context, repeat=repeat) for requirement, e in cases]
        try:
            return tuple(future.result() for future in futures)
        except BaseException:
            pool.shutdown(wait=False, cancel_futures=True)
            if context.cancellation is not None:
                context.cancellation.cancel()
            raise


def answers_with_probabilities(requirement: Requirement) -> bool:
    """Whether a command says so itself, by thresholds: one run of an item alone may show no probability."""
    return any(isinstance(check, CommandCheck) and check.thresholds.declared for check in requirement.checks)


def is_judged(requirement: Requirement) -> bool:
    """Whether a model judges the requirement, so that its examples measure rather than assert."""
    return any(isinstance(check, DecisionCheck) for check in requirement.checks)


def _outcome(
    example: Example | BrokenExample, requirement: Requirement, result: CaseResult | None, *, reason: str | None
) -> Outcome:
    measured = is_judged(requirement) or _is_probabilistic(result)
    asserts = not (measured or answers_with_probabilities(requirement))
    known = result is not None and not result.as_labeled and result.accepted
    failed = result is not None and not reason and not result.as_labeled
    status: Status = "error" if reason else "pass"
    if failed and result is not None:
        status = "fail" if asserts and not known else "advisory"
    return Outcome(
        subject="example",
        owner=requirement.id,
        check=f"{CHECK_PREFIX}{example.item}",
        status=status,
        declared=example.declared,
        findings=(_finding(example, result, status == "advisory"),) if failed and result else (),
        reason=reason,
        blocking=asserts or reason is not None,  # a case that cannot run is an error, whatever it would measure
        looked_at=int(reason is None),
        seconds=sum(run.seconds for run in result.runs) if result else 0.0,
        title=requirement.must,
        why=requirement.why,
        fix_hint=_FIX_HINT,
        details={"example": example.name, "path": example.path} | _details(result, measured),
    )


def _is_probabilistic(result: CaseResult | None) -> bool:
    return result is not None and any(run.probabilistic for run in result.runs)


def _finding(example: Example | BrokenExample, result: CaseResult, advisory: bool) -> Finding:
    accepted = " (known)" if result.accepted else ""
    message = f"{example.name}: {result.text}{accepted}, expected {_EXPECTED[result.label.expected]}"
    kind: FindingKind = "advisory" if advisory else "violation"
    declared = example.declared
    in_example = declared.path.startswith(f"{example.path}/")
    return Finding(
        message=message,
        kind=kind,
        file=declared.path if in_example else example.path,
        line=declared.line if in_example else None,
        fix_hint=_FIX_HINT,
    )


def _details(result: CaseResult | None, measured: bool) -> dict[str, str | int | float | bool | None]:
    if result is None:
        return {"label": None, "cell": "error", "runs": 0, "stable": True, "accepted": False, "measured": measured}
    return {
        "label": result.label.expected,
        "cell": "error" if result.errors else result.representative.cell,
        "text": result.errors[0].text if result.errors else result.text,
        "runs": len(result.runs),
        "stable": result.is_stable,
        "as_labeled": result.as_labeled,
        "accepted": result.accepted,
        "known": result.label.known,
        "held_out": result.label.split == "holdout",
        "measured": measured,
    }
