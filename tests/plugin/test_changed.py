"""--reqfile-changed, --reqfile-staged, labeled examples and the run log in pytest (issue 3; design 2.6)."""

from __future__ import annotations

import json
import re
import sys
from collections.abc import Callable

import pytest

from tests.support import Repo
from tests.support.requirements import OK, command, req

Run = Callable[..., pytest.RunResult]
SEEN = command('f() { echo "saw $*"; exit 1; }; f', files="**/*.txt", pass_files=True)


@pytest.fixture
def history(project: Repo) -> Repo:
    """SEEN looks at text files, ALWAYS takes none; two commits of them on main, nothing changed since."""
    project.write("Reqfile.yaml", req(SEEN=[SEEN], ALWAYS=[OK]))
    project.write("old.txt")
    project.write("kept.txt")
    project.commit()
    return project


def test_changed_narrows_in_every_mode(history: Repo, mode: tuple[str, ...]) -> None:
    """Only changed files reach the command; the controller asks git once for all workers."""
    history.branch("feature")
    history.write("new.txt")
    done = history.pytest("--reqfile-changed=main", "-q", *mode)
    assert done.code == 1
    assert "\nsaw new.txt\n" in done.out
    assert "2 checks run, 0 with nothing to check. 1 violation" in done.out


def test_nothing_changed_exits_0(history: Repo, run: Run) -> None:
    """A run that is empty only because nothing changed says so and passes; an empty collection is still exit 5."""
    result = run("--reqfile-changed=main", "-k", "SEEN", "-rs")
    assert result.ret == 0
    result.stdout.fnmatch_lines(
        ["0 checks run, 1 with nothing to check.*", "SKIPPED*nothing to check: no matching file"]
    )
    assert run("--reqfile-changed=main", "-k", "NOTHING").ret == pytest.ExitCode.NO_TESTS_COLLECTED


@pytest.mark.parametrize("workers", [(), ("-n", "2")], ids=["plain", "workers"])
def test_an_unusable_base_is_a_usage_error(history: Repo, workers: tuple[str, ...]) -> None:
    """A missing base, a path in its place, two ways at once: exit 4 before anything runs, never an empty run."""
    for arguments, said in (
        (("--reqfile-changed=origin/nowhere",), "cannot find the merge-base of origin/nowhere and HEAD"),
        (("--reqfile-changed", "kept.txt"), "`kept.txt` is a path, but a base is a revision"),
        (("--reqfile-changed",), "needs a base for the repository root"),
        (("--reqfile-changed=main", "--reqfile-staged"), "--reqfile-staged does not go with --reqfile-changed"),
    ):
        done = history.pytest(*arguments, *workers)
        assert done.code == pytest.ExitCode.USAGE_ERROR, done.out + done.err
        assert said in done.out + done.err


def test_staged_narrows_requirements(history: Repo, run: Run) -> None:
    """--reqfile-staged looks at the index, and not at what is not staged."""
    history.write("staged.txt")
    history.git("add", "staged.txt")
    history.write("unstaged.txt")
    run("--reqfile-staged").stdout.fnmatch_lines(["saw staged.txt"])


def test_the_base_of_the_config_and_of_the_ini(history: Repo, run: Run) -> None:
    """Without a base the nearest config's is used; the ini key may name one or say true."""
    history.write(".reqfile/config.yaml", "base: main\n")
    history.commit()
    history.branch("feature")
    history.write("new.txt")
    run("--reqfile-changed").stdout.fnmatch_lines(["saw new.txt"])
    history.write("pytest.ini", "[pytest]\nreqfile_changed = true\n")
    run().stdout.fnmatch_lines(["saw new.txt"])
    history.write("pytest.ini", "[pytest]\nreqfile_changed = HEAD\n")
    run().stdout.fnmatch_lines(["saw new.txt"])


@pytest.fixture
def examples(project: Repo) -> Repo:
    """NO_FIXME with three labeled examples, one of which it gets wrong."""
    check = command('f() { if grep -l FIXME "$@"; then exit 1; fi; }; f', files="**/*.txt", pass_files=True)
    project.write("Reqfile.yaml", req(NO_FIXME=[check], BARE=[OK]))
    base = ".reqfile/NO_FIXME/examples"
    project.write(f"{base}/violation-plain/a.txt", "FIXME\n")
    project.write(f"{base}/ok-plain/a.txt", "fine\n")
    project.write(f"{base}/violation-low/example.yaml", "expected: violation\n")
    project.write(f"{base}/violation-low/files/a.txt", "fixme\n")
    return project


def test_examples_are_items(examples: Repo, run: Run) -> None:
    """Each labeled example is an item after its requirement's checks; a wrong label fails an asserted requirement."""
    ids = [line for line in run("--co", "-q").outlines if "::" in line]
    assert ids == [
        "Reqfile.yaml::NO_FIXME/command-1",
        "Reqfile.yaml::NO_FIXME/examples/ok-plain",
        "Reqfile.yaml::NO_FIXME/examples/violation-low",
        "Reqfile.yaml::NO_FIXME/examples/violation-plain",
        "Reqfile.yaml::BARE/command-1",
    ]
    result = run("-m", "example")
    result.assert_outcomes(passed=2, failed=1, deselected=2)
    result.stdout.fnmatch_lines(["*violation-low: missed, expected a violation"])
    run("-m", "example(of='BARE')").assert_outcomes(deselected=5)


def test_coverage_of_examples_shows(examples: Repo, run: Run) -> None:
    """The terminal says which requirements have examples of both classes, of one, of none."""
    run().stdout.fnmatch_lines(["labeled examples of 2 requirements: 1 with both classes, 1 with none"])
    alone = run("-k", "NO_FIXME/command")
    alone.assert_outcomes(skipped=1, deselected=4)
    alone.stdout.fnmatch_lines(["labeled examples of 1 requirement: 1 with both classes, 0 with none"])


def test_a_broken_example_is_an_error(examples: Repo, run: Run) -> None:
    """A folder that is no example is never left out in silence."""
    examples.write(".reqfile/NO_FIXME/examples/maybe-x/a.txt", "x")
    result = run("-k", "maybe-x")
    result.assert_outcomes(errors=1, deselected=5)
    result.stdout.fnmatch_lines(["*an example folder must be named violation-… or ok-…*"])


def test_fast_defers_examples(examples: Repo, run: Run) -> None:
    """An edit hook runs no examples."""
    run("--reqfile-fast", "-m", "example").assert_outcomes(skipped=3, deselected=2)


def test_examples_that_no_change_touches_are_skipped(examples: Repo, mode: tuple[str, ...]) -> None:
    """A changed-only run tries labeled examples where the requirement or one of them changed, and says so elsewhere."""
    examples.commit()
    examples.write("a.txt", "fine\n")
    arguments = ("--reqfile-changed=HEAD", "-rs", *mode)
    done = examples.pytest(*arguments)
    assert done.code == 0, done.out
    reason = "nothing to check: neither the requirement nor the example changed"
    assert re.search(rf"^SKIPPED \[3\] Reqfile\.yaml:\d+: {reason}$", done.out, re.MULTILINE), done.out
    assert "labeled examples of 2 requirements: 1 with both classes, 1 with none" in done.out
    examples.write(".reqfile/NO_FIXME/examples/violation-low/files/a.txt", "FIXME\n")
    done = examples.pytest(*arguments)
    assert done.code == 0, done.out
    assert reason not in done.out
    assert "5 passed" in done.out


def test_an_example_that_git_cannot_compare_is_tried(examples: Repo, run: Run) -> None:
    """Nobody knows whether ignored files changed, and an empty folder is nothing to git."""
    examples.write(".gitignore", "*.log\n")
    examples.write(".reqfile/NO_FIXME/examples/ok-plain/a.log", "x")
    examples.commit()
    examples.path(".reqfile/NO_FIXME/examples/ok-empty").mkdir()
    run("--reqfile-changed=HEAD", "-m", "example").assert_outcomes(passed=2, skipped=2, deselected=2)


def test_a_broken_example_is_an_error_whatever_changed(examples: Repo, run: Run) -> None:
    """Its label cannot be known, so nobody may say that there was nothing to check."""
    examples.write(".reqfile/NO_FIXME/examples/maybe-x/a.txt", "x")
    examples.commit()
    run("--reqfile-changed=HEAD").assert_outcomes(errors=1, passed=1, skipped=4)


def test_coverage_shows_in_a_fast_run(examples: Repo, run: Run) -> None:
    """Examples that wait for a full run have their labels all the same."""
    run("--reqfile-fast").stdout.fnmatch_lines(["labeled examples of 2 requirements: 1 with both classes, 1 with none"])


@pytest.mark.parametrize("words", [("-a",), ("old.txt",)], ids=["all", "one-file"])
def test_a_commit_of_what_was_not_staged_is_what_its_hook_looks_at(history: Repo, words: tuple[str, ...]) -> None:
    """git makes such commits from an index of their own, which is what is staged as far as the hook is concerned."""
    program = f'"{sys.executable}" -P -m pytest -p no:cacheprovider --reqfile-staged -q'
    history.write(".git/hooks/pre-commit", f"#!/bin/sh\nexec {program} >&2\n", mode=0o755)
    history.write("kept.txt", "changed too\n")
    if words == ("old.txt",):
        history.git("add", "kept.txt")
    history.write("old.txt", "changed\n")
    done = history.execute("git", "commit", "-q", "-m", "try", *words)
    assert done.code == 1
    assert ("\nsaw kept.txt old.txt\n" if words == ("-a",) else "\nsaw old.txt\n") in done.err


def test_the_run_log(history: Repo, mode: tuple[str, ...]) -> None:
    """--reqfile-log appends a line per command check and finding, written by the controller alone."""
    arguments = ("--reqfile-log", "logs/run.jsonl", "--reqfile-log-tag", "hook=Stop", *mode)
    history.pytest(*arguments)
    lines = [json.loads(line) for line in history.path("logs/run.jsonl").read_text().splitlines()]
    assert sorted((line["kind"], line["requirement"]) for line in lines) == [
        ("command_check", "ALWAYS"),
        ("command_check", "SEEN"),
        ("command_finding", "SEEN"),
    ]
    assert {line["tags"]["hook"] for line in lines} == {"Stop"}
    assert len({line["run_id"] for line in lines}) == 1


def test_a_log_that_cannot_be_written_fails_the_run(history: Repo, run: Run) -> None:
    """The log's own failure is an error at the end, and a tag without a log or without a value a usage error."""
    result = run("-k", "ALWAYS", "--reqfile-log", "old.txt/run.jsonl")
    assert result.ret == 1
    result.stdout.fnmatch_lines(["error: --reqfile-log: cannot write the run log *"])
    assert run("--reqfile-log-tag", "a=b").ret == pytest.ExitCode.USAGE_ERROR
    assert run("--reqfile-log", "x", "--reqfile-log-tag", "plain").ret == pytest.ExitCode.USAGE_ERROR


def test_an_example_of_a_command_with_thresholds_measures(project: Repo, run: Run) -> None:
    """A requirement that declares thresholds answers with probabilities: a missed label is counted and never fails."""
    check = command("cat out.sarif", format="sarif", thresholds={"violation_above": 0.8, "pass_below": 0.2})
    project.write("Reqfile.yaml", req(GUESS=[check]))
    project.write(".reqfile/GUESS/examples/violation-missed/out.sarif", '{"runs": [{"results": []}]}')
    result = run("-m", "example and advisory")
    assert result.ret == 0
    result.stdout.fnmatch_lines(["*violation-missed: missed, expected a violation", "*1 advisory in*"])
