"""Sentences of seed 004 DECISION_CHECK that no case of the original shows, through the command line."""

from __future__ import annotations

import pytest

from tests.support import Repo
from tests.support.decisions import BLOCKING, PYFUNC, decide, drepo, functions, log_of
from tests.support.jev import NEWER, Jev, serve


@pytest.mark.parametrize(
    ("probability", "verdict", "code"),
    [
        (1, "violation", 1),
        (0.8000001, "violation", 1),
        (0.8, "uncertain", 0),
        (0.5, "uncertain", 0),
        (0.2, "uncertain", 0),
        (0.1999999, "pass", 0),
        (0, "pass", 0),
    ],
)
def test_above_is_a_violation_below_a_pass_and_anything_in_between_uncertain(
    repo: Repo, jev: Jev, probability: float, verdict: str, code: int
) -> None:
    """The thresholds themselves are in between, and what is uncertain is advisory in a blocking check, too."""
    drepo(repo, jev, check=BLOCKING)
    repo.write("a.py", functions("f"))
    jev.probability = lambda heard, identifier: probability
    done = decide(repo, "--log", "run.jsonl")
    assert done.code == code
    (line,) = log_of(repo, "run.jsonl", "decision_unit")
    assert (line["verdict"], line["probability"]) == (verdict, probability)
    start = {"violation": "ONE_JOB  a.py:1  ", "uncertain": "uncertain  ONE_JOB  a.py:1  ", "pass": "\n1 check run"}
    assert f"\n{done.out}".startswith(f"\n{start[verdict].lstrip()}")
    assert "  fix: Break it up.\n" in done.out or verdict == "pass"


def test_answers_are_reused_while_unit_question_and_exact_model_are_unchanged(repo: Repo, jev: Jev) -> None:
    """Lines above a unit, its neighbours, the address of the service and thresholds are none of the three."""
    spec = PYFUNC.replace("function_definition", "except_clause").replace("question:", "context: enclosing\nquestion:")
    drepo(repo, jev, spec)
    body = "    try:\n        g()\n    except E:\n        pass\n"
    repo.write("a.py", f"def f():\n{body}")

    def asked() -> int:
        before = len(jev.questions)
        assert decide(repo).code == 0
        return len(jev.questions) - before

    assert asked() == 1
    repo.write("a.py", f"import x\n\n\ndef f():\n{body}\n\ndef g():\n    pass\n")
    assert asked() == 0
    repo.write(".reqfile/ONE_JOB/decision.yaml", spec.replace("0.8", "0.7").replace("Break it up.", "Cut it."))
    assert asked() == 0
    repo.write("a.py", f"def h():\n{body}")
    assert asked() == 1  # the function around it is part of what is asked about
    repo.write("b.py", f"def h():\n{body}")
    assert asked() == 1  # and so is the path
    repo.write(".reqfile/ONE_JOB/decision.yaml", spec.replace("It does one.", "It does little."))
    assert asked() == 2
    jev.answer_as = NEWER
    assert asked() == 2
    with serve(Jev()) as other:
        repo.write(".reqfile/config.yaml", f"{other.config}  concurrency: 1\n")
        other.answer_as = NEWER
        assert decide(repo).code == 0
        assert (len(other.probes), len(other.questions)) == (1, 0)


def test_the_latest_jev_is_asked_which_it_is_in_every_run(repo: Repo, jev: Jev) -> None:
    """Also where every answer is known: a newer model is asked anew, an older one again answers from the cache."""
    drepo(repo, jev)
    repo.write("a.py", functions("f"))
    for model, questions in ((None, 1), (None, 1), (NEWER, 2), (NEWER, 2)):
        jev.answer_as = model
        assert decide(repo, "--only", "ONE_JOB").code == 0
        assert len(jev.questions) == questions
    jev.answer_as = None
    assert decide(repo).code == 0
    assert (len(jev.questions), len(jev.probes)) == (2, 5)


def test_any_concurrency_is_bounded_by_what_a_system_gives(repo: Repo, jev: Jev) -> None:
    """Threads and connections are no matter of a config file."""
    drepo(repo, jev, config=f"{jev.config}  concurrency: 1000000\n")
    repo.write("a.py", functions(*(f"f{number}" for number in range(400))))
    jev.latency = 0.05
    done = decide(repo)
    assert done.code == 0, done.out
    assert "400 code units judged" in done.out
    assert jev.peak <= 256
