"""Cases G: decision checks, through the command line (seed 004 DECISION_CHECK)."""

from __future__ import annotations

import pytest

from tests.support import Repo
from tests.support.jev import Jev
from tests.support.decisions import decide, drepo


@pytest.mark.case("reqfile:G1")
def test_each_unit_is_asked_about_and_judged_by_the_thresholds(repo: Repo, jev: Jev) -> None:
    """Above is an advisory finding, between an uncertain one, below nothing at all."""
    drepo(repo, jev)
    repo.write("app/w.py", "def a():\n    pass\n\n\ndef b():\n    pass  # HOT\n\n\n\n\ndef c():\n    pass  # WARM\n")
    done = decide(repo)
    assert done.code == 0
    assert "advisory  ONE_JOB  app/w.py:5  p=0.95  It does several things.\n  fix: Break it up.\n" in done.out
    assert "uncertain  ONE_JOB  app/w.py:11  p=0.50  Several things?\n  fix: Break it up.\n" in done.out
    assert "w.py:1 " not in done.out
    last = "1 check run, 0 with nothing to check, 3 code units judged. 0 violations, 2 advisory findings, 0 errors.\n"
    assert done.out.endswith(last)
    assert len(jev.questions) == 3
