"""``WorkerClaims`` as a document, at any of the levels of detail that fitting may need (seed 003; spec oracle.md 4, 6).

Only the keys seed 003 names are written; everything else is in the evidence the document refers to.
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import Final

from pytest_reqfile.oracle.digests import Artifact
from pytest_reqfile.oracle.profiles import Profile, worker_artifact
from pytest_reqfile.oracle.results import Confidence, Verdict
from pytest_reqfile.syntax.printable import visible

SHORT_TEXT: Final = 160
"""Characters a criterion's text keeps where texts are shortened."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Claim:
    """What is claimed of one criterion; ``cited`` are the file:line references of the brief, ``receipts`` ours."""

    id: str
    verdict: Verdict
    confidence: Confidence
    text: str
    explanation: str
    receipts: tuple[Artifact, ...] = ()
    cited: tuple[Artifact, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Check:
    """What was run. ``name`` is the item's, ``streams`` the recorded outputs."""

    name: str
    check_id: str
    exit_code: int | None
    environment: str
    receipt: Artifact
    streams: tuple[Artifact, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Unit:
    """What is kept or left out together: a claim with its checks, or a check no claim uses."""

    id: str
    verdict: Verdict
    claim: Claim | None
    checks: tuple[Check, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Detail:
    """What a document still says. The defaults say everything."""

    streams: bool = True
    all_observations: bool = True
    cited: bool = True
    passing_texts: bool = True
    full_texts: bool = True
    all_limitations: bool = True


@dataclass(frozen=True, slots=True, kw_only=True)
class Draft:
    """Everything a document could say. ``notes`` holds all observations and limitations, ``review`` all results."""

    units: tuple[Unit, ...]
    observations: tuple[str, ...]
    limitations: tuple[str, ...]
    notes: Artifact
    review: Artifact
    profile: Profile = "seed"

    def document(self, kept: tuple[Unit, ...], detail: Detail, partial: tuple[str, ...] = ()) -> dict[str, object]:
        """The claims of ``kept`` units, in brief order; ``partial`` are limitation lines that come first."""
        claims = [self._claim(unit.claim, detail) for unit in kept if unit.claim is not None]
        checks = {check.name: check for unit in kept for check in unit.checks}
        return {
            "claims": claims,
            "observations": self._lines(self.observations, "observations", whole=detail.all_observations),
            "checks": [self._check(check, detail) for check in checks.values()],
            "limitations": [
                *partial,
                *self._lines(self.limitations, "limitations", whole=detail.all_limitations),
            ],
        }

    def _lines(self, lines: tuple[str, ...], what: str, *, whole: bool) -> list[str]:
        if whole or not lines:
            return list(lines)
        return [f"{len(lines)} {what} in {self.notes.ref} {self.notes.digest}"]

    def _claim(self, claim: Claim, detail: Detail) -> dict[str, object]:
        evidence = claim.receipts + (claim.cited if detail.cited else ())
        return {
            "id": claim.id,
            "text": claim_text(claim, detail),
            "evidence": [worker_artifact(artifact, self.profile) for artifact in evidence],
        }

    def _check(self, check: Check, detail: Detail) -> dict[str, object]:
        evidence = (check.receipt, *(check.streams if detail.streams else ()))
        return {
            "checkId": check.check_id,
            "exitCode": check.exit_code,
            "evidence": [worker_artifact(artifact, self.profile) for artifact in evidence],
            "environment": check.environment,
        }


def claim_text(claim: Claim, detail: Detail) -> str:
    """``[verdict] (confidence: C) ID: criterion — why``: the prefix is ours, and no text can hold a second line."""
    prefix = f"[{claim.verdict}] (confidence: {claim.confidence}) "
    if claim.verdict == "pass":
        return prefix + (_body(f"{claim.id}: {claim.text}", detail) if detail.passing_texts else one_line(claim.id))
    return f"{prefix}{_body(f'{claim.id}: {claim.text}', detail)} — {_body(claim.explanation, detail)}"


def _body(text: str, detail: Detail) -> str:
    line = one_line(text)
    return line if detail.full_texts or len(line) <= SHORT_TEXT else line[: SHORT_TEXT - 1] + "…"


def one_line(text: str) -> str:
    """``text`` on one line, with nothing in it that does not print."""
    return visible(" ".join(text.split()))


def serialised(document: dict[str, object]) -> str:
    """Compact JSON: indentation would cost a third more (spec 6)."""
    return json.dumps(document, ensure_ascii=False, separators=(",", ":"))
