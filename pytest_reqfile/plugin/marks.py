"""The markers of our items (design 2.2), made once: a run may have ten thousand items."""

from __future__ import annotations

from typing import Final

import pytest

from pytest_reqfile.outcome import Severity
from pytest_reqfile.reqfile.values import Check, DecisionCheck, Requirement

FAST: Final = pytest.mark.fast
BLOCKING: Final = pytest.mark.blocking
ADVISORY: Final = pytest.mark.advisory
JUDGED: Final[pytest.MarkDecorator] = getattr(pytest.mark, "llm-advisory")
_MODES: Final = {"blocking": BLOCKING, "advisory": ADVISORY}


def of_requirement(requirement: Requirement) -> pytest.MarkDecorator:
    """``requirement(id=…, kind=…)``, as ``-m "requirement(id='X')"`` finds it."""
    return pytest.mark.requirement(id=requirement.id, kind=requirement.kind)


def of_check(requirement: Requirement, check: Check) -> tuple[pytest.MarkDecorator, ...]:
    """The markers of a requirement's check."""
    markers = [of_requirement(requirement)]
    if check.fast:
        markers.append(FAST)
    markers.append(_MODES[check.mode])
    if isinstance(check, DecisionCheck) and check.mode == "advisory":
        markers.append(JUDGED)
    return tuple(markers)


def of_example(requirement: Requirement, *, measured: bool, judged: bool) -> tuple[pytest.MarkDecorator, ...]:
    """The markers of a labeled example; one that measures never fails a run."""
    modes = (*((ADVISORY,) if measured else (BLOCKING,)), *((JUDGED,) if judged else ()))
    return (of_requirement(requirement), pytest.mark.example(of=requirement.id), *modes)


def of_verifier(
    identifier: str, severity: Severity, *, fast: bool, gates: bool, judged: bool
) -> tuple[pytest.MarkDecorator, ...]:
    """The markers of a verifier; ``gates`` says whether its failure fails the run."""
    markers = [pytest.mark.verifier(id=identifier, severity=severity)]
    if fast:
        markers.append(FAST)
    markers.append(BLOCKING if gates else ADVISORY)
    if judged and not gates:
        markers.append(JUDGED)
    return tuple(markers)


def of_verifier_example(identifier: str, severity: Severity, *, fast: bool) -> tuple[pytest.MarkDecorator, ...]:
    """The markers of a verifier's self-test example, which must hold."""
    verifier = pytest.mark.verifier(id=identifier, severity=severity)
    return (verifier, pytest.mark.example(of=identifier), BLOCKING, *((FAST,) if fast else ()))
