"""What a verifier came to, in the words of seed 000 (spec/verifiers.md 2.10, 2.11)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final, Literal

from pytest_reqfile.outcome import Finding, Location, Severity
from pytest_reqfile.verifiers.costs import LlmUsage
from pytest_reqfile.verifiers.values import FlatVerifier, InvalidDeclaration, SpecVerifier, Target

VerifierStatus = Literal["pass", "fail", "error", "not_applicable", "skipped", "inactive"]

FAILED: Final = "AR9H1"
INVALID: Final = "AR9H2"
COMMAND_NOT_RUN: Final = "AR9H3"
LLM_SKIPPED: Final = "AR9H4"
DEAD_SCOPE: Final = "AR9H5"
NO_EXAMPLES: Final = "AR9H6"


@dataclass(frozen=True, slots=True, kw_only=True)
class Result:
    """One row of the report. ``code`` is empty for flat verifiers and errors without one.

    ``files`` counts what was looked at; ``stated`` says that ``message`` is the declaration's own.
    ``usage`` is what was used of models, None where none was reached; ``labels`` are those of the declared examples,
    each once.
    """

    name: str
    type: str
    severity: Severity
    status: VerifierStatus
    declared: Location
    description: str = ""
    message: str = ""
    code: str = ""
    target: Target | None = None
    fix: str = ""
    source: str = ""
    advisory: bool = False
    stated: bool = False
    findings: tuple[Finding, ...] = ()
    notes: tuple[str, ...] = ()
    files: int = 1
    seconds: float = 0.0
    usage: LlmUsage | None = None
    labels: tuple[str, ...] = ()


def flat_result(
    verifier: FlatVerifier,
    status: VerifierStatus,
    message: str = "",
    *,
    findings: tuple[Finding, ...] = (),
    notes: tuple[str, ...] = (),
    files: int = 1,
) -> Result:
    """The result of a flat verifier; it has neither code nor target nor source."""
    return Result(
        name=verifier.name,
        type=verifier.check.type,
        severity=verifier.severity,
        status=status,
        declared=verifier.declared,
        description=verifier.description,
        message=message,
        findings=findings,
        notes=notes,
        files=files,
    )


def spec_result(
    verifier: SpecVerifier,
    status: VerifierStatus,
    message: str = "",
    *,
    code: str = "",
    findings: tuple[Finding, ...] = (),
    notes: tuple[str, ...] = (),
    files: int = 1,
) -> Result:
    """The result of a spec that was evaluated: with its target, fix and source."""
    return Result(
        name=verifier.id,
        type=verifier.require.kind,
        severity=verifier.severity,
        status=status,
        declared=verifier.declared,
        description=verifier.description,
        message=message,
        code=code,
        target=verifier.target,
        fix=verifier.fix,
        source=verifier.source,
        findings=findings,
        notes=notes,
        files=files,
        labels=tuple(sorted({one.expect for one in verifier.examples})) if verifier.examples else (),
    )


def invalid_result(invalid: InvalidDeclaration) -> Result:
    """AR9H2: a declaration that cannot be used, never silently skipped (seed 000 "Codes")."""
    return Result(
        name=invalid.name,
        type="invalid",
        severity="error",
        status="error",
        declared=invalid.declared,
        message=invalid.message,
        code=INVALID,
        source=invalid.source,
    )
