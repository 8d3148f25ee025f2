"""Criteria and their checks, guards, and the run as a whole, with real commands (spec oracle.md 5.6 to 5.8; 9.3)."""

from __future__ import annotations

import pytest

from pytest_reqfile.oracle.mission import Mission
from pytest_reqfile.oracle.session import OracleOptions
from tests.support import Repo
from tests.support.missions import Verified, criterion, entry, mission, verify


def criteria(verified: Verified) -> dict[str, str]:
    """Each criterion's verdict and confidence."""
    return {one.criterion.id: f"{one.verdict} {one.confidence}" for one in verified.assembled.judged}


@pytest.mark.parametrize(
    ("command", "expected", "verdict", "actual"),
    [
        ("exit 0", 0, "pass", 0),
        ("exit 1", 1, "pass", 1),
        ("exit 0", 1, "fail", 0),
        ("exit 1", 0, "fail", 1),
        ("exit 44", 44, "pass", 44),
        ("exit 300", 44, "pass", 44),
        (("sh", "-c", "exit 255"), 255, "pass", 255),
    ],
)
@pytest.mark.case("oracle:9.3")
def test_only_the_exit_code_counts(
    repo: Repo, command: str | tuple[str, ...], expected: int, verdict: str, actual: int
) -> None:
    """spec 9.3: an expected failure that does not happen is a failure, one that does is a pass."""
    verified = verify(repo, mission(entry(command, expected), criteria=[criterion()]))
    assert (verified.only.verdict, verified.only.exit_code) == (verdict, actual)
    assert verified.outcomes[0].status == verdict
    assert criteria(verified) == {"AC-1": f"{verdict} high"}
    assert verified.overall == verdict


def test_a_failure_shows_both_codes(repo: Repo) -> None:
    """A finding at the line of the entry."""
    (outcome,) = verify(repo, mission(entry("exit 3"))).outcomes
    (finding,) = outcome.findings
    assert (finding.message, finding.file, finding.line) == ("expected exit code 0, found 3", "mission.json", 1)
    assert outcome.title == "expected exit code 0 of: exit 3"


def test_all_commands_of_a_check_must_pass(repo: Repo) -> None:
    """One criterion, two oracle entries: both count."""
    verified = verify(repo, mission(entry("true"), entry("false"), criteria=[criterion()]))
    assert criteria(verified) == {"AC-1": "fail high"}
    assert [check["exitCode"] for check in verified.claims["checks"]] == [0, 1]


def test_blocked_beats_pass_and_fail_beats_blocked(repo: Repo) -> None:
    """The worst of a criterion's checks is its verdict."""
    one = verify(repo, mission(entry("true"), entry("no-such-tool-x"), criteria=[criterion()]))
    assert criteria(one) == {"AC-1": "blocked high"}
    two = verify(repo, mission(entry("no-such-tool-x"), entry("false"), criteria=[criterion()]))
    assert criteria(two) == {"AC-1": "fail high"}
    assert (one.overall, two.overall) == ("blocked", "fail")


def test_a_shared_check_lowers_confidence(repo: Repo) -> None:
    """spec 5.8: one oracle for two criteria says less about each."""
    verified = verify(repo, mission(entry("true"), criteria=[criterion("A"), criterion("B")]))
    assert criteria(verified) == {"A": "pass medium", "B": "pass medium"}
    assert len(verified.claims["checks"]) == 1


@pytest.mark.parametrize("check_id", [None, "other"])
def test_a_criterion_without_oracle_is_blocked(repo: Repo, check_id: str | None) -> None:
    """No checkId, or one no entry has: never paired by guessing."""
    verified = verify(repo, mission(entry("true"), criteria=[criterion(check_id=check_id)]))
    assert criteria(verified) == {"AC-1": "blocked high"}
    assert verified.overall == "blocked"
    assert "no oracle for AC-1" in verified.claims["limitations"]


def test_a_lone_pair_without_ids_belongs_together(repo: Repo) -> None:
    """spec 5.7: exactly one criterion and one command, neither with a checkId."""
    verified = verify(repo, mission({"command": "true", "expectedExitCode": 0}, criteria=[criterion(check_id=None)]))
    assert criteria(verified) == {"AC-1": "pass medium"}


def test_two_commands_without_ids_are_not_paired(repo: Repo) -> None:
    """The exception is for one command only."""
    verified = verify(repo, mission("true", "true", criteria=[criterion(check_id=None)]))
    assert criteria(verified) == {"AC-1": "blocked high"}


def test_an_unused_command_still_runs_and_counts(repo: Repo) -> None:
    """spec 5.7: it is in checks and oracleResults, and its failure is a limitation that fails the run."""
    verified = verify(repo, mission(entry("true"), entry("exit 9", check_id="X"), criteria=[criterion()]))
    assert criteria(verified) == {"AC-1": "pass high"}
    assert verified.overall == "fail"
    assert [check["checkId"] for check in verified.claims["checks"]] == ["C", "X"]
    expected = "oracle command without a criterion X: fail: expected exit code 0, found 9"
    assert expected in verified.claims["limitations"]


def test_a_defaulted_code_is_a_limitation(repo: Repo) -> None:
    """Ours, not the brief's; with --require-exit-codes it is blocked instead."""
    what = mission({"command": "true", "checkId": "C"}, criteria=[criterion()])
    verified = verify(repo, what)
    assert criteria(verified) == {"AC-1": "pass medium"}
    assert verified.claims["limitations"] == ["C: expectedExitCode defaulted to 0"]
    strict = verify(repo, what, options=OracleOptions(require_exit_codes=True))
    assert strict.only.blocked == "oracle-invalid"


@pytest.mark.parametrize(
    ("command", "doubt"),
    [
        ("false || true", "C: `|| true` hides its exit code"),
        ("false | true", "C: only the last command of a pipeline counts"),
    ],
)
def test_masked_answers_are_of_low_confidence(repo: Repo, command: str, doubt: str) -> None:
    """The verdict stays what the exit code says; the doubt is told."""
    verified = verify(repo, mission(entry(command), criteria=[criterion()]))
    assert criteria(verified) == {"AC-1": "pass low"}
    assert doubt in verified.claims["limitations"]


def test_being_loaded_under_the_reviewed_configuration_is_of_low_confidence(repo: Repo) -> None:
    """spec 5.2: a pytest rooted in the reviewed workspace loads its conftest."""
    options = OracleOptions(inside_reviewed=True)
    verified = verify(repo, mission(entry("true"), criteria=[criterion()]), options=options)
    assert criteria(verified) == {"AC-1": "pass low"}


def test_writing_to_tracked_files_lowers_confidence(repo: Repo) -> None:
    """The disposable workspace is no longer what was reviewed; new files are only observed."""
    repo.write("a.txt", "a")
    repo.commit()
    verified = verify(repo, mission(entry("echo b > a.txt; echo c > new"), criteria=[criterion()]))
    assert criteria(verified) == {"AC-1": "pass medium"}
    assert verified.claims["observations"] == ["C wrote 2 paths in the disposable workspace: a.txt, new"]
    assert repo.path("a.txt").read_text() == "a"


def test_deleting_a_tracked_folder_lowers_confidence(repo: Repo) -> None:
    """Only the folder is named among the writes."""
    repo.write("d/a.txt", "a")
    repo.commit()
    verified = verify(repo, mission(entry("rm -r d"), criteria=[criterion()]))
    assert criteria(verified) == {"AC-1": "pass medium"}


def test_unsafe_commands_are_blocked_unless_allowed(repo: Repo) -> None:
    """Only the conductor may let one through, and the claim says so."""
    what = mission(entry("git commit -q --allow-empty -m x", check_id="C"), criteria=[criterion()])
    refused = verify(repo, what)
    assert (refused.only.blocked, refused.only.exit_code) == ("oracle-unsafe", None)
    identity = "git -c user.name=x -c user.email=x@example.invalid commit -q --allow-empty -m x"
    what = mission(entry(identity, check_id="C"), criteria=[criterion()])
    before = repo.git("rev-parse", "HEAD")
    allowed = verify(repo, what, options=OracleOptions(allow=frozenset({"C"})))
    assert (allowed.only.verdict, allowed.only.confidence) == ("pass", "medium")
    assert "C: allowed by the conductor although it changes a repository" in allowed.claims["limitations"]
    assert repo.git("rev-parse", "HEAD") == before


# mustNotRegress


def guarded(guard: object) -> Mission:
    """A mission with a passing check C, a failing check D and one guard."""
    return mission(entry("true"), entry("false", check_id="D"), mustNotRegress=[guard])


@pytest.mark.parametrize(
    ("guard", "verdict", "exit_code"),
    [
        ("C", "pass", 0),
        ("false", "fail", 1),
        ({"id": "guard-1", "checkId": "D"}, "fail", 1),
        ({"id": "guard-1", "checkId": "E"}, "blocked", None),
        ({"id": "guard-1", "command": "true", "expectedExitCode": 0}, "pass", 0),
        ({"id": "guard-1", "command": "true", "expectedExitCode": 1}, "fail", 0),
        ("all existing behaviour", "blocked", None),
    ],
)
def test_guards_without_baseline(repo: Repo, guard: object, verdict: str, exit_code: int | None) -> None:
    """A check by id or text, a command of its own; prose is blocked, never guessed (spec 5.6)."""
    result = verify(repo, guarded(guard)).result("guard/guard-1")
    assert (result.verdict, result.exit_code) == (verdict, exit_code)


def test_a_guard_shares_the_evidence_of_its_check(repo: Repo) -> None:
    """The same receipt, not a second run."""
    verified = verify(repo, guarded("C"))
    assert verified.result("guard/guard-1").receipt == verified.result("oracle/C").receipt


def test_a_failed_guard_fails_the_run_but_no_criterion(repo: Repo) -> None:
    """spec 5.6: its own check and a limitation."""
    verified = verify(
        repo, mission(entry("true"), criteria=[criterion()], mustNotRegress=[{"id": "G", "command": "exit 5"}])
    )
    assert criteria(verified) == {"AC-1": "pass high"}
    assert verified.overall == "fail"
    assert "mustNotRegress G: fail: expected exit code 0, found 5" in verified.claims["limitations"]


@pytest.fixture
def history(repo: Repo) -> Repo:
    """A repository whose last commit broke ``good`` and touched ``kept``; ``bad`` was broken before."""
    repo.write("good", "exit 0")
    repo.write("bad", "exit 1")
    repo.write("kept", "1")
    repo.write("same", "1")
    repo.write("untouched/file", "1")
    repo.commit()
    repo.git("tag", "base")
    repo.write("good", "exit 1")
    repo.write("kept", "2")
    repo.commit()
    return repo


@pytest.mark.parametrize("isolation", ["auto", "copy"])
@pytest.mark.parametrize(
    ("command", "verdict", "words"),
    [
        ("sh good", "fail", "expected exit code 0, found 1; it passed at the baseline"),
        ("sh bad", "pass", "already failing at the baseline"),
        ("sh same", "blocked", "the baseline could not be run"),
        ("true", "pass", "exit code 0 as expected"),
    ],
)
def test_a_failure_is_compared_with_the_baseline(
    history: Repo, isolation: str, command: str, verdict: str, words: str
) -> None:
    """Base passes and head fails: regression. Both fail: pass with a limitation. Base cannot run: blocked."""
    if command == "sh same":
        history.write("same", "exit 1")
        command = 'test "$(cat same)" != 1 && exit 1; kill -9 $$'
    what = mission(entry("true"), mustNotRegress=[{"id": "G", "command": command, "baseline": "base"}])
    options = OracleOptions(isolation="auto" if isolation == "auto" else "copy", timeout_ms=20_000)
    result = verify(history, what, options=options).result("guard/G")
    assert (result.verdict, words in result.explanation) == (verdict, True), result
    assert history.git("status", "--porcelain") in ("", "M same", " M same")


@pytest.mark.parametrize(
    ("paths", "verdict"),
    [
        (["untouched"], "pass"),
        (["same", "bad"], "pass"),
        (["kept"], "fail"),
        (["same", "kept"], "fail"),
        (["nowhere"], "blocked"),
        ([":(glob)*"], "blocked"),
    ],
)
def test_guarded_paths(history: Repo, paths: list[str], verdict: str) -> None:
    """Compared with the baseline by git; a path the baseline lacks compares nothing, which must not pass."""
    what = mission(entry("true"), mustNotRegress=[{"id": "G", "paths": paths, "baseline": "base"}])
    result = verify(history, what).result("guard/G")
    assert result.verdict == verdict, result
    if verdict == "fail":
        assert result.explanation == "changed since the baseline: kept"


def test_an_unknown_baseline_is_a_prerequisite(history: Repo) -> None:
    """Whatever it says, it is never read as an option."""
    what = mission(entry("true"), mustNotRegress=[{"id": "G", "paths": ["same"], "baseline": "--all"}])
    result = verify(history, what).result("guard/G")
    assert (result.verdict, result.blocked) == ("blocked", "prerequisite-missing")
    assert result.explanation.startswith("needs the revision --all: ")
