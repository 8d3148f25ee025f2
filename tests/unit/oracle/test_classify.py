"""From an ending to a verdict, where no real command would show it (spec oracle.md 5.5)."""

from __future__ import annotations

import pytest

from pytest_reqfile.oracle.classify import Ending, classify
from pytest_reqfile.workspace.isolation import IsolatedRun, Isolation
from pytest_reqfile.workspace.processes import CommandResult

OVERLAY = Isolation(mode="overlay", enforced="kernel", network="off")
COPY = Isolation(mode="copy", enforced="detect-only", network="on")


def ended(code: int, expected: int, output: bytes = b"", isolation: Isolation = OVERLAY) -> Ending:
    """The verdict on a shell command that exited."""
    run = IsolatedRun(result=CommandResult(exit=code, stderr=output))
    return classify(run, expected, "x", isolation, shell=True)


@pytest.mark.parametrize(
    ("output", "reason"),
    [
        (b"touch: cannot touch 'x': Read-only file system", "needs-writes"),
        (b"OSError: [Errno 30] Read-only file system: '/x'", "needs-writes"),
        (b"Error: EROFS: read-only file system, open 'x'", "needs-writes"),
        (b"OSError: [Errno 18] Invalid cross-device link: 'a' -> 'b'", "needs-writes"),
        (b"curl: (6) Could not resolve host: example.invalid", "prerequisite-missing"),
        (b"getaddrinfo EAI_AGAIN registry", "prerequisite-missing"),
        (b"connect: Network is unreachable", "prerequisite-missing"),
        (b"AssertionError: Errno 300, CEROFS", None),
        (b"", None),
    ],
)
def test_what_the_isolation_withheld_is_not_a_failure(output: bytes, reason: str | None) -> None:
    """An oracle that could not do its work is unavailable; without that isolation the same output is a failure."""
    ending = ended(1, 0, output)
    assert (ending.verdict, ending.blocked) == (("fail", None) if reason is None else ("blocked", reason))
    assert ending.exit_code == 1
    assert ended(1, 0, output, COPY).verdict == "fail"


def test_an_expected_failure_for_the_wrong_reason_is_doubted() -> None:
    """It ended with the code that was expected, but perhaps only because something was withheld."""
    ending = ended(1, 1, b"connect: Network is unreachable")
    assert ending.verdict == "pass"
    assert ending.doubt == "it ended as expected, but its output says that it needs the network, which is off"
    assert ended(0, 0, b"connect: Network is unreachable").doubt is None
    assert ended(1, 1, b"wrong").doubt is None


def test_a_failed_isolation_is_no_verdict_on_the_command() -> None:
    """Whatever the exit code was."""
    run = IsolatedRun(result=CommandResult(exit=0), prevented="mount: no")
    ending = classify(run, 0, "x", OVERLAY, shell=True)
    assert (ending.blocked, ending.explanation) == ("isolation-missing", "the isolation failed: mount: no")


def test_what_could_not_be_launched_is_blocked() -> None:
    """Our own interpreter would have to be gone."""
    run = IsolatedRun(result=CommandResult(launch_error="No such file or directory"))
    assert classify(run, 0, "x", OVERLAY, shell=True).blocked == "spawn-error"


@pytest.mark.parametrize(("number", "name"), [(11, "SIGSEGV"), (36, "signal 36"), (200, "signal 200")])
def test_signals_are_named(number: int, name: str) -> None:
    """Also those that have no name."""
    run = IsolatedRun(result=CommandResult(signal=number))
    assert classify(run, 0, "x", OVERLAY, shell=True).signal == name
