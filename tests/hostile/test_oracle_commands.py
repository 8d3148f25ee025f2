"""Commands that write, delete, touch git, daemonise, flood, hang, kill and connect (spec oracle.md 9.5 to 9.9)."""

from __future__ import annotations

import os
import socket
import sys
import threading
from collections.abc import Iterator
from pathlib import Path

import pytest

from pytest_reqfile.oracle.session import OracleOptions
from pytest_reqfile.workspace.isolation import Request
from pytest_reqfile.workspace.manifest import take_manifest
from pytest_reqfile.workspace.process_tree import COOKIE
from tests.support import Repo
from tests.support.missions import criterion, entry, is_offered, mission, verify
from tests.support.processes import wait_until
from tests.support.sleepers import sleeping

DISPOSABLE: tuple[Request, ...] = ("overlay", "copy")
SAFE: tuple[Request, ...] = ("overlay", "readonly-namespace", "copy")


@pytest.fixture(scope="session")
def offered(tmp_path_factory: pytest.TempPathFactory) -> frozenset[str]:
    """The isolation modes of this machine."""
    folder = tmp_path_factory.mktemp("offered")
    return frozenset(mode for mode in SAFE if is_offered(folder, mode))


@pytest.fixture
def mode(request: pytest.FixtureRequest, offered: frozenset[str]) -> Request:
    """The mode a test is about."""
    chosen: Request = request.param
    if chosen not in offered:
        pytest.skip(f"this machine offers no {chosen}")
    return chosen


@pytest.fixture
def project(repo: Repo) -> Repo:
    """A repository with tracked, ignored and nested files."""
    repo.write("a.txt", "tracked\n")
    repo.write("sub/b.txt", "also\n")
    repo.write(".gitignore", "ignored/\n*.pyc\n")
    repo.write("run.sh", "exit 0\n", mode=0o755)
    repo.commit()
    repo.write("ignored/needed", "x\n")
    repo.write("untracked", "u\n")
    return repo


LEFT, ENDLESS_SLEEP = f"471.{os.getpid()}", f"472.{os.getpid()}"
"""Lengths of sleeps by which this worker's own are told from those of others."""
DAEMON = """
import os
for step in range(2):
    if os.fork():
        os._exit(0)
    os.setsid()
os.execvp("sleep", ["sleep", "SECONDS"])
"""

in_disposable = pytest.mark.parametrize("mode", DISPOSABLE, indirect=True)
in_safe = pytest.mark.parametrize("mode", SAFE, indirect=True)


@in_disposable
@pytest.mark.parametrize(
    ("command", "written"),
    [
        ("echo x > new", "new"),
        ("echo x >> a.txt", "a.txt"),
        ("rm a.txt", "a.txt"),
        ("rm -rf sub", "sub/b.txt"),
        ("chmod 000 a.txt", "a.txt"),
        ("chmod -R a-w .", "run.sh"),
        ("ln -s /etc/passwd link", "link"),
        ("mkdir -p deep/er && touch deep/er/x", "deep/er/x"),
        ("mv a.txt c.txt", "c.txt"),
        ("mv sub bus", "sub"),
        ('python3 -c \'import os; os.rename("sub", "bus")\'', "sub"),
        ("mkfifo pipe", "pipe"),
        ("rm -rf ./* ./.git", "a.txt"),
        ("echo x > ignored/needed", "ignored/needed"),
        ("git -c user.name=x -c user.email=y@z.invalid commit -qam x --allow-empty", ".git/objects"),
        ("echo y > a.txt; git stash -q", ".git/refs/stash"),
        ("git gc -q", ".git/packed-refs"),
        ("git config x.y z", ".git/config"),
        ("git tag t", ".git/refs/tags/t"),
        ("git checkout -q -b other", ".git/HEAD"),
        ("echo z > .git/HEAD", ".git/HEAD"),
        (
            "s=$(stat -c %y a.txt); cp -p a.txt /tmp/k 2>/dev/null || cp -p a.txt $TMPDIR/k; echo y > a.txt;"
            " printf 'tracked\\n' > a.txt; touch -d \"$s\" a.txt",
            "a.txt",
        ),
        (
            "mkdir -p __pycache__ && touch __pycache__/x.pyc .coverage",
            "__pycache__/x.pyc",
        ),
    ],
)
@pytest.mark.case("oracle:9.8")
def test_writes_land_in_the_disposable_workspace(project: Repo, mode: Request, command: str, written: str) -> None:
    """spec 9.8: whatever is written there, the reviewed workspace is byte for byte what it was, and the run stands."""
    before = take_manifest(project.root)
    options = OracleOptions(isolation=mode, allow=frozenset({"C"}), timeout_ms=20_000)
    env = {"GIT_AUTHOR_NAME": "x", "GIT_AUTHOR_EMAIL": "x@y.invalid"} | {
        "GIT_COMMITTER_NAME": "x",
        "GIT_COMMITTER_EMAIL": "x@y.invalid",
    }
    verified = verify(project, mission(entry(command, env=env), criteria=[criterion()]), options=options)
    assert verified.only.verdict == "pass", (verified.only, verified.output(stream="stderr"))
    receipt = verified.receipt()
    assert receipt["isolation"]["mode"] == mode
    writes = receipt["isolation"]["writes"]
    # An overlay tells of a removed or renamed folder by the folder itself, a copy by the files in it.
    assert any(f"{path}/".startswith(f"{written}/") or f"{written}/".startswith(f"{path}/") for path in writes), writes
    assert before.changed(take_manifest(project.root)) == ()


@in_disposable
@pytest.mark.case("oracle:9.9")
def test_later_commands_see_what_earlier_ones_built(project: Repo, mode: Request) -> None:
    """spec 9.9: build, then test; in listed order, in one workspace."""
    what = mission(
        entry("mkdir build && echo 42 > build/out"), entry('test "$(cat build/out)" = 42'), entry("rm -r build")
    )
    verified = verify(project, what, isolation=mode)
    assert [result.verdict for result in verified.assembled.results.values()] == ["pass"] * 3
    reversed_order = mission(entry('test "$(cat build/out)" = 42'), entry("mkdir build && echo 42 > build/out"))
    assert verify(project, reversed_order, isolation=mode).result("oracle/C").verdict == "fail"


@pytest.mark.parametrize("mode", ["readonly-namespace"], indirect=True)
@pytest.mark.parametrize("command", ["echo x > new", "rm a.txt", 'python3 -c \'open("new", "w")\'', "git tag t"])
def test_writes_to_a_read_only_workspace_are_prevented(project: Repo, mode: Request, command: str) -> None:
    """spec 5.5: the command could not do its work, which is blocked, not failed."""
    options = OracleOptions(isolation=mode, allow=frozenset({"C"}))
    verified = verify(project, mission(entry(command)), options=options)
    assert (verified.only.verdict, verified.only.blocked) == ("blocked", "needs-writes")
    assert verified.only.exit_code not in (None, 0)


OUTSIDE = (
    "echo x > {outside}/new",
    "rm {outside}/kept",
    "chmod 777 {outside}/kept",
    "ln {outside}/kept {outside}/hard",
    "touch /etc/reqfile-oracle-test",
    "touch /dev/reqfile-oracle-test && test -e /dev/reqfile-oracle-test",
    "echo x > /proc/sys/kernel/hostname",
    "mount -o remount,rw /",
    "umount {root}",
    "unshare -Urm sh -c 'mount -o remount,rw / && touch {outside}/new'",
    "unshare -Urm sh -c 'umount -l {root} && touch {root}/new'",
    "mknod disk b 254 0 && : < disk",
    "nsenter -t 1 -m touch {outside}/new",
    "chroot /proc/1/root touch {outside}/new",
    "echo x > /proc/1/root{outside}/new",
    "for f in /proc/1/fd/*; do echo x > $f; done; exit 1",
    "cat /dev/sda /dev/vda /dev/nvme0n1",
)


@pytest.mark.parametrize("mode", ["overlay", "readonly-namespace"], indirect=True)
def test_nothing_outside_can_be_written(project: Repo, mode: Request) -> None:
    """The kernel refuses, also for root and from further namespaces; the command sees the refusal."""
    outside = project.home / "outside"
    outside.mkdir()
    (outside / "kept").write_text("kept")
    before = take_manifest(outside), take_manifest(project.root)
    commands = [command.format(outside=outside, root=project.root) for command in OUTSIDE]
    what = mission(*(entry(command, check_id=str(number)) for number, command in enumerate(commands)))
    options = OracleOptions(isolation=mode, allow=frozenset(map(str, range(len(commands)))), timeout_ms=20_000)
    verified = verify(project, what, options=options)
    verdicts = [result.verdict for result in verified.assembled.results.values()]
    assert [command for command, verdict in zip(commands, verdicts, strict=True) if verdict == "pass"] == []
    assert (before[0].changed(take_manifest(outside)), before[1].changed(take_manifest(project.root))) == ((), ())
    assert not Path("/etc/reqfile-oracle-test").exists()


@pytest.mark.parametrize("mode", ["copy", "external"])
@pytest.mark.parametrize(
    ("command", "path"),
    [
        ("echo x > {root}/new", "new"),
        ("rm {root}/a.txt", "a.txt"),
        ("chmod 600 {root}/a.txt", "a.txt"),
        ("echo x > {root}/ignored/needed", "ignored/needed"),
        ("echo x > {root}/.git/hooks-x", ".git/hooks-x"),
        ("touch {root}/sub/b.txt", "sub/b.txt"),
        ("touch -r {root}/a.txt $TMPDIR/r; echo tracked > {root}/a.txt; touch -r $TMPDIR/r {root}/a.txt", "a.txt"),
        ("touch {root}/x && rm {root}/x", "."),
        ("rm -rf {root}/.git {root}/sub; chmod 000 {root}/ignored; true", None),
        ("exit 3; echo x > {root}/new", None),
    ],
)
def test_writes_by_absolute_path_are_detected(project: Repo, mode: Request, command: str, path: str | None) -> None:
    """Where nothing prevents them: blocked for this and every result, with the paths (spec 5.5)."""
    what = mission(
        entry("true"),
        entry(command.format(root=project.root), check_id="W"),
        entry("true", check_id="L"),
        criteria=[criterion(), criterion("AC-2", "L")],
    )
    verified = verify(project, what, isolation=mode)
    if "exit 3" in command:
        assert verified.result("oracle/W").verdict == "fail"
        return
    assert {result.blocked for result in verified.assembled.results.values()} == {"workspace-written"}
    explanation = verified.result("oracle/W").explanation
    assert path is None or explanation == f"the reviewed workspace was written to: {path}"
    assert verified.overall == "blocked"
    assert [claim["text"].split(" ")[0] for claim in verified.claims["claims"]] == ["[blocked]", "[blocked]"]


AS_GIVEN = (
    ("cat", 0, b""),
    ("read x", 1, b""),
    ("a=1\necho $a\n\nexit 4", 4, b"1\n"),
    ("echo 'it''s' \"$HOME\" | wc -l", 0, b"1\n"),
    ("cat <<'EOF'\n$x *\nEOF", 0, b"$x *\n"),
    ("echo *.txt", 0, b"a.txt\n"),
    ("printf '\\377\\376'", 0, b"\xff\xfe"),
    ("printf '\\033]0;x\\007'", 0, b"\x1b]0;x\x07"),
    ("[[ a == a ]] && echo <(true) | grep -c fd", 0, b"1\n"),
    ("  true  ", 0, b""),
    ("# only a comment", 0, b""),
    ("exit -1", 255, b""),
    ("umask", 0, b"0022\n"),
    ("trap 'exit 9' EXIT", 9, b""),
    ("yes | head -n1", 0, b"y\n"),
    ("python3 -c 'import multiprocessing as m; print(m.Lock() is not None)'", 0, b"True\n"),
    ("set -o pipefail; yes | head -n1", 141, b"y\n"),
)


@in_disposable
@pytest.mark.case("oracle:9.5")
@pytest.mark.case("oracle:9.6")
def test_commands_run_as_given(project: Repo, mode: Request) -> None:
    """spec 9.5, 9.6: newlines, quotes, variables, globs, here-documents, bashisms, bytes, no stdin."""
    what = mission(*(entry(command, code, check_id=str(n)) for n, (command, code, _) in enumerate(AS_GIVEN)))
    verified = verify(project, what, isolation=mode)
    found = [(r.exit_code, verified.output(name)) for name, r in verified.assembled.results.items()]
    assert found == [(code, output) for _, code, output in AS_GIVEN]
    assert {result.verdict for result in verified.assembled.results.values()} == {"pass"}


@in_disposable
@pytest.mark.case("oracle:9.5")
def test_words_are_executed_without_a_shell(project: Repo, mode: Request) -> None:
    """spec 9.5: an empty argument stays one, nothing is expanded."""
    argv = [sys.executable, "-c", "import sys; print(sys.argv[1:])", "", "$HOME *", "a b"]
    verified = verify(project, mission(entry(argv)), isolation=mode)
    assert verified.output() == b"['', '$HOME *', 'a b']\n"
    assert verified.receipt()["process"]["argv"] == argv


@in_safe
@pytest.mark.parametrize(
    ("command", "reason"),
    [
        (["no-such-tool-x"], "needs `no-such-tool-x`, which could not be started: No such file or directory"),
        (["./a.txt"], "needs `./a.txt`, which could not be started: Permission denied"),
        ("no-such-tool-x --version", "needs `no-such-tool-x`, which is not on PATH"),
    ],
)
def test_a_missing_program_is_a_prerequisite(
    project: Repo, mode: Request, command: str | list[str], reason: str
) -> None:
    """An unavailable oracle is blocked, with what it needs named (seed 003)."""
    verified = verify(project, mission(entry(command)), isolation=mode)
    assert (verified.only.blocked, verified.only.explanation) == ("prerequisite-missing", reason)
    assert verified.only.exit_code is None


@in_disposable
@pytest.mark.parametrize(("command", "code"), [("./gone.sh", 127), ("./a.txt", 126), ("true && nonesuch-x", 127)])
def test_what_a_shell_could_not_find_has_failed(project: Repo, mode: Request, command: str, code: int) -> None:
    """spec 5.5: the shell did run and gave a code."""
    verified = verify(project, mission(entry(command), criteria=[criterion()]), isolation=mode)
    assert (verified.only.verdict, verified.only.exit_code, verified.only.confidence) == ("fail", code, "medium")


@in_disposable
@pytest.mark.parametrize(
    ("command", "expected", "verdict", "name"),
    [
        ("kill -SEGV $$", 0, "fail", "SIGSEGV"),
        ("kill -ABRT $$", 134, "pass", "SIGABRT"),
        (["sh", "-c", "kill -TERM $$"], 143, "fail", "SIGTERM"),
        ("kill -KILL $$", 137, "blocked", "SIGKILL"),
    ],
)
def test_signals(
    project: Repo, mode: Request, command: str | list[str], expected: int, verdict: str, name: str
) -> None:
    """A signal is no exit code; only a shell's 128+n compares equal. SIGKILL comes from outside."""
    verified = verify(project, mission(entry(command, expected)), isolation=mode)
    assert (verified.only.verdict, verified.only.exit_code, verified.only.signal) == (verdict, None, name)


LEAVING_SOMETHING = (
    "sleep SECONDS & echo started",
    "setsid sleep SECONDS & echo started",
    "(setsid sleep SECONDS &) ; echo started",
    "(setsid sleep SECONDS >/dev/null 2>&1 </dev/null &) ; echo started",
    f"python3 -c '{DAEMON}'; echo started",
    "trap '' TERM HUP INT; sleep SECONDS & echo started",
)


@in_safe
@pytest.mark.case("oracle:9.6")
def test_nothing_outlives_its_command(project: Repo, mode: Request) -> None:
    """spec 9.6: children in the background, double forks, new sessions; none delays the verdict or stays."""
    what = mission(*(entry(c.replace("SECONDS", LEFT), check_id=str(n)) for n, c in enumerate(LEAVING_SOMETHING)))
    verified = verify(project, what, isolation=mode)
    found = [(result.verdict, verified.output(name)) for name, result in verified.assembled.results.items()]
    assert found == [("pass", b"started\n")] * len(LEAVING_SOMETHING)
    assert max(result.seconds for result in verified.assembled.results.values()) < 10
    assert wait_until(lambda: not sleeping(LEFT))


ENDLESS = (
    "sleep SECONDS",
    "trap '' TERM INT HUP; while :; do sleep 0.05; done",
    "(setsid sleep SECONDS &) ; sleep SECONDS",
    "while :; do (sleep SECONDS &) ; sleep 0.01; done",
    "kill -STOP $$; sleep SECONDS",
    "yes",
)


@in_safe
@pytest.mark.case("oracle:9.6")
def test_what_does_not_end_is_blocked(project: Repo, mode: Request) -> None:
    """spec 5.5: no exit code to compare; everything it started is gone."""
    commands = [command.replace("SECONDS", ENDLESS_SLEEP) for command in ENDLESS]
    what = mission(*(entry(command, check_id=str(n), timeoutMs=500) for n, command in enumerate(commands)))
    verified = verify(project, what, isolation=mode)
    found = [(r.verdict, r.blocked, r.exit_code) for r in verified.assembled.results.values()]
    assert found == [("blocked", "timeout", None)] * len(ENDLESS)
    assert wait_until(lambda: not sleeping(ENDLESS_SLEEP))


@in_safe
def test_killing_the_parent_gains_nothing(project: Repo, mode: Request) -> None:
    """It may fail, go unheard or end in blocked; it never harms us and never passes by harm."""
    commands = ["kill -9 $PPID; sleep 0.3; exit 3", "kill -9 0; exit 3"]
    if mode != "copy":  # where there is no namespace, this would reach every process of the machine
        commands.append("kill -9 -1; exit 3")
    what = mission(*(entry(c, check_id=str(n)) for n, c in enumerate(commands)), entry("exit 7", 7, check_id="N"))
    *verdicts, last = (result.verdict for result in verify(project, what, isolation=mode).assembled.results.values())
    assert "pass" not in verdicts
    assert last == "pass"


@in_safe
@pytest.mark.case("oracle:9.5")
def test_a_flood_is_kept_in_part(project: Repo, mode: Request) -> None:
    """spec 9.5: 100 MB of output; the exit code counts, the evidence says that it is not whole."""
    verified = verify(project, mission(entry("head -c 100000000 /dev/zero; exit 5", 5)), isolation=mode)
    receipt = verified.receipt()
    assert (verified.only.verdict, receipt["stdout"]["truncated"]) == ("pass", True)
    assert receipt["process"]["observedOutputBytes"] == 100_000_000
    assert len(verified.output()) == 8 * 1024 * 1024
    assert "C: output kept only in part" in verified.claims["observations"]


@pytest.fixture
def server() -> Iterator[int]:
    """A listening port on this machine."""
    with socket.create_server(("127.0.0.1", 0)) as listening:
        stop = threading.Event()
        listening.settimeout(0.05)

        def accept() -> None:
            while not stop.is_set():
                try:
                    listening.accept()[0].close()
                except TimeoutError:
                    continue

        thread = threading.Thread(target=accept)
        thread.start()
        yield listening.getsockname()[1]
        stop.set()
        thread.join()


@in_safe
@pytest.mark.case("oracle:9.9")
def test_the_network_is_off_but_loopback_works(project: Repo, mode: Request, server: int) -> None:
    """spec 9.9: a command may talk to itself, not to this machine and not to others."""
    connect = f"import socket; socket.create_connection(('127.0.0.1', {server}), 5)"
    itself = (
        "import socket, threading; s = socket.create_server(('127.0.0.1', 0));"
        " c = socket.create_connection(s.getsockname()); s.accept()[0].send(b'x'); assert c.recv(1) == b'x'"
    )
    far = "import socket; socket.create_connection(('192.0.2.1', 9), 2)"
    what = mission(
        entry([sys.executable, "-c", connect], 1),
        entry([sys.executable, "-c", itself], check_id="L"),
        entry([sys.executable, "-c", far], check_id="F"),
    )
    verified = verify(project, what, isolation=mode)
    if verified.receipt("oracle/C")["isolation"]["network"] == "on":
        pytest.skip("this machine cannot take the network away")
    assert b"ConnectionRefusedError" in verified.output("oracle/C", "stderr")
    assert verified.result("oracle/L").verdict == "pass", verified.output("oracle/L", "stderr")
    refused = verified.result("oracle/F")
    assert (refused.blocked, refused.explanation) == (
        "prerequisite-missing",
        "needs the network, which is off (exit code 1, expected 0)",
    )


@in_safe
@pytest.mark.case("oracle:9.7")
def test_nothing_of_a_surrounding_run_is_inherited(project: Repo, mode: Request) -> None:
    """spec 9.7: a nested pytest must not see ours, nor coverage's, xdist's, a hook's or any key."""
    variables = {
        "PYTEST_ADDOPTS": "--co",
        "PYTEST_CURRENT_TEST": "x",
        "PYTEST_XDIST_WORKER": "gw0",
        "COV_CORE_SOURCE": "x",
        "COVERAGE_PROCESS_START": "x",
        "GIT_DIR": "/nowhere",
        "BASH_ENV": str(project.path("run.sh")),
        "PYTHONPATH": str(project.root),
        "LD_PRELOAD": "/nowhere.so",
        "OPENROUTER_API_KEY": "k",
        "TOKEN": "t",
    }
    verified = verify(
        project, mission(entry("env")), isolation=mode, variables={**variables, "LC_ALL": "C", "TZ": "UTC"}
    )
    names = {line.partition("=")[0] for line in verified.output().decode().splitlines()}
    expected = {"PATH", "HOME", "TMPDIR", "GIT_CEILING_DIRECTORIES", "GIT_TERMINAL_PROMPT", "LC_ALL", "TZ"}
    allowed = {"LANG", "LANGUAGE", "VIRTUAL_ENV", "CI", "PWD", "SHLVL", "_", COOKIE}
    assert expected <= names <= expected | allowed


@in_disposable
@pytest.mark.case("oracle:9.7")
def test_an_oracle_may_run_pytest(project: Repo, mode: Request) -> None:
    """spec 9.7: and the reviewed project's own conftest is its own affair."""
    project.write("conftest.py", "import os\nassert 'PYTEST_CURRENT_TEST' not in os.environ\n")
    project.write("test_f.py", "def test_x(): pass\n\ndef test_y(): assert 0\n")
    command = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider"]
    what = mission(
        entry([*command, "-k", "test_x"]),
        entry(command, 1, check_id="F"),
        entry([*command, "-k", "zz"], 5, check_id="N"),
    )
    verified = verify(project, what, isolation=mode)
    assert [r.verdict for r in verified.assembled.results.values()] == ["pass"] * 3, verified.output("oracle/C")


@in_safe
@pytest.mark.case("oracle:9.8")
def test_home_and_temporary_folder_are_private(project: Repo, mode: Request) -> None:
    """spec 9.8: what goes to caches is gone with the run."""
    what = mission(entry('cd "$HOME" && mkdir -p .cache && echo x > .cache/y && mktemp && echo $HOME'))
    verified = verify(project, what, isolation=mode)
    assert verified.only.verdict == "pass", verified.output(stream="stderr")
    *_, made, home = verified.output().decode().split()
    assert not Path(made).exists()
    assert not Path(home).exists()


@in_safe
def test_variables_of_the_entry_are_given(project: Repo, mode: Request) -> None:
    """The entry's own env, and names the conductor passes."""
    options = OracleOptions(isolation=mode, passed=("TOKEN",))
    what = mission(entry('test "$A" = "x y" && test "$TOKEN" = t', env={"A": "x y"}))
    assert verify(project, what, options=options, variables={"TOKEN": "t"}).only.verdict == "pass"


@in_safe
def test_the_folder_of_the_entry(project: Repo, mode: Request) -> None:
    """A folder that is not there is a prerequisite."""
    what = mission(entry("test -f b.txt", cwd="sub"), entry("true", cwd="nowhere", check_id="N"))
    verified = verify(project, what, isolation=mode)
    assert verified.result("oracle/C").verdict == "pass"
    assert verified.result("oracle/N").blocked == "prerequisite-missing"


@pytest.mark.parametrize("mode", ["overlay"], indirect=True)
@pytest.mark.skipif(os.geteuid() != 0, reason="needs root")
@pytest.mark.case("oracle:9.9")
def test_root_stays_root_without_its_powers(project: Repo, mode: Request) -> None:
    """spec 9.9: an oracle that wants to be root finds itself root, with a container's capabilities."""
    verified = verify(project, mission(entry("id -u; grep CapEff /proc/self/status")), isolation=mode)
    uid, _, capabilities = verified.output().split()
    assert uid == b"0"
    assert not int(capabilities, 16) & (1 << 21), "CAP_SYS_ADMIN"
