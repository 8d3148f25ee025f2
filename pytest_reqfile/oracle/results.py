"""What one item came to, in the words of the contract, and as the ``Outcome`` every front understands (seed 003)."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final, Literal, cast

from pytest_reqfile.oracle.digests import Artifact
from pytest_reqfile.oracle.plan import PlannedItem
from pytest_reqfile.outcome import Finding, Outcome

Verdict = Literal["pass", "fail", "blocked"]
Confidence = Literal["high", "medium", "low"]
BlockedReason = Literal[
    "oracle-absent",
    "oracle-invalid",
    "oracle-unsafe",
    "isolation-missing",
    "needs-writes",
    "prerequisite-missing",
    "spawn-error",
    "timeout",
    "output-limit",
    "interrupted",
    "not-run",
    "source-drift",
    "workspace-written",
]

TAINTS: Final = frozenset({"source-drift", "workspace-written"})
"""Reasons that hold for every result of the run: what was verified is not what was to be verified (spec 5.5)."""
_CONFIDENCES: Final[tuple[Confidence, ...]] = ("low", "medium", "high")


def lowest(confidences: tuple[Confidence, ...]) -> Confidence:
    """The least of them; high of none."""
    return min(confidences, key=_CONFIDENCES.index, default="high")


@dataclass(frozen=True, slots=True, kw_only=True)
class Result:
    """The verdict on one item. ``explanation`` says why it failed or what it needs; ``doubts`` what lowers confidence.

    ``exit_code`` is the actual one, None if there is none. ``receipt`` is the evidence written for it.
    """

    name: str
    check_id: str
    verdict: Verdict
    explanation: str
    expected: int
    exit_code: int | None = None
    signal: str | None = None
    blocked: BlockedReason | None = None
    confidence: Confidence = "high"
    doubts: tuple[str, ...] = ()
    observations: tuple[str, ...] = ()
    environment: str = "not run"
    receipt: Artifact | None = None
    seconds: float = 0.0

    def __post_init__(self) -> None:
        if (self.verdict == "blocked") != (self.blocked is not None):
            raise ValueError(f"{self.name}: a blocked verdict and only that has a reason, found {self}")


def to_outcome(item: PlannedItem, result: Result) -> Outcome:
    """The outcome of an item: fail is a finding with both exit codes, blocked is an error that says ``blocked``."""
    failed, blocked = result.verdict == "fail", result.verdict == "blocked"
    finding = Finding(message=result.explanation, file=item.location.path, line=item.location.line)
    return Outcome(
        subject="oracle",
        owner=item.name.partition("/")[0],
        check=item.name.partition("/")[2],
        status="fail" if failed else "error" if blocked else "pass",
        declared=item.location,
        findings=(finding,) if failed else (),
        reason=f"blocked ({result.blocked}): {result.explanation}" if blocked else None,
        looked_at=0 if blocked else 1,
        seconds=result.seconds,
        title=f"expected exit code {result.expected} of: {shown_command(item)}",
        details=_details(result),
    )


def _details(result: Result) -> Mapping[str, str | int | float | bool | None]:
    receipt = result.receipt
    return {
        "verdict": result.verdict,
        "exit_code": result.exit_code,
        "expected": result.expected,
        "signal": result.signal,
        "blocked": result.blocked,
        "explanation": result.explanation,
        "confidence": result.confidence,
        "check_id": result.check_id,
        "doubts": "\n".join(result.doubts),
        "observations": "\n".join(result.observations),
        "environment": result.environment,
        "receipt": receipt.ref if receipt else None,
        "receipt_digest": receipt.digest if receipt else None,
        "receipt_size": receipt.size if receipt else None,
    }


def from_outcome(outcome: Outcome) -> Result:
    """The inverse of ``to_outcome``, for the process that assembles the claims."""
    details = outcome.details
    receipt = None
    if details["receipt"] is not None:
        receipt = Artifact(
            ref=str(details["receipt"]),
            digest=str(details["receipt_digest"]),
            size=int(details["receipt_size"] or 0),
        )
    exit_code = details["exit_code"]
    return Result(
        name=outcome.name,
        check_id=str(details["check_id"]),
        verdict=cast("Verdict", details["verdict"]),
        explanation=str(details["explanation"]),
        expected=int(details["expected"] or 0),
        exit_code=None if exit_code is None else int(exit_code),
        signal=_text(details["signal"]),
        blocked=cast("BlockedReason | None", details["blocked"]),
        confidence=cast("Confidence", details["confidence"]),
        doubts=_lines(details["doubts"]),
        observations=_lines(details["observations"]),
        environment=str(details["environment"]),
        receipt=receipt,
        seconds=outcome.seconds,
    )


def _text(value: object) -> str | None:
    return None if value is None else str(value)


def _lines(value: object) -> tuple[str, ...]:
    return tuple(str(value).split("\n")) if value else ()


def shown_command(item: PlannedItem) -> str:
    """The item's command on one line, for people."""
    given = item.given
    return " ".join((given if isinstance(given, str) else " ".join(given)).split()) or "nothing"
