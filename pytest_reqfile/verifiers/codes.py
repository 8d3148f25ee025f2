"""What the codes of verifiers mean (seed 000 "Codes"; spec/verifiers.md 10)."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final

from pytest_reqfile.outcome import Severity
from pytest_reqfile.verifiers.results import (
    COMMAND_NOT_RUN,
    DEAD_SCOPE,
    FAILED,
    INVALID,
    LLM_SKIPPED,
    NO_EXAMPLES,
    VerifierStatus,
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Code:
    """One code: its ``name``, how a result that carries it is reported, when that happens, and what to do then."""

    id: str
    name: str
    severity: Severity
    status: VerifierStatus
    meaning: str
    fix: str

    @property
    def text(self) -> str:
        """What ``explain`` prints of it."""
        return (
            f"{self.id} {self.name} ({self.severity})\n  status: {self.status}\n  means: {self.meaning}\n"
            f"  fix: {self.fix}\n"
        )

    @property
    def document(self) -> str:
        """The same as JSON."""
        found = {
            "schema_version": 1,
            "code": self.id,
            "name": self.name,
            "severity": self.severity,
            "status": self.status,
            "meaning": self.meaning,
            "fix": self.fix,
            "text": self.text,
        }
        return json.dumps(found, indent=2, ensure_ascii=False) + "\n"


_ALL: Final = (
    Code(
        id=FAILED,
        name="verifier-failed",
        severity="warning",
        status="fail",
        meaning="the predicate of a rule-linked verifier does not hold; the severity is the verifier's own",
        fix="change what the findings point at as the rule asks; `reqfile verifiers explain NAME` shows the verifier",
    ),
    Code(
        id=INVALID,
        name="verifier-invalid",
        severity="error",
        status="error",
        meaning="a declaration cannot be used: an unknown key, a rule that does not exist, a missing anchor, a "
        "predicate that says nothing; it is never skipped in silence",
        fix="correct the declaration as the message says",
    ),
    Code(
        id=COMMAND_NOT_RUN,
        name="verifier-command-failed-to-run",
        severity="error",
        status="error",
        meaning="a command was refused, is not installed, could not be started, or took too long; under `not`, too, "
        "that is no pass",
        fix="pass --allow-exec where the repository is trusted, install the program, or raise timeout_s",
    ),
    Code(
        id=LLM_SKIPPED,
        name="verifier-llm-skipped",
        severity="info",
        status="skipped",
        meaning="a checklist was not evaluated by a model; the message says why",
        fix="pass --allow-llm and allow the network in the user config, or leave it to a run that does",
    ),
    Code(
        id=DEAD_SCOPE,
        name="verifier-dead-scope",
        severity="warning",
        status="fail",
        meaning="when_changed matches no file of the repository (--strict-applicability, or warn_dead = true)",
        fix="correct the glob, or delete the verifier",
    ),
    Code(
        id=NO_EXAMPLES,
        name="verifier-no-examples",
        severity="warning",
        status="fail",
        meaning="a rule-linked verifier has no self-test (require_examples = true)",
        fix="add [[verifiers.examples]] and run `reqfile verifiers test NAME`",
    ),
)
CODES: Final[Mapping[str, Code]] = {code.id: code for code in _ALL}
