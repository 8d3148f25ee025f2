"""``reqfile verifiers`` as a process, case by case (cases/verifiers.md A16, A14.2)."""

from __future__ import annotations

import json
from collections.abc import Mapping

import pytest

from tests.support import Completed, Repo
from tests.support.verifiers import Workbench, example, flat, head, predicate


@pytest.fixture
def bench(repo: Repo) -> Workbench:
    return Workbench(repo.root, repo.environment)


def _run(repo: Repo, *arguments: str, env: Mapping[str, str] | None = None) -> Completed:
    return repo.run("verifiers", "run", *arguments, env=env)


SPEC = head("undo", when="*.ddl", fix="F") + predicate("regex", regex="-- undo")


@pytest.mark.case("verifiers:A16.1")
def test_none(bench: Workbench, repo: Repo) -> None:
    """A project without verifiers."""
    done = _run(repo)
    assert (done.code, done.out, done.err) == (0, "No verifiers configured.\n", "")


@pytest.mark.case("verifiers:A16.3")
@pytest.mark.case("verifiers:A16.4")
@pytest.mark.case("verifiers:A16.14")
@pytest.mark.case("verifiers:D-35")
def test_exit_codes(bench: Workbench, repo: Repo) -> None:
    """2 for a failure, 0 for one below the failing severity."""
    bench.config(flat("e", "file_exists", path="gone"))
    assert _run(repo).code == 2
    bench.config(flat("w", "file_exists", path="gone", severity="warning"))
    assert [_run(repo, *flags).code for flags in ((), ("--strict",), ("--fail-on", "error", "--strict"))] == [0, 2, 0]
    assert _run(repo, "--fail-on", "none", "--strict").code == 0


@pytest.mark.case("verifiers:A16.5")
def test_names(bench: Workbench, repo: Repo) -> None:
    """Unknown names are told in the order given; names may be repeated and joined."""
    bench.config("".join(flat(name, "file_exists", path="gone") for name in "abc"))
    done = _run(repo, "--name", "y,a", "--name", "x")
    assert (done.code, done.out) == (1, "")
    assert done.err.startswith("error: unknown verifier(s): y, x (")
    done = _run(repo, "--name", "c,a", "--format", "json")
    assert [result["name"] for result in json.loads(done.out)["results"]] == ["a", "c"]


@pytest.mark.case("verifiers:A16.6")
@pytest.mark.case("verifiers:A16.9")
@pytest.mark.parametrize("command", ["run", "list", "test"])
def test_invalid_config(bench: Workbench, repo: Repo, command: str) -> None:
    """A config.toml that does not validate ends every command with 1."""
    bench.config(flat("a", "command") + flat("b", "file_exists", path="x", glob="y"))
    done = repo.run("verifiers", command)
    assert (done.code, done.out) == (1, "")
    assert "error: .ai-rulez/config.toml:5: unknown verifier type" in done.err
    assert "sets glob, which does not apply to type file_exists" in done.err
    bench.write(".ai-rulez/config.toml", "version = \n")
    assert repo.run("verifiers", command).code == 1


def test_no_project(repo: Repo) -> None:
    """Without a project nothing passes."""
    done = _run(repo)
    assert (done.code, done.err) == (1, "error: no .ai-rulez/config.toml here or in a folder above\n")


@pytest.mark.case("verifiers:A16.8")
def test_failure_and_error(bench: Workbench, repo: Repo) -> None:
    """A failure outranks what could not run; both are told."""
    bench.config(flat("f", "file_exists", path="gone") + flat("b", "forbid", glob="raw.dat", pattern="x"))
    bench.write("raw.dat", b"\0")
    done = _run(repo)
    assert done.code == 2
    assert "1 failed, 1 could not run" in done.out
    assert _run(repo, "--name", "b").code == 1


@pytest.mark.case("verifiers:A16.11")
@pytest.mark.case("verifiers:A16.13")
@pytest.mark.case("verifiers:A16.16")
def test_formats(bench: Workbench, repo: Repo) -> None:
    """The four forms of a report."""
    bench.spec(SPEC)
    bench.write("a.ddl", "make\n")
    done = _run(repo)
    assert done.code == 0
    assert 'AR9H1 undo (rule "store", .ai-rulez/rules/store.md)' in done.out
    done = _run(repo, "--format", "json", "--fail-on", "warning")
    assert (done.code, json.loads(done.out)["results"][0]["code"]) == (2, "AR9H1")
    assert 'name="rule:store"' in _run(repo, "--format", "junit").out
    assert json.loads(_run(repo, "--format", "sarif").out)["version"] == "2.1.0"


@pytest.mark.case("verifiers:A16.17")
@pytest.mark.case("verifiers:A8.5")
@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("--since", "main", "--staged"), "use only one of --since, --staged and --all"),
        (("--format", "xml"), 'unknown --format "xml"'),
        (("--fail-on", "fatal"), 'unknown --fail-on "fatal"'),
        (("--since=--output=x",), "starts with '-' and would be read as a git option"),
        (("--since", "origin/absent"), 'base revision "origin/absent" does not exist in this repository'),
        (("--bogus",), "unrecognized arguments: --bogus"),
        (
            ("--generator", "'"),
            '--generator "\'" cannot be read as a command: No closing quotation; close the quote, or put a backslash',
        ),
        (("--profile", "nope"), "nope"),
    ],
)
def test_bad_flags(bench: Workbench, repo: Repo, arguments: tuple[str, ...], message: str) -> None:
    """A wrong command line is exit 1: 2 would say that a verifier failed."""
    bench.spec(SPEC)
    done = _run(repo, *arguments)
    assert (done.code, done.out) == (1, "")
    assert message in done.err


def test_error_document(bench: Workbench, repo: Repo) -> None:
    """With JSON a run that could not start is a document too."""
    bench.spec(SPEC)
    done = _run(repo, "--since", "origin/absent", "--format", "json")
    document = json.loads(done.out)
    assert (done.code, document["status"], document["exit_code"], document["schema_version"]) == (1, "error", 1, 1)
    assert "origin/absent" in document["error"]


@pytest.mark.case("verifiers:A16.19")
def test_output(bench: Workbench, repo: Repo) -> None:
    """``--output`` writes the file and prints nothing."""
    bench.spec(SPEC)
    bench.write("a.ddl", "make\n")
    done = _run(repo, "--format", "sarif", "--output", "report.sarif")
    assert (done.code, done.out) == (0, "")
    assert json.loads((repo.root / "report.sarif").read_text())["version"] == "2.1.0"


@pytest.mark.case("verifiers:A16.20")
def test_list_and_explain(bench: Workbench, repo: Repo) -> None:
    """What is declared, invalid declarations included."""
    bench.config(flat("f", "file_exists", path="x", description="Has x"))
    bench.spec(SPEC + '[[verifiers]]\nid = "bad"\nrule = "ghost"\n' + predicate("file_exists", path="x"))
    done = repo.run("verifiers", "list")
    assert done.code == 0
    assert done.out == (
        "NAME  TYPE         SEVERITY  ENFORCES    DESCRIPTION\n"
        "f     file_exists  error     -           Has x\n"
        "undo  regex        warning   rule:store\n"
        "bad   invalid      error     -\n"
    )
    items = json.loads(repo.run("verifiers", "list", "--format", "json").out)["items"]
    assert [item.get("invalid", "")[:8] for item in items] == ["", "", "the rule"]
    done = repo.run("verifiers", "explain", "undo", "--format", "json")
    assert (done.code, json.loads(done.out)["enforces"]["id"]) == (0, "store")
    assert [repo.run("verifiers", "explain", name).code for name in ("f", "nope", "bad")] == [0, 1, 1]


@pytest.mark.parametrize("code", [f"AR9H{number}" for number in range(1, 7)])
def test_a_code_is_explained(repo: Repo, code: str) -> None:
    """As ``ai-rulez validate --explain`` does (seed 000 "Codes"); no project is needed for that."""
    done = repo.run("verifiers", "explain", code)
    assert (done.code, done.err) == (0, "")
    first, status, meaning, fix = done.out.splitlines()
    assert first.startswith(f"{code} verifier-")
    found = json.loads(repo.run("verifiers", "explain", code, "--format", "json").out)
    assert [first, status] == [f"{code} {found['name']} ({found['severity']})", f"  status: {found['status']}"]
    assert [meaning, fix] == [f"  means: {found['meaning']}", f"  fix: {found['fix']}"]


@pytest.mark.case("verifiers:A16.23")
def test_opt_in(bench: Workbench, repo: Repo) -> None:
    """Commands run by the flag or the variable, and by nothing else."""
    bench.spec(head("c", when="*.ddl") + predicate("command", argv=["true"]))
    bench.write("a.ddl")
    refused = _run(repo)
    assert refused.code == 1
    assert "AR9H3 c (rule" in refused.out
    assert "--allow-exec" in refused.out
    assert _run(repo, "--allow-exec").code == 0
    codes = [_run(repo, env={"AI_RULEZ_VERIFIERS_ALLOW_EXEC": value}).code for value in ("1", "TRUE", "0", "yes")]
    assert codes == [0, 0, 1, 1]


@pytest.mark.case("verifiers:A16.24")
def test_llm_is_off(bench: Workbench, repo: Repo) -> None:
    """A checklist is skipped, visibly."""
    bench.spec(head("l", when="*.ddl", severity="error") + predicate("llm", checklist=["a"]))
    bench.write("a.ddl")
    done = _run(repo)
    assert done.code == 0
    assert "skipped  info" in done.out
    assert "pass --allow-llm" in done.out
    assert "0 passed, 0 failed, 0 could not run, 1 skipped (all)" in done.out
    (result,) = json.loads(_run(repo, "--format", "json").out)["results"]
    assert (result["status"], result["code"], result["advisory"]) == ("skipped", "AR9H4", True)


def test_rule(bench: Workbench, repo: Repo) -> None:
    """``--rule`` keeps the specs of one rule, never flat ones, and nothing is an empty report."""
    bench.config(flat("f", "file_exists", path="x"))
    other = '[[verifiers]]\nid = "other"\nrule = "http"\n' + predicate("file_exists", path=".ai-rulez/config.toml")
    bench.spec(other + '[[verifiers]]\nid = "bad"\nrule = "ghost"\n' + predicate("file_exists", path="x"))
    done = _run(repo, "--rule", "http")
    assert (done.code, "1 passed, 0 failed, 0 could not run (all)" in done.out) == (0, True)
    assert _run(repo, "--rule", "nothing").out == "No verifiers configured.\n"


def test_an_example_that_needs_a_model_is_no_pass(bench: Workbench, repo: Repo) -> None:
    """It is not run, and the count says so; JSON keeps ai-rulez's form (spec/verifiers.md 8)."""
    bench.spec(head("l", when="*.ddl") + predicate("llm", checklist=["a"]) + example("bad", "fail", {"1.ddl": "x\n"}))
    done = repo.run("verifiers", "test")
    assert (done.code, done.out) == (
        0,
        "skip l: bad (the llm predicate needs a model: not run offline)\n0 of 1 examples passed, 1 not run\n",
    )
    document = json.loads(repo.run("verifiers", "test", "--format", "json").out)
    assert (document["passed"], document["results"][0]["got"], document["results"][0]["ok"]) == (1, "skipped", True)


@pytest.mark.case("verifiers:A14.2")
def test_examples(bench: Workbench, repo: Repo) -> None:
    """``verifiers test``: 0, or 2 where a label is not met or a declaration is invalid."""
    examples = "".join(
        example(name, expect, {"1.ddl": text})
        for name, text, expect in (("good", "-- undo\n", "pass"), ("bad", "make\n", "fail"))
    )
    bench.spec(SPEC + examples)
    done = repo.run("verifiers", "test")
    assert (done.code, done.out) == (0, "ok   undo: good\nok   undo: bad\n2 of 2 examples passed\n")
    bench.spec(SPEC.replace("-- undo", "make") + examples + head("bare", when="*") + predicate("regex", regex="x"))
    done = repo.run("verifiers", "test")
    assert (done.code, done.out) == (
        2,
        "FAIL undo: good (expected pass, got fail: 1.ddl: pattern `make` not found)\n"
        "FAIL undo: bad (expected fail, got pass: 1 file(s))\n"
        "0 of 2 examples passed\n"
        "no examples: bare\n",
    )
    document = json.loads(repo.run("verifiers", "test", "--format", "json").out)
    assert (document["ok"], document["total"], document["untested"]) == (False, 2, ["bare"])
    assert repo.run("verifiers", "test", "nope").code == 1
    bench.spec(SPEC + examples + '[[verifiers]]\nid = "bad"\nrule = "ghost"\n' + predicate("file_exists", path="x"))
    done = repo.run("verifiers", "test", "undo")
    assert done.code == 2
    assert 'FAIL AR9H2 bad: the rule "ghost" does not exist' in done.out


def test_in_a_subfolder(bench: Workbench, repo: Repo) -> None:
    """The project is found upwards, and paths stay those of the project."""
    bench.config(flat("f", "forbid", glob="*.txt", pattern="XXX"))
    bench.write("sub/a.txt", "XXX\n")
    done = repo.run("verifiers", "run", cwd="sub")
    assert (done.code, "sub/a.txt:1" in done.out) == (2, True)
