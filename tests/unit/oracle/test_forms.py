"""Schemas of the user, standard forms, citations, tokens (spec oracle.md 4, 6, 7, 8)."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from pytest_reqfile.errors import UsageError
from pytest_reqfile.oracle.citations import cite
from pytest_reqfile.oracle.digests import Artifact, sha256_digest
from pytest_reqfile.oracle.mission import Criterion
from pytest_reqfile.oracle.receipts import Circumstances
from pytest_reqfile.oracle.schema import find_schema
from pytest_reqfile.oracle.source import SourceState
from pytest_reqfile.oracle.standard_forms import write_ctrf, write_statement
from pytest_reqfile.oracle.tokens import count_bytes, estimate
from pytest_reqfile.outcome import Location
from pytest_reqfile.workspace.clock import SystemClock
from pytest_reqfile.workspace.environment import Environment
from pytest_reqfile.workspace.isolation import Isolation
from pytest_reqfile.workspace.machine import Machine
from tests.support import Repo
from tests.support.missions import Verified, criterion, entry, mission, verify

NONE = Environment(variables={})


# Schemas


def test_without_a_schema_nothing_is_validated(tmp_path: Path) -> None:
    """No AIWG, or one without the file: silently nothing, since nobody asked."""
    assert find_schema(NONE, None) == (None, None)
    assert find_schema(Environment(variables={"AIWG_ROOT": str(tmp_path)}), None) == (None, None)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("{", r": not valid JSON: "),
        ("[]", r": expected a JSON object"),
        ('{"$defs": {}}', r": expected a definition `workerClaims`, found none"),
    ],
)
def test_a_given_schema_must_be_usable(tmp_path: Path, text: str, message: str) -> None:
    """Asked for by name, so its absence is an error."""
    path = tmp_path / "schema.json"
    path.write_text(text)
    with pytest.raises(UsageError, match=message):
        find_schema(NONE, path)


@pytest.mark.parametrize(("section", "name"), [("$defs", "workerClaims"), ("definitions", "WorkerClaims")])
def test_claims_are_found_in_a_schema_whatever_their_case(tmp_path: Path, section: str, name: str) -> None:
    """And judged by that definition alone, not by the mission around it."""
    path = tmp_path / "schema.json"
    definition = {"type": "object", "required": ["claims"], "properties": {"claims": {"$ref": f"#/{section}/list"}}}
    document = {"type": "object", "required": ["apiVersion"], section: {name: definition, "list": {"type": "array"}}}
    path.write_text(json.dumps(document))
    schema, note = find_schema(NONE, path)
    assert (schema is not None, note) == (True, None)
    assert schema is not None
    assert schema.mismatches('{"claims": []}') == ()
    assert schema.mismatches('{"claims": 1}') == ("$.claims: 1 is not of type 'array'",)
    assert schema.mismatches("{}") == ("$: 'claims' is a required property",)


# Standard forms


def _forms(repo: Repo, *commands: str) -> tuple[dict[str, object], Verified]:
    verified = verify(repo, mission(*(entry(command, check_id=command) for command in commands)))
    artifact = write_statement(verified.mission, verified.assembled, verified.sink)
    assert artifact is not None
    statement: dict[str, object] = json.loads(verified.sink.read(artifact.ref))
    return statement, verified


def test_a_statement_is_about_the_commit_or_the_tree(repo: Repo) -> None:
    """gitCommit only if the workspace was exactly that."""
    repo.write("a", "1")
    head = repo.commit()
    statement, verified = _forms(repo, "true")
    assert statement["subject"] == [{"name": "workspace", "digest": {"gitCommit": head}}]
    predicate = statement["predicate"]
    assert isinstance(predicate, dict)
    assert (predicate["result"], predicate["passedTests"], predicate["failedTests"]) == ("PASSED", ["true"], [])
    assert predicate["configuration"][0]["digest"]["sha256"] == verified.mission.digest.removeprefix("sha256:")
    repo.write("a", "2")
    dirty, _ = _forms(repo, "true")
    repo.commit()
    assert dirty["subject"] == [{"name": "workspace", "digest": {"gitTree": repo.git("rev-parse", "HEAD^{tree}")}}]


def test_blocked_counts_as_failed_in_a_statement(repo: Repo) -> None:
    """in-toto has no word for it, and "warned" would mean passed."""
    statement, _ = _forms(repo, "true", "nonesuch-x")
    predicate = statement["predicate"]
    assert isinstance(predicate, dict)
    assert (predicate["result"], predicate["failedTests"]) == ("FAILED", ["nonesuch-x"])


def test_without_a_run_there_is_no_statement(repo: Repo) -> None:
    """No subject, no statement."""
    verified = verify(repo, mission())
    assert write_statement(verified.mission, verified.assembled, verified.sink) is None


def test_ctrf(repo: Repo) -> None:
    """Blocked is "other", with the raw status beside it and the receipt attached."""
    verified = verify(repo, mission(entry("true"), entry("exit 3"), entry("nonesuch-x")))
    report = json.loads(verified.sink.read(write_ctrf(verified.assembled, verified.sink, SystemClock()).ref))
    assert (report["reportFormat"], report["results"]["tool"]["name"]) == ("CTRF", "pytest-reqfile")
    summary = report["results"]["summary"]
    assert {key: summary[key] for key in ("tests", "passed", "failed", "skipped", "pending", "other")} == {
        "tests": 3,
        "passed": 1,
        "failed": 1,
        "skipped": 0,
        "pending": 0,
        "other": 1,
    }
    assert summary["start"] <= summary["stop"]
    tests = report["results"]["tests"]
    assert [(test["status"], test["rawStatus"]) for test in tests] == [
        ("passed", "pass"),
        ("failed", "fail"),
        ("other", "blocked"),
    ]
    assert tests[1]["extra"] == {"reqfile.oracle/exitCode": 3, "reqfile.oracle/expectedExitCode": 0}
    assert tests[0]["attachments"][0]["path"] == "oracle/01-C.json"


# Citations


def _cite(root: Path, *evidence: str) -> tuple[tuple[Artifact, ...], tuple[str, ...]]:
    where = Location(path="m.json", line=1)
    return cite(Criterion(id="AC-1", text="x", location=where, evidence=evidence), root)


def test_cited_files_have_the_digest_of_the_whole_file(tmp_path: Path) -> None:
    """seed 003: file:line evidence with a digest."""
    (tmp_path / "a.py").write_bytes(b"1\n2\n")
    found, unusable = _cite(tmp_path, "a.py", "a.py:2", "./a.py:1-2")
    assert [artifact.ref for artifact in found] == ["a.py", "a.py:2", "./a.py:1-2"]
    assert {artifact.digest for artifact in found} == {sha256_digest(b"1\n2\n")}
    assert unusable == ()


@pytest.mark.parametrize(
    ("reference", "observation"),
    [
        ("https://x.invalid/y", "AC-1: https://x.invalid/y was not fetched, so it has no digest"),
        ("gone.py:1", "AC-1: no evidence at gone.py: cannot read: No such file or directory"),
        ("a.py:9", "AC-1: no evidence at a.py:9: the file has 2 lines"),
        ("a.py:0", "AC-1: no evidence at a.py:0: the file has 2 lines"),
        ("../a.py", "AC-1: no evidence at ../a.py: not a path inside the workspace"),
        ("/etc/passwd:1", "AC-1: no evidence at /etc/passwd:1: not a path inside the workspace"),
        ("link", "AC-1: no evidence at link: cannot read: a symbolic link"),
    ],
)
def test_what_has_no_digest_is_an_observation(tmp_path: Path, reference: str, observation: str) -> None:
    """Nothing is fetched, nothing outside the workspace is read, nothing is made up."""
    (tmp_path / "a.py").write_bytes(b"1\n2\n")
    (tmp_path / "link").symlink_to("/etc/passwd")
    assert _cite(tmp_path, reference) == ((), (observation,))


def test_citations_stand_beside_the_receipt(repo: Repo) -> None:
    """In the claim's evidence, after our own."""
    repo.write("a.py", "1\n")
    what = mission(entry("true"), criteria=[{**criterion(), "evidence": ["a.py:1", "https://x.invalid"]}])
    verified = verify(repo, what)
    (claim,) = verified.claims["claims"]
    assert [evidence["ref"] for evidence in claim["evidence"]] == ["oracle/01-C.json", "a.py:1"]
    assert verified.claims["observations"] == ["AC-1: https://x.invalid was not fetched, so it has no digest"]


# Tokens and the environment line


@pytest.mark.parametrize(
    ("text", "at_least"),
    [
        ("sha256:" + "0123456789abcdef" * 4, 36),  # o200k counts 33 for the digest
        ("語" * 10, 30),
        ("The quick brown fox jumps over the lazy dog.", 10),
        ("", 0),
    ],
)
def test_the_estimate_is_above_known_counts(text: str, at_least: int) -> None:
    """Measured against real tokenizers in spec 6."""
    assert at_least <= estimate(text) <= count_bytes(text)


def test_the_environment_line_is_short() -> None:
    """It is repeated for every check."""
    around = Circumstances(
        mission_digest="",
        machine=Machine(platform="Linux-6.1.0-13-amd64", arch="x86_64", python="3.11.7"),
        shell="GNU bash, version 5.2.15(1)-release (x86_64-pc-linux-gnu)",
        isolation=Isolation(mode="overlay", enforced="kernel", network="off"),
        source=SourceState(snapshot_hash=""),
    )
    assert around.summary == "overlay/kernel, net off; Linux x86_64; bash 5.2.15"
