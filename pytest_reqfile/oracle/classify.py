"""From how a command ended to a verdict: one table, no inference (spec oracle.md 5.5)."""

from __future__ import annotations

import re
import signal
from dataclasses import dataclass
from typing import Final

from pytest_reqfile.oracle.results import BlockedReason, Verdict
from pytest_reqfile.workspace.isolation import IsolatedRun, Isolation

# The C library's words for EROFS and EXDEV (an overlay cannot rename every folder), Python's and Node's for them.
_KEPT_FROM_WRITING: Final = re.compile(
    rb"Read-only file system|\bEROFS\b|Errno 30\b|Invalid cross-device link|\bEXDEV\b|Errno 18\b"
)
_NO_NETWORK: Final = re.compile(
    rb"Network is unreachable|Temporary failure in name resolution|Could not resolve host|Name or service not known"
    rb"|\bENETUNREACH\b|\bEAI_AGAIN\b"
)
_SHELL_COULD_NOT: Final = frozenset({126, 127})
_BY_A_STRANGER: Final = signal.SIGKILL


@dataclass(frozen=True, slots=True, kw_only=True)
class Ending:
    """The verdict on one command and why. ``signal`` is a name such as ``SIGSEGV``; ``doubt`` lowers the confidence."""

    verdict: Verdict
    explanation: str
    exit_code: int | None = None
    signal: str | None = None
    blocked: BlockedReason | None = None
    doubt: str | None = None


def blocked(reason: BlockedReason, explanation: str, exit_code: int | None = None) -> Ending:
    return Ending(verdict="blocked", blocked=reason, explanation=explanation, exit_code=exit_code)


def classify(
    run: IsolatedRun, expected: int, program: str, isolation: Isolation, *, shell: bool, folder: str = ""
) -> Ending:
    """The verdict on a run. ``program`` names what was to be started in ``folder``; ``shell`` whether a shell
    interpreted it.
    """
    result = run.result
    if run.prevented is not None:
        return blocked("isolation-missing", f"the isolation failed: {run.prevented}")
    if run.no_folder is not None:
        return blocked("prerequisite-missing", f"needs the folder `{folder}` inside of the workspace: {run.no_folder}")
    if run.not_started is not None:
        return blocked("prerequisite-missing", f"needs `{program}`, which could not be started: {run.not_started}")
    if result.launch_error is not None:
        return blocked("spawn-error", f"could not be started: {result.launch_error}")
    if result.timed_out:
        return blocked("timeout", f"did not end within {result.seconds:.0f} seconds, so there is no exit code")
    if result.cancelled:
        return blocked("interrupted", "was interrupted, so there is no exit code")
    if result.signal is not None:
        return _killed(result.signal, expected, shell=shell)
    assert result.exit is not None
    return _exited(result.exit, expected, result.stdout + result.stderr, isolation, shell=shell)


def _killed(number: int, expected: int, *, shell: bool) -> Ending:
    name = signal.Signals(number).name if number in signal.Signals.__members__.values() else f"signal {number}"
    if number == _BY_A_STRANGER:
        text = f"was killed by {name}, by somebody else or for want of memory, so there is no exit code"
        return Ending(verdict="blocked", blocked="interrupted", explanation=text, signal=name)
    if shell and expected == 128 + number:
        return Ending(verdict="pass", explanation=f"ended by {name}, which a shell shows as {expected}", signal=name)
    return Ending(
        verdict="fail", explanation=f"expected exit code {expected}, but it was killed by {name}", signal=name
    )


def _exited(code: int, expected: int, output: bytes, isolation: Isolation, *, shell: bool) -> Ending:
    obstacle = _obstacle(output, isolation)
    doubt = f"exit code {code} is also how a shell says that it found no program" if _is_unclear(code, shell) else None
    if code == expected:
        if obstacle is not None and expected != 0:
            doubt = f"it ended as expected, but its output says that it {obstacle[1]}"
        return Ending(verdict="pass", explanation=f"exit code {code} as expected", exit_code=code, doubt=doubt)
    if obstacle is not None:
        reason, need = obstacle
        return blocked(reason, f"{need} (exit code {code}, expected {expected})", code)
    text = f"expected exit code {expected}, found {code}"
    return Ending(verdict="fail", explanation=text, exit_code=code, doubt=doubt)


def _obstacle(output: bytes, isolation: Isolation) -> tuple[BlockedReason, str] | None:
    """What the isolation withheld, going by the output: an oracle that lacks something has not failed (seed 003)."""
    if isolation.enforced == "kernel" and _KEPT_FROM_WRITING.search(output):
        return "needs-writes", "needs to write outside of the disposable workspace"
    if isolation.network == "off" and _NO_NETWORK.search(output):
        return "prerequisite-missing", "needs the network, which is off"
    return None


def _is_unclear(code: int, shell: bool) -> bool:
    return shell and code in _SHELL_COULD_NOT
