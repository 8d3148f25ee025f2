"""Services that hang, answer twice or lie about who they are, and code that no model should see; the real program."""

from __future__ import annotations

import json
import os
import random
import signal
import time

import pytest

from tests.support import Repo
from tests.support.decisions import PYFUNC, asked_key, conflicting, decide, drepo, functions, log_of
from tests.support.jev import EXACT, KEY, Heard, Jev, Said, said
from tests.support.processes import started, wait_until


@pytest.mark.parametrize(
    ("command", "code"),
    [
        (("pytest_reqfile", "check"), 130),
        (("pytest_reqfile", "eval"), 130),
        (("pytest", "-p", "no:cacheprovider", "-q"), 2),
    ],
    ids=lambda value: "-".join(value) if isinstance(value, tuple) else "",
)
def test_a_service_that_hangs_before_it_names_its_model_holds_no_interrupted_run(
    repo: Repo, jev: Jev, command: tuple[str, ...], code: int
) -> None:
    """Ctrl-C during the first request of all, on which everything waits."""
    drepo(repo, jev)
    repo.write("a.py", functions("f"))
    repo.write(".reqfile/ONE_JOB/examples/ok-a/a.py", functions("f"))
    jev.behave = lambda heard: Said(delay=60.0)
    with started(repo, *command, env=asked_key()) as process:
        assert wait_until(lambda: len(jev.heard) >= 1, 30.0)
        time.sleep(0.2)
        start = time.monotonic()
        os.killpg(process.pid, signal.SIGINT)
        out, err = process.communicate(timeout=20)
    assert process.returncode == code, out + err
    assert time.monotonic() - start < 20.0


@pytest.mark.parametrize("model", ["\ud800", "\x1b[2J", "m\n1", "m" * 301, " "])
def test_a_name_that_is_no_name_is_no_answer(repo: Repo, jev: Jev, model: str) -> None:
    """Reports, log and cache carry the name; a lone surrogate once ended the run with a traceback."""
    drepo(repo, jev)
    repo.write("a.py", functions("f"))
    jev.behave = lambda heard: None if heard.is_probe else said({"model": model, "answers": {"ONE_JOB": {"noul": 0}}})
    done = decide(repo)
    assert done.code == 3
    assert "1 of 1 units could not be judged, first at a.py:1: Jev response has no model: {" in done.out
    assert "Traceback" not in done.err
    assert not repo.path(".git/reqfile/jev-cache").exists()
    jev.behave = lambda heard: said({"model": model, "answers": {"probe": {"noul": 0}}})
    assert "Jev response has no model: {" in decide(repo).out


def test_a_key_sent_back_is_nowhere(repo: Repo, jev: Jev) -> None:
    """Not as a model, not half of it where a reply is cut, not in the log or the cache."""
    drepo(repo, jev)
    repo.write("a.py", functions("f", mark="HOT"))
    jev.answer_as = KEY
    done = decide(repo, "--format", "json", "--log", "run.jsonl")
    assert json.loads(done.out)["findings"][0]["model"] == "***"
    texts = [done.out, done.err, repo.path("run.jsonl").read_text(), repo.path(".git/reqfile/jev-cache").read_text()]
    assert not any(KEY in text for text in texts)
    jev.behave = lambda heard: Said(status=500, body=b"x" * 296 + KEY.encode() + b" and more")
    assert "xtest" not in decide(repo).out


def test_minus_zero_is_kept_as_zero(repo: Repo, jev: Jev) -> None:
    """The next run reads what this one wrote."""
    drepo(repo, jev)
    repo.write("a.py", functions("f"))
    jev.behave = lambda heard: (
        None if heard.is_probe else said({"model": EXACT, "answers": {"ONE_JOB": {"noul": -0.0}}})
    )
    assert decide(repo).code == 0
    assert repo.path(".git/reqfile/jev-cache").read_text().endswith(" 0\n")
    assert decide(repo).code == 0
    assert len(jev.questions) == 1


def test_a_file_whose_name_is_an_extension_has_no_language(repo: Repo, jev: Jev) -> None:
    """``.env`` holds secrets and is no shell script; a dot in a folder's name is none in the file's."""
    drepo(repo, jev, PYFUNC.replace("python", "bash").replace("function_definition", "program"))
    for path in (".env", "v1.0/sh", "app/.zsh", "run.sh"):
        repo.write(path, "echo\n")
    assert decide(repo).code == 0
    assert jev.units == [("run.sh", "ONE_JOB")]


def test_a_rule_with_a_number_that_ast_grep_cannot_hold_is_a_config_error(repo: Repo, jev: Jev) -> None:
    """Not a traceback."""
    where = "range: {start: {line: -1, column: 0}, end: {line: 1, column: 0}}"
    drepo(repo, jev, PYFUNC.replace("kind: function_definition", where))
    done = decide(repo)
    assert done.code == 3
    assert "error  .reqfile/ONE_JOB/decision.yaml:3: invalid ast-grep rule: can't convert negative int" in done.out
    assert done.err == ""


def test_interim_answers_are_no_answers(repo: Repo, jev: Jev) -> None:
    """``103 Early Hints`` comes before the answer; taken for one, each answer would be about the unit before."""
    drepo(repo, jev, config=f"{jev.config}  concurrency: 1\n")
    repo.write("a.py", functions("f") + "\n\n" + functions("g", mark="HOT"))

    def behave(heard: Heard) -> Said:
        answer = jev.answer(heard)
        head = f"HTTP/1.1 200 X\r\nContent-Length: {len(answer.body)}\r\n\r\n".encode()
        return Said(raw=b"HTTP/1.1 103 Early Hints\r\nLink: x\r\n\r\n" + head + answer.body, stays=True)

    jev.behave = behave
    done = decide(repo)
    assert done.code == 0, done.out
    assert done.out.startswith("advisory  ONE_JOB  a.py:5  p=0.95")
    assert "2 code units judged. 0 violations, 1 advisory finding, 0 errors." in done.out
    assert jev.connections == 1


def test_git_does_not_see_the_usual_key(repo: Repo, jev: Jev) -> None:
    """git starts what its configuration names: filters, monitors, helpers."""
    drepo(repo, jev, config=f"base: main\n{jev.config}")
    seen = repo.home / "seen"
    spy = repo.home / "spy.sh"
    spy.write_text(f"#!/bin/sh\nenv >> {seen}\ncat\n")
    spy.chmod(0o755)
    repo.write(".gitattributes", "*.py filter=spy\n")
    repo.write("a.py", functions("f"))
    repo.git("config", "filter.spy.clean", str(spy))
    repo.commit()
    seen.unlink()
    repo.write("a.py", functions("f", "g"))
    assert decide(repo, "--changed", "HEAD").code == 0
    repo.pytest("--reqfile-changed=HEAD", env=asked_key())
    assert seen.exists()
    assert KEY not in seen.read_text()


def test_questions_about_conflicts_hold_no_interrupted_run(repo: Repo, jev: Jev) -> None:
    """They come last, when everything else is known; what was answered before stays."""
    conflicting(repo, jev, "core/a.rs", "core/b.rs")
    repo.write(".reqfile/config.yaml", f"{jev.config}  concurrency: 1\n")
    jev.behave = lambda heard: Said(delay=60.0) if heard.is_conflict and heard.state["file"] == "core/b.rs" else None
    with started(repo, "pytest_reqfile", "check", env=asked_key()) as process:
        assert wait_until(lambda: len(jev.conflicts) >= 2, 30.0)
        time.sleep(0.2)
        start = time.monotonic()
        process.send_signal(signal.SIGINT)
        _, err = process.communicate(timeout=20)
    assert process.returncode == 130, err
    assert time.monotonic() - start < 20.0
    assert len(repo.path(".git/reqfile/jev-cache").read_text().splitlines()) == 2


def _reply(jev: Jev, heard: Heard, chance: random.Random) -> Said | None:
    """What a bad day makes of an answer; None is a good one."""
    answer = jev.answer(heard).body
    head = f"HTTP/1.1 200 X\r\nContent-Length: {len(answer)}\r\n\r\n".encode()
    wrong = {i: {"noul": 2.0} for i in heard.questions}
    return chance.choice(
        [
            *(None, None, None, None),
            Said(raw=head + answer[: chance.randrange(len(answer))]),
            Said(raw=b""),
            Said(raw=b"HTTP/1.1 103 X\r\n\r\n" + head + answer, stays=True),
            Said(raw=(head + answer) * 2, stays=True),
            Said(raw=head + answer),
            Said(status=503, headers={"Retry-After": "0"}),
            Said(status=500, body=b"no"),
            Said(body=answer, drip=0.0005),
            said({"model": EXACT, "answers": wrong}),
        ]
    )


@pytest.mark.parametrize("seed", [1, 2])
def test_on_its_worst_day_a_service_costs_answers_and_changes_none(repo: Repo, jev: Jev, seed: int) -> None:
    """Each unit's verdict is its own or an error; nothing wrong is kept for later runs."""
    drepo(repo, jev, config=f"{jev.config}  concurrency: 8\n")
    chance = random.Random(seed)
    marks = [chance.choice(["HOT", "WARM", "COLD"]) for _ in range(60)]
    repo.write("a.py", "\n\n".join(functions(f"f{number}", mark=mark) for number, mark in enumerate(marks)))
    jev.behave = lambda heard: None if heard.is_probe else _reply(jev, heard, chance)
    verdicts = {"HOT": "advisory", "WARM": "uncertain", "COLD": "pass"}
    for run, allowed in (("bad.jsonl", {"error"}), ("good.jsonl", set[str]())):
        done = decide(repo, "--log", run)
        lines = log_of(repo, run, "decision_unit")
        wrong = [
            (mark, line["verdict"])
            for mark, line in zip(marks, lines, strict=True)
            if line["verdict"] not in {verdicts[mark], *allowed}
        ]
        assert wrong == []
        assert (done.code == 3) is any(line["verdict"] == "error" for line in lines)
        jev.behave = lambda heard: None
