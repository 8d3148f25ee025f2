"""reqfile/examples.py, example_run.py and example_outcomes.py in one process, as pytest items use them (design 2.1)."""

from __future__ import annotations

from pathlib import Path

import pytest

from pytest_reqfile.outcome import Outcome, from_wire, to_wire
from pytest_reqfile.reqfile.example_outcomes import evaluate_example, evaluate_examples
from pytest_reqfile.reqfile.example_run import ExampleContext
from pytest_reqfile.reqfile.examples import BrokenExample, Example, read_examples
from pytest_reqfile.reqfile.repository import Repository, open_repository
from pytest_reqfile.reqfile.values import Requirement
from tests.support import Repo
from tests.support.blocks import block, reqfile_text, run

FINDS = run('! grep -l FIXME "$@"', files="**/*.txt", pass_files=True)
EXAMPLES = "app/.reqfile/R/examples"


@pytest.fixture
def finding(repo: Repo) -> Repo:
    """R in app/, which flags files with FIXME."""
    repo.write("app/Reqfile.yaml", reqfile_text(block("R", FINDS)))
    return repo


def opened(repo: Repo) -> tuple[Repository, Requirement, tuple[Example | BrokenExample, ...]]:
    """The repository, its requirement and the requirement's examples."""
    repository = open_repository(repo.root, repo.environment)
    (requirement,) = repository.catalog.requirements
    return repository, requirement, read_examples(repository.catalog, requirement)


def outcomes(repo: Repo, **options: int) -> dict[str, Outcome]:
    """The outcome of every example by its folder's name."""
    repository, requirement, examples = opened(repo)
    context = ExampleContext(repository=repository, edition="0.1", program="reqfile")
    return {e.name: evaluate_example(e, requirement, context, **options) for e in examples}


def test_items_are_in_folder_order_with_unique_names(finding: Repo) -> None:
    """Byte order of folders; a slug that is taken is numbered."""
    for name in ("violation-b", "ok-a b", "ok-a-b", "Odd", "ok-ü"):
        finding.write(f"{EXAMPLES}/{name}/a.txt")
    _, _, examples = opened(finding)
    assert [(e.name, e.item) for e in examples] == [
        ("Odd", "Odd"),
        ("ok-a b", "ok-a-b"),
        ("ok-a-b", "ok-a-b-2"),
        ("ok-ü", "ok"),
        ("violation-b", "violation-b"),
    ]
    assert isinstance(examples[0], BrokenExample)
    assert str(examples[0].declared) == "app/Reqfile.yaml:3"


def test_outcomes_of_an_asserted_requirement(finding: Repo) -> None:
    """As labeled passes, a wrong label fails with a located finding, a known one is advisory, a broken one an error."""
    finding.write(f"{EXAMPLES}/violation-a/a.txt", "FIXME\n")
    finding.write(f"{EXAMPLES}/ok-b/a.txt", "FIXME\n")
    finding.write(f"{EXAMPLES}/c/example.yaml", "expected: violation\nknown: miss\n")
    finding.write(f"{EXAMPLES}/c/files/a.txt", "fine\n")
    finding.write(f"{EXAMPLES}/d/example.yaml", "expected: perhaps\n")
    finding.write(f"{EXAMPLES}/d/files/a.txt", "fine\n")
    found = outcomes(finding)
    assert {name: outcome.status for name, outcome in found.items()} == {
        "violation-a": "pass",
        "ok-b": "fail",
        "c": "advisory",
        "d": "error",
    }
    wrong = found["ok-b"]
    assert (wrong.name, wrong.subject, wrong.blocking) == ("R/examples/ok-b", "example", True)
    assert [(f.message, f.file, f.line) for f in wrong.findings] == [
        ("ok-b: false alarm, expected none", f"{EXAMPLES}/ok-b", None)
    ]
    known = found["c"]
    assert [(f.message, f.kind, f.file, f.line) for f in known.findings] == [
        ("c: missed (known), expected a violation", "advisory", f"{EXAMPLES}/c/example.yaml", 1)
    ]
    assert (known.details["label"], known.details["cell"], known.details["accepted"]) == ("violation", "missed", True)
    message = f"{EXAMPLES}/d/example.yaml:1: unknown `expected: perhaps`; expected `violation` or `ok`"
    assert (found["d"].reason, str(found["d"].declared)) == (message, f"{EXAMPLES}/d/example.yaml:1")
    assert all(from_wire(to_wire(outcome)) == outcome for outcome in found.values())


def test_a_measured_requirement_never_fails_by_a_label(repo: Repo) -> None:
    """A command that answers with a probability is advisory where it is wrong."""
    sarif = '{"runs": [{"results": [{"message": {"text": "t"}, "properties": {"probability": 0.9}}]}]}'
    check = run(f"echo '{sarif}'", format="sarif", thresholds={"violation_above": 0.8})
    repo.write("Reqfile.yaml", reqfile_text(block("R", check)))
    repo.write(".reqfile/R/examples/ok-a/a.txt")
    outcome = outcomes(repo)["ok-a"]
    assert (outcome.status, outcome.blocking, outcome.details["measured"]) == ("advisory", False, True)


def test_repeated_runs_are_separate(finding: Repo) -> None:
    """Each in a repository of its own; what one leaves the next does not find."""
    finding.write("app/Reqfile.yaml", reqfile_text(block("R", run("test ! -e left && touch left"))))
    finding.write(f"{EXAMPLES}/ok-a/a.txt")
    outcome = outcomes(finding, repeat=3)["ok-a"]
    assert (outcome.status, outcome.details["runs"], outcome.details["stable"]) == ("pass", 3, True)


def test_examples_in_parallel_keep_their_order(finding: Repo) -> None:
    """Whatever ends first."""
    script = 'f() { sleep 0.$(cat "$1"); }; f'
    finding.write("app/Reqfile.yaml", reqfile_text(block("R", run(script, files="**/*.txt", pass_files=True))))
    for number in range(4):
        finding.write(f"{EXAMPLES}/ok-{number}/a.txt", str(3 - number))
    repository, requirement, examples = opened(finding)
    context = ExampleContext(repository=repository, edition="0.1", program="reqfile")
    cases = [(requirement, example) for example in examples if isinstance(example, Example)]
    found = evaluate_examples(cases, context, workers=4)
    assert [outcome.check for outcome in found] == [f"examples/ok-{number}" for number in range(4)]


def test_a_file_where_the_examples_should_be_is_an_error(finding: Repo) -> None:
    """Not the same as having none."""
    finding.write(EXAMPLES, "x")
    done = finding.run("eval")
    assert (done.code, done.err) == (3, f"error: {EXAMPLES} is no folder; it holds the examples of a requirement\n")
    assert Path(finding.root, EXAMPLES).is_file()
