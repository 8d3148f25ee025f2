"""How long a run waits in vain (issue 8.2): not for every unit as long as for the first."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from pytest_reqfile.reqfile.patience import Patience
from pytest_reqfile.workspace.http import HttpReply
from tests.support.decisions import DECISION, PYFUNC, functions
from tests.support.juries import Court
from tests.support.requirements import req
from tests.support.services import GivenTransport, Respond, answered

BUSY = HttpReply(status=429, body=b"later", retry_after=3600.0)
NAMES = [f"f{number}" for number in range(20)]
well = answered(lambda body, identifier: 0.05)


class Slow:
    """A clock on which each request takes a hundred seconds."""

    def __init__(self) -> None:
        self._seconds = 0.0

    def now_ms(self) -> int:
        return int(self._seconds * 1000)

    def monotonic(self) -> float:
        self._seconds += 100.0
        return self._seconds


def court_of(transport: GivenTransport, cache: Path | None = None) -> Court:
    """A check of twenty functions, asked about one at a time."""
    files: dict[str, str | bytes] = {
        "Reqfile.yaml": req(ONE_JOB=DECISION),
        ".reqfile/ONE_JOB/decision.yaml": PYFUNC,
        ".reqfile/config.yaml": "decision:\n  concurrency: 1\n",
        "a.py": functions(*NAMES),
    }
    return Court(files, transport, cache=cache, patience=Patience(Slow()))


def judged(respond: Respond, cache: Path | None = None) -> tuple[int, str | None]:
    """How many questions were sent, and why some functions were not judged."""
    transport = GivenTransport(respond)
    (outcome,) = court_of(transport, cache).judge()
    return sum("probe" not in body["questions"] for body in transport.sent), outcome.reason


def test_a_service_that_never_answers_is_left_alone_in_the_end() -> None:
    """Each unit is an error all the same: none passes because nobody asked."""
    asked, reason = judged(lambda body: BUSY)
    assert asked == 7
    assert (reason or "").startswith(
        "20 of 20 units could not be judged, first at a.py:1: Jev returned HTTP 429: later"
    )


def test_an_answer_renews_the_patience(tmp_path: Path) -> None:
    """One in five requests is answered: the service lives, and all are asked."""
    count = [0]

    def respond(body: dict[str, Any]) -> HttpReply:
        count[0] += 1
        return well(body) if count[0] % 5 == 1 else BUSY

    asked, reason = judged(respond, tmp_path / "cache")
    assert asked == 20
    assert (reason or "").startswith("16 of 20 units could not be judged")


def test_what_was_not_asked_is_said_of_each_unit() -> None:
    """In the run log, where every unit has its line."""
    court = court_of(GivenTransport(lambda body: BUSY))
    court.judge()
    errors = [str(line["error"]) for line in court.jury.log_lines()]
    assert all(error.startswith("Jev returned HTTP 429") for error in errors[:7])
    assert errors[7:] == ["not asked: Jev kept this run waiting for 700 seconds"] * 13
