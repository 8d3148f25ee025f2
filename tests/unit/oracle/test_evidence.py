"""Receipts, digests, source states and the sink (spec oracle.md 4, 5.5, 7; 9.15, 9.16, 9.18)."""

from __future__ import annotations

import hashlib
import json
import os
import stat
from collections.abc import Callable
from pathlib import Path

import jsonschema
import pytest
from hypothesis import given
from hypothesis import strategies as st

from pytest_reqfile.errors import UsageError
from pytest_reqfile.oracle.assembly import assemble
from pytest_reqfile.oracle.digests import Artifact, canonical_json, sha256_digest
from pytest_reqfile.oracle.opening import open_session
from pytest_reqfile.oracle.plan import plan_mission
from pytest_reqfile.oracle.receipts import recorded_streams
from pytest_reqfile.oracle.results import Result, from_outcome, to_outcome
from pytest_reqfile.oracle.session import OracleOptions
from pytest_reqfile.oracle.sink import open_sink
from pytest_reqfile.oracle.source import source_state
from pytest_reqfile.outcome import from_wire, to_wire
from tests.support import Repo
from tests.support.missions import criterion, entry, mission, verify
from tests.support.oracle_schemas import RECEIPT, WORKER_OUTPUT


@pytest.mark.parametrize(
    ("value", "text"),
    [
        ({"b": 1, "a": [True, None, "x"]}, '{"a":[true,null,"x"],"b":1}'),
        ({"é": 1, "z": 2, "\U0001f600": 3, "\ufb33": 4}, '{"z":2,"é":1,"\U0001f600":3,"\ufb33":4}'),
        ("\u20ac$\x0f\nA'B\"\\\x7f/", '"\u20ac$\\u000f\\nA\'B\\"\\\\\x7f/"'),
    ],
)
def test_canonical_json(value: object, text: str) -> None:
    """RFC 8785: keys by UTF-16 units, no spaces, the shortest escapes (its own examples)."""
    assert canonical_json(value) == text.encode()


def test_canonical_json_takes_no_floats() -> None:
    """Their form is a subject of its own."""
    with pytest.raises(TypeError, match="no floats"):
        canonical_json({"a": 1.5})


# Source states


def test_the_tree_is_gits_own(repo: Repo) -> None:
    """Computed without writing an object: the same id that a commit of these files would have."""
    repo.write("b.sh", "#!/bin/sh\n", mode=0o755)
    repo.write("a/x", b"\x00\xff")
    repo.write("a.txt", "sorts between a and a/")
    repo.write("deep/er/y", "")
    repo.symlink("link", "a/x")
    repo.write("with space é", "1")
    repo.commit()
    state = source_state(repo.root, repo.environment)
    assert state.tree == repo.git("rev-parse", "HEAD^{tree}")
    assert (state.head, state.clean) == (repo.git("rev-parse", "HEAD"), True)


def test_the_tree_of_a_sha256_repository(repo: Repo, tmp_path: Path) -> None:
    """Longer ids, the same rules."""
    made = repo.execute("git", "init", "-q", "--object-format=sha256", str(tmp_path / "long"))
    if made.code != 0:
        pytest.skip("this git knows no SHA-256")
    (tmp_path / "long" / "a").write_text("1")
    for words in (("add", "-A"), ("commit", "-qm", "x")):
        repo.git("-C", str(tmp_path / "long"), *words)
    state = source_state((tmp_path / "long").resolve(), repo.environment)
    assert (state.clean, len(state.tree or "")) == (True, 64)


def test_a_dirty_tree_is_what_a_commit_would_be(repo: Repo) -> None:
    """Unstaged, untracked, deleted; ignored files are none of it."""
    repo.write("a", "1")
    repo.write("gone", "1")
    repo.write(".gitignore", "ignored\n")
    repo.commit()
    repo.write("a", "2")
    repo.write("new", "3")
    repo.write("ignored", "4")
    repo.delete("gone")
    state = source_state(repo.root, repo.environment)
    assert not state.clean
    repo.commit()
    assert state.tree == repo.git("rev-parse", "HEAD^{tree}")


def test_the_hash_is_of_content_alone(make_repo: Callable[[str], Repo]) -> None:
    """Reproducible: the same files elsewhere and at another time, with or without git."""
    one, two = make_repo("one"), make_repo("two")
    for repo in (one, two):
        repo.write("a", "1")
        repo.symlink("l", "a")
    os.utime(one.path("a"), (1, 1))
    states = [source_state(repo.root, repo.environment).snapshot_hash for repo in (one, two)]
    assert states[0] == states[1]
    two.path("a").chmod(0o755)
    assert source_state(two.root, two.environment).snapshot_hash != states[0]


def test_reading_the_state_changes_nothing(repo: Repo) -> None:
    """No index, no object, no lock: every file of .git has the same bytes and times afterwards."""
    repo.write("a", "1")
    repo.commit()
    repo.write("a", "2")

    def look() -> dict[str, tuple[int, int]]:
        files = (path for path in repo.path(".git").rglob("*"))
        return {str(path): (path.lstat().st_mtime_ns, path.lstat().st_ctime_ns) for path in files}

    before = look()
    source_state(repo.root, repo.environment)
    assert look() == before


@pytest.mark.case("oracle:9.10")
def test_outside_git_there_is_a_hash_alone(repo: Repo, tmp_path: Path) -> None:
    """spec 9.10: not a repository: snapshotHash only, head null."""
    (tmp_path / "plain").mkdir()
    (tmp_path / "plain" / "a").write_text("1")
    env = repo.environment.updated({"GIT_CEILING_DIRECTORIES": str(tmp_path)})
    state = source_state((tmp_path / "plain").resolve(), env)
    assert (state.head, state.tree, len(state.snapshot_hash)) == (None, None, 64)


# Receipts


@pytest.mark.parametrize("isolation", ["auto", "copy"])
def test_receipts_and_claims_keep_to_the_schemas(repo: Repo, isolation: str) -> None:
    """The schemas of spec 4, for passing, failing, blocked and unstarted commands."""
    what = mission(
        entry("echo out; echo err >&2"),
        entry("exit 3", check_id="F"),
        entry("sleep 20", check_id="T", timeoutMs=300),
        entry("kill -SEGV $$", check_id="S"),
        entry(["no-such-tool-x"], check_id="N"),
        entry("sudo true", check_id="U"),
        criteria=[criterion(), criterion("AC-2", "T"), criterion("AC-3", None)],
        mustNotRegress=["prose"],
    )
    options = OracleOptions(isolation="auto" if isolation == "auto" else "copy")
    verified = verify(repo, what, options=options)
    jsonschema.validate(verified.claims, WORKER_OUTPUT)
    review = json.loads(verified.sink.read("review-evidence.json"))
    jsonschema.validate(review, {**WORKER_OUTPUT, "$ref": "#/$defs/workerReviewEvidence"})
    receipts = {name: verified.receipt(name) for name in verified.assembled.results}
    for receipt in receipts.values():
        jsonschema.validate(receipt, RECEIPT)
    processes = {
        n: (r["process"]["reason"], r["process"]["exitCode"], r["process"]["signal"]) for n, r in receipts.items()
    }
    assert processes == {
        "oracle/C": ("exit", 0, None),
        "oracle/F": ("exit", 3, None),
        "oracle/T": ("timeout", None, None),
        "oracle/S": ("signal", None, "SIGSEGV"),
        "oracle/N": ("spawn-error", None, None),
        "oracle/U": ("not-started", None, None),
        "guard/guard-1": ("not-started", None, None),
    }


def test_receipts_record_what_was_given(repo: Repo) -> None:
    """The command unchanged, the names of variables and a hash of their values, the state before and after."""
    command = 'test "${#SECRET}" = 7 && pwd'
    what = mission(entry(command, env={"SECRET": "hunter2"}, cwd="sub"))
    repo.write("sub/x", "")
    repo.commit()
    verified = verify(repo, what)
    receipt = verified.receipt()
    assert (receipt["command"], receipt["process"]["argv"][1:]) == (command, ["-c", command])
    assert receipt["briefDigest"] == what.digest
    assert "SECRET" in receipt["process"]["environment"]["explicitKeys"]
    assert "hunter2" not in json.dumps(receipt["process"]["environment"])
    assert receipt["source"]["head"] == repo.git("rev-parse", "HEAD")
    assert receipt["source"]["sourceStable"] is True
    assert verified.output().decode().strip().endswith("/sub")


def test_streams_are_kept_with_their_digests(repo: Repo) -> None:
    """Exact bytes, whatever they are; the claims refer to the receipt, the receipt to the streams."""
    verified = verify(repo, mission(entry("printf 'a\\377\\000b'; printf '\\033[31mred' >&2")))
    receipt = verified.receipt()
    assert verified.output() == b"a\xff\x00b"
    assert verified.output(stream="stderr") == b"\x1b[31mred"
    for stream, data in (("stdout", b"a\xff\x00b"), ("stderr", b"\x1b[31mred")):
        assert receipt[stream]["hash"] == hashlib.sha256(data).hexdigest()


@pytest.mark.case("oracle:9.15")
def test_nothing_of_the_output_is_in_the_claims(repo: Repo) -> None:
    """spec 9.15: secrets in output stay in evidence that only its owner can read."""
    verified = verify(repo, mission(entry("echo hunter2; exit 1"), criteria=[criterion()]))
    assert b"hunter2" not in verified.sink.read("worker-claims.json").replace(b"echo hunter2", b"")
    modes = {
        path: stat.S_IMODE(path.stat().st_mode) for path in (verified.sink.folder, *verified.sink.folder.rglob("*"))
    }
    assert {mode for path, mode in modes.items() if path.is_dir()} == {0o700}
    assert {mode for path, mode in modes.items() if path.is_file()} == {0o600}


def test_changed_evidence_proves_nothing(repo: Repo) -> None:
    """A receipt or stream that is no longer what was written turns its result, and the run, into blocked."""
    what = mission(entry("echo x"), criteria=[criterion()])
    verified = verify(repo, what)
    assert verified.overall == "pass"
    receipt = verified.only.receipt
    assert receipt is not None
    assert recorded_streams(verified.sink, receipt) is not None
    (verified.sink.folder / verified.receipt()["stdout"]["path"]).write_bytes(b"y")
    again = assemble(what, verified.outcomes, verified.sink, repo.root)
    assert again.overall == "blocked"
    assert again.results["oracle/C"].blocked == "workspace-written"


class Backwards:
    """A clock whose wall time runs backwards, as after a correction."""

    def __init__(self) -> None:
        self.milliseconds = 1_800_000_000_000

    def now_ms(self) -> int:
        self.milliseconds -= 3_600_000
        return self.milliseconds

    def monotonic(self) -> float:
        raise AssertionError("durations are measured where the command runs")


@pytest.mark.case("oracle:9.18")
def test_a_clock_that_goes_backwards(repo: Repo) -> None:
    """spec 9.18: times are what the clock said, the duration is not their difference."""
    sink = open_sink(repo.home / "sink", repo.root)
    what = mission(entry("sleep 0.2"))
    with open_session(what, repo.root, sink, repo.environment, OracleOptions(), clock=Backwards()) as session:
        session.evaluate(session.items[0])
    process = json.loads(sink.read("oracle/01-C.json"))["process"]
    assert process["startedAt"] > process["endedAt"]
    assert 200 <= process["durationMs"] < 20_000


# The sink


@pytest.mark.case("oracle:9.16")
def test_a_sink_is_never_overwritten(repo: Repo) -> None:
    """spec 9.16: a second run has a folder of its own, and a third."""
    what = mission(entry("true"))
    folders = [verify(repo, what, sink=repo.home / "s").sink.folder.relative_to(repo.home) for _ in range(3)]
    assert [str(folder) for folder in folders] == ["s", "s/run-2", "s/run-3"]


@pytest.mark.parametrize("place", ["", "sub/sink", ".git/sink", "link/sink"])
@pytest.mark.case("oracle:9.16")
def test_a_sink_inside_the_workspace_is_refused(repo: Repo, place: str) -> None:
    """spec 9.16: evidence would change what is verified; also through a symlink from outside."""
    folder = repo.root / place
    if place.startswith("link"):
        (repo.home / "link").symlink_to(repo.root)
        folder = repo.home / "link" / "sink"
    with pytest.raises(UsageError, match="is inside the reviewed workspace"):
        open_sink(folder, repo.root)
    assert not (repo.root / "sub").exists()


@pytest.mark.case("oracle:9.16")
def test_a_sink_that_is_a_file_is_refused(repo: Repo) -> None:
    """spec 9.16: before anything runs."""
    (repo.home / "file").write_text("")
    with pytest.raises(UsageError, match=r"cannot use .*: "):
        open_sink(repo.home / "file", repo.root)


@pytest.mark.case("oracle:9.16")
def test_a_sink_is_made_with_its_parents(repo: Repo) -> None:
    """spec 9.16: a missing one is no error."""
    sink = open_sink(repo.home / "a" / "b", repo.root)
    assert sink.holds(sink.write("x/y.json", b"{}"))
    assert not sink.holds(Artifact(ref="x/y.json", digest=sha256_digest(b"other"), size=5))
    assert not sink.holds(Artifact(ref="nowhere", digest=sha256_digest(b""), size=0))


# Results as outcomes

RESULTS = st.builds(
    Result,
    name=st.just("oracle/C"),
    check_id=st.text(min_size=1),
    verdict=st.sampled_from(("pass", "fail")),
    explanation=st.text(min_size=1),
    expected=st.integers(0, 255),
    exit_code=st.none() | st.integers(0, 255),
    signal=st.none() | st.just("SIGSEGV"),
    confidence=st.sampled_from(("high", "medium", "low")),
    doubts=st.lists(st.text("abc ", min_size=1)).map(tuple),
    observations=st.lists(st.text("abc ", min_size=1)).map(tuple),
    environment=st.text(),
    receipt=st.none() | st.builds(Artifact, ref=st.text(min_size=1), digest=st.text(min_size=1), size=st.integers(0)),
    seconds=st.floats(0, 1000),
)


@given(result=RESULTS)
def test_a_result_survives_the_wire(result: Result) -> None:
    """What a worker evaluated arrives at the process that assembles."""
    (item,) = plan_mission(mission(entry("true")))
    assert from_outcome(from_wire(to_wire(to_outcome(item, result)))) == result


def test_a_blocked_outcome_is_an_error_that_says_so() -> None:
    """Never skipped, never passed (spec 5.2)."""
    (item,) = plan_mission(mission(entry("true")))
    blocked = Result(
        name="oracle/C", check_id="C", verdict="blocked", blocked="timeout", explanation="did not end", expected=0
    )
    outcome = to_outcome(item, blocked)
    assert (outcome.status, outcome.reason, outcome.looked_at) == ("error", "blocked (timeout): did not end", 0)
    assert from_outcome(outcome) == blocked


def test_blocked_and_only_blocked_has_a_reason() -> None:
    """A constructor refuses what cannot be."""
    with pytest.raises(ValueError, match="blocked"):
        Result(name="oracle/C", check_id="C", verdict="blocked", explanation="x", expected=0)
    with pytest.raises(ValueError, match="blocked"):
        Result(name="oracle/C", check_id="C", verdict="pass", blocked="timeout", explanation="x", expected=0)


def test_environment_of_the_run_is_recorded(repo: Repo) -> None:
    """Shared by all receipts: machine, shell, isolation, source, names of variables."""
    verified = verify(repo, mission(entry("true")), variables={"OPENROUTER_API_KEY": "k", "LC_ALL": "C.UTF-8"})
    record = json.loads(verified.sink.read("environment.json"))
    assert set(record["variables"]) >= {"HOME", "LC_ALL", "PATH", "TMPDIR"}
    assert "OPENROUTER_API_KEY" not in record["variables"]
    assert record["isolation"]["mode"] in ("overlay", "readonly-namespace", "copy")
    (reference,) = json.loads(verified.sink.read("notes.json"))["environment"]
    assert reference == {"ref": "environment.json", "digest": sha256_digest(verified.sink.read("environment.json"))}
