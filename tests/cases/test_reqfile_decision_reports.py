"""Cases N of decision checks and conflicts: every form of the report, exactly (seed 004 OUTPUT; spec reqfile.md 8)."""

from __future__ import annotations

import json

import pytest

from tests.support import Repo
from tests.support.decisions import (
    DECISION,
    MARK,
    PYFUNC,
    asked_key,
    conflicting,
    decide,
    drepo,
    functions,
    log_of,
    mixed,
)
from tests.support.jev import EXACT, Jev, said
from tests.support.requirements import OK, command, req

HOT = functions("f", mark="HOT")


@pytest.mark.case("reqfile:N1")
@pytest.mark.case("reqfile:N2")
def test_the_summary_lists_findings_errors_and_counts(repo: Repo, jev: Jev) -> None:
    """Commands before decisions, violations before advisory findings before uncertain ones; JSON says the same."""
    mixed(repo, jev)
    done = decide(repo)
    assert (done.code, done.out) == (
        3,
        "LOUD  api/h.py:42  Too loud (E1)\n  fix: H1\nNO_FIXME  a.txt:1\n  fix: Fix.\n"
        "advisory  LOUD  api/w.py:1  p=0.95  It does several things.\n  fix: Break it up.\n"
        "uncertain  LOUD  api/w.py:5  p=0.50  Several things?\n  fix: Break it up.\n"
        "error  BROKEN  `exit 7` failed with exit code 7\n    (no output)\n\n"
        "4 checks run, 1 with nothing to check, 2 code units judged. 2 violations, 2 advisory findings, 1 error.\n",
    )
    document = json.loads(decide(repo, "--format", "json").out)
    assert [finding["kind"] for finding in document["findings"]] == ["violation", "violation", "advisory", "uncertain"]
    assert document["findings"][0] == {
        "requirement": "LOUD",
        "kind": "violation",
        "file": "api/h.py",
        "line": 42,
        "message": "Too loud (E1)",
        "fix_hint": "H1",
    }
    assert document["findings"][1]["file"] is None
    assert [error["requirement"] for error in document["errors"]] == ["BROKEN"]
    assert document["exit_code"] == 3
    assert document["findings"][2] == {
        "requirement": "LOUD",
        "kind": "advisory",
        "file": "api/w.py",
        "line": 1,
        "message": "It does several things.",
        "fix_hint": "Break it up.",
        "probability": 0.95,
        "model": EXACT,
    }
    assert document["summary"] == {
        "checks_run": 4,
        "checks_with_nothing_to_check": 1,
        "checks_left_for_full_run": 0,
        "units_judged": 2,
        "violations": 2,
        "advisory_findings": 2,
        "errors": 1,
        "advisory_errors": 0,
        "decisions": 0,
    }


@pytest.mark.case("reqfile:N7")
def test_decision_findings_record_the_exact_model_that_judged_them(repo: Repo, jev: Jev) -> None:
    """Fresh and from the cache."""
    drepo(repo, jev)
    repo.write("a.py", HOT)
    for _ in range(2):
        document = json.loads(decide(repo, "--format", "json").out)
        assert document["findings"][0]["model"] == EXACT
    assert len(jev.questions) == 1


@pytest.mark.case("reqfile:N17")
@pytest.mark.case("reqfile:N19")
def test_pretty_output_tells_units_models_and_verdicts(repo: Repo, jev: Jev) -> None:
    """In the row of the requirement, and with -v for each check."""
    mixed(repo, jev)
    done = decide(repo, "--format", "pretty", "-v")
    assert done.code == 3
    assert done.out.startswith("reqfile check · 4 requirements · 4 checks\n\n")
    for text in (
        "  ✗ LOUD      1 violation · 1 advisory · 1 uncertain · 2 units judged ",
        "  ✗ NO_FIXME  1 violation ",
        "  ! BROKEN    error · `exit 7` failed with exit code 7 ",
        "  – QUIET     nothing to check\n",
        "\n✗ LOUD  ",
        "  ✗ api/h.py:42  Too loud (E1)\n",
        "  fix  H1\n",
        "\nChecks\n  LOUD      command  cat result.sarif; exit 1 · ",
        f"decision · 2 units (0 cached) · {EXACT}\n",
        "  QUIET     command  exit 1 · nothing to check",
        "✗ 2 violations   ● 1 advisory   ? 1 uncertain   ! 1 error",
    ):
        assert text in done.out
    assert "\x1b" not in done.out
    assert "decision · 2 units (2 cached)" in decide(repo, "--format", "pretty", "-v").out
    assert done.out.count("  fix  Break it up.\n") == 1


@pytest.mark.case("reqfile:N10")
def test_finding_whose_fix_would_break_another_requirement_names_it(repo: Repo, jev: Jev) -> None:
    """One request per finding with a question per other requirement; the exit code is that of the finding."""
    conflicting(repo, jev, "core/c.rs")
    done = decide(repo)
    assert done.code == 1
    assert done.out.startswith("PLACE  core/c.rs:1  Misplaced (C)\n  fix: h\n  breaks: CORE (p=0.90)\n")
    assert "DOCS (p=" not in done.out
    (heard,) = jev.conflicts
    assert sorted(heard.questions) == ["CORE", "DOCS"]
    assert MARK in heard.questions["CORE"]["instructions"]["question"]
    assert heard.state["finding"] == {
        "requirement": "PLACE",
        "must": "Be good.",
        "line": 1,
        "message": "Misplaced (C)",
        "fix": "h",
    }
    assert (heard.state["file"], heard.state["source"]) == ("core/c.rs", "// core/c.rs\n")
    document = json.loads(decide(repo, "--format", "json").out)
    assert document["findings"][0]["conflicts"] == [{"requirement": "CORE", "probability": 0.9}]
    assert document["summary"]["decisions"] == 1
    assert len(jev.conflicts) == 1


@pytest.mark.case("reqfile:N11")
def test_conflicts_are_grouped_by_requirement_pair_as_decisions_to_make(repo: Repo, jev: Jev) -> None:
    """For people to decide, in both forms of the report."""
    conflicting(repo, jev, "core/b.rs", "core/a.rs")
    done = decide(repo)
    assert (
        "decide  PLACE vs CORE  p=0.90  fixing PLACE in 2 files would break CORE\n    core/a.rs, core/b.rs\n"
        "    Reword one of the two requirements, or say which one wins where they meet.\n"
    ) in done.out
    assert done.out.endswith("1 decision to make between requirements that cannot both hold.\n")
    pretty = decide(repo, "--format", "pretty").out
    assert "│ PLACE vs CORE  p=0.90  fixing PLACE in 2 files would break CORE\n" in pretty


@pytest.mark.case("reqfile:Q1")
def test_only_answers_above_the_threshold_are_conflicts(repo: Repo, jev: Jev) -> None:
    """0.9, 0.7, 0.95: the 0.95, then the 0.9; 0.7 itself is none, and is logged as none."""
    conflicting(repo, jev, "core/c.rs")
    place = command("cat result.sarif; exit 1", format="sarif")
    repo.write("Reqfile.yaml", req(PLACE=place, A=OK, B=OK, C=OK))
    chances = {"A": 0.9, "B": 0.7, "C": 0.95}
    jev.probability = lambda heard, identifier: chances.get(identifier, 0.0)
    done = decide(repo, "--log", "run.jsonl")
    assert "\n  breaks: C (p=0.95), A (p=0.90)\n" in done.out
    assert "PLACE vs B" not in done.out
    assert done.out.endswith("2 decisions to make between requirements that cannot both hold.\n")
    document = json.loads(decide(repo, "--format", "json").out)
    found = [(conflict["requirement"], conflict["probability"]) for conflict in document["findings"][0]["conflicts"]]
    assert found == [("C", 0.95), ("A", 0.9)]
    logged = {line["breaks"]: line["conflict"] for line in log_of(repo, "run.jsonl", "conflict")}
    assert logged == {"A": True, "B": False, "C": True}


@pytest.mark.case("reqfile:N14")
def test_conflicts_are_not_checked_without_a_jev_key_and_the_summary_says_so(repo: Repo, jev: Jev) -> None:
    """Nothing is sent; JSON says so, too."""
    conflicting(repo, jev, "core/c.rs")
    done = decide(repo, env={"OPENROUTER_API_KEY": ""})
    assert done.code == 1
    assert done.out.endswith("Conflicts between requirements not checked: OPENROUTER_API_KEY is not set.\n")
    document = json.loads(decide(repo, "--format", "json", env={}).out)
    assert document["summary"]["conflicts_not_checked"] == "OPENROUTER_API_KEY is not set"
    assert jev.heard == []


def test_a_failed_conflict_question_is_an_advisory_error(repo: Repo, jev: Jev) -> None:
    """It never changes the exit code (spec 7.6)."""
    conflicting(repo, jev, "core/c.rs")
    jev.behave = lambda heard: said({}, 500) if heard.is_conflict else None
    done = decide(repo)
    assert done.code == 1
    assert "advisory error  2 conflict questions could not be answered, first: Jev returned HTTP 500: {}\n" in done.out


def test_without_any_settings_for_models_a_key_sends_nothing(repo: Repo, jev: Jev) -> None:
    """A key may be set for other tools: a repository of commands alone never meets a model (spec 9)."""
    conflicting(repo, jev, "core/c.rs")
    repo.write(".reqfile/config.yaml", "base: main\n")
    done = decide(repo, env=asked_key(https_proxy=f"http://127.0.0.1:{jev.port}"))
    assert (done.code, done.err) == (1, "")
    assert "onflict" not in done.out
    assert jev.connections == 0


@pytest.mark.parametrize("uri", ["../outside.rs", "ignored.rs", ".reqfile/config.yaml"])
def test_only_files_the_requirements_apply_to_are_sent(repo: Repo, jev: Jev, uri: str) -> None:
    """What a tool names may lie anywhere; its text stays here (spec 9)."""
    conflicting(repo, jev, "core/c.rs")
    (repo.root.parent / "outside.rs").write_text("secret")
    repo.write(".gitignore", "ignored.rs\n")
    repo.write("ignored.rs", "secret")
    repo.write("result.sarif", repo.path("result.sarif").read_text().replace("core/c.rs", uri))
    decide(repo)
    assert [heard.state["file"] for heard in jev.conflicts] == [uri]
    assert all("source" not in heard.state for heard in jev.conflicts)


@pytest.mark.case("reqfile:N16")
def test_conflict_answers_are_recorded_in_the_run_log(repo: Repo, jev: Jev) -> None:
    """Each with its probability, conflicts and others."""
    conflicting(repo, jev, "core/c.rs")
    decide(repo, "--log", "run.jsonl")
    found = log_of(repo, "run.jsonl", "conflict")
    facts = [
        (line["requirement"], line["file"], line["breaks"], line["probability"], line["conflict"]) for line in found
    ]
    assert facts == [("PLACE", "core/c.rs", "CORE", 0.9, True), ("PLACE", "core/c.rs", "DOCS", 0.1, False)]


@pytest.mark.case("reqfile:N21")
def test_a_missing_jev_key_is_announced_first_and_once(repo: Repo, jev: Jev) -> None:
    """In every form of the report; with a key there is nothing to say."""
    drepo(repo, jev)
    repo.write("Reqfile.yaml", req(LOUD=DECISION, FINE=OK))
    repo.write(".reqfile/LOUD/decision.yaml", PYFUNC)
    repo.write("a.py", functions("f"))
    plain = decide(repo, "--edition", "0.4", env={})
    assert plain.code == 0
    assert plain.out.startswith(
        "setup  OPENROUTER_API_KEY is not set: the decision checks of LOUD will not judge any code, nor will conflicts "
        "between requirements be looked for. Set it, or name another variable in decision.api_key_env of "
        ".reqfile/config.yaml.\n"
    )
    pretty = decide(repo, "--edition", "0.4", "--format", "pretty", env={}).out
    banner, row = pretty.index("! Jev is not set up: OPENROUTER_API_KEY is not set\n"), pretty.index("  ! LOUD")
    assert banner < row
    assert "\n! LOUD" not in pretty
    assert "onflicts between" not in pretty
    document = json.loads(decide(repo, "--edition", "0.4", "--format", "json", env={}).out)
    assert document["setup"] == [{"variable": "OPENROUTER_API_KEY", "requirements": ["LOUD"], "blocking": False}]
    assert "setup" not in decide(repo).out
