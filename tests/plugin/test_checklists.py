"""llm verifiers in pytest runs: skipped without permission, one cap for all workers (issue 9 item 6; design 2.4)."""

from __future__ import annotations

import json
from typing import Any

import pytest

from tests.support import Repo
from tests.support.models import Heard, Models, Sent, failing, results, verdict
from tests.support.projects import HEAD
from tests.support.verifiers import example

SPEC = """[[verifiers]]
id = "{0}"
rule = "database"
severity = "{1}"
when_changed = ["{0}.txt"]
[verifiers.require.llm]
checklist = ["Every line is right."]
"""
NAMES = ("alpha", "beta", "gamma", "delta")


def wrong_lines(heard: Heard) -> Sent:
    """A model that finds every added line with WRONG in it, and that does not say what it used."""
    text = heard.user
    file = text.partition("FILE ")[2].partition("\n")[0]
    quotes = [line.partition("+ ")[2] for line in text.splitlines() if "WRONG" in line]
    return Sent(text=results(*(failing(file, quote) for quote in quotes), verdict()), usage=False)


@pytest.fixture
def rulez(project: Repo, models: Models) -> Repo:
    """Four verifiers, each asking about a file of its own; the second file has a wrong line."""
    models.answer = wrong_lines
    project.variables |= models.variables()
    project.write(".ai-rulez/config.toml", HEAD)
    project.write(".ai-rulez/rules/database.md", "# Database\n")
    project.write(".ai-rulez/verifiers/t.toml", "".join(SPEC.format(name, "error") for name in NAMES))
    for name in NAMES:
        project.write(f"{name}.txt", f"a line of {name}\n{'this is WRONG' if name == 'beta' else 'fine'}\n")
    return project


def outcomes(repo: Repo, *arguments: str) -> dict[str, Any]:
    """What the JSON report says, apart from times."""
    repo.pytest("--reqfile-json", "report.json", ".ai-rulez", *arguments)
    document: dict[str, Any] = json.loads((repo.root / "report.json").read_text())
    found = {item["owner"]: item for item in document["items"]}
    for item in found.values():
        del item["seconds"]
    return {"items": found, "llm": document.get("llm")}


def test_without_permission(rulez: Repo, models: Models, mode: tuple[str, ...]) -> None:
    """Skipped with the reason and marked llm-advisory; nothing is sent, and the user's settings are not even read."""
    rulez.variables["AI_RULEZ_LLM_MAX_CALLS"] = "broken"
    done = rulez.pytest(".ai-rulez", "-rs", "-m", "llm-advisory", *mode)
    assert done.code == 0, done
    assert "4 skipped" in done.out
    assert "LLM use is off (pass --reqfile-allow-llm to evaluate llm verifiers)" in done.out
    assert "verifiers: 0 passed, 0 failed, 0 could not run, 4 skipped" in done.out
    assert models.heard == []


def test_judged(rulez: Repo, models: Models, mode: tuple[str, ...]) -> None:
    """A model's fail is advisory, each verifier is asked about once, and the terminal tells what was used."""
    done = rulez.pytest(".ai-rulez", "--reqfile-allow-llm", *mode)
    assert done.code == 0, done
    assert "3 passed" in done.out
    assert "1 advisory" in done.out
    assert "checklist item 1 (Every line is right.): it is wrong" in done.out
    assert "llm: 4 call(s), 0 from cache, " in done.out
    assert " of $0.50\n" in done.out
    assert len(models.heard) == 4
    again = rulez.pytest(".ai-rulez", "--reqfile-allow-llm", *mode)
    assert "llm: 4 call(s), 4 from cache, " in again.out
    assert len(models.heard) == 4


def test_notes_of_a_pass(rulez: Repo, models: Models, mode: tuple[str, ...]) -> None:
    """What the model was not shown, and what it said in vain, stands in the terminal although nothing failed."""
    rulez.write("alpha.txt", "first\n" + "fine\n" * 9)
    rulez.commit("before")
    rulez.write("alpha.txt", "token = abcdefgh12345678\n" + "fine\n" * 9 + "last\n")
    models.answer = lambda heard: Sent(text=results(failing("alpha.txt", "no such line"), verdict()))
    only = (".ai-rulez/verifiers/t.toml::alpha", "--reqfile-changed=HEAD")
    done = rulez.pytest(*only, "--reqfile-allow-llm", *mode)
    assert "1 passed" in done.out, done
    assert "note  alpha  withheld alpha.txt: line 1 looks like it holds a credential\n" in done.out
    dropped = "1 model verdict(s) were dropped: the quoted line was not found on an added line"
    assert f"note  alpha  {dropped}\n" in done.out
    assert "capped" not in done.out
    gated = rulez.pytest(*only, "--reqfile-allow-llm", "--reqfile-gate-llm", *mode)
    assert "note  alpha  withheld" in gated.out


LABELED = {"alpha": ("fail", "pass"), "beta": ("fail",), "gamma": ("not_applicable",), "delta": ()}


def test_coverage_of_examples(rulez: Repo, models: Models, mode: tuple[str, ...]) -> None:
    """The terminal says which llm verifiers have labeled examples, also where these are not selected."""
    text = ""
    for name, labels in LABELED.items():
        text += SPEC.format(name, "error")
        text += "".join(example(label, label, {f"{name}.txt": "x"}) for label in labels)
    rulez.write(".ai-rulez/verifiers/t.toml", text)
    line = (
        "labeled examples of 4 verifiers: 1 with both classes, 1 with violations only, 1 with correct ones only, "
        "1 with none\n"
    )
    assert line in rulez.pytest(".ai-rulez", *mode).out
    done = rulez.pytest(".ai-rulez", "-m", "llm-advisory", "--reqfile-allow-llm", *mode)
    assert line in done.out
    assert len(models.heard) == 4
    alone = rulez.pytest(".ai-rulez/verifiers/t.toml::alpha", *mode)
    assert "labeled examples of 1 verifier: 1 with both classes, 0 with none\n" in alone.out


def test_one_cap_for_all_workers(rulez: Repo, models: Models) -> None:
    """What the cap lets through is the same with two workers and without any: the first ones in order."""
    found = []
    for number, mode in enumerate((("-p", "no:xdist"), ("-n", "0"), ("-n", "2"))):
        rulez.variables["REQFILE_CACHE"] = str(rulez.root.parent / f"cache-{number}")
        before = len(models.heard)
        found.append(outcomes(rulez, "--reqfile-allow-llm", "--reqfile-max-cost", "0.04", *mode))
        assert len(models.heard) - before == 2
    assert found[0] == found[1] == found[2]
    assert found[0]["llm"]["calls"] == 2
    assert found[0]["llm"]["cost_usd"] <= 0.04
    statuses = {name: item["status"] for name, item in found[0]["items"].items()}
    assert statuses == {"alpha": "pass", "beta": "advisory", "gamma": "skipped", "delta": "skipped"}
    assert "would exceed --reqfile-max-cost $0.04" in found[0]["items"]["delta"]["reason"]


def test_estimate(rulez: Repo, models: Models, mode: tuple[str, ...]) -> None:
    """Every file and its bytes are named, nothing is sent, and no permission is needed."""
    rulez.variables["AI_RULEZ_LLM_ALLOW_NETWORK"] = "0"
    done = rulez.pytest(".ai-rulez", "--reqfile-estimate", *mode)
    assert done.code == 0, done
    for name in NAMES:
        assert f"  would send {name}.txt: " in done.out
    assert "a line of" not in done.out
    assert "alpha: estimate: 1 call(s) to openai/m1, about " in done.out
    assert models.heard == []


def test_not_allowed_by_the_user(rulez: Repo, models: Models) -> None:
    """The flag alone turns no network on, and no repository does."""
    del rulez.variables["AI_RULEZ_LLM_ALLOW_NETWORK"]
    rulez.write(".ai-rulez/config.toml", f"{HEAD}[llm]\nallow_network = true\n")
    done = rulez.pytest(".ai-rulez", "--reqfile-allow-llm")
    reason = "LLM use is off ([llm] allow_network is not enabled in the user config"
    assert [line for line in done.out.splitlines() if line.startswith(f"skipped  beta  {reason}")] != []
    assert "4 skipped" in done.out
    assert models.heard == []


def test_a_reply_that_is_none(rulez: Repo, models: Models, mode: tuple[str, ...]) -> None:
    """It was asked for and paid, so the terminal says why there is no verdict, without any flag."""
    models.says("Sure!")
    done = rulez.pytest(".ai-rulez", "--reqfile-allow-llm", "-k", "alpha", *mode)
    told = "skipped  alpha  1 of 1 call(s) were not evaluated: the model's reply was unusable: "
    assert [line for line in done.out.splitlines() if line.startswith(told)] != [], done.out


@pytest.mark.parametrize(("cost", "workers"), [("-1", "0"), ("nan", "2"), ("much", "0")])
def test_bad_cap(rulez: Repo, cost: str, workers: str) -> None:
    """A cap that is none is a usage error before anything runs, whatever is collected."""
    rulez.write("test_a.py", "def test_a(): pass\n")
    done = rulez.pytest("test_a.py", f"--reqfile-max-cost={cost}", "-n", workers)
    assert done.code == pytest.ExitCode.USAGE_ERROR
    assert "ERROR: --reqfile-max-cost must " in done.out + done.err


def test_broken_settings(rulez: Repo, models: Models, mode: tuple[str, ...]) -> None:
    """What is wrong with the user's settings is told before anything runs, where they are needed."""
    rulez.variables["AI_RULEZ_LLM_MAX_CALLS"] = "broken"
    done = rulez.pytest(".ai-rulez", "--reqfile-allow-llm", *mode)
    assert done.code == pytest.ExitCode.USAGE_ERROR
    assert 'AI_RULEZ_LLM_MAX_CALLS: expected a whole number, 0 or more, found "broken"' in done.out + done.err
    assert models.heard == []


def test_strict(rulez: Repo) -> None:
    """Where warnings fail the run, a model's do, too, and the item is marked so."""
    done = rulez.pytest(".ai-rulez", "--reqfile-allow-llm", "--reqfile-strict", "-m", "blocking")
    assert done.code == 1
    assert "1 failed, 3 passed" in done.out


def test_fast(rulez: Repo, models: Models) -> None:
    """A fast run leaves llm verifiers for a full one."""
    done = rulez.pytest(".ai-rulez", "--reqfile-allow-llm", "--reqfile-fast", "-rs")
    assert "left for a full run" in done.out
    assert models.heard == []


def test_gate_without_a_record(rulez: Repo) -> None:
    """A verifier that nobody calibrated does not gate, and its notes say so."""
    found = outcomes(rulez, "--reqfile-allow-llm", "--reqfile-gate-llm")["items"]["beta"]
    assert (found["status"], found["severity"], found["blocking"]) == ("advisory", "warning", False)
    assert "not gating, not calibrated" in found["details"]["notes"]


@pytest.fixture
def calibrated(rulez: Repo) -> Repo:
    """The verifier ``beta`` alone, measured on ten examples that the model judges rightly."""
    lines = [f"line {n} {'is WRONG' if n % 2 else 'is fine'}\n" for n in range(10)]
    labels = ["fail" if n % 2 else "pass" for n in range(10)]
    examples = (example(f"e{n}", labels[n], {"beta.txt": lines[n]}) for n in range(10))
    rulez.write(".ai-rulez/verifiers/t.toml", SPEC.format("beta", "error") + "".join(examples))
    done = rulez.run("verifiers", "calibrate", "--allow-llm", "--max-cost", "0")
    assert done.code == 0, done
    return rulez


def test_gate(calibrated: Repo, mode: tuple[str, ...]) -> None:
    """A calibrated verifier fails the run under ``--reqfile-gate-llm``, is marked so, and does not without."""
    only = (".ai-rulez/verifiers/t.toml::beta", "--reqfile-allow-llm")
    done = calibrated.pytest(*only, "--reqfile-gate-llm", "-m", "blocking", *mode)
    assert done.code == 1, done
    assert "1 failed" in done.out
    assert "beta.txt:2" in done.out
    assert "note  beta  gated: calibrated on 10 examples (" in done.out
    assert "1 advisory" in calibrated.pytest(*only, "-m", "llm-advisory", *mode).out


def test_gate_of_another_model(calibrated: Repo) -> None:
    """What was measured with one model says nothing of another."""
    calibrated.variables["AI_RULEZ_LLM_MODEL"] = "openai/m2"
    found = outcomes(calibrated, "--reqfile-allow-llm", "--reqfile-gate-llm", "-k", "beta and not examples")
    item = found["items"]["beta"]
    assert (item["status"], item["severity"]) == ("advisory", "warning")
    assert "calibrated for model openai/m1, running with openai/m2" in item["details"]["notes"]


def test_gate_on_the_command_line(calibrated: Repo) -> None:
    """The same of ``reqfile verifiers run``: exit 2, severity error, and a note with the figures."""
    arguments = ("verifiers", "run", "--allow-llm", "--format", "json")
    done = calibrated.run(*arguments, "--gate-llm")
    (result,) = json.loads(done.out)["results"]
    assert (done.code, result["severity"], "advisory" in result) == (2, "error", False)
    assert any(note.startswith("gated: calibrated on 10 examples (") for note in result["notes"])
    assert calibrated.run(*arguments).code == 0
