"""The line that says what is running, on a terminal only."""

from __future__ import annotations

import io
import time

from pytest_reqfile.cli.progress import PATIENCE, Progress
from pytest_reqfile.cli.terminal import Terminal
from pytest_reqfile.reqfile.outcomes import check_outcome
from tests.support.memory_tree import plan_of
from tests.support.requirements import OK, req


class Screen(io.StringIO):
    """A stream that says it is a terminal."""

    def isatty(self) -> bool:
        return True


PLANNED = plan_of({"Reqfile.yaml": req(SLOW=OK, QUICK=OK)})


def test_a_run_that_takes_long_shows_what_runs_and_cleans_up() -> None:
    """How many checks are done, and the names of those that run."""
    screen = Screen()
    with Progress(Terminal(out=io.StringIO(), err=screen), PLANNED) as progress:
        for planned in PLANNED:
            progress.started(planned)
        progress.ended(PLANNED[1], check_outcome(PLANNED[1], "pass"))
        time.sleep(PATIENCE * 1.5)
    assert screen.getvalue().startswith("\r\x1b[K[1/2] SLOW/command-1")
    assert screen.getvalue().endswith("\r\x1b[K")


def test_a_short_run_and_one_without_a_terminal_show_nothing() -> None:
    """Nor does one in which nothing runs."""
    screen, pipe = Screen(), io.StringIO()
    with Progress(Terminal(out=io.StringIO(), err=screen), PLANNED):
        pass
    with Progress(Terminal(out=io.StringIO(), err=pipe), PLANNED), Progress(Terminal(out=None, err=None), PLANNED):
        time.sleep(PATIENCE * 1.2)
    with Progress(Terminal(out=io.StringIO(), err=screen), ()):
        pass
    assert (screen.getvalue(), pipe.getvalue()) == ("", "")
