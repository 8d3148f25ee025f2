"""The command predicate, case by case (cases/verifiers.md A9; seed 000 "Command predicate")."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from pytest_reqfile.verifiers.command import (
    CommandRunner,
    Request,
    duration_text,
    is_allowed,
)
from pytest_reqfile.verifiers.predicates import Command
from pytest_reqfile.verifiers.results import Result
from pytest_reqfile.verifiers.run import RunOptions
from pytest_reqfile.verifiers.values import Settings
from pytest_reqfile.verifiers.verdicts import Verdict
from pytest_reqfile.workspace.command_environment import command_environment, is_sensitive
from pytest_reqfile.workspace.environment import Environment
from pytest_reqfile.workspace.processes import CommandResult
from tests.support.verifiers import Workbench, head, member, predicate

ALLOWED = RunOptions(allow_exec=True)
PARENT = {
    "PATH": "/usr/bin:/bin",
    "HOME": "/h",
    "CI": "true",
    "GITLAB_TOKEN": "t",
    "EXTRA_FLAG": "1",
    "NOISE": "1",
    "LC_ALL": "C",
    "LC_TOKEN": "t",
    "SHELL": "/bin/sh",
}


@pytest.fixture
def bench(tmp_path: Path) -> Workbench:
    bench = Workbench(tmp_path)
    bench.write_all({"a.ddl": "a\n", "b.ddl": "b\n"})
    return bench


def _result(bench: Workbench, options: RunOptions | None = ALLOWED, **fields: object) -> Result:
    bench.spec(head("c", when="*.ddl", severity="error") + predicate("command", **fields))
    return bench.result(options)


def _evaluate(
    answer: Callable[[Request], CommandResult], command: Command, files: tuple[str, ...] = (), **settings: object
) -> Verdict:
    runner = CommandRunner(
        root=Path("/project"),
        environment=Environment(variables=PARENT),
        settings=Settings(**settings),  # type: ignore[arg-type]
        allowed=True,
        run=answer,
    )
    return runner.evaluate(None, command, files)  # type: ignore[arg-type]  # the verifier plays no part


@pytest.mark.case("verifiers:A9.1")
def test_not_allowed(bench: Workbench) -> None:
    """Without the opt-in nothing is started."""
    result = _result(bench, None, argv=["touch", "started"])
    assert (result.status, result.code, result.severity) == ("error", "AR9H3", "error")
    assert result.message == (
        "the command predicate runs a program: pass --allow-exec (or set AI_RULEZ_VERIFIERS_ALLOW_EXEC=1) to run it"
    )
    assert not (bench.root / "started").exists()


@pytest.mark.parametrize(
    ("value", "allowed"), [("1", True), ("TRUE", True), ("true", True), ("yes", False), ("0", False)]
)
@pytest.mark.case("verifiers:D-35")
def test_variable(value: str, allowed: bool) -> None:
    """The environment may opt in, with exactly these words."""
    assert is_allowed(False, Environment(variables={"AI_RULEZ_VERIFIERS_ALLOW_EXEC": value})) is allowed
    assert is_allowed(True, Environment(variables={}))


@pytest.mark.case("verifiers:A9.2")
@pytest.mark.case("verifiers:A9.20")
def test_success(bench: Workbench) -> None:
    """The expected exit code is a pass."""
    assert _result(bench, argv=["true"]).status == "pass"
    assert _result(bench, argv=["sh", "-c", "exit 3"], expect_exit=3).status == "pass"


@pytest.mark.case("verifiers:A9.3")
def test_failure(bench: Workbench) -> None:
    """Another one is a failure that shows the first line of stderr."""
    result = _result(bench, argv=["sh", "-c", "echo out; printf '\\n out of date \\nmore\\n' >&2; exit 5"])
    assert (result.status, result.code) == ("fail", "AR9H1")
    (finding,) = result.findings
    assert (finding.message, finding.match) == ("`sh` exited 5, expected 0", "out of date")
    result = _result(bench, argv=["sh", "-c", "echo on stdout; exit 1"])
    assert result.findings[0].match == "on stdout"


@pytest.mark.case("verifiers:A9.5")
@pytest.mark.case("verifiers:A9.22")
def test_timeout(bench: Workbench) -> None:
    """A program that takes too long is killed, and is an error."""
    result = _result(bench, argv=["sleep", "60"], timeout_s=1)
    assert (result.status, result.code, result.message) == ("error", "AR9H3", "sleep timed out after 1s")


@pytest.mark.parametrize(("seconds", "text"), [(10, "10s"), (120, "2m0s"), (3661, "1h1m1s")])
def test_duration(seconds: int, text: str) -> None:
    """Durations read as Go writes them."""
    assert duration_text(seconds) == text


@pytest.mark.case("verifiers:A9.6")
@pytest.mark.case("verifiers:A9.25")
@pytest.mark.parametrize(
    ("program", "reason"),
    [
        ("no-such-tool-here", "executable file not found in PATH"),
        ("./missing", "no such file"),
        ("./folder", "not a regular file"),
        ("./a.ddl", "permission denied"),
        ("/bin/sh", "the program is outside the project"),
        ("../tool", "the program is outside the project"),
    ],
)
def test_not_started(bench: Workbench, program: str, reason: str) -> None:
    """A program that is not there, or not inside the project, is an error."""
    (bench.root / "folder").mkdir()
    result = _result(bench, argv=[program])
    expected = ("error", "AR9H3", f"{program} could not be started: {reason}")
    assert (result.status, result.code, result.message) == expected


@pytest.mark.case("verifiers:A9.32")
def test_program_of_the_project(bench: Workbench) -> None:
    """A path with a slash is relative to the project."""
    bench.write("tools/check", "#!/bin/sh\ntest -f a.ddl\n").chmod(0o755)
    assert _result(bench, argv=["tools/check"]).status == "pass"


@pytest.mark.case("verifiers:A9.31")
def test_relative_path_entry(bench: Workbench, monkeypatch: pytest.MonkeyPatch) -> None:
    """A program is not found through a relative entry of PATH."""
    bench.write("mytool", "#!/bin/sh\n").chmod(0o755)
    monkeypatch.chdir(bench.root)
    bench.environment = bench.environment.updated({"PATH": f".:{bench.environment.get('PATH')}"})
    assert "not found in PATH" in _result(bench, argv=["mytool"]).message


@pytest.mark.case("verifiers:A9.8")
def test_masked(bench: Workbench) -> None:
    """What a program prints is masked."""
    result = _result(bench, argv=["sh", "-c", "echo key sk-zyxwvutsrqponmlkjihgfedcba denied >&2; exit 1"])
    assert result.findings[0].match == "key [REDACTED] denied"


@pytest.mark.case("verifiers:A9.9")
def test_request() -> None:
    """What is started, where, for how long, and with which environment."""
    seen: list[Request] = []

    def answer(request: Request) -> CommandResult:
        seen.append(request)
        return CommandResult(exit=0)

    command = Command(argv=("tool", "--x"), timeout_s=500)
    verdict = _evaluate(answer, command, command_env=("EXTRA_FLAG",), max_timeout_s=7)
    assert verdict.state == "holds"
    (request,) = seen
    assert (request.argv, request.cwd, request.timeout, request.stdin) == (("tool", "--x"), Path("/project"), 7, None)
    assert dict(request.env.variables) == {
        "PATH": "/usr/bin:/bin",
        "HOME": "/h",
        "CI": "true",
        "EXTRA_FLAG": "1",
        "LC_ALL": "C",
        "NO_COLOR": "1",
        "TERM": "dumb",
    }


@pytest.mark.case("verifiers:A9.10")
@pytest.mark.case("verifiers:A9.16")
def test_files_as_arguments(bench: Workbench) -> None:
    """Scoped files are appended, none of them as an option; stdin is empty."""
    bench.write_all({"--help.ddl": "", "-x.ddl": ""})
    script = 'printf "%s|" "$@" > seen; cat >> seen'
    assert _result(bench, argv=["sh", "-c", script, "lint"], pass_files="args").status == "pass"
    assert (bench.root / "seen").read_text() == "./--help.ddl|./-x.ddl|a.ddl|b.ddl|"


def test_files_on_stdin(bench: Workbench) -> None:
    """``stdin0`` writes them with a NUL behind each."""
    assert _result(bench, argv=["sh", "-c", "cat > seen"], pass_files="stdin0").status == "pass"
    assert (bench.root / "seen").read_bytes() == b"a.ddl\0b.ddl\0"


def test_too_many_files() -> None:
    """More than fit on a command line is an error that says what to do."""

    def never(request: Request) -> CommandResult:
        raise AssertionError(f"started {request.argv}")

    command = Command(argv=("lint",), pass_files="args")
    verdict = _evaluate(never, command, tuple(f"{number}.py" for number in range(501)))
    assert verdict.code == "AR9H3"
    assert verdict.message == '501 changed files are too many to pass as arguments: use pass_files = "stdin0"'
    assert _evaluate(never, command, tuple("x" * 700 for _ in range(100))).code == "AR9H3"


@pytest.mark.case("verifiers:A9.13")
def test_planted_variable(bench: Workbench) -> None:
    """A variable of the parent does not reach the program."""
    bench.environment = bench.environment.updated({"PLANTED": "x"})
    assert _result(bench, argv=["sh", "-c", 'test -z "$PLANTED"']).status == "pass"


@pytest.mark.case("verifiers:A9.15")
def test_inside_all(bench: Workbench) -> None:
    """A refusal does not hide a sibling's failure, whichever comes first."""
    forbid = member("all", "forbid", regex="a")
    command = member("all", "command", argv=["touch", "started"])
    for text in (forbid + command, command + forbid):
        bench.spec(head("c", when="*.ddl") + text)
        result = bench.result()
        assert (result.status, result.code) == ("fail", "AR9H1")
        assert [finding.file for finding in result.findings] == ["a.ddl"]
        (note,) = result.notes
        assert note.startswith(
            "a member could not be evaluated: the command predicate runs a program: pass --allow-exec"
        )
    bench.spec(head("c", when="*.ddl") + member("all", "forbid", regex="zzz") + command)
    assert bench.result().code == "AR9H3"
    assert not (bench.root / "started").exists()


def test_under_not(bench: Workbench) -> None:
    """A refusal is not inverted into a pass."""
    bench.spec(head("c") + predicate("not.command", argv=["false"]))
    assert bench.result().code == "AR9H3"
    assert bench.result(ALLOWED).status == "pass"


@pytest.mark.case("verifiers:A9.23")
def test_endless_output(bench: Workbench) -> None:
    """Output is cut at 64 KiB, with a note."""
    result = _result(bench, argv=["sh", "-c", "yes | head -c 1000000; exit 1"])
    assert (result.status, result.notes) == ("fail", ("sh: output was truncated to 64 KiB",))


@pytest.mark.case("verifiers:D-33")
def test_killed_by_a_signal(bench: Workbench) -> None:
    """A signal counts as exit -1."""
    result = _result(bench, argv=["sh", "-c", "kill -9 $$"])
    assert (result.status, result.message) == ("fail", "`sh` exited -1, expected 0")


@pytest.mark.case("verifiers:A9.29")
def test_grandchild_holds_the_output(bench: Workbench) -> None:
    """A program that leaves something behind is judged by its exit; what it left is gone."""
    result = _result(bench, argv=["sh", "-c", "sleep 300 & echo $! > pid; exit 0"], timeout_s=60)
    assert (result.status, result.message) == ("pass", "2 file(s)")
    pid = int((bench.root / "pid").read_text())
    status = Path(f"/proc/{pid}/status")
    assert not status.exists() or "State:\tZ" in status.read_text()


@pytest.mark.case("verifiers:A9.27")
def test_environment() -> None:
    """The allow-list; a name that is passed on may set TERM."""
    parent = Environment(variables={**PARENT, "TERM": "xterm", "https_proxy": "p", "OPENAI_API_KEY": "k"})
    kept = command_environment(parent, ("TERM",)).variables
    assert kept["TERM"] == "xterm"
    assert command_environment(parent, ()).variables["TERM"] == "dumb"
    assert not {"https_proxy", "OPENAI_API_KEY", "GITLAB_TOKEN", "NOISE", "SHELL", "LC_TOKEN"} & set(kept)
    assert list(kept) == sorted(kept)


SENSITIVE = (
    "http_proxy MISTRAL_API_KEY AWS_ACCESS_KEY_ID SSH_AUTH_SOCK OUR_SECRET GITHUB_PAT DATABASE_URL TEAMS_WEBHOOK_URL "
    "COOKIE SESSION HTTP_COOKIE PAY_SK EDGE_JWT SIGN_KEYS MAIL_PASS XTOKEN APPSECRET"
)
USABLE = (
    "PATH PWD LANG KEYBOARD TOKENIZERS_PARALLELISM SNYK_REGION STRIPE_PK MONKEY_PATCH SKIP_TESTS PASSTHROUGH "
    "BYPASS_CACHE PATIENT COMPATIBLE"
)


@pytest.mark.case("verifiers:A9.33")
@pytest.mark.parametrize("name", SENSITIVE.split())
def test_sensitive(name: str) -> None:
    """Names that look like credentials or proxies."""
    assert is_sensitive(name)


@pytest.mark.case("verifiers:A9.34")
@pytest.mark.parametrize("name", USABLE.split())
def test_usable(name: str) -> None:
    """Names that only resemble them."""
    assert not is_sensitive(name)
