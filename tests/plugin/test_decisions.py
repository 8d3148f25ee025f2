"""Decision checks as items: asked about together, once, whatever the mode (issue 8.6)."""

from __future__ import annotations

import pytest

from tests.support import Repo
from tests.support.decisions import BLOCKING, DECISION, PASSTHRU, PYFUNC, asked_key
from tests.support.jev import Jev
from tests.support.repo import Completed
from tests.support.requirements import req


@pytest.fixture
def judged(project: Repo, jev: Jev) -> Repo:
    """Two requirements that ask about the same two functions."""
    project.write("Reqfile.yaml", req(ONE_JOB=DECISION, NO_PASS=BLOCKING))
    project.write(".reqfile/ONE_JOB/decision.yaml", PYFUNC)
    project.write(".reqfile/NO_PASS/decision.yaml", PASSTHRU)
    project.write(".reqfile/config.yaml", jev.config)
    project.write("a.py", "def a():\n    pass  # HOT\n\n\ndef b():\n    pass\n")
    return project


def run(repo: Repo, *arguments: str) -> Completed:
    return repo.pytest("-W", "error", "-rA", *arguments, env=asked_key())


def test_units_are_asked_about_once_in_every_mode(judged: Repo, jev: Jev, mode: tuple[str, ...]) -> None:
    """One request per unit carries both questions; the advisory check finds, the blocking one fails."""
    done = run(judged, *mode)
    assert done.code == 1, done.out
    assert (len(jev.probes), len(jev.questions)) == (1, 2), done.out
    assert all(set(heard.questions) == {"ONE_JOB", "NO_PASS"} for heard in jev.questions)
    for line in (
        "FAILED Reqfile.yaml::NO_PASS/decision - It only passes its arguments on.",
        "advisory  ONE_JOB  a.py:1  p=0.95  It does several things.",
        "2 checks run, 0 with nothing to check, 4 code units judged. 1 violation, 1 advisory finding, 0 errors.",
    ):
        assert line in done.out.splitlines(), done.out
