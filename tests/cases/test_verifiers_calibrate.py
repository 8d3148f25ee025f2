"""``reqfile verifiers calibrate`` and ``--gate-llm`` as processes, against a local model service (cases A11)."""

from __future__ import annotations

import json
import re
import signal
import subprocess
import sys
import threading
from pathlib import Path

import pytest

from tests.support import Completed, Repo
from tests.support.models import Heard, Models, Sent, failing, results, verdict
from tests.support.verifiers import Workbench, example, flat, head, predicate

ITEMS = ["No line says WRONG."]
RECORD = ".ai-rulez/verifiers/calibration/judged.json"


def honest(heard: Heard) -> Sent:
    """A model that fails exactly the lines that say WRONG."""
    found = re.search(r"FILE (\S+)\n(?:L.*\n)*?L\d+\+ (.*WRONG.*)\n", heard.user)
    return Sent(text=results(failing(found[1], found[2]) if found else verdict()))


def suspicious(heard: Heard) -> Sent:
    """A model that fails whatever it sees."""
    found = re.search(r"FILE (\S+)\nL\d+\+ (.*)\n", heard.user)
    assert found
    return Sent(text=results(failing(found[1], found[2])))


class Bench(Workbench):
    """A project with one llm verifier and labeled examples."""

    def __init__(self, repo: Repo, models: Models) -> None:
        super().__init__(repo.root, repo.environment)
        self.repo = repo
        self.variables = models.variables()

    def labeled(self, failing: int = 5, passing: int = 5, **fields: object) -> None:
        text = head("judged", when="*.go", severity="error") + predicate("llm", checklist=ITEMS, **fields)
        for number in range(failing):
            text += example(f"bad {number}", "fail", {"a.go": f"package a{number}\nvar x = WRONG\n"})
        for number in range(passing):
            text += example(f"good {number}", "pass", {"a.go": f"package b{number}\nvar x = right\n"})
        self.spec(text)

    def run(self, *arguments: str, **variables: str) -> Completed:
        env = {**self.variables, **{f"AI_RULEZ_LLM_{key.upper()}": value for key, value in variables.items()}}
        return self.repo.run("verifiers", *arguments, env=env)

    def calibrate(self, *arguments: str, **variables: str) -> Completed:
        return self.run("calibrate", *arguments, "--allow-llm", **variables)

    @property
    def record(self) -> Path:
        return self.root / RECORD


@pytest.fixture
def bench(repo: Repo, models: Models) -> Bench:
    found = Bench(repo, models)
    found.labeled()
    models.answer = honest
    return found


@pytest.mark.case("verifiers:A11.1")
def test_a_record_is_measured_and_written(bench: Bench, models: Models) -> None:
    """Every example goes to the model once; the file holds what was printed."""
    done = bench.calibrate()
    assert (done.code, done.err) == (0, "")
    first, second, calls, last = done.out.splitlines()
    assert re.fullmatch(r"judged: PASS on 10 examples with openai/m1 \(\d{4}-\d\d-\d\d\)", first)
    assert second == ("  precision 1.00 (95% interval 0.57-1.00), recall 1.00 (0.57-1.00), tp 5 fp 0 fn 0 tn 5")
    assert calls == "model calls: 10 (0 cached), about $0.0020"
    assert last == "Records written to .ai-rulez/verifiers/calibration/ (commit them)."
    assert len(models.heard) == 10
    found = json.loads(bench.record.read_text("utf-8"))
    assert (found["status"], found["model"], found["n_items"], found["positives"]) == ("pass", "openai/m1", 10, 5)
    assert found["cases"]["bad 0"] == "fail"


def test_a_second_run_costs_nothing(bench: Bench, models: Models) -> None:
    """The replies are kept; the record is the same."""
    first = bench.calibrate()
    text = bench.record.read_text("utf-8")
    done = bench.calibrate()
    assert "model calls: 10 (10 cached), about $0.0000" in done.out
    assert (first.code, done.code, len(models.heard)) == (0, 0, 10)
    assert bench.record.read_text("utf-8") == text


@pytest.mark.case("verifiers:A11.2")
@pytest.mark.case("verifiers:A11.17")
def test_a_record_below_the_bar(bench: Bench, models: Models) -> None:
    """Exit 2; it is written all the same, with what it misses."""
    bench.labeled(2, 2)
    models.answer = suspicious
    done = bench.calibrate()
    assert done.code == 2
    assert re.search(r"^judged: FAIL on 4 examples with openai/m1 \(\d{4}-\d\d-\d\d\)$", done.out, re.MULTILINE)
    assert "precision 0.50 (95% interval 0.15-0.85)" in done.out
    assert "\n  - precision 0.50 is below 0.80 (2 of 4 flagged examples were real failures)\n" in done.out
    assert done.out.endswith("(commit them).\n")
    assert json.loads(bench.record.read_text("utf-8"))["status"] == "fail"


@pytest.mark.case("verifiers:A11.5")
def test_unusable_replies_are_errors(bench: Bench, models: Models) -> None:
    """Nothing that was not judged counts as right."""
    models.says("I cannot judge that.")
    done = bench.calibrate("--no-write")
    assert done.code == 2
    assert "  - 10 example(s) could not be evaluated\n" in done.out
    assert not bench.record.exists()
    assert "commit" not in done.out


@pytest.mark.case("verifiers:A11.7")
@pytest.mark.case("verifiers:A11.16")
def test_what_cannot_be_calibrated(bench: Bench, models: Models) -> None:
    """Each is refused with 1 and its reason; no record is written, nothing is sent."""
    bench.config(flat("flat", "file_exists", path="README"))
    refusals = {
        (): "calibration needs a model: pass --allow-llm to evaluate llm verifiers",
        ("--allow-llm", "gone"): 'unknown verifier "gone"',
        ("--allow-llm", "flat"): 'verifier "flat" has no llm predicate: only a model\'s verdict needs calibrating',
        ("--no-write", "--estimate"): "--no-write and --estimate cannot be combined: an estimate calls nothing",
        ("--allow-llm", "--format", "sarif"): 'unknown --format "sarif"',
        ("--allow-llm", "--max-cost", "-1"): "--max-cost",
    }
    for arguments, reason in refusals.items():
        done = bench.run("calibrate", *arguments)
        assert (done.code, done.out) == (1, ""), arguments
        assert f"error: {reason}" in done.err
    done = bench.run("calibrate", "--allow-llm", allow_network="0")
    assert "calibration needs a model: [llm] allow_network is not enabled in the user config" in done.err
    bench.spec(head("broken") + predicate("forbid", regex="("), "broken.toml")
    done = bench.calibrate()
    assert (done.code, done.err) == (
        1,
        "error: a verifier declaration is invalid: forbid: invalid regex: missing ): (\n",
    )
    assert not bench.record.exists()
    assert models.heard == []


@pytest.mark.case("verifiers:A11.16")
def test_an_estimate_names_what_would_be_sent(bench: Bench, models: Models) -> None:
    """Each file of each example with its bytes; nothing is sent, nothing written."""
    done = bench.run("calibrate", "--estimate")
    assert (done.code, done.err) == (0, "")
    lines = done.out.splitlines()
    assert lines[0].startswith("judged: bad 0: estimate: 1 call(s) to openai/m1, about ")
    assert "(nothing was sent)" in lines[0]
    assert re.fullmatch(r"  would send a.go: \d+ bytes in call 1", lines[1])
    assert len(lines) == 20
    assert (models.heard, bench.record.exists()) == ([], False)
    document = json.loads(bench.run("calibrate", "--estimate", "--format", "json").out)
    assert document["records"] is None
    assert [row["example"] for row in document["estimates"]][:2] == ["bad 0", "bad 1"]


def test_json(bench: Bench) -> None:
    """The records as their files have them, and what was used."""
    document = json.loads(bench.calibrate("--format", "json").out)
    assert document["records"] == [json.loads(bench.record.read_text("utf-8"))]
    assert (document["llm"]["calls"], document["llm"]["max_cost_usd"]) == (10, 0.5)


def test_nothing_to_calibrate(bench: Bench) -> None:
    """A project without llm verifiers."""
    bench.spec(head("x", when="*.go") + predicate("forbid", regex="x"))
    done = bench.calibrate()
    assert (done.code, done.out) == (0, "No llm verifier to calibrate.\n")


def test_an_interrupt_loses_nothing_that_was_paid(bench: Bench, models: Models) -> None:
    """The record of the first verifier is written before the second is measured; of the second there is none."""
    bench.labeled()
    text = (bench.root / ".ai-rulez/verifiers/t.toml").read_text("utf-8")
    bench.spec(text.replace('id = "judged"', 'id = "zweiter"').replace("package ", "package z"), "z.toml")
    reached, go = threading.Event(), threading.Event()

    def answer(heard: Heard) -> Sent:
        if len(models.heard) > 12:
            reached.set()
            go.wait(30)
        return honest(heard)

    models.answer = answer
    command = (sys.executable, "-P", "-m", "pytest_reqfile", "verifiers", "calibrate", "--allow-llm")
    environment = {**bench.repo.variables, **bench.variables}
    with subprocess.Popen(
        command, cwd=bench.root, env=environment, stdout=subprocess.PIPE, stderr=subprocess.PIPE
    ) as run:
        assert reached.wait(30)
        run.send_signal(signal.SIGINT)
        out, err = run.communicate(timeout=30)
        go.set()
    assert (run.returncode, out, err) == (130, b"", b"error: interrupted\n")
    assert json.loads(bench.record.read_text("utf-8"))["status"] == "pass"
    assert [file.name for file in bench.record.parent.iterdir()] == ["judged.json"]


def test_one_cap_for_all_examples(bench: Bench, models: Models) -> None:
    """What would exceed it is not asked; the record says so and does not pass."""
    # At most 1.50 for a call, 0.01 for each that was answered.
    done = bench.calibrate("--max-cost", "1.55", price_output_per_mtok="1000")
    assert (done.code, len(models.heard)) == (2, 5)
    assert "  - 5 example(s) could not be evaluated\n" in done.out


@pytest.mark.case("verifiers:A11.8")
@pytest.mark.case("verifiers:A11.10")
@pytest.mark.case("verifiers:A11.13")
def test_gating(bench: Bench) -> None:
    """A failure of severity error fails the run with a current record and ``--gate-llm``, and never without."""
    bench.write("a.go", "package a\nvar x = WRONG\n")
    judged = ("run", "--allow-llm", "--format", "json")

    def result(*arguments: str, **variables: str) -> tuple[int, str, bool, str]:
        done = bench.run(*judged, *arguments, **variables)
        (only,) = json.loads(done.out)["results"]
        assert only["status"] == "fail"
        return done.code, only["severity"], only.get("advisory", False), " ".join(only["notes"])

    code, severity, advisory, notes = result("--gate-llm")
    assert (code, severity, advisory) == (0, "warning", True)
    assert "advisory: not gating, not calibrated: run `reqfile verifiers calibrate judged`" in notes
    assert bench.calibrate().code == 0
    code, severity, advisory, notes = result("--gate-llm")
    assert (code, severity, advisory) == (2, "error", False)
    assert "gated: calibrated on 10 examples (" in notes
    assert result()[:3] == (0, "warning", True)
    code, severity, advisory, notes = result("--gate-llm", model="openai/m2")
    assert (code, severity, advisory) == (0, "warning", True)
    assert "calibrated for model openai/m1, running with openai/m2" in notes
    bench.labeled(model="m2")
    assert "the checklist or llm settings changed since it was calibrated" in result("--gate-llm")[3]
