"""Evaluating a spec verifier: its scope, its predicate, its result (seed 000; spec/verifiers.md 2.5, 2.10)."""

from __future__ import annotations

import os
from collections.abc import Callable
from dataclasses import replace
from typing import Final

from pytest_reqfile.errors import FileError
from pytest_reqfile.outcome import Finding, Severity
from pytest_reqfile.verifiers.evidence import Evidence
from pytest_reqfile.verifiers.predicate_eval import (
    MAX_FINDINGS,
    Evaluators,
    PredicateEvaluation,
    applicable_selection,
    scoped_selection,
    searches_of,
    selections_of,
)
from pytest_reqfile.verifiers.predicates import has_checklist
from pytest_reqfile.verifiers.results import DEAD_SCOPE, FAILED, NO_EXAMPLES, Result, VerifierStatus, spec_result
from pytest_reqfile.verifiers.unseen import incomplete, unseen_by
from pytest_reqfile.verifiers.values import SpecVerifier
from pytest_reqfile.verifiers.verdicts import Verdict, unique

CAPPED_NOTE: Final = (
    "advisory: the severity of an llm verifier is capped at warning "
    "(--gate-llm lets a calibrated verifier fail the run)"
)

Gate = Callable[[SpecVerifier], tuple[bool, str]]
"""Whether the failure of an llm verifier declared ``error`` keeps that severity, and the note that says why."""


def evaluate_spec(verifier: SpecVerifier, evidence: Evidence, evaluators: Evaluators, gate: Gate | None) -> Result:
    """The result of one usable, active verifier; what cannot be evaluated is an error, never a pass."""
    try:
        result = _unless_unseen(verifier, evidence, _evaluate(verifier, evidence, evaluators))
    except FileError as error:
        result = spec_result(verifier, "error", str(error))
    return advisory(result, gate, verifier) if has_checklist(verifier.require) else result


def _unless_unseen(verifier: SpecVerifier, evidence: Evidence, result: Result) -> Result:
    """The result; an error instead of one that found nothing, where a folder of its scope could not be looked into."""
    folders = evidence.unseen
    if not folders or result.status not in {"pass", "not_applicable"}:
        return result
    selections = (*selections_of(verifier, strict_applicability=False), *(s.selection for s in searches_of(verifier)))
    unseen = dict.fromkeys(folder for selection in selections for folder in unseen_by(selection, folders))
    return spec_result(verifier, "error", incomplete(tuple(unseen))) if unseen else result


def _evaluate(verifier: SpecVerifier, evidence: Evidence, evaluators: Evaluators) -> Result:
    selection = scoped_selection(verifier)
    files = evidence.count(selection) if selection is not None else None
    if selection is not None and not files:
        if evidence.strict_applicability and not evidence.count(applicable_selection(verifier)):
            return _dead(verifier)
        return spec_result(verifier, "not_applicable", "no changed file matches when_changed", files=0)
    verdict = PredicateEvaluation(verifier, selection, evidence, evaluators).verdict(verifier.require)
    result = _result(verifier, verdict, files)
    return result if verdict.usage is None else replace(result, usage=verdict.usage)


def _dead(verifier: SpecVerifier) -> Result:
    globs = ", ".join(glob.text for glob in verifier.when_changed)
    message = f"when_changed matches no file in the repository: {globs}"
    result = spec_result(verifier, "fail", message, code=DEAD_SCOPE, files=0)
    return replace(result, severity="warning", fix="Fix the glob or delete the verifier.")


def _result(verifier: SpecVerifier, verdict: Verdict, files: int | None) -> Result:
    notes = unique(verdict.notes)
    looked_at = 1 if files is None else files
    if verdict.state == "holds":
        message = "" if files is None else f"{files} file(s)"
        return spec_result(verifier, "pass", message, notes=notes, files=looked_at)
    if verdict.state == "fails":
        findings = tuple(sorted(verdict.findings, key=finding_order))
        message = verifier.message or summary(findings)
        if len(findings) > MAX_FINDINGS:
            notes = (*notes, f"{len(findings) - MAX_FINDINGS} more finding(s) are not kept")
            findings = findings[:MAX_FINDINGS]
        failed = spec_result(verifier, "fail", message, code=FAILED, findings=findings, notes=notes, files=looked_at)
        return replace(failed, stated=bool(verifier.message))
    status: VerifierStatus = "error" if verdict.state == "error" else "skipped"
    return spec_result(verifier, status, verdict.message, code=verdict.code, notes=notes, files=looked_at)


def finding_order(finding: Finding) -> tuple[bytes, int, bytes]:
    """By file, line and message, in byte order; what belongs to no file comes first."""
    message = finding.message.encode("utf-8", "surrogateescape")
    return os.fsencode(finding.file or ""), finding.line or 0, message


def summary(findings: tuple[Finding, ...]) -> str:
    """The message of a failure whose declaration has none of its own."""
    if not findings:
        return "the predicate does not hold"
    first = findings[0]
    place = f"{first.file}: " if first.file else ""
    more = f" (and {len(findings) - 1} more)" if len(findings) > 1 else ""
    return f"{place}{first.message}{more}"


def advisory(result: Result, gate: Gate | None, verifier: SpecVerifier) -> Result:
    """The result of a verifier with an llm predicate: it never reports above warning, unless it may gate."""
    if result.status == "skipped":
        return replace(result, advisory=True, severity="info")
    if result.severity != "error":
        return replace(result, advisory=True)
    if gate is not None and result.status == "fail":
        gates, why = gate(verifier)
        severity: Severity = "error" if gates else "warning"
        note = why if gates else f"advisory: not gating, {why}"
        return replace(result, advisory=not gates, severity=severity, notes=(*result.notes, note))
    return replace(result, advisory=True, severity="warning", notes=(*result.notes, CAPPED_NOTE))


def inactive(verifier: SpecVerifier, label: str) -> Result:
    """A verifier whose target is outside the active profile or role: shown, never run, never failed."""
    message = f'{verifier.target.kind} "{verifier.target.id}" is not in the active {label}'
    shown = spec_result(verifier, "inactive", message, files=0)
    return replace(shown, fix="")


def missing_examples(verifier: SpecVerifier, command: str) -> Result:
    """AR9H6, in addition to the verifier's own result; ``command`` is how self-tests are run."""
    finding = Finding(message=f"verifier {verifier.id} has no examples")
    result = spec_result(verifier, "fail", "no self-test examples", code=NO_EXAMPLES, findings=(finding,))
    fix = f"Add [[verifiers.examples]] and run `{command} {verifier.id}`."
    return replace(result, type="examples", severity="warning", fix=fix)
