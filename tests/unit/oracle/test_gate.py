"""What is refused before it runs, and what weakens an answer (spec oracle.md 5.4)."""

from __future__ import annotations

import time

import pytest

from pytest_reqfile.oracle.gate import masks, refusal
from pytest_reqfile.oracle.mission import Command
from pytest_reqfile.oracle.preflight import first_program


@pytest.mark.parametrize(
    ("command", "rule"),
    [
        ("", "it is empty"),
        ("  \n ", "it is empty"),
        ("a\0b", "it holds a NUL byte"),
        (("a", "b\0"), "it holds a NUL byte"),
        ("echo " + "x" * 131_072, "it is longer than a command can be (131071 bytes)"),
        (("echo", "é" * 65_536), "it is longer than a command can be (131071 bytes)"),
        ("pytest <path>", "it holds an unfilled placeholder"),
        ("pytest {{ path }}", "it holds an unfilled placeholder"),
        ("pytest ${X:?}", "it holds an unfilled placeholder"),
        ("sudo make", "it asks for privileges"),
        ("cd x && sudo make", "it asks for privileges"),
        ("A=1 doas make", "it asks for privileges"),
        ("pip install x", "it installs"),
        ("python3 -m pip install .", "it installs"),
        ("npm ci && npm test", "it installs"),
        ("apt-get -y install x", "it installs"),
        ("uv sync", "it installs"),
        ("cargo install x", "it installs"),
        (("pip", "install", "x"), "it installs"),
        ("git commit -m x", "it changes a repository"),
        ("git -c a.b=c push", "it changes a repository"),
        ("make; git stash", "it changes a repository"),
        ("git tag v1", "it changes a repository"),
        ("git config user.name x", "it changes a repository"),
        ("gh pr merge 1", "it changes a repository"),
        ("bash -c 'git reset --hard'", None),  # text in quotes; the isolation holds it
        (("bash", "-c", "git reset --hard"), "it changes a repository"),
        ("curl -X POST http://x", "it changes something over the network"),
        ("curl -s -d a=b http://x", "it changes something over the network"),
        ("ssh host true", "it changes something over the network"),
        ("docker push x", "it changes something over the network"),
        ("unshare -n true", "it leaves the sandbox"),
        ("/usr/bin/nsenter -t 1 -m true", "it leaves the sandbox"),
        ("mount -o remount,rw /", "it leaves the sandbox"),
        ("git -C . commit -m x", "it changes a repository"),
        ("git stash", "it changes a repository"),
        ("git clean -fd", "it changes a repository"),
        ("`sudo ls`", "it asks for privileges"),
        ("{ sudo ls; }", "it asks for privileges"),
        ("! sudo ls", "it asks for privileges"),
        ("if sudo ls; then :; fi", "it asks for privileges"),
        ("/usr/bin/sudo ls", "it asks for privileges"),
        ("env -i sudo ls", "it asks for privileges"),
        ("timeout 5 pip install x", "it installs"),
        (".venv/bin/pip install x", "it installs"),
        (("timeout", "5", "bash", "-lc", "pip install x"), "it installs"),
        ("yarn", "it installs"),
        ("yarn --frozen-lockfile && yarn test", "it installs"),
    ],
)
def test_unsafe_commands_are_refused(command: Command, rule: str | None) -> None:
    """Each refusal names its rule."""
    assert refusal(command) == rule


@pytest.mark.parametrize(
    "command",
    [
        "pytest -q",
        "git status --porcelain",
        "git diff --exit-code",
        "git tag",
        "git tag --list 'v*'",
        "git tag -l",
        "git stash list",
        "git clean -nd",
        "git branch -a",
        "yarn test",
        "yarn run build",
        "yarn --version",
        "test ! -e install",
        "git config --get user.name",
        "npm test",
        "npm run install-check",
        "pip check",
        "pip list",
        "curl -s http://localhost:1/health",
        "echo 'sudo make'",
        'grep "git commit" README',
        "test -f pip && true",
        "a < b > c",
        "cat <<EOF\nx\nEOF",
        "./scripts/mount.sh",
        "[ 1 -lt 2 ]",
        "python -c 'import sudo'",
        ("grep", "-r", "sudo", "."),
    ],
)
def test_ordinary_commands_are_not_refused(command: Command) -> None:
    """Reading, testing and quoting are allowed."""
    assert refusal(command) is None


@pytest.mark.parametrize(
    ("command", "found"),
    [
        ("a || true", ("`|| true` hides its exit code",)),
        ("a || :", ("`|| true` hides its exit code",)),
        ("a; true", ("it ends with a command that always succeeds",)),
        ("a; exit 0", ("it ends with a command that always succeeds",)),
        ("a; exit 0  # fine", ("it ends with a command that always succeeds",)),
        ("a\necho done", ("it ends with a command that always succeeds",)),
        ("a; exit", ()),
        ("set -e; a; echo done", ()),
        ("set -euo pipefail\na\necho done\n", ()),
        ("a || /bin/true", ("`|| true` hides its exit code",)),
        ("a || { true; }", ("`|| true` hides its exit code",)),
        ("a || echo failed", ("`|| echo` hides its exit code",)),
        ("a || { echo failed; exit 1; }", ()),
        ("[[ a =~ (x|y) ]]", ()),
        (("bash", "-euo", "pipefail", "-c", "a | b; echo"), ()),
        (("bash", "-o", "pipefail", "-c", "a | b"), ()),
        (("env", "bash", "-c", "a | b"), ("only the last command of a pipeline counts",)),
        (("timeout", "5", "bash", "-ec", "a; true"), ()),
        ("set +e; a", ("`set +e` hides failures",)),
        ("a &", ("it ends in the background",)),
        ("a | b", ("only the last command of a pipeline counts",)),
        (("sh", "-c", "a | b"), ("only the last command of a pipeline counts",)),
        ("a | b || true", ("`|| true` hides its exit code", "only the last command of a pipeline counts")),
        ("set -o pipefail; a | b", ()),
        ("set -euo pipefail; a | b", ()),
        ("a && b", ()),
        ("a || b", ()),
        ("echo '|| true' \"a | b\"", ()),
        (("grep", "|| true"), ()),
        ("exit 1", ()),
    ],
)
def test_masking_is_noticed(command: Command, found: tuple[str, ...]) -> None:
    """spec 5.8: such an answer is of low confidence."""
    assert masks(command) == found


@pytest.mark.parametrize(
    "unit", ["[[ ", "{{", "${a?", " <a", "\n", "-a ", "curl ", "|| echo ", "git -c a ", "if ", "A=1 "]
)
def test_no_command_takes_long_to_read(unit: str) -> None:
    """The text comes from others; reading it must not take time that grows with its square."""
    command = unit * (120_000 // len(unit))
    started = time.process_time()
    refusal(command)
    masks(command)
    first_program(command)
    assert time.process_time() - started < 5


@pytest.mark.parametrize(
    ("command", "program"),
    [
        ("pytest -q", "pytest"),
        ("A=1 B='x y' pytest", "pytest"),
        ("pytest;ls", "pytest"),
        ("pytest\nls", "pytest"),
        ("./gone.sh", None),
        ("/bin/x", None),
        ("cd x && pytest", None),
        ("if true; then :; fi", None),
        ("[ -f x ]", None),
        ("(pytest)", None),
        ("$TOOL x", None),
        ("'py test' x", None),
        ("f() { :; }; f", None),
        ("A=1", None),
        ("s=$(stat -c %y a) && x", None),
        ("s=`date -u x` y", None),
        ("A=1;B=2 pytest", None),
        ("PATH=bin:$PATH mine", None),
    ],
)
def test_the_first_program(command: str, program: str | None) -> None:
    """Only a plain word that the shell would look up on PATH is checked beforehand (spec 5.5)."""
    assert first_program(command) == program
