"""``reqfile verifiers run`` with llm verifiers, as a process, case by case (cases/verifiers.md A16)."""

from __future__ import annotations

import json

import pytest

from tests.support import Repo
from tests.support.models import Models, failing, results
from tests.support.verifiers import Workbench, flat, head, predicate

SPEC = head("judged", when="*.go", severity="error") + predicate("llm", checklist=["Errors say what to do."])


@pytest.fixture
def bench(repo: Repo, models: Models) -> Workbench:
    bench = Workbench(repo.root, repo.environment)
    bench.spec(SPEC)
    bench.write("a.go", 'package a\nvar e = errors.New("nope")\n')
    return bench


@pytest.mark.case("verifiers:A16.24")
def test_permission(bench: Workbench, repo: Repo, models: Models) -> None:
    """Without the flag, and with the flag alone, the verifier is skipped, visibly."""
    done = repo.run("verifiers", "run")
    assert done.code == 0
    assert "skipped" in done.out
    assert "pass --allow-llm" in done.out
    assert "0 passed, 0 failed, 0 could not run, 1 skipped" in done.out
    bench.config("[llm]\nallow_network = true\n")
    done = repo.run("verifiers", "run", "--allow-llm", env={"AI_RULEZ_LLM_MODEL": "openai/m"})
    assert done.code == 0
    assert "allow_network is not enabled in the user config" in done.out


@pytest.mark.case("verifiers:A16.26")
def test_estimate(bench: Workbench, repo: Repo, models: Models) -> None:
    """An estimate names files and bytes in text and JSON, and sends nothing."""
    done = repo.run("verifiers", "run", "--estimate", env=models.variables())
    assert done.code == 0
    assert "estimate: 1 call(s) to openai/m1" in done.out
    assert "nothing was sent" in done.out
    assert "\nAR9H4 judged\n  would send a.go: 51 bytes in call 1\n" in done.out
    done = repo.run("verifiers", "run", "--estimate", "--format", "json", env=models.variables())
    document = json.loads(done.out)
    assert document["results"][0]["notes"] == ["would send a.go: 51 bytes in call 1"]
    assert document["llm"]["calls"] == 0
    assert models.heard == []


@pytest.mark.case("verifiers:A16.27")
def test_broken_settings(bench: Workbench, repo: Repo) -> None:
    """Broken settings of the user break a run with an llm verifier, and no other."""
    broken = {"AI_RULEZ_LLM_MAX_CALLS": "many"}
    done = repo.run("verifiers", "run", env=broken)
    assert (done.code, done.out) == (1, "")
    assert done.err == 'error: AI_RULEZ_LLM_MAX_CALLS: expected a whole number, 0 or more, found "many"\n'
    bench.config(flat("readme", "file_absent", path="gone"))
    assert repo.run("verifiers", "run", "--name", "readme", env=broken).code == 0


@pytest.mark.case("verifiers:A16.17")
@pytest.mark.parametrize("cost", ["-0.1", "nan", "inf", "x"])
def test_bad_cap(bench: Workbench, repo: Repo, cost: str) -> None:
    """A cap that is none is refused."""
    done = repo.run("verifiers", "run", f"--max-cost={cost}")
    assert (done.code, done.out) == (1, "")
    assert done.err.startswith("error: --max-cost must ")


def test_judged(bench: Workbench, repo: Repo, models: Models) -> None:
    """A finding is shown with its line, advisory; what was used stands below; the cache serves the next run."""
    models.says(results(failing("a.go", 'errors.New("nope")', reason="It names no remedy.")))
    done = repo.run("verifiers", "run", "--allow-llm", "--max-cost", "1", env=models.variables())
    assert done.code == 0, done
    assert "fail    warning   judged" in done.out
    finding = '  a.go:2  checklist item 1 (Errors say what to do.): It names no remedy.  [errors.New("nope")]\n'
    assert finding in done.out
    used = "llm: 1 call(s), {} from cache, 100 prompt + 10 completion tokens, about ${} of $1.00\n"
    assert done.out.endswith(used.format(0, "0.0002"))
    again = repo.run("verifiers", "run", "--allow-llm", "--max-cost", "1", "--strict", env=models.variables())
    assert again.code == 2
    assert again.out.endswith(used.format(1, "0.0000"))
    assert len(models.heard) == 1


def test_reports(bench: Workbench, repo: Repo, models: Models) -> None:
    """A model's finding is a warning in SARIF and in JUnit."""
    models.says(results(failing("a.go", 'errors.New("nope")')))
    run = ("verifiers", "run", "--allow-llm", "--format")
    (found,) = json.loads(repo.run(*run, "sarif", env=models.variables()).out)["runs"][0]["results"]
    assert (found.get("level", "warning"), found["ruleId"]) == ("warning", "AR9H1/judged")
    assert "<failure" not in repo.run(*run, "junit", env=models.variables()).out


def test_gate_without_a_record(bench: Workbench, repo: Repo, models: Models) -> None:
    """Nobody measured it: it does not gate, and says so."""
    models.says(results(failing("a.go", 'errors.New("nope")')))
    arguments = ("verifiers", "run", "--allow-llm", "--gate-llm", "--format", "json")
    done = repo.run(*arguments, env=models.variables())
    (result,) = json.loads(done.out)["results"]
    assert (done.code, result["severity"], result["advisory"]) == (0, "warning", True)
    assert any(note.startswith("advisory: not gating, not calibrated") for note in result["notes"])


def test_a_model_that_is_gone(bench: Workbench, repo: Repo, models: Models) -> None:
    """A provider that refuses the key skips the verifier, with the reason, and fails nothing."""
    environment = {**models.variables(), "TEST_MODEL_KEY": "", "AI_RULEZ_LLM_BASE_URL": "https://127.0.0.2.example"}
    done = repo.run("verifiers", "run", "--allow-llm", env=environment)
    assert done.code == 0
    assert "model call failed: TEST_MODEL_KEY is not set" in done.out
