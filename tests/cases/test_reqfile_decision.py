"""Cases G: decision checks, through the command line (seed 004 DECISION_CHECK); edition 0.1 unless said otherwise."""

from __future__ import annotations

import threading

import pytest

from tests.support import Repo
from tests.support.decisions import BLOCKING, DECISION, PASSTHRU, PYFUNC, asked_key, decide, drepo, functions
from tests.support.jev import ALIAS, EXACT, NEWER, PATH, Heard, Jev, Said, said
from tests.support.requirements import req

EDITIONS = {"0.1": (3, "error  "), "0.4": (0, "advisory error  ")}


@pytest.fixture(params=EDITIONS)
def edition(request: pytest.FixtureRequest) -> str:
    """Each edition in turn."""
    name: str = request.param
    return name


@pytest.mark.case("reqfile:G1")
def test_each_unit_is_asked_about_and_judged_by_the_thresholds(repo: Repo, jev: Jev) -> None:
    """Above is an advisory finding, between an uncertain one, below nothing at all."""
    drepo(repo, jev)
    repo.write("app/w.py", "def a():\n    pass\n\n\ndef b():\n    pass  # HOT\n\n\n\n\ndef c():\n    pass  # WARM\n")
    done = decide(repo)
    assert done.out == (
        "advisory  ONE_JOB  app/w.py:5  p=0.95  It does several things.\n  fix: Break it up.\n"
        "uncertain  ONE_JOB  app/w.py:11  p=0.50  Several things?\n  fix: Break it up.\n\n"
        "1 check run, 0 with nothing to check, 3 code units judged. 0 violations, 2 advisory findings, 0 errors.\n"
    )
    assert (done.code, len(jev.questions), len(jev.probes)) == (0, 3, 1)


@pytest.mark.case("reqfile:G2")
def test_the_request_asks_a_yes_no_question_about_the_unit(repo: Repo, jev: Jev) -> None:
    """State, instructions and criteria, and nothing of fix hint, thresholds, must or why."""
    drepo(repo, jev)
    repo.write("w.py", "def a():\n    return 1\n")
    assert decide(repo).code == 0
    (heard,) = jev.questions
    assert (heard.path, heard.authorization) == (PATH, "Bearer test-key")
    assert heard.body == {
        "model": ALIAS,
        "state": {"language": "python", "path": "w.py", "unit": "def a():\n    return 1"},
        "questions": {
            "ONE_JOB": {
                "type": "noul",
                "instructions": {"subject": "the code in `unit`", "question": "Several things?"},
                "criteria": {"true": "It does several things.", "false": "It does one."},
            }
        },
    }


@pytest.mark.case("reqfile:G3")
def test_enclosing_context_sends_the_enclosing_function(repo: Repo, jev: Jev) -> None:
    """The nearest function around the unit; a unit outside of any has none."""
    spec = PYFUNC.replace("function_definition", "except_clause").replace("question:", "context: enclosing\nquestion:")
    drepo(repo, jev, spec)
    body = "    try:\n        g()\n    except E:\n        pass\n"
    repo.write("w.py", f"def f():\n{body}\n\ntry:\n    g()\nexcept F:\n    pass\n")
    assert decide(repo).code == 0
    inner, outer = sorted((heard for heard in jev.questions), key=lambda heard: str(heard.state["unit"]))
    assert inner.state["unit"] == "except E:\n        pass"
    assert inner.state["enclosing_function"] == f"def f():\n{body}".rstrip("\n")
    subject = inner.questions["ONE_JOB"]["instructions"]["subject"]
    assert subject == "the code in `unit`, which is part of `enclosing_function`"
    assert "enclosing_function" not in outer.state
    assert outer.questions["ONE_JOB"]["instructions"]["subject"] == "the code in `unit`"


@pytest.mark.case("reqfile:G5")
def test_unit_files_and_ignores_select_where_units_come_from(repo: Repo, jev: Jev) -> None:
    """Both are seen from the Reqfile's folder."""
    where = 'files: "**/core/**", ignores: ["**/test_*.py", "**/*_test.py"]'
    drepo(repo, jev, PYFUNC.replace("rule:", f"{where}, rule:"))
    for path in ("core/step.py", "core/test_step.py", "core/step_test.py", "shell/io.py"):
        repo.write(path, functions("f", mark="HOT"))
    done = decide(repo)
    assert done.out.count("advisory  ") == 1
    assert "core/step.py:1" in done.out
    assert jev.units == [("core/step.py", "ONE_JOB")]


@pytest.mark.case("reqfile:G7")
def test_the_decision_yaml_lives_next_to_its_reqfile(repo: Repo, jev: Jev) -> None:
    """A nested requirement judges its own folder, by the root's settings."""
    repo.write(".reqfile/config.yaml", jev.config)
    repo.write("app/Reqfile.yaml", req(ONE_JOB=DECISION))
    repo.write("app/.reqfile/ONE_JOB/decision.yaml", PYFUNC)
    repo.write("app/a.py", functions("f", mark="HOT"))
    repo.write("b.py", functions("f", mark="HOT"))
    assert "ONE_JOB  app/a.py:1" in decide(repo).out
    assert jev.units == [("app/a.py", "ONE_JOB")]


@pytest.mark.case("reqfile:G8")
def test_a_missing_decision_yaml_is_a_config_error(repo: Repo, jev: Jev) -> None:
    """It names the check and the file it needs."""
    drepo(repo, jev)
    repo.delete(".reqfile/ONE_JOB")
    done = decide(repo)
    assert done.code == 3
    needs = "Reqfile.yaml:8: the decision check of ONE_JOB needs .reqfile/ONE_JOB/decision.yaml: "
    assert f"error  {needs}a folder above it is missing or a symbolic link\n" in done.out
    repo.write(".reqfile/ONE_JOB/notes.txt")
    assert f"error  {needs}No such file or directory\n" in decide(repo).out


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ("ok_when", "fine_when", ".reqfile/ONE_JOB/decision.yaml:6: unknown key `fine_when` in decision.yaml"),
        ("above: 0.8", "above: 0.1", ":8: thresholds must satisfy 0 <= pass_below <= violation_above <= 1"),
        ("python", "cobol", ":3: invalid ast-grep rule: `cobol` is not a language"),
        ("{kind:", "{kinds:", ":3: invalid ast-grep rule: unknown field `kinds`, expected one of `pattern`"),
        (
            "function_definition",
            "no_kind",
            ":3: invalid ast-grep rule: `rule` is not configured correctly.: Rule contains",
        ),
        ("question: Several things?\n", "", "decision.yaml is missing the required field `question`"),
    ],
)
@pytest.mark.case("reqfile:G9")
def test_an_invalid_decision_yaml_names_its_file_and_line(
    repo: Repo, jev: Jev, old: str, new: str, message: str
) -> None:
    """Format, thresholds and rules alike, before anything is asked."""
    drepo(repo, jev, PYFUNC.replace(old, new))
    done = decide(repo)
    assert done.code == 3
    assert message in done.out
    assert "\n\n0 checks run, 0 with nothing to check. 0 violations, 0 advisory findings, " in done.out
    assert "backtrace" not in done.out
    assert jev.heard == []


@pytest.mark.case("reqfile:G10")
@pytest.mark.case("reqfile:R7")
def test_a_failed_jev_call_is_an_error(repo: Repo, jev: Jev, edition: str) -> None:
    """500 is not retried; what the service said is told; the failure of the probe fails all of the group."""
    drepo(repo, jev)
    repo.write("a.py", functions("f", "g"))
    jev.behave = lambda heard: said({"error": "no"}, 500)
    done = decide(repo, "--edition", edition)
    code, label = EDITIONS[edition]
    assert done.code == code
    reason = 'Jev returned HTTP 500: {"error": "no"}'
    assert f"{label}ONE_JOB  2 of 2 units could not be judged, first at a.py:1: {reason}\n" in done.out
    assert len(jev.heard) == 1


@pytest.mark.parametrize(
    "answer",
    [{}, {"ONE_JOB": {}}, {"ONE_JOB": {"noul": "0.1"}}, {"ONE_JOB": {"noul": 1.1}}, {"ONE_JOB": {"noul": True}}],
)
@pytest.mark.case("reqfile:G12")
def test_an_unparseable_jev_answer_is_an_error(repo: Repo, jev: Jev, answer: object) -> None:
    """Missing, no number or no probability."""
    drepo(repo, jev)
    repo.write("a.py", functions("f"))
    jev.behave = lambda heard: None if heard.is_probe else said({"model": EXACT, "answers": answer})
    done = decide(repo)
    assert done.code == 3
    assert "Jev response has no probability for ONE_JOB: {" in done.out


@pytest.mark.case("reqfile:G13")
@pytest.mark.parametrize("env", [{}, {"OPENROUTER_API_KEY": ""}])
def test_a_missing_api_key_is_an_error(repo: Repo, jev: Jev, edition: str, env: dict[str, str]) -> None:
    """Nothing is sent."""
    drepo(repo, jev)
    repo.write("a.py", functions("f"))
    done = decide(repo, "--edition", edition, env=env)
    code, label = EDITIONS[edition]
    assert done.code == code
    assert (
        f"{label}ONE_JOB  1 of 1 units could not be judged, first at a.py:1: OPENROUTER_API_KEY is not set" in done.out
    )
    assert jev.heard == []
    assert done.err == ""


def test_without_units_no_key_is_needed(repo: Repo, jev: Jev) -> None:
    """The check counts as one with nothing to check; nobody is asked (spec 4.1)."""
    drepo(repo, jev)
    repo.write("a.py", "x = 1\n")
    done = decide(repo, env={})
    last = "0 checks run, 1 with nothing to check, 0 code units judged. 0 violations, 0 advisory findings, 0 errors.\n"
    assert (done.code, done.out) == (0, last)
    assert jev.heard == []


@pytest.mark.case("reqfile:G15")
def test_calls_run_in_parallel_up_to_the_concurrency_limit(repo: Repo, jev: Jev) -> None:
    """Two at a time, and really two."""
    drepo(repo, jev, config=f"{jev.config}  concurrency: 2\n")
    repo.write("a.py", functions(*"abcdef"))
    jev.latency = 0.1
    assert decide(repo).code == 0
    assert (len(jev.questions), jev.peak) == (6, 2)
    assert jev.connections <= 3


@pytest.mark.case("reqfile:G17")
def test_blocking_decisions_fail_the_run(repo: Repo, jev: Jev, edition: str) -> None:
    """Above the threshold is a violation; in between stays uncertain and never gates."""
    drepo(repo, jev, check=BLOCKING, config=jev.pinned)
    repo.write("a.py", functions("f", mark="HOT"))
    done = decide(repo, "--edition", edition)
    assert done.code == 1
    assert done.out.startswith("ONE_JOB  a.py:1  p=0.95  It does several things.\n")
    assert done.out.endswith("1 violation, 0 advisory findings, 0 errors.\n")
    repo.write("a.py", functions("f", mark="WARM"))
    done = decide(repo, "--edition", edition)
    assert done.code == 0
    assert done.out.startswith("uncertain  ONE_JOB")


@pytest.mark.case("reqfile:G19")
@pytest.mark.parametrize("model", [None, "jev-1.13.0"])
def test_the_model_is_the_latest_jev_unless_a_config_sets_one(repo: Repo, jev: Jev, model: str | None) -> None:
    """A probe and a question, both to the same model."""
    drepo(repo, jev, config=jev.config + (f"  model: {model}\n" if model else ""))
    repo.write("a.py", functions("f"))
    assert decide(repo).code == 0
    assert [heard.model for heard in jev.heard] == [model or ALIAS] * 2
    probe = jev.heard[0].body
    question = {"type": "noul", "instructions": "Is this text empty?"}
    assert probe == {"model": model or ALIAS, "state": "reqfile", "questions": {"probe": question}}


def two_checks(repo: Repo, jev: Jev) -> Repo:
    """ONE_JOB and NO_PASS ask about the same functions."""
    repo.write("Reqfile.yaml", req(ONE_JOB=DECISION, NO_PASS=DECISION))
    repo.write(".reqfile/ONE_JOB/decision.yaml", PYFUNC)
    repo.write(".reqfile/NO_PASS/decision.yaml", PASSTHRU)
    repo.write(".reqfile/config.yaml", jev.config)
    repo.write("a.py", "def f():\n    pass\n\ndef g():\n    pass\n")
    return repo


@pytest.mark.case("reqfile:G20")
def test_each_unit_is_sent_once_with_the_questions_of_every_check_that_selects_it(repo: Repo, jev: Jev) -> None:
    """Two functions, two requests, four answers."""
    two_checks(repo, jev)
    jev.probability = lambda heard, identifier: 0.9 if identifier == "ONE_JOB" else 0.1
    done = decide(repo)
    assert done.code == 0
    assert [sorted(heard.questions) for heard in jev.questions] == [["NO_PASS", "ONE_JOB"]] * 2
    assert "advisory  ONE_JOB  a.py:1" in done.out
    assert "advisory  ONE_JOB  a.py:4" in done.out
    assert "NO_PASS" not in done.out
    assert "2 checks run, 0 with nothing to check, 4 code units judged." in done.out


@pytest.mark.case("reqfile:G22")
def test_a_failed_batched_call_is_an_error_for_every_check_in_it(repo: Repo, jev: Jev) -> None:
    """And is not sent again."""
    two_checks(repo, jev)
    repo.write("a.py", functions("f"))
    jev.behave = lambda heard: None if heard.is_probe else said({}, 500)
    done = decide(repo)
    for identifier in ("ONE_JOB", "NO_PASS"):
        assert f"error  {identifier}  1 of 1 units could not be judged" in done.out
    assert (done.code, len(jev.questions)) == (3, 1)


def test_one_bad_answer_fails_its_request_and_nothing_of_it_is_kept(repo: Repo, jev: Jev) -> None:
    """The other question's good answer is not trusted either (spec 4.4)."""
    two_checks(repo, jev)
    repo.write("a.py", functions("f"))
    bad = {"model": EXACT, "answers": {"ONE_JOB": {"noul": 0.1}, "NO_PASS": {}}}
    jev.behave = lambda heard: None if heard.is_probe else said(bad)
    done = decide(repo)
    assert done.out.count("Jev response has no probability for NO_PASS") == 2
    assert not repo.path(".git/reqfile/jev-cache").exists()


@pytest.mark.case("reqfile:G24")
def test_unchanged_code_is_answered_from_the_cache(repo: Repo, jev: Jev) -> None:
    """The second run asks nothing but which model answers, and says the same."""
    drepo(repo, jev)
    repo.write("a.py", functions("f") + functions("g", mark="HOT"))
    first, second = decide(repo), decide(repo)
    assert first.out == second.out
    assert "p=0.95" in second.out
    assert (len(jev.questions), len(jev.heard)) == (2, 4)


@pytest.mark.case("reqfile:G26")
def test_a_changed_question_is_asked_again(repo: Repo, jev: Jev) -> None:
    """Question, criteria and code are what is remembered; fix hint and thresholds are not sent, so not asked again."""
    drepo(repo, jev)
    repo.write("a.py", functions("f", "g"))
    decide(repo)
    repo.write(".reqfile/ONE_JOB/decision.yaml", PYFUNC.replace("It does several things.", "It does a lot."))
    decide(repo)
    assert len(jev.questions) == 4
    changed = PYFUNC.replace("It does several things.", "It does a lot.").replace("0.2", "0.1").replace("Break", "Cut")
    repo.write(".reqfile/ONE_JOB/decision.yaml", changed)
    decide(repo)
    assert len(jev.questions) == 4


@pytest.mark.case("reqfile:G28")
def test_a_new_jev_version_empties_the_cache(repo: Repo, jev: Jev) -> None:
    """Answers belong to the exact model."""
    drepo(repo, jev)
    repo.write("a.py", functions("f", "g"))
    decide(repo)
    jev.answer_as = NEWER
    decide(repo)
    decide(repo)
    assert len(jev.questions) == 4


@pytest.mark.case("reqfile:G29")
def test_failed_answers_are_not_cached(repo: Repo, jev: Jev, edition: str) -> None:
    """The next run asks again."""
    drepo(repo, jev)
    repo.write("a.py", functions("f"))
    jev.behave = lambda heard: said({}, 500) if not heard.is_probe and len(jev.questions) == 1 else None
    first = decide(repo, "--edition", edition)
    code, label = EDITIONS[edition]
    assert first.code == code
    assert f"{label}ONE_JOB" in first.out
    assert decide(repo, "--edition", edition).code == 0
    assert len(jev.questions) == 2


@pytest.mark.case("reqfile:G30")
def test_answers_are_cached_locally_and_never_in_tracked_files(repo: Repo, jev: Jev) -> None:
    """In the git folder, a line each; requirements of two folders share a request and not an answer."""
    repo.write("Reqfile.yaml", req(ONE_JOB=DECISION))
    repo.write("app/Reqfile.yaml", req(NO_PASS=DECISION))
    repo.write(".reqfile/ONE_JOB/decision.yaml", PYFUNC)
    repo.write("app/.reqfile/NO_PASS/decision.yaml", PASSTHRU)
    repo.write(".reqfile/config.yaml", jev.config)
    repo.write("app/a.py", functions("f"))
    repo.commit()
    decide(repo)
    lines = repo.path(".git/reqfile/jev-cache").read_text().splitlines()
    assert [line.partition(" ")[2] for line in lines] == ["0.05", "0.05"]
    assert lines == sorted(lines)
    assert repo.git("status", "--porcelain") == ""
    assert len(jev.questions) == 1


def cached(repo: Repo) -> list[str]:
    """The lines of the cache."""
    return repo.path(".git/reqfile/jev-cache").read_text().splitlines()


@pytest.mark.case("reqfile:G31")
def test_a_full_run_drops_answers_no_unit_uses_any_more(repo: Repo, jev: Jev) -> None:
    """A narrowed run keeps them, and so does one in which something failed."""
    drepo(repo, jev, config=f"base: main\n{jev.config}")
    repo.write("a.py", functions("f", "g"))
    decide(repo)
    repo.commit()
    repo.write("a.py", functions("f"))
    assert len(cached(repo)) == 2
    decide(repo, "--changed")
    decide(repo, "--only", "ONE_JOB")
    decide(repo, env={})
    assert len(cached(repo)) == 2
    decide(repo)
    assert len(cached(repo)) == 1
    repo.write("a.py", "x = 1\n")
    assert decide(repo, env={}).code == 0
    assert cached(repo) == []


def test_a_run_that_does_not_know_all_units_drops_nothing(repo: Repo, jev: Jev) -> None:
    """A file that cannot be read, or no ast-grep: whose answers are unused nobody can tell."""
    drepo(repo, jev)
    repo.write("a.py", functions("f", "g"))
    decide(repo)
    before = cached(repo)
    repo.write("b.py", b"\xff")
    assert decide(repo).code == 3
    assert cached(repo) == before
    repo.delete("b.py")
    blocked = repo.write(".git/blocked/ast_grep_py.py", "raise ImportError('not here')\n").parent
    assert decide(repo, env=asked_key(PYTHONPATH=str(blocked))).code == 3
    assert cached(repo) == before


@pytest.mark.case("reqfile:G32")
@pytest.mark.parametrize(
    "line", ["abc", "0123456789abcdef much", "0123456789abcdef 1.5", " 0.5", "0123456789abcdef nan"]
)
def test_a_corrupt_cache_is_an_error(repo: Repo, jev: Jev, edition: str, line: str) -> None:
    """It is neither used nor repaired, and nothing is asked."""
    drepo(repo, jev)
    repo.write("a.py", functions("f"))
    repo.write(".git/reqfile/jev-cache", f"{line}\n")
    done = decide(repo, "--edition", edition)
    code, label = EDITIONS[edition]
    assert done.code == code
    assert f"{label}ONE_JOB  1 of 1 units could not be judged" in done.out
    assert f'reqfile/jev-cache: invalid line 1: "{line}"; delete the file to rebuild it' in done.out
    assert cached(repo) == [line]
    assert jev.heard == []


@pytest.mark.case("reqfile:G33")
def test_a_unit_too_large_for_jev_is_an_error_not_a_pass(repo: Repo, jev: Jev, edition: str) -> None:
    """It is never cut and never sent; its neighbours are judged."""
    drepo(repo, jev)
    large = "def f():\n" + "    some_name = another_name\n" * 3000
    repo.write("a.py", f"{large}\n\ndef g():\n    pass  # HOT\n")
    done = decide(repo, "--edition", edition)
    code, label = EDITIONS[edition]
    assert done.code == code
    size = len(large.rstrip())
    reason = f"the unit is too large for Jev to judge ({size} characters of code, at most 60000); split it"
    assert f"{label}ONE_JOB  1 of 2 units could not be judged, first at a.py:1: {reason}" in done.out
    assert "advisory  ONE_JOB  a.py:3004" in done.out
    assert "1 code unit judged" in done.out
    assert len(jev.questions) == 1


@pytest.mark.case("reqfile:G34")
def test_a_blocking_decision_check_requires_a_pinned_model_in_edition_0_4(repo: Repo, jev: Jev) -> None:
    """Nothing is sent, not even a probe; edition 0.1 knows no such rule."""
    drepo(repo, jev, check=BLOCKING)
    repo.write("a.py", functions("f", mark="HOT"))
    done = decide(repo, "--edition", "0.4")
    assert done.code == 3
    assert (
        "error  Reqfile.yaml:8: the decision check of ONE_JOB is blocking, so its model must be pinned, but the "
        f"repository root follows `{ALIAS}`; set `decision.model` to an exact version, such as {EXACT}, in "
        ".reqfile/config.yaml\n"
    ) in done.out
    assert jev.heard == []
    assert decide(repo).code == 1
    repo.write(".reqfile/config.yaml", jev.pinned)
    assert decide(repo, "--edition", "0.4").code == 1


@pytest.mark.case("reqfile:G35")
def test_a_unit_is_asked_at_most_once_per_requirement_id(repo: Repo, jev: Jev) -> None:
    """Two rules that match the same code are one unit."""
    also = '  - {language: Python, rule: {pattern: "def $F(): $$$BODY"}}\nquestion'
    drepo(repo, jev, PYFUNC.replace("question", also, 1))
    repo.write("a.py", functions("f"))
    done = decide(repo)
    assert done.code == 0
    assert "1 code unit judged" in done.out
    assert jev.units == [("a.py", "ONE_JOB")]


@pytest.mark.case("reqfile:G38")
def test_pruning_the_shared_cache_changes_cost_but_never_results(repo: Repo, jev: Jev) -> None:
    """A worktree's full run drops what only the other one uses."""
    drepo(repo, jev)
    repo.write("a.py", functions("f", mark="HOT"))
    repo.commit()
    other = repo.home / "other"
    repo.git("worktree", "add", "-q", str(other))
    (other / "a.py").write_text(functions("g"))
    first = decide(repo)
    decide(repo, cwd=str(other))
    third = decide(repo)
    assert first == third
    assert len(jev.questions) == 3


@pytest.mark.case("reqfile:R9")
def test_a_file_that_is_no_text_is_an_error_of_the_check(repo: Repo, jev: Jev) -> None:
    """Its units could be anything: the check counts as run and says so once."""
    drepo(repo, jev)
    repo.write("a.py", functions("f"))
    repo.write("b.py", b"def g():\n    return '\xff'\n")
    done = decide(repo)
    assert done.code == 3
    assert "error  ONE_JOB  cannot read b.py: not valid UTF-8\n" in done.out
    assert "1 check run, 0 with nothing to check, 0 code units judged." in done.out


def test_an_answer_is_kept_under_the_model_that_gave_it(repo: Repo, jev: Jev) -> None:
    """A service may move to a newer model between the probe and a question (spec 4.5)."""
    drepo(repo, jev)
    repo.write("a.py", functions("f", mark="HOT"))
    jev.behave = lambda heard: None if not heard.is_probe else said({"model": EXACT, "answers": {"probe": {"noul": 0}}})
    jev.answer_as = NEWER
    assert NEWER in decide(repo, "--format", "json").out
    jev.behave = lambda heard: None
    assert NEWER in decide(repo, "--format", "json").out
    assert len(jev.questions) == 1


def test_two_processes_keep_all_their_answers(repo: Repo, jev: Jev) -> None:
    """Both find an empty cache, both add to it, and neither loses what the other wrote (issue 8.3)."""
    two_checks(repo, jev)
    both = threading.Barrier(2, timeout=20)

    def behave(heard: Heard) -> Said | None:
        if not heard.is_probe:
            both.wait()
        return None

    jev.behave = behave
    repo.write("a.py", functions("f"))
    threads = [threading.Thread(target=decide, args=(repo, "--only", name)) for name in ("ONE_JOB", "NO_PASS")]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(cached(repo)) == 2


def test_a_cache_that_cannot_be_written_is_an_error(repo: Repo, jev: Jev, edition: str) -> None:
    """Nothing is lost but money: the findings stand; edition 0.4 only reports it without a blocking check."""
    drepo(repo, jev)
    repo.write("a.py", functions("f", mark="HOT"))
    repo.write(".git/reqfile", "in the way")
    done = decide(repo, "--edition", edition)
    code, label = EDITIONS[edition]
    assert done.code == code
    assert "error  " in done.out
    assert "Jev cache" in done.out
    assert label in done.out


def test_the_key_is_told_to_no_command(repo: Repo, jev: Jev) -> None:
    """Whichever variable a folder's config names (design 2.6)."""
    show = "- command:\n    run: 'echo \"[$OPENROUTER_API_KEY][$K_APP]\"; exit 1'\n    fix_hint: h"
    repo.write("Reqfile.yaml", req(ONE_JOB=DECISION, SHOW=show))
    repo.write(".reqfile/ONE_JOB/decision.yaml", PYFUNC)
    repo.write(".reqfile/config.yaml", jev.config)
    repo.write("app/.reqfile/config.yaml", "decision:\n  api_key_env: K_APP\n")
    done = decide(repo, env=asked_key(K_APP="secret"))
    assert "SHOW  []\n" not in done.out
    assert "SHOW  [][]\n" in done.out


def test_what_the_config_chose_is_told_before_anything_is_sent(repo: Repo, jev: Jev) -> None:
    """On stderr, so that reports stay what they are; once, whatever the number of checks."""
    two_checks(repo, jev)
    done = decide(repo)
    assert done.err == (
        f"note: .reqfile/config.yaml sends code to {jev.endpoint} with the key in OPENROUTER_API_KEY "
        "(by default https://openrouter.ai/api/v1 with OPENROUTER_API_KEY)\n"
    )


@pytest.mark.parametrize(
    ("endpoint", "reason"),
    [
        (
            "https://evil.example/api/v1",
            "decision.endpoint would send OPENROUTER_API_KEY to evil.example; keys go only to openrouter.ai, "
            "api.typesafe.ai, this machine, and the hosts listed in REQFILE_ALLOW_ENDPOINTS",
        ),
        ("http://openrouter.ai/api/v1", "must be https://, or this machine"),
        ("https://openrouter.ai@evil.example/", "must be an https:// address without user"),
        ("file:///etc/passwd", "must be an https:// address"),
        ("https://[::1/", "cannot be read"),
    ],
)
def test_a_key_goes_only_where_it_may(repo: Repo, jev: Jev, endpoint: str, reason: str) -> None:
    """An endpoint comes from the repository, which may be a stranger's (design 2.6)."""
    drepo(repo, jev, config=f'decision:\n  endpoint: "{endpoint}"\n')
    repo.write("a.py", functions("f"))
    done = decide(repo)
    assert done.code == 3
    assert "first at a.py:1: decision.endpoint " in done.out
    assert reason in done.out


def test_without_ast_grep_a_decision_check_is_an_error_that_names_the_extra(repo: Repo, jev: Jev, edition: str) -> None:
    """Not a pass, and not a traceback."""
    drepo(repo, jev)
    repo.write("a.py", functions("f"))
    blocked = repo.home / "blocked"
    blocked.mkdir()
    (blocked / "ast_grep_py.py").write_text("raise ImportError('not here')\n")
    done = decide(repo, "--edition", edition, env=asked_key(PYTHONPATH=str(blocked)))
    code, label = EDITIONS[edition]
    assert done.code == code
    needs = "decision checks need ast-grep, which is not installed: pip install 'pytest-reqfile[decision]'"
    assert f"{label}ONE_JOB  {needs}\n" in done.out
    assert jev.heard == []
