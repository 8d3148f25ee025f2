"""Decision checks as items: asked about together, once, whatever the mode (issue 8.6)."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from typing import Any

import pytest

from tests.support import Repo
from tests.support.decisions import BLOCKING, DECISION, PASSTHRU, PYFUNC, asked_key
from tests.support.jev import EXACT, KEY, Heard, Jev, Said, said
from tests.support.repo import Completed
from tests.support.requirements import OK, req

MODES = (("-n", "2"), ())


@pytest.fixture
def judged(project: Repo, jev: Jev) -> Repo:
    """Two requirements that ask about the same two functions."""
    project.write("Reqfile.yaml", req(ONE_JOB=DECISION, NO_PASS=BLOCKING))
    project.write(".reqfile/ONE_JOB/decision.yaml", PYFUNC)
    project.write(".reqfile/NO_PASS/decision.yaml", PASSTHRU)
    project.write(".reqfile/config.yaml", jev.config)
    project.write("a.py", "def a():\n    pass  # HOT\n\n\ndef b():\n    pass\n")
    return project


Run = Callable[..., Completed]


@pytest.fixture
def run(judged: Repo, pytester: pytest.Pytester, monkeypatch: pytest.MonkeyPatch) -> Run:
    """pytest with a key: with workers as a process, else in this one, where a fraction of a second counts."""

    def start(*arguments: str, env: Mapping[str, str] | None = None) -> Completed:
        variables = asked_key() if env is None else env
        if "-n" in arguments:
            return judged.pytest("-W", "error", "-rA", *arguments, env=variables)
        with monkeypatch.context() as patch:
            for name, value in variables.items():
                patch.setenv(name, value)
            done = pytester.runpytest_inprocess("-W", "error", "-rA", "-p", "no:cacheprovider", *arguments)
        return Completed(code=int(done.ret), out=done.stdout.str(), err=done.stderr.str())

    return start


def shows(done: Completed, *lines: str) -> None:
    """Each line is one of the output."""
    for line in lines:
        assert line in done.out.splitlines(), done.out


def test_units_are_asked_about_once_in_every_mode(judged: Repo, jev: Jev, mode: tuple[str, ...]) -> None:
    """One request per unit carries both questions; the advisory check finds, the blocking one fails."""
    done = judged.pytest("-W", "error", "-rA", *mode, env=asked_key())
    assert done.code == 1, done.out
    assert (len(jev.probes), len(jev.questions)) == (1, 2), done.out
    assert all(set(heard.questions) == {"ONE_JOB", "NO_PASS"} for heard in jev.questions)
    shows(
        done,
        f"reqfile: .reqfile/config.yaml sends code to {jev.endpoint} with the key in OPENROUTER_API_KEY "
        "(by default https://openrouter.ai/api/v1 with OPENROUTER_API_KEY)",
        "FAILED Reqfile.yaml::NO_PASS/decision - It only passes its arguments on.",
        "advisory  ONE_JOB  a.py:1  p=0.95  It does several things.",
        "2 checks run, 0 with nothing to check, 4 code units judged. 1 violation, 1 advisory finding, 0 errors.",
    )
    assert done.out.index("reqfile: .reqfile/config.yaml") < done.out.index("advisory  ONE_JOB")


def test_single_items_share_the_answers_of_earlier_runs(judged: Repo, run: Run, jev: Jev) -> None:
    """A single item asks its own question alone, and later runs ask nothing that is known; nothing is pruned."""
    assert run("Reqfile.yaml::ONE_JOB/decision").code == 0
    assert [sorted(heard.questions) for heard in jev.questions] == [["ONE_JOB"]] * 2
    run()
    assert [sorted(heard.questions) for heard in jev.questions[2:]] == [["NO_PASS"]] * 2
    run("-k", "NO_PASS")
    run("-n", "2")
    assert len(jev.questions) == 4
    assert len(judged.path(".git/reqfile/jev-cache").read_text().splitlines()) == 4


@pytest.mark.parametrize("arguments", MODES, ids=["workers", "alone"])
def test_a_full_run_prunes_and_a_narrowed_one_does_not(
    judged: Repo, run: Run, jev: Jev, arguments: tuple[str, ...]
) -> None:
    """As on the command line (seed 004 DECISION_CHECK)."""
    cache = judged.path(".git/reqfile/jev-cache")
    cache.parent.mkdir()
    cache.write_text("0123456789abcdef 0.5\n")
    several = (("-k", "ONE_JOB"), ("--reqfile-only", "ONE_JOB"), ("-m", "blocking"))
    for narrowed in several[: 1 if arguments else None]:
        done = run(*narrowed, *arguments)
        assert "0123456789abcdef 0.5" in cache.read_text(), done.out + done.err
    done = run(*arguments)
    assert "0123456789abcdef 0.5" not in cache.read_text(), done.out + done.err


def test_a_full_run_with_a_broken_question_prunes_nothing(judged: Repo, run: Run, jev: Jev) -> None:
    """Once it is mended, its answers are needed again."""
    run()
    good = judged.path(".reqfile/NO_PASS/decision.yaml").read_text()
    judged.write(".reqfile/NO_PASS/decision.yaml", good.replace("kind:", "kinds:"))
    assert "invalid ast-grep rule" in run().out
    judged.write(".reqfile/NO_PASS/decision.yaml", good)
    run()
    assert len(jev.questions) == 2


def test_what_is_deselected_is_not_asked(judged: Repo, run: Run, jev: Jev) -> None:
    """By marker, keyword or option."""
    run("-m", "not llm-advisory")
    assert [sorted(heard.questions) for heard in jev.questions] == [["NO_PASS"]] * 2
    run("--reqfile-only", "ONE_JOB")
    assert [sorted(heard.questions) for heard in jev.questions[2:]] == [["ONE_JOB"]] * 2


def test_markers_tell_decision_items_apart(judged: Repo) -> None:
    """Fast all of them; advisory ones are a model's opinion (design 2.2)."""
    names = {"ONE_JOB": "Reqfile.yaml::ONE_JOB/decision", "NO_PASS": "Reqfile.yaml::NO_PASS/decision"}
    for marker, chosen in (("fast", "ONE_JOB NO_PASS"), ("advisory", "ONE_JOB"), ("blocking", "NO_PASS")):
        done = judged.pytest("--co", "-q", "-m", marker)
        assert [line for line in done.out.splitlines() if "::" in line] == [names[name] for name in chosen.split()]
    done = judged.pytest("--co", "-q", "-m", "llm-advisory")
    assert "ONE_JOB/decision" in done.out
    assert "NO_PASS" not in done.out


def test_collecting_sends_nothing_and_tells_nothing(judged: Repo, run: Run, jev: Jev) -> None:
    """No request, no key needed."""
    done = run("--collect-only")
    assert done.code == 0
    assert "sends code to" not in done.out
    assert jev.heard == []


@pytest.mark.parametrize(
    ("arguments", "code"),
    [
        ((), 1),
        (("--reqfile-edition", "0.4"), 0),
        (("--reqfile-advisory-errors", "report"), 0),
        (("--reqfile-edition", "0.4", "--reqfile-advisory-errors", "fail"), 1),
        (("-o", "reqfile_advisory_errors=report", "-n", "2"), 0),
    ],
)
def test_advisory_errors_fail_as_edition_and_option_say(
    judged: Repo, run: Run, jev: Jev, arguments: tuple[str, ...], code: int
) -> None:
    """An error that gates is pytest's error; one that does not is told as advisory (design 3)."""
    jev.behave = lambda heard: said({}, 401)
    done = run(*arguments, "-k", "ONE_JOB")
    assert done.code == code, done.out
    reason = "2 of 2 units could not be judged, first at a.py:1: Jev returned HTTP 401: {}"
    if code:
        shows(done, f"ERROR Reqfile.yaml::ONE_JOB/decision - {reason}")
    else:
        shows(done, f"advisory error  ONE_JOB  {reason}")
    assert len(jev.heard) == 1


@pytest.mark.parametrize("arguments", MODES, ids=["workers", "alone"])
def test_a_missing_key_is_an_error_of_every_item(judged: Repo, run: Run, jev: Jev, arguments: tuple[str, ...]) -> None:
    """Nothing is sent, and nothing is told of where it would go."""
    done = run(*arguments, env={})
    assert done.code == 1
    reason = "2 of 2 units could not be judged, first at a.py:1: OPENROUTER_API_KEY is not set"
    for name in ("ONE_JOB", "NO_PASS"):
        assert f"ERROR Reqfile.yaml::{name}/decision - {reason}" in done.out
    assert "sends code to" not in done.out
    assert jev.heard == []


@pytest.mark.parametrize("arguments", MODES, ids=["workers", "alone"])
def test_a_broken_decision_yaml_is_the_error_of_its_item_alone(
    judged: Repo, run: Run, jev: Jev, arguments: tuple[str, ...]
) -> None:
    """With file and line; the other check is judged."""
    judged.write(".reqfile/NO_PASS/decision.yaml", PASSTHRU.replace("function_definition", "nope"))
    done = run(*arguments)
    assert (
        "ERROR Reqfile.yaml::NO_PASS/decision - .reqfile/NO_PASS/decision.yaml:3: invalid ast-grep rule: " in done.out
    )
    shows(done, "advisory  ONE_JOB  a.py:1  p=0.95  It does several things.")
    assert [sorted(heard.questions) for heard in jev.questions] == [["ONE_JOB"]] * 2


@pytest.mark.parametrize("arguments", MODES, ids=["workers", "alone"])
def test_the_run_log_has_a_line_for_each_unit(judged: Repo, run: Run, jev: Jev, arguments: tuple[str, ...]) -> None:
    """Clean ones included, and from whichever worker (seed 004 RUN_LOG)."""
    run("--reqfile-log", "run.jsonl", *arguments)
    lines: list[dict[str, Any]] = [json.loads(line) for line in judged.path("run.jsonl").read_text().splitlines()]
    found = sorted((line["requirement"], line["line"], line["verdict"], line["cached"]) for line in lines)
    assert found == [
        ("NO_PASS", 1, "violation", False),
        ("NO_PASS", 5, "pass", False),
        ("ONE_JOB", 1, "advisory", False),
        ("ONE_JOB", 5, "pass", False),
    ]
    assert KEY not in judged.path("run.jsonl").read_text()


def test_a_file_without_units_is_skipped_with_the_reason(judged: Repo, run: Run, jev: Jev) -> None:
    """Nothing to check is no pass."""
    judged.write("a.py", "x = 1\n")
    done = run()
    assert done.code == 0
    assert done.out.count("nothing to check: no code unit") == 2
    assert jev.heard == []


def test_a_cache_that_cannot_be_written_is_told(judged: Repo, run: Run, jev: Jev) -> None:
    """By the first item: nothing else in a run would."""
    judged.write(".git/reqfile/jev-cache.lock/x")
    done = run()
    assert "ERROR Reqfile.yaml::ONE_JOB/decision - cannot write the Jev cache " in done.out
    assert "FAILED Reqfile.yaml::NO_PASS/decision" in done.out


@pytest.mark.parametrize("arguments", MODES, ids=["workers", "alone"])
def test_examples_of_a_judged_requirement_are_measured(
    judged: Repo, run: Run, jev: Jev, arguments: tuple[str, ...]
) -> None:
    """A wrong label is advisory and never a failure; where their code goes is told, too."""
    judged.write("a.py", "x = 1\n")
    judged.write(".reqfile/ONE_JOB/examples/violation-hot/a.py", "def f():\n    pass  # HOT\n")
    judged.write(".reqfile/ONE_JOB/examples/ok-hot/a.py", "def f():\n    pass  # HOT\n")
    done = run("-k", "examples", *arguments)
    assert done.code == 0
    shows(done, "PASSED Reqfile.yaml::ONE_JOB/examples/violation-hot")
    assert "1 passed" in done.out
    assert "1 advisory" in done.out
    assert "sends code to" in done.out
    assert len(jev.questions) == 2


def test_a_worker_that_dies_while_it_asks_is_replaced_by_the_next(judged: Repo, jev: Jev) -> None:
    """Its item is an error; the others are judged all the same."""
    judged.write("Reqfile.yaml", req(ONE_JOB=DECISION, NO_PASS=BLOCKING, A=OK, B=OK))
    judged.write("conftest.py", "")
    kill = (
        "import os, pytest\n"
        "@pytest.hookimpl(wrapper=True)\n"
        "def pytest_runtest_setup(item):\n"
        "    if 'ONE_JOB' in item.nodeid:\n"
        "        os._exit(1)\n"
        "    return (yield)\n"
    )
    judged.write("conftest.py", kill)
    done = judged.pytest("-n", "2", "-rA", env=asked_key())
    assert done.code == 1
    assert "FAILED Reqfile.yaml::NO_PASS/decision - It only passes its arguments on." in done.out
    assert "ONE_JOB" in done.out


def test_the_shared_folder_of_a_run_is_gone_afterwards(judged: Repo, run: Run, jev: Jev) -> None:
    """Under xdist workers share what they judged in a private folder."""
    seen: list[list[str]] = []
    temporary = judged.home / "tmp"
    temporary.mkdir()

    def behave(heard: Heard) -> Said | None:
        del heard
        seen.append([path.name for path in temporary.glob("reqfile-run-*")])
        return None

    jev.behave = behave
    run("-n", "2", env=asked_key(TMPDIR=str(temporary)))
    assert all(len(found) == 1 for found in seen)
    assert list(temporary.glob("reqfile-run-*")) == []


def test_units_that_were_judged_are_shown_beside_the_error_of_the_others(judged: Repo, run: Run, jev: Jev) -> None:
    """One unit without an answer hides no finding of another, whether errors fail or are reported."""
    jev.behave = lambda heard: said({}, 500) if not heard.is_probe and "def b(" in heard.state["unit"] else None
    finding = "advisory  ONE_JOB  a.py:1  p=0.95  It does several things."
    reason = "1 of 2 units could not be judged, first at a.py:5: Jev returned HTTP 500: {}"
    done = run("--reqfile-advisory-errors", "report", "-k", "ONE_JOB")
    shows(done, finding, f"advisory error  ONE_JOB  {reason}")
    done = run("-k", "ONE_JOB")
    assert done.code == 1
    shows(done, f"error: {reason}")
    assert "It does several things." in done.out


@pytest.mark.parametrize("arguments", MODES, ids=["workers", "alone"])
def test_every_report_names_probability_and_exact_model(
    judged: Repo, run: Run, jev: Jev, arguments: tuple[str, ...]
) -> None:
    """Whoever reads a judgement must know who judged (seed 004 OUTPUT)."""
    kinds = ("sarif", "json", "html", "junit")
    done = run(*(f"--reqfile-{kind}=report.{kind}" for kind in kinds), "--junitxml=pytest.xml", *arguments)
    assert done.code == 1
    assert len(jev.questions) == 2
    for name in ("report.sarif", "report.json", "report.html", "pytest.xml"):
        text = judged.path(name).read_text("utf-8")
        assert EXACT in text, name
        assert "0.95" in text, name
    assert "0.95" in judged.path("report.junit").read_text("utf-8")
