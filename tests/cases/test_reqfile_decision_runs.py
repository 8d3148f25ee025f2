"""Cases D, H, I, J, M, N and O of decision checks: settings, selection, log, exit codes, reports and examples."""

from __future__ import annotations

import json
from typing import Any

import pytest

from tests.support import Repo
from tests.support.decisions import BLOCKING, DECISION, PYFUNC, asked_key, decide, drepo, functions, log_of
from tests.support.jev import EXACT, KEY, Heard, Jev, said, serve
from tests.support.requirements import OK, command, req, say, seen

HOT = functions("f", mark="HOT")
NO_FIXME = command('grep -n FIXME "$@" && exit 1 || exit 0', files="**/*.py", pass_files=True)


def spec(question: str) -> str:
    """PYFUNC with another question."""
    return PYFUNC.replace("Several things?", question)


def asked(jev: Jev, start: int = 0) -> list[tuple[str, str]]:
    """Path and question of what was asked about units after the first ``start`` requests, sorted."""
    return sorted(
        (heard.state["path"], question["instructions"]["question"])
        for heard in jev.questions[start:]
        for question in heard.questions.values()
    )


@pytest.mark.case("reqfile:D1")
def test_each_setting_comes_from_the_nearest_config(repo: Repo, jev: Jev) -> None:
    """Folders with the same settings share a request, others have their own."""
    for folder, identifier in (("", "ROOT"), ("app/", "APP"), ("app/deep/", "DEEP")):
        repo.write(f"{folder}Reqfile.yaml", req(**{identifier: DECISION}))
        repo.write(f"{folder}.reqfile/{identifier}/decision.yaml", PYFUNC)
    repo.write(".reqfile/config.yaml", f"{jev.config}  model: m-root-1.0\n")
    repo.write("app/.reqfile/config.yaml", "decision:\n  model: m-app-2.0\n")
    repo.write("app/deep/code.py", functions("f"))
    assert decide(repo).code == 0
    found = sorted((heard.model, sorted(heard.questions)) for heard in jev.questions)
    assert found == [("m-app-2.0", ["APP", "DEEP"]), ("m-root-1.0", ["ROOT"])]


@pytest.mark.case("reqfile:D2")
def test_settings_are_resolved_key_by_key(repo: Repo, jev: Jev) -> None:
    """The root's endpoint and key, the folder's model."""
    repo.write("app/Reqfile.yaml", req(APP=DECISION))
    repo.write("app/.reqfile/APP/decision.yaml", PYFUNC)
    repo.write(".reqfile/config.yaml", f"{jev.config}  api_key_env: K_ROOT\n")
    repo.write("app/.reqfile/config.yaml", "decision:\n  model: m-app-2.0\n")
    repo.write("app/code.py", functions("f"))
    done = decide(repo, env={"K_ROOT": "abc"})
    assert done.code == 0
    (heard,) = jev.questions
    assert (heard.model, heard.authorization) == ("m-app-2.0", "Bearer abc")
    assert "with the key in K_ROOT" in done.err


@pytest.mark.case("reqfile:D3")
def test_a_nested_endpoint_sends_that_folder_s_questions_elsewhere(repo: Repo, jev: Jev) -> None:
    """Two services, each asked by its own folder's requirement about the same file."""
    with serve(Jev()) as other:
        repo.write("Reqfile.yaml", req(ROOT=DECISION))
        repo.write("app/Reqfile.yaml", req(APP=DECISION))
        repo.write(".reqfile/ROOT/decision.yaml", PYFUNC)
        repo.write("app/.reqfile/APP/decision.yaml", PYFUNC)
        repo.write(".reqfile/config.yaml", jev.config)
        repo.write("app/.reqfile/config.yaml", other.config)
        repo.write("app/code.py", functions("f"))
        assert decide(repo).code == 0
        assert [sorted(heard.questions) for heard in jev.questions] == [["ROOT"]]
        assert [sorted(heard.questions) for heard in other.questions] == [["APP"]]


@pytest.mark.case("reqfile:H14")
def test_a_changed_decision_question_is_asked_about_unchanged_code(repo: Repo, jev: Jev) -> None:
    """The other requirement of the same Reqfile is not widened."""
    drepo(repo, jev)
    repo.write("Reqfile.yaml", req(ONE_JOB=DECISION, SEEN=seen("**/*.txt")))
    repo.write("old.py", HOT)
    repo.write("old.txt")
    repo.commit()
    repo.branch("feature")
    repo.write(".reqfile/ONE_JOB/decision.yaml", spec("Too much?"))
    repo.write("new.txt")
    done = decide(repo, "--changed", "main")
    assert "ONE_JOB  old.py:1" in done.out
    assert "SEEN  saw new.txt\n" in done.out


def shared(repo: Repo, jev: Jev) -> Repo:
    """H18's tree: the root uses ./std, which defines a decision; a unit in each scope."""
    repo.write("Reqfile.yaml", "reqfile: 1\ncode:\n  - { id: ONE_JOB, use: ./std }\n")
    repo.write("std/Reqfile.yaml", req(ONE_JOB=DECISION))
    repo.write("std/.reqfile/ONE_JOB/decision.yaml", spec("Q1"))
    repo.write(".reqfile/config.yaml", jev.config)
    repo.write("src/a.py", functions("f"))
    repo.write("std/tools/b.py", functions("f"))
    repo.commit()
    repo.branch("feature")
    return repo


@pytest.mark.case("reqfile:H18")
def test_a_change_to_a_local_sources_assets_rechecks_every_block_resolving_to_it(repo: Repo, jev: Jev) -> None:
    """Both scopes are asked the new question."""
    shared(repo, jev)
    repo.write("std/.reqfile/ONE_JOB/decision.yaml", spec("Q1b"))
    assert decide(repo, "--changed", "main").code == 0
    assert asked(jev) == [("src/a.py", "Q1b"), ("std/tools/b.py", "Q1b")]


@pytest.mark.case("reqfile:H22")
def test_settings_next_to_a_local_source_only_affect_that_sources_own_scope(repo: Repo, jev: Jev) -> None:
    """A use block is judged with the settings of its own folder."""
    shared(repo, jev)
    repo.write("std/.reqfile/config.yaml", "decision:\n  model: m-std-1.0\n")
    assert decide(repo, "--changed", "main", "--edition", "0.4").code == 0
    assert [(heard.state["path"], heard.model) for heard in jev.questions] == [("std/tools/b.py", "m-std-1.0")]


@pytest.mark.case("reqfile:H19")
def test_a_why_change_in_an_intermediate_use_block_rechecks_only_its_scope(repo: Repo, jev: Jev) -> None:
    """A changed question rechecks all three scopes, a changed why of one block its own (edition 0.4)."""
    repo.write("Reqfile.yaml", "reqfile: 1\ncode:\n  - { id: ONE_JOB, use: ./oss/p/std }\n")
    repo.write("oss/p/Reqfile.yaml", "reqfile: 1\ncode:\n  - { id: ONE_JOB, use: ./std }\n")
    repo.write("oss/p/std/Reqfile.yaml", req(ONE_JOB=DECISION))
    repo.write("oss/p/std/.reqfile/ONE_JOB/decision.yaml", spec("Q1"))
    repo.write(".reqfile/config.yaml", jev.config)
    paths = ("a.py", "oss/p/src/b.py", "oss/p/std/c.py")
    for path in paths:
        repo.write(path, functions("f"))
    repo.commit()
    repo.branch("feature")
    repo.write("oss/p/std/.reqfile/ONE_JOB/decision.yaml", spec("Q2"))
    assert decide(repo, "--changed", "main", "--edition", "0.4").code == 0
    assert asked(jev) == [(path, "Q2") for path in paths]
    repo.git("checkout", "-q", "--", "oss")
    repo.write("oss/p/Reqfile.yaml", "reqfile: 1\ncode:\n  - { id: ONE_JOB, use: ./std, why: Other. }\n")
    assert decide(repo, "--changed", "main", "--edition", "0.4").code == 0
    assert asked(jev, start=3) == [("oss/p/src/b.py", "Q1")]


@pytest.mark.case("reqfile:H20")
def test_adding_a_shadowing_block_rechecks_its_subtree(repo: Repo, jev: Jev) -> None:
    """Files below the new block are asked its question, all others nothing (edition 0.4)."""
    repo.write("Reqfile.yaml", req(ONE_JOB=DECISION))
    repo.write(".reqfile/ONE_JOB/decision.yaml", spec("Q1"))
    repo.write(".reqfile/config.yaml", jev.config)
    for path in ("a.py", "services/api/b.py", "other/c.py"):
        repo.write(path, functions("f"))
    repo.commit()
    repo.branch("feature")
    block = "reqfile: 1\ncode:\n  - id: ONE_JOB\n    use: ../..\n    checks:\n      - decision\n"
    repo.write("services/api/Reqfile.yaml", block)
    repo.write("services/api/.reqfile/ONE_JOB/decision.yaml", spec("Q2"))
    done = decide(repo, "--changed", "main", "--edition", "0.4")
    assert done.code == 0, done.out
    assert asked(jev) == [("services/api/b.py", "Q2")]


@pytest.mark.case("reqfile:H24")
def test_a_settings_change_rechecks_the_decision_checks_it_applies_to(repo: Repo, jev: Jev) -> None:
    """The root's new model asks about all files of the root's check; app has a model of its own (edition 0.4)."""
    repo.write("Reqfile.yaml", req(ROOT=DECISION, SEEN=seen("**/*.txt")))
    repo.write("app/Reqfile.yaml", req(APP=DECISION))
    repo.write(".reqfile/ROOT/decision.yaml", PYFUNC)
    repo.write("app/.reqfile/APP/decision.yaml", PYFUNC)
    repo.write(".reqfile/config.yaml", f"{jev.config}  model: m-root-1.0\n")
    repo.write("app/.reqfile/config.yaml", "decision:\n  model: m-app-1.0\n")
    for path in ("a.py", "app/b.py", "c.txt"):
        repo.write(path, functions("f"))
    repo.commit()
    repo.branch("feature")
    repo.write(".reqfile/config.yaml", f"{jev.config}  model: m-root-2.0\n")
    done = decide(repo, "--changed", "main", "--edition", "0.4")
    assert done.code == 0
    assert "SEEN" not in done.out
    found = sorted((heard.state["path"], heard.model, sorted(heard.questions)) for heard in jev.questions)
    assert found == [("a.py", "m-root-2.0", ["ROOT"]), ("app/b.py", "m-root-2.0", ["ROOT"])]


@pytest.mark.case("reqfile:I3")
def test_decision_checks_are_on_the_fast_path(repo: Repo, jev: Jev) -> None:
    """A slow command is left for a full run."""
    drepo(repo, jev)
    repo.write("Reqfile.yaml", req(ONE_JOB=DECISION, SLOW=say("slow")))
    repo.write("a.py", HOT)
    done = decide(repo, "--fast")
    assert done.out.startswith("advisory  ONE_JOB  a.py:1")
    assert "1 left for a full run" in done.out


@pytest.mark.case("reqfile:J1")
def test_every_judged_unit_is_logged_clean_ones_included(repo: Repo, jev: Jev) -> None:
    """With source, fingerprints, verdict, probability, exact model and whether the cache answered."""
    drepo(repo, jev)
    repo.write("Reqfile.yaml", req(ONE_JOB=DECISION, NO_FIXME=NO_FIXME))
    repo.write("a.py", "def a():\n    pass\n\n\ndef b():\n    pass  # HOT FIXME\n")
    head = repo.commit()
    plain = decide(repo)
    repo.delete(".git/reqfile")
    done = decide(repo, "--log", "logs/run.jsonl")
    assert (done.code, done.out) == (plain.code, plain.out)
    clean, hot = log_of(repo, "logs/run.jsonl", "decision_unit")
    shared_keys = {"v", "run_id", "time_ms", "reqfile_version", "fast", "changed", "base", "tags", "kind"}
    assert {key: value for key, value in clean.items() if key not in shared_keys} == {
        "git_head": head,
        "requirement": "ONE_JOB",
        "file": "a.py",
        "line": 1,
        "language": "python",
        "unit_fingerprint": "af07757728decaff",
        "unit_source": "def a():\n    pass",
        "has_enclosing": False,
        "question_fingerprint": hot["question_fingerprint"],
        "blocking": False,
        "verdict": "pass",
        "probability": 0.05,
        "model": EXACT,
        "cached": False,
    }
    assert (hot["line"], hot["verdict"], hot["probability"]) == (5, "advisory", 0.95)
    assert hot["unit_fingerprint"] != clean["unit_fingerprint"]
    assert hot["run_id"] == clean["run_id"]
    decide(repo, "--log", "logs/again.jsonl")
    assert [line["cached"] for line in log_of(repo, "logs/again.jsonl", "decision_unit")] == [True, True]
    decide(repo, "--log", "logs/nokey.jsonl", env={})
    errors = log_of(repo, "logs/nokey.jsonl", "decision_unit")
    assert {line["verdict"] for line in errors} == {"error"}
    assert errors[0]["error"].startswith("OPENROUTER_API_KEY is not set")


@pytest.mark.case("reqfile:M8'")
@pytest.mark.case("reqfile:M8")
@pytest.mark.parametrize("edition", ["0.1", "0.4"])
def test_an_error_of_an_advisory_check_gates_in_edition_0_1_alone(repo: Repo, jev: Jev, edition: str) -> None:
    """Edition 0.4 reports it and exits with 0."""
    drepo(repo, jev)
    repo.write("Reqfile.yaml", req(ONE_JOB=DECISION, FINE=OK))
    repo.write("a.py", functions("f"))
    jev.behave = lambda heard: said({"no": 1}, 401)
    done = decide(repo, "--edition", edition)
    reason = 'Jev returned HTTP 401: {"no": 1}'
    assert f"error  ONE_JOB  1 of 1 units could not be judged, first at a.py:1: {reason}\n" in done.out
    document = json.loads(decide(repo, "--edition", edition, "--format", "json").out)
    if edition == "0.1":
        assert (done.code, document["exit_code"]) == (3, 3)
        assert done.out.endswith("0 violations, 0 advisory findings, 1 error.\n")
        return
    assert done.code == 0
    assert done.out.startswith("advisory error  ONE_JOB")
    assert done.out.endswith("0 violations, 0 advisory findings, 1 error (1 advisory).\n")
    assert document["errors"][0]["blocking"] is False
    assert (document["summary"]["advisory_errors"], document["exit_code"]) == (1, 0)


@pytest.mark.case("reqfile:M9")
def test_an_error_in_a_blocking_check_exits_3(repo: Repo, jev: Jev) -> None:
    """In edition 0.4, too."""
    drepo(repo, jev, check=BLOCKING, config=jev.pinned)
    repo.write("a.py", functions("f"))
    jev.behave = lambda heard: said({"no": 1}, 401)
    done = decide(repo, "--edition", "0.4")
    assert done.code == 3
    assert any(line.startswith("error  ONE_JOB  1 of 1 units") for line in done.out.splitlines())


@pytest.mark.case("reqfile:M10")
def test_a_missing_key_with_only_advisory_checks_exits_0_and_names_the_error(repo: Repo, jev: Jev) -> None:
    """Each requirement says so (edition 0.4)."""
    repo.write("Reqfile.yaml", req(ONE_JOB=DECISION, NO_PASS=DECISION))
    for identifier in ("ONE_JOB", "NO_PASS"):
        repo.write(f".reqfile/{identifier}/decision.yaml", PYFUNC)
    repo.write(".reqfile/config.yaml", jev.config)
    repo.write("a.py", functions("f"))
    done = decide(repo, "--edition", "0.4", env={})
    assert done.code == 0
    reason = "1 of 1 units could not be judged, first at a.py:1: OPENROUTER_API_KEY is not set"
    assert f"advisory error  ONE_JOB  {reason}" in done.out
    assert f"advisory error  NO_PASS  {reason}" in done.out
    assert jev.heard == []


def example(repo: Repo, name: str, path: str, text: str, described: bool) -> None:
    """A labeled example in either layout, its label in its name."""
    base = f".reqfile/ONE_JOB/examples/{name}"
    repo.write(f"{base}/files/{path}" if described else f"{base}/{path}", text)
    if described:
        repo.write(f"{base}/example.yaml", f"expected: {name.partition('-')[0]}\n")


@pytest.mark.case("reqfile:O3")
@pytest.mark.parametrize("described", [False, True])
def test_decision_checks_are_measured_rather_than_asserted(repo: Repo, jev: Jev, described: bool) -> None:
    """Caught, missed, uncertain, not selected; passed and false alarm: no failure. A unit is a request, no probe."""
    drepo(repo, jev)
    for name, path, text in (
        ("violation-caught", "a.py", HOT),
        ("violation-missed", "a.py", functions("f")),
        ("violation-unsure", "a.py", functions("f", mark="WARM")),
        ("violation-rust", "a.rs", "fn f() {}"),
        ("ok-fine", "a.py", functions("f")),
        ("ok-flagged", "a.py", HOT),
    ):
        example(repo, name, path, text, described)
    done = repo.run("eval", env=asked_key())
    assert (done.code, done.out) == (
        0,
        "ONE_JOB  measured, no assertion: 1 of 4 violations caught (95% interval 5 to 70%; 1 missed, 1 not selected, "
        "1 uncertain); 1 of 2 correct examples flagged (95% interval 9 to 91%; 0 uncertain)\n"
        "  ok-flagged: false alarm\n  violation-missed: missed\n  violation-rust: not selected\n"
        "  violation-unsure: uncertain\n\n"
        "1 requirements: 0 asserted, 1 measured, 0 without evidence; 6 examples. 0 failing their labels.\n",
    )
    assert (len(jev.questions), len(jev.heard)) == (5, 5)
    assert not repo.path(".git/reqfile/jev-cache").exists()
    assert done.err.count("note: ") == 1


@pytest.mark.case("reqfile:O4")
def test_a_case_that_cannot_run_is_an_error(repo: Repo, jev: Jev) -> None:
    """Without a key nothing is measured."""
    drepo(repo, jev)
    example(repo, "violation-x", "a.py", HOT, described=True)
    done = repo.run("eval")
    assert done.code == 3
    reason = "1 of 1 units could not be judged, first at a.py:1: OPENROUTER_API_KEY is not set"
    assert f"  violation-x: error: {reason}" in done.out
    assert jev.heard == []


@pytest.mark.case("reqfile:O8")
def test_a_violation_a_command_examined_is_missed_even_if_no_unit_was_selected(repo: Repo, jev: Jev) -> None:
    """Selector misses are counted apart only where nothing looked."""
    drepo(repo, jev)
    repo.write("Reqfile.yaml", req(ONE_JOB=[command("true", files="**/*.rs"), DECISION]))
    example(repo, "violation-rust", "a.rs", "fn f() {}", described=True)
    assert "  violation-rust: missed\n" in repo.run("eval", env=asked_key()).out


@pytest.mark.case("reqfile:O23")
def test_repeat_reruns_each_example_and_reports_the_cases_whose_outcome_changes(repo: Repo, jev: Jev) -> None:
    """Each run asks anew."""
    drepo(repo, jev)
    example(repo, "violation-x", "a.py", functions("f"), described=True)
    jev.probability = lambda heard, identifier: 0.95 if len(jev.questions) % 2 else 0.05
    done = repo.run("eval", "--repeat", "2", env=asked_key())
    assert (done.code, done.out) == (
        0,
        "ONE_JOB  measured, no assertion: 0 of 1 violations caught (95% interval 0 to 79%; 1 missed, 0 not selected, "
        "0 uncertain); 0 of 0 correct examples flagged (0 uncertain)\n"
        "  violation-x: unstable over 2 runs: caught 1, missed 1\n"
        "  no correct examples: false alarms are not measured\n\n"
        "1 requirements: 0 asserted, 1 measured, 0 without evidence; 1 examples, 2 runs each, 1 unstable. "
        "0 failing their labels.\n",
    )
    assert len(jev.questions) == 2


def test_examples_share_the_limit_of_requests_at_a_time(repo: Repo, jev: Jev) -> None:
    """Cases run side by side; what a service is asked at once is what the config says."""
    drepo(repo, jev, config=f"{jev.config}  concurrency: 1\n")
    for number in range(6):
        example(repo, f"ok-{number}", "a.py", functions("f"), described=True)
    jev.latency = 0.05
    assert repo.run("eval", env=asked_key()).code == 0
    assert (len(jev.questions), jev.peak) == (6, 1)


def test_a_key_in_an_answer_is_masked(repo: Repo, jev: Jev) -> None:
    """A service that sends back what it was sent must not put a key into reports."""
    drepo(repo, jev)
    repo.write("a.py", functions("f"))

    def echo(heard: Heard) -> Any:
        return said({"sent": heard.authorization}, 401)

    jev.behave = echo
    done = decide(repo)
    assert KEY not in done.out
    assert '"sent": "Bearer ***"' in done.out
