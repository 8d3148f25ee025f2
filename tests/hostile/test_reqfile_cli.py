"""``reqfile check`` against bad files, odd names, misbehaving tools and misleading surroundings (spec reqfile.md 9)."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from tests.support import Repo
from tests.support.processes import is_alive, pid_in, wait_until
from tests.support.requirements import OK, command, expect, req, say

QUICK = 20.0
"""Seconds that none of these may take, whatever the load of the machine."""


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        (
            "a: &a [x, x, x]\nb: &b [*a, *a, *a]\nreqfile: [*b, *b, *b]\n",
            "2: YAML aliases are not supported\n",
        ),
        ("reqfile: 1\ncode: " + "[" * 500, "2: YAML nested deeper than 64 levels is not read\n"),
        ("reqfile: 1\ncode: " + "[" * 100_000, "2: invalid YAML: "),
        ("reqfile: 1\ncode: [" + "a," * 1_200_000 + "]\n", "2: YAML with more than 1000000 values is not read\n"),
        ("reqfile: 1\nproduct: []\0\n", "2: invalid YAML: character U+0000 is not allowed\n"),
        ("reqfile: 1\n--- \nreqfile: 1\n", "2: expected a single YAML document\n"),
        ("reqfile: 99999999999999999999999\n", "1: `reqfile` must be an integer, found a number\n"),
    ],
    ids=["aliases", "depth", "abyss", "size", "nul", "documents", "number"],
)
def test_yaml_that_means_harm_is_refused_with_its_line(repo: Repo, text: str, problem: str) -> None:
    """In bounded time and memory, and by name."""
    repo.write("Reqfile.yaml", text)
    expect(repo.run("check", timeout=QUICK), 3, f"error  Reqfile.yaml:{problem}")


def test_a_reqfile_of_ten_megabytes_is_read(repo: Repo) -> None:
    """Size alone is no error, and one long text is cut nowhere."""
    long = "x" * 10_000_000
    repo.write("Reqfile.yaml", req(R1=say("short", hint="h")).replace("Be good.", long))
    done = repo.run("list", "--format", "json", timeout=QUICK)
    assert json.loads(done.out)["requirements"][0]["must"] == long
    expect(repo.run("check", timeout=QUICK), 1, "R1  short\n")


NAMES = (
    "-rf.txt",
    "a\nb.txt",
    "esc\x1b[31m.txt",
    "bad\udcff.txt",
    "[x].txt",
    "two  words.txt",
    "'\"$(touch pwned).txt",
)


def test_odd_file_names_reach_the_command_as_they_are(repo: Repo) -> None:
    """No name reads as an option, splits, or runs; what is not UTF-8 arrives byte for byte."""
    for name in NAMES:
        repo.write(f"sub/{name}", "text\n")
    # Output with NUL between names, kept in a file: a report would not show it unchanged.
    run = 'f() { printf \'%s\\0\' "$@" > ../.git/seen; ls -- "$@" > /dev/null; }; f'
    repo.write("sub/Reqfile.yaml", req(R1=command(run, files="*.txt", pass_files=True)))
    expect(repo.run("check"), 0, "1 check run")
    given = repo.path(".git/seen").read_bytes().split(b"\0")[:-1]
    names = sorted(NAMES, key=os.fsencode)
    assert given == [os.fsencode(f"./{name}" if name.startswith("-") else name) for name in names]
    assert not repo.path("sub/pwned").exists()


def test_nothing_that_is_shown_can_move_the_cursor_or_forge_a_line(repo: Repo) -> None:
    """Names, messages, hints and errors are made visible; a line of a message never looks like a finding."""
    place = {"physicalLocation": {"artifactLocation": {"uri": "x%1b%5b2Jy%0aerror"}, "region": {"startLine": 1}}}
    result = {"message": {"text": "clear\x1b[2J\u202e\nerror  R9  forged"}, "locations": [place]}
    repo.write("out.sarif", json.dumps({"runs": [{"results": [result]}]}))
    repo.write("Reqfile.yaml", req(R1=command("cat out.sarif; exit 1", hint="do\x1b[1m\nit", format="sarif")))
    repo.write("a\nb\x1b/Reqfile.yaml", "reqfile: 1\n")
    found = "R1  x\\x1b[2Jy\\x0aerror:1  clear\\x1b[2J\\u202e\n    error  R9  forged\n  fix: do\\x1b[1m\n    it\n"
    expect(repo.run("check"), 1, found, "1 violation", absent=["\x1b", "\u202e"])
    for form in ("pretty", "json"):
        done = repo.run("check", "--format", form)
        assert not {"\x1b", "\u202e"} & set(done.out)
        assert not any(line.startswith("error") for line in done.out.splitlines())
    repo.write("a\nb\x1b/Reqfile.yaml", "reqfile: 2\n")
    assert "\x1b" not in repo.run("check").out
    assert "\x1b" not in repo.run("list").err
    assert "\x1b" not in repo.run("explain", "a\nb\x1b").err


def test_links_and_pipes_in_the_place_of_files_are_not_followed(repo: Repo) -> None:
    """Neither a FIFO that would block nor a link out of the repository is read."""
    (repo.home / "config.yaml").write_text("no: such key\n")
    (repo.home / "Reqfile.yaml").write_text("reqfile: 9\n")
    repo.write("Reqfile.yaml", req(R1=OK))
    repo.write("pipe/Reqfile.yaml", req(R2=OK))
    repo.write("linked/Reqfile.yaml", req(R3=OK))
    repo.commit()
    for path in ("pipe/Reqfile.yaml", "linked/Reqfile.yaml"):
        repo.delete(path)
    os.mkfifo(repo.path("pipe/Reqfile.yaml"))
    os.mkfifo(repo.path("pipe/new.yaml"))
    repo.symlink("linked/Reqfile.yaml", str(repo.home / "Reqfile.yaml"))
    repo.symlink("linked/.reqfile", str(repo.home))
    repo.symlink(".reqfile/config.yaml", str(repo.home / "config.yaml"))
    repo.symlink("out", str(repo.home))
    expect(repo.run("check", timeout=QUICK), 0, "1 check run, 0 with nothing to check.")


def test_what_a_surrounding_git_hook_sets_misleads_nobody(repo: Repo, make_repo: Callable[[str], Repo]) -> None:
    """Neither our own git calls nor those of a command (spec 9)."""
    other = make_repo("other")
    other.write("Reqfile.yaml", req(WRONG=say("wrong repository")))
    repo.write("Reqfile.yaml", req(R1=command('test "$(git ls-files)" = kept.txt && git rev-parse HEAD')))
    repo.write("kept.txt")
    repo.git("add", "kept.txt")
    hook = {
        "GIT_DIR": str(other.root / ".git"),
        "GIT_WORK_TREE": str(other.root),
        "GIT_INDEX_FILE": str(other.root / "no-index"),
        "GIT_PREFIX": "sub/",
        "GIT_OBJECT_DIRECTORY": str(other.root / "nowhere"),
        "GIT_LITERAL_PATHSPECS": "1",
    }
    expect(repo.run("check", env=hook), 0, "1 check run", absent=["WRONG"])


def test_a_real_pre_commit_hook_checks_the_repository_it_stands_in(repo: Repo) -> None:
    """The hook that most people will write."""
    repo.write("Reqfile.yaml", req(R1=command("git status --porcelain; exit 1", files="**/*.txt")))
    repo.write(".git/hooks/pre-commit", f"#!/bin/sh\nexec {sys.executable} -P -m pytest_reqfile check\n", 0o755)
    repo.write("new.txt")
    repo.git("add", "-A")
    done = repo.execute("git", "commit", "-q", "-m", "no")
    assert done.code == 1
    assert "R1  A  Reqfile.yaml\n    A  new.txt\n" in done.out + done.err


def test_commands_do_not_see_the_key_of_decision_checks(repo: Repo) -> None:
    """Whatever variable a config names."""
    repo.write("app/.reqfile/config.yaml", "decision: { api_key_env: OTHER_KEY }\n")
    repo.write("Reqfile.yaml", req(R1=command('test -z "$OTHER_KEY$OPENROUTER_API_KEY" && test -n "$KEPT"')))
    keys = {"OPENROUTER_API_KEY": "secret", "OTHER_KEY": "secret", "KEPT": "yes"}
    expect(repo.run("check", env=keys), 0, "1 check run")


@pytest.mark.parametrize("form", ["exit", "sarif"])
def test_a_command_that_floods_is_read_within_bounds(repo: Repo, form: str) -> None:
    """The end is kept for people; a report that is too large is an error, never read in part."""
    run = "yes 0123456789 | head -c 80000000; echo; echo end; exit 1"
    repo.write("Reqfile.yaml", req(R1=command(run, format=form)))
    done = repo.run("check", timeout=QUICK)
    if form == "exit":
        expect(done, 1, "R1  0123456789\n", "    end\n")
        assert len(done.out.splitlines()) == 50 + 3
    else:
        expect(done, 3, f"error  R1  `{run}`: output is larger than 64 MiB, so it was not read\n")


def test_a_line_without_end_is_shown_within_bounds(repo: Repo) -> None:
    """Fifty lines are no bound if a line has megabytes."""
    repo.write("Reqfile.yaml", req(R1=command("head -c 5000000 /dev/zero | tr '\\0' x; exit 1")))
    done = repo.run("check")
    expect(done, 1, "R1  ")
    assert len(done.out) < 300_000


@pytest.mark.parametrize(
    "run",
    [
        "trap '' TERM INT HUP; echo $$ > {pid}; sleep 60",
        "(trap '' TERM; echo $$ > {pid}; sleep 60) & wait",
        "setsid sh -c 'echo $$ > {pid}; sleep 60' & wait",
        "echo $$ > {pid}; exec sleep 60",
    ],
    ids=["ignores-signals", "child", "session", "exec"],
)
def test_a_timeout_ends_whatever_the_command_started(repo: Repo, run: str) -> None:
    """Signals ignored, sessions left: all of it is gone when the report appears."""
    file = repo.home / "pid"
    repo.write("Reqfile.yaml", req(R1=command(run.replace("{pid}", str(file)), timeout=1)))
    expect(repo.run("check", timeout=QUICK), 3, "timed out after 1 seconds\n")
    assert not is_alive(pid_in(file))


def test_a_command_that_forks_and_forks_again_is_ended_whole(repo: Repo) -> None:
    """A family of three generations, each ignoring what it can."""
    pids = repo.home / "pids"
    repo.write(".reqfile/R1/child.sh", f"trap '' TERM; echo $$ >> {pids}; sleep 60\n")
    spawn = 'for n in 1 2 3; do sh "$REQFILE_ASSETS/child.sh" & done; wait'
    repo.write(".reqfile/R1/parent.sh", f"trap '' HUP; echo $$ >> {pids}; {spawn}\n")
    run = 'for n in 1 2 3 4 5; do sh "$REQFILE_ASSETS/parent.sh" & done; wait'
    repo.write("Reqfile.yaml", req(R1=command(run, timeout=2)))
    expect(repo.run("check", timeout=QUICK), 3, "timed out after 2 seconds\n")
    started = [int(pid) for pid in pids.read_text().split()]
    assert len(started) == 5 * (1 + 3)
    assert not any(map(is_alive, started))


def test_a_daemon_does_not_outlive_its_check(repo: Repo) -> None:
    """Also one that closed the output, so that the check passes at once."""
    file = repo.home / "pid"
    run = f"setsid nohup sh -c 'echo $$ > {file}; exec sleep 60' > /dev/null 2>&1 < /dev/null & sleep 0.2"
    repo.write("Reqfile.yaml", req(R1=command(run)))
    start = time.monotonic()
    expect(repo.run("check"), 0, "1 check run")
    assert time.monotonic() - start < QUICK
    assert wait_until(lambda: not is_alive(pid_in(file)))


def test_a_timeout_of_centuries_is_no_crash(repo: Repo) -> None:
    """The largest integer of the format is a number of seconds like any other."""
    repo.write("Reqfile.yaml", req(R1=command("true", timeout=2**63 - 1)))
    expect(repo.run("check"), 0, "1 check run")


@contextmanager
def _running(repo: Repo, *argv: str) -> Iterator[subprocess.Popen[bytes]]:
    process = subprocess.Popen(
        (sys.executable, "-P", "-m", "pytest_reqfile", *argv),
        cwd=repo.root,
        env=repo.variables,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        start_new_session=True,  # so that the signal below reaches this process alone
    )
    try:
        yield process
    finally:
        process.kill()
        process.communicate()


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM, signal.SIGHUP], ids=lambda number: number.name)
@pytest.mark.parametrize("checks", [1, 5])
def test_a_signal_ends_the_run_promptly_and_leaves_no_child(repo: Repo, number: signal.Signals, checks: int) -> None:
    """Exit code 128 + signal, one line on stderr, no traceback; checks that wait for their turn never start."""
    pids = [repo.home / f"pid{at}" for at in range(checks)]
    runs = [command(f"echo $$ > {pid}; trap '' INT TERM; sleep 60 & wait; sleep 60") for pid in pids]
    repo.write("Reqfile.yaml", req(**{f"R{at}": run for at, run in enumerate(runs)}))
    with _running(repo, "check") as process:
        first = pid_in(pids[0])
        os.kill(process.pid, number)
        start = time.monotonic()
        out, err = process.communicate(timeout=QUICK)
        assert time.monotonic() - start < QUICK / 2
    assert (process.returncode, out, err) == (128 + number, b"", b"error: interrupted\n")
    started = [pid_in(pid) for pid in pids if pid.exists()]
    assert first in started
    assert not any(map(is_alive, started))
    if checks > 1:
        assert len(started) < checks


def test_a_second_signal_does_not_leave_a_child_either(repo: Repo) -> None:
    """Impatience is no reason for a traceback."""
    file = repo.home / "pid"
    repo.write("Reqfile.yaml", req(R1=command(f"echo $$ > {file}; sleep 60"), R2=command("sleep 60")))
    with _running(repo, "check") as process:
        pid = pid_in(file)
        for _ in range(3):
            os.kill(process.pid, signal.SIGINT)
            time.sleep(0.01)
            if process.poll() is not None:
                break
        _, err = process.communicate(timeout=QUICK)
    assert process.returncode == 130
    assert b"Traceback" not in err
    assert wait_until(lambda: not is_alive(pid))


SARIF_CASES = {
    "nested": ("[" * 200_000, "nested too deeply"),
    "surrogate": (
        '{"runs": [{"results": [{"message": {"text": "\\ud800"}}]}]}',
        "runs[0].results[0].message.text has half of a surrogate pair",
    ),
    "number": ('{"runs": [], "x": ' + "9" * 10_000 + "}", "Exceeds the limit (4300 digits)"),
    "binary": ("\x00\x01\x02", "Expecting value"),
    "empty": ("", "Expecting value"),
    "cut": ('{"runs": [{"results": [', "Expecting value"),
    "list": ("[]", "the log must be an object, found an array"),
}
HUGE = '{"runs": [{"results": [{"message": {"text": "x"}, "properties": {"probability": %s}}]}]}'


def test_sarif_that_means_harm_is_a_tool_error(repo: Repo) -> None:
    """Never a crash of ours, never a pass."""
    for name, (text, _) in SARIF_CASES.items():
        repo.write(f"{name}.sarif", text)
    checks = [command(f"cat {name}.sarif; exit 1", format="sarif") for name in SARIF_CASES]
    for name, number in (("int", "1" + "0" * 400), ("float", "1e999")):
        repo.write(f"{name}.sarif", HUGE % number)
        checks.append(command(f"cat {name}.sarif; exit 0", format="sarif", thresholds={}))
    repo.write("Reqfile.yaml", req(R1=checks))
    texts = [
        f"`cat {name}.sarif; exit 1`: output is not valid SARIF: {text}" for name, (_, text) in SARIF_CASES.items()
    ]
    done = repo.run("check", timeout=QUICK)
    expect(done, 3, *texts, "a SARIF result has probability inf, outside 0 to 1", "9 errors.")


def test_a_large_sarif_report_is_read_whole(repo: Repo) -> None:
    """A linter's first run on an old repository finds a lot."""
    place = {"physicalLocation": {"artifactLocation": {"uri": "f.py"}, "region": {"startLine": 1}}}
    results = [{"ruleId": "E1", "message": {"text": f"number {n}"}, "locations": [place]} for n in range(30_000)]
    repo.write("out.sarif", json.dumps({"runs": [{"results": results}]}))
    repo.write("Reqfile.yaml", req(R1=command("cat out.sarif; exit 1", format="sarif")))
    done = repo.run("check", timeout=QUICK)
    expect(done, 1, "R1  f.py:1  number 29999 (E1)\n", "30000 violations")


def _laughs(levels: int) -> str:
    entities = "".join(f'<!ENTITY a{n + 1} "{f"&a{n};" * 10}">' for n in range(levels))
    return f'<!DOCTYPE l [<!ENTITY a0 "ha">{entities}]><testsuite><testcase name="&a{levels};"/></testsuite>'


JUNIT_CASES = {
    "bomb": (_laughs(12), "output is not valid JUnit XML: limit on input amplification factor"),
    "external": (
        '<!DOCTYPE a [<!ENTITY x SYSTEM "file:///etc/passwd">]><testsuite><testcase name="&x;"/></testsuite>',
        "output is not valid JUnit XML: reference to external entity",
    ),
    "cut": ('<testsuites><testsuite><testcase name="a"/>', "output is not valid JUnit XML: no element found"),
    "encoding": (
        '<?xml version="1.0" encoding="klingon"?><testsuite/>',
        "output is not valid JUnit XML: unknown encoding",
    ),
    "empty": ("", "output is not valid JUnit XML: no element found"),
    "html": ("<html/>", "output is not a JUnit report: no <testsuites> or <testsuite>"),
    "two": ("<testsuite/><testsuite/>", "output is not valid JUnit XML: junk after document element"),
}


def test_junit_that_means_harm_is_a_tool_error(repo: Repo) -> None:
    """A truncated report is one too: it lists fewer tests than ran (spec 3.5)."""
    for name, (text, _) in JUNIT_CASES.items():
        repo.write(f"{name}.xml", text)
    repo.write(
        "deep.xml", "<testsuite>" * 100_000 + '<testcase name="a"><error/></testcase>' + "</testsuite>" * 100_000
    )
    repo.write(
        "line.xml", f'<testsuite><testcase name="a" file="f" line="{"9" * 5000}"><error/></testcase></testsuite>'
    )
    checks = [command(f"cat {name}.xml", format="junit") for name in (*JUNIT_CASES, "deep", "line")]
    repo.write("Reqfile.yaml", req(R1=checks))
    texts = [f"error  R1  `cat {name}.xml`: {text}" for name, (_, text) in JUNIT_CASES.items()]
    done = repo.run("check", timeout=QUICK)
    expect(done, 3, *texts, "R1  test a failed\n", "R1  f  test a failed\n", "2 violations", "7 errors.")


def test_output_that_cannot_be_written_is_said_and_counts(repo: Repo) -> None:
    """A reader that has gone is no error (spec 8.4); a full disk and a closed stream are."""
    repo.write("Reqfile.yaml", req(R1=say("x" * 100)))
    program = f"{sys.executable} -P -m pytest_reqfile check"
    full = repo.execute("sh", "-c", f"{program} > /dev/full")
    assert (full.code, full.err) == (3, "error: cannot write the output: No space left on device\n")
    closed = repo.execute("sh", "-c", f"{program} >&-")
    assert (closed.code, closed.err) == (3, "error: cannot write the output: standard output is closed\n")
    gone = repo.execute("bash", "-c", f"{program} --format json | true; echo ${{PIPESTATUS[0]}}")
    assert (gone.out, gone.err) == ("1\n", "")
    silent = repo.execute("sh", "-c", f"{program} 2>&-; echo $?")
    assert silent.out.endswith("1 violation, 0 advisory findings, 0 errors.\n1\n")


def test_a_narrow_encoding_of_the_output_is_no_crash(repo: Repo) -> None:
    """What it cannot hold is escaped."""
    repo.write("Reqfile.yaml", req(R1=say("grüß")))
    done = repo.run("check", "--format", "pretty", env={"PYTHONIOENCODING": "ascii"})
    expect(done, 1, "\\u2717 R1  1 violation", "gr\\xfc\\xdf")


def test_a_machine_without_git_says_so(repo: Repo, tmp_path: Path) -> None:
    """An error of the run, not a traceback."""
    repo.write("Reqfile.yaml", req(R1=OK))
    done = repo.run("check", env={"PATH": str(tmp_path / "nothing")})
    expect(done, 3, "error  could not run git: ", "1 error.")


def test_a_repository_without_a_commit_or_a_file_is_checked(repo: Repo, tmp_path: Path) -> None:
    """Nothing is required of it, and the line says that nothing ran."""
    empty = tmp_path / "empty"
    empty.mkdir()
    repo.execute("git", "init", "-q", str(empty))
    expect(repo.run("check", cwd=str(empty)), 0, "0 checks run, 0 with nothing to check.")
    (empty / "Reqfile.yaml").write_text(req(R1=say("found")))
    expect(repo.run("check", cwd=str(empty)), 1, "R1  found\n")


def test_a_reqfile_in_a_folder_of_an_odd_name_works_like_any_other(repo: Repo) -> None:
    """Bytes that are no UTF-8, a newline, an escape: checks run there, and every form of output names it."""
    folder = "odd\udcff\n\x1b"
    repo.write(f"{folder}/Reqfile.yaml", req(R1=command('pwd | od -An -c | tr -d " \\n"; exit 1', files="*.txt")))
    repo.write(f"{folder}/-x.txt")
    expect(repo.run("check"), 1, "R1  ", "odd377\\n033\\n\n")
    name = "odd\\xff\\x0a\\x1b/Reqfile.yaml"
    expect(repo.run("list"), 0, f"From {name}:\n")
    expect(repo.run("explain", folder), 0, f"From {name}:\n")
    assert repo.run("list", "--format", "json").out.isascii()
    expect(repo.run("check", "--format", "pretty", "-v"), 1, "✗ R1  1 violation")
    assert json.loads(repo.run("check", "--format", "json").out)["summary"]["violations"] == 1


def test_more_arguments_than_the_system_takes_are_a_tool_error(repo: Repo) -> None:
    """Never a check of the first half."""
    deep = "/".join(["d" * 200] * 15)
    for at in range(900):
        repo.write(f"{deep}/{at}.txt")
    repo.write("Reqfile.yaml", req(R1=command("true", files="**", pass_files=True)))
    expect(repo.run("check"), 3, "error  R1  `true` could not be launched: Argument list too long", "1 error.")


def test_a_current_folder_that_is_gone_is_an_error(repo: Repo) -> None:
    """As after a ``git clean`` in another window."""
    repo.write("Reqfile.yaml", req(R1=OK))
    program = f"mkdir gone && cd gone && rmdir ../gone && {sys.executable} -P -m pytest_reqfile"
    message = "cannot read the current folder: No such file or directory\n"
    expect(repo.execute("sh", "-c", f"{program} check"), 3, f"error  {message}")
    expect(repo.execute("sh", "-c", f"{program} list"), 3, f"error: {message}", stderr=True)
