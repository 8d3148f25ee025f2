"""What a predicate came to at the scoped files: the value its combinators work on (spec/verifiers.md 2.7)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final, Literal

from pytest_reqfile.outcome import Finding
from pytest_reqfile.verifiers.costs import LlmUsage

State = Literal["holds", "fails", "error", "skipped"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Verdict:
    """``message`` and ``code`` belong to what could not be evaluated; ``notes`` to any state.

    ``usage`` is what was used of models, None where none was reached.
    """

    state: State
    findings: tuple[Finding, ...] = ()
    notes: tuple[str, ...] = ()
    message: str = ""
    code: str = ""
    usage: LlmUsage | None = None

    @property
    def undecided(self) -> bool:
        """Whether the predicate could not be evaluated, so that nothing may be concluded from it."""
        return self.state in ("error", "skipped")


_HOLDS: Final = Verdict(state="holds")


def holds(notes: tuple[str, ...] = ()) -> Verdict:
    return Verdict(state="holds", notes=notes)


def judged(findings: list[Finding], notes: tuple[str, ...] = ()) -> Verdict:
    """Fails exactly when something was found."""
    if not findings and not notes:
        return _HOLDS
    return Verdict(state="fails" if findings else "holds", findings=tuple(findings), notes=notes)


def refused(message: str, code: str = "", notes: tuple[str, ...] = ()) -> Verdict:
    """The predicate could not be evaluated."""
    return Verdict(state="error", message=message, code=code, notes=notes)


def unique(notes: tuple[str, ...]) -> tuple[str, ...]:
    """``notes`` in order, each once."""
    return tuple(dict.fromkeys(notes))
