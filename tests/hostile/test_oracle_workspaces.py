"""Reviewed workspaces of every kind, changing ones and hostile ones (spec oracle.md 9.10 to 9.12)."""

from __future__ import annotations

import os
import shutil
import sys
import threading
from collections.abc import Callable
from pathlib import Path

import pytest

from pytest_reqfile.oracle.assembly import assemble
from pytest_reqfile.oracle.opening import open_session
from pytest_reqfile.oracle.session import OracleOptions
from pytest_reqfile.oracle.sink import open_sink
from pytest_reqfile.workspace.environment import Environment
from pytest_reqfile.workspace.isolation import Request
from pytest_reqfile.workspace.manifest import take_manifest
from tests.support import Repo
from tests.support.missions import criterion, entry, is_offered, mission, verify
from tests.support.processes import wait_until
from tests.support.sleepers import sleeping

IDENTITY = {"GIT_AUTHOR_NAME": "x", "GIT_AUTHOR_EMAIL": "x@y.invalid"} | {
    "GIT_COMMITTER_NAME": "x",
    "GIT_COMMITTER_EMAIL": "x@y.invalid",
}


@pytest.fixture(params=["overlay", "copy"])
def mode(request: pytest.FixtureRequest, tmp_path: Path) -> Request:
    """Both kinds of disposable workspace."""
    chosen: Request = request.param
    if not is_offered(tmp_path / "offered", chosen):
        pytest.skip(f"this machine offers no {chosen}")
    return chosen


Prepare = Callable[[Repo, Path], Path]


def dirty(repo: Repo, folder: Path) -> Path:
    """Staged, unstaged, untracked, ignored, force-added, deleted, executable, and a symlink out of the tree."""
    for name in ("staged", "unstaged", "deleted"):
        repo.write(name, "1")
    repo.write(".gitignore", "ignored\nforced\n")
    repo.write("forced", "1")
    repo.git("add", "-f", "forced")
    repo.commit()
    repo.write("staged", "2")
    repo.git("add", "staged")
    repo.write("staged", "3")
    repo.write("unstaged", "2")
    repo.write("untracked", "1")
    repo.write("ignored", "needed")
    repo.write("tool", "#!/bin/sh\n", mode=0o755)
    repo.delete("deleted")
    (folder / "elsewhere").write_text("out")
    repo.symlink("out", str(folder / "elsewhere"))
    repo.symlink("dangling", "nowhere")
    return repo.root


def detached(repo: Repo, folder: Path) -> Path:
    """A detached HEAD."""
    repo.write("a", "1")
    repo.git("checkout", "-q", repo.commit())
    return repo.root


def unborn(repo: Repo, folder: Path) -> Path:
    """A repository without a commit."""
    repo.git("init", "-q", str(folder / "unborn"))
    (folder / "unborn" / "a").write_text("1")
    return folder / "unborn"


def plain(repo: Repo, folder: Path) -> Path:
    """No repository at all."""
    (folder / "plain" / "sub").mkdir(parents=True)
    (folder / "plain" / "sub" / "a").write_text("1")
    return folder / "plain"


def worktree(repo: Repo, folder: Path) -> Path:
    """A linked worktree, whose .git is a file and whose refs are elsewhere."""
    repo.write("a", "1")
    repo.commit()
    repo.git("worktree", "add", "-q", "-b", "side", str(folder / "worktree"))
    (folder / "worktree" / "new").write_text("1")
    return folder / "worktree"


def separate(repo: Repo, folder: Path) -> Path:
    """A repository with its git folder elsewhere."""
    repo.git("init", "-q", f"--separate-git-dir={folder / 'git data'}", str(folder / "separate"))
    (folder / "separate" / "a").write_text("1")
    repo.git("-C", str(folder / "separate"), "add", "-A")
    repo.git("-C", str(folder / "separate"), "commit", "-q", "-m", "x")
    return folder / "separate"


def linked_git(repo: Repo, folder: Path) -> Path:
    """A repository whose .git is a symbolic link."""
    repo.write("a", "1")
    repo.commit()
    shutil.copytree(repo.root, folder / "linked")
    (folder / "linked" / ".git").rename(folder / "git elsewhere")
    (folder / "linked" / ".git").symlink_to(folder / "git elsewhere")
    return folder / "linked"


def with_submodule(repo: Repo, folder: Path) -> Path:
    """A repository with a submodule."""
    repo.write("a", "1")
    repo.commit()
    repo.git("clone", "-q", str(repo.root), str(folder / "inner"))
    repo.git("-c", "protocol.file.allow=always", "submodule", "--quiet", "add", str(folder / "inner"), "module")
    repo.commit()
    return repo.root


def submodule_itself(repo: Repo, folder: Path) -> Path:
    """The submodule as the reviewed workspace: its .git leads into the outer repository."""
    return with_submodule(repo, folder) / "module"


def shallow(repo: Repo, folder: Path) -> Path:
    """A shallow clone with a remote that is a local path."""
    for number in range(3):
        repo.write("a", str(number))
        repo.commit()
    repo.git("clone", "-q", "--depth", "1", f"file://{repo.root}", str(folder / "shallow"))
    return folder / "shallow"


def sparse(repo: Repo, folder: Path) -> Path:
    """A sparse checkout."""
    repo.write("in/a", "1")
    repo.write("out/b", "1")
    repo.commit()
    repo.git("sparse-checkout", "set", "in")
    return repo.root


def odd_names(repo: Repo, folder: Path) -> Path:
    """Names with commas, colons, backslashes, newlines, spaces and bytes that are no UTF-8, in the path itself too."""
    root = folder / "a,b:c\\d e\nf"
    shutil.copytree(repo.root, root, symlinks=True)
    (root / "x\ny").write_text("1")
    Path(os.fsdecode(os.fsencode(root) + b"/\xff\xfe")).write_text("1")
    (root / "-rf").write_text("1")
    return root


def special_files(repo: Repo, folder: Path) -> Path:
    """A FIFO and an unreadable file among the untracked ones."""
    os.mkfifo(repo.path("pipe"))
    repo.write("a", "1")
    repo.commit()
    return repo.root


def nested_repository(repo: Repo, folder: Path) -> Path:
    """An untracked repository inside this one."""
    repo.git("init", "-q", str(repo.path("inner")))
    repo.write("inner/x", "1")
    repo.git("-C", str(repo.path("inner")), "add", "x")
    repo.git("-C", str(repo.path("inner")), "commit", "-qm", "x")
    repo.write("inner/y", "1")
    return repo.root


def lfs_pointers(repo: Repo, folder: Path) -> Path:
    """Pointers of git LFS, whose content is elsewhere."""
    repo.write(".gitattributes", "*.bin filter=lfs\n")
    repo.write("a.bin", "version https://git-lfs.github.com/spec/v1\noid sha256:0\nsize 1\n")
    repo.commit()
    repo.git("config", "filter.lfs.clean", "cat")
    return repo.root


KINDS: tuple[Prepare, ...] = (
    *(
        dirty,
        detached,
        unborn,
        plain,
        worktree,
        separate,
        linked_git,
        with_submodule,
        submodule_itself,
        shallow,
        sparse,
    ),
    *(odd_names, special_files, nested_repository, lfs_pointers),
)


@pytest.mark.parametrize("prepare", KINDS, ids=lambda prepare: str(prepare.__name__))
@pytest.mark.case("oracle:9.10")
def test_every_kind_of_workspace(repo: Repo, tmp_path: Path, mode: Request, prepare: Prepare) -> None:
    """spec 9.10: commands see what is there, git says the same as in the original, and nothing of it changes."""
    folder = tmp_path / "around"
    folder.mkdir()
    root = prepare(repo, folder).resolve()
    watched = (root, folder, repo.path(".git"))
    env = {**repo.variables, "GIT_CEILING_DIRECTORIES": str(root.parent)}
    status = repo.execute(
        "git", "-C", str(root), "--no-optional-locks", "status", "--porcelain=v2", "--branch", env=env
    )
    listing = repo.execute("find", ".", "-not", "-path", "./.git*", "-not", "-type", "p", cwd=root)
    before = [take_manifest(place) for place in watched]
    what = mission(
        entry("git --no-optional-locks status --porcelain=v2 --branch", status.code),
        entry("find . -not -path './.git*' -not -type p", check_id="F"),
        entry("echo x > written; git add -A && git commit -qm x && git tag t", check_id="W", env=IDENTITY),
    )
    options = OracleOptions(isolation=mode, allow=frozenset({"W"}), timeout_ms=20_000)
    verified = verify(repo, what, options=options, root=root)
    assert verified.result("oracle/C").verdict == "pass", verified.output("oracle/C", "stderr")
    assert verified.output("oracle/C").decode("utf-8", "surrogateescape") == status.out
    found = sorted(verified.output("oracle/F").decode("utf-8", "surrogateescape").splitlines())
    assert found == sorted(listing.out.splitlines())
    committed = verified.result("oracle/W")
    assert committed.verdict == ("pass" if prepare is not plain else "fail"), verified.output("oracle/W", "stderr")
    assert [one.changed(take_manifest(place)) for one, place in zip(before, watched, strict=True)] == [(), (), ()]


def test_no_filter_of_the_repository_is_started_by_us(repo: Repo, tmp_path: Path, mode: Request) -> None:
    """The configuration of a reviewed repository may name programs; reading its state runs none of them."""
    repo.write(".gitattributes", "*.bin filter=evil diff=evil\n")
    repo.write("a.bin", "1")
    repo.commit()
    ran = f"touch {tmp_path}/ran; cat"
    for key in ("filter.evil.clean", "filter.evil.smudge", "diff.evil.textconv", "core.fsmonitor"):
        repo.git("config", key, ran)
    repo.write("a.bin", "2")
    assert verify(repo, mission(entry("true")), isolation=mode).only.verdict == "pass"
    assert not (tmp_path / "ran").exists()


def test_a_push_goes_nowhere(repo: Repo, tmp_path: Path, mode: Request) -> None:
    """A remote that is a local path must not receive anything."""
    repo.git("clone", "-q", "--bare", str(repo.root), str(tmp_path / "bare.git"))
    repo.git("remote", "add", "origin", str(tmp_path / "bare.git"))
    repo.write("a", "1")
    repo.commit()
    before = take_manifest(tmp_path / "bare.git")
    options = OracleOptions(isolation=mode, allow=frozenset({"C"}))
    verified = verify(repo, mission(entry("git push -q origin HEAD:refs/heads/new")), options=options)
    assert verified.only.verdict in ("fail", "blocked")
    assert before.changed(take_manifest(tmp_path / "bare.git")) == ()


@pytest.mark.case("oracle:9.11")
def test_a_workspace_that_changes_meanwhile(repo: Repo, mode: Request) -> None:
    """spec 9.11: what was verified is not what is there now; every result of the run is blocked, earlier ones too."""
    length = f"1.474{os.getpid()}"
    repo.write("a", "1")
    repo.commit()
    repo.write("marker", "")
    what = mission(
        entry("true"),
        entry(f"sleep {length}", check_id="D"),
        entry("true", check_id="E"),
        criteria=[criterion()],
    )
    sink = open_sink(repo.home / "sink", repo.root)
    options = OracleOptions(isolation=mode)
    with open_session(what, repo.root, sink, repo.environment, options) as session:
        first = session.evaluate(session.items[0])
        writer = threading.Thread(target=lambda: wait_until(lambda: bool(sleeping(length))) and repo.write("a", "2"))
        writer.start()
        second = session.evaluate(session.items[1])
        writer.join()
        third = session.evaluate(session.items[2])
        taint = session.final_check()
    assert (first.status, second.status, third.status) == ("pass", "error", "error")
    words = {"overlay": "source-drift", "copy": "workspace-written"}[mode]
    assert [outcome.details["blocked"] for outcome in (second, third)] == [words, words]
    assert taint is not None
    assembled = assemble(what, (first, second, third), sink, repo.root, taint=taint)
    assert {result.blocked for result in assembled.results.values()} == {words}
    assert assembled.overall == "blocked"


def test_a_change_between_commands_is_drift(repo: Repo, mode: Request) -> None:
    """No command ran, so no command wrote it."""
    repo.write("a", "1")
    repo.commit()
    sink = open_sink(repo.home / "sink", repo.root)
    what = mission(entry("true"), entry("true", check_id="D"))
    with open_session(what, repo.root, sink, repo.environment, OracleOptions(isolation=mode)) as session:
        session.evaluate(session.items[0])
        repo.write("a", "2")
        outcome = session.evaluate(session.items[1])
    assert outcome.details["blocked"] == "source-drift"
    assert str(outcome.reason).endswith("the reviewed workspace was changed by somebody else meanwhile: a")


def test_a_change_after_the_last_command_is_found(repo: Repo, mode: Request) -> None:
    """The final look is for what nobody evaluated after."""
    sink = open_sink(repo.home / "sink", repo.root)
    what = mission(entry("true"))
    with open_session(what, repo.root, sink, repo.environment, OracleOptions(isolation=mode)) as session:
        session.evaluate(session.items[0])
        assert session.final_check() is None
        repo.write("new", "2")
        taint = session.final_check()
    assert taint is not None
    assert taint.blocked == "source-drift"


def test_touching_the_index_is_no_drift_where_the_kernel_guards(repo: Repo) -> None:
    """An editor's ``git status`` refreshes .git/index; what is reviewed is the same."""
    repo.write("a", "1")
    repo.commit()
    sink = open_sink(repo.home / "sink", repo.root)
    what = mission(entry("true"), entry("true", check_id="D"))
    with open_session(what, repo.root, sink, repo.environment, OracleOptions()) as session:
        session.evaluate(session.items[0])
        os.utime(repo.path(".git/index"))
        outcome = session.evaluate(session.items[1])
        enforced = session.around.isolation
    assert enforced is not None
    assert outcome.status == ("pass" if enforced.enforced == "kernel" else "error")


@pytest.mark.case("oracle:9.10")
def test_a_file_that_changes_while_it_is_copied(repo: Repo) -> None:
    """spec 9.10: the copy is of no single state."""
    for number in range(300):
        repo.write(f"many/{number}", "x" * 1000)
    repo.commit()
    stop = threading.Event()

    def write() -> None:
        number = 0
        while not stop.is_set():
            number += 1
            repo.write("many/7", str(number))

    writer = threading.Thread(target=write)
    writer.start()
    try:
        verified = verify(repo, mission(entry("true")), isolation="copy")
    finally:
        stop.set()
        writer.join()
    assert verified.only.blocked == "source-drift"


@pytest.mark.case("oracle:9.12")
def test_a_workspace_that_brings_its_own_tools(repo: Repo, mode: Request) -> None:
    """spec 9.12: bash, git, sitecustomize, conftest and ini of the reviewed project have no say in the verdict."""
    evil = '#!/bin/sh\ntouch "$0.ran"; exit 0\n'
    for name in ("bash", "sh", "git", "python3"):
        repo.write(f"bin/{name}", evil, mode=0o755)
    repo.write("sitecustomize.py", "import os; os._exit(0)\n")
    repo.write("json.py", "import os; os._exit(0)\n")
    repo.write("conftest.py", "def pytest_sessionfinish(session): session.exitstatus = 0\n")
    repo.write("pytest.ini", "[pytest]\naddopts = -p evil\n")
    repo.commit()
    variables = {
        "PATH": f"{repo.root}/bin:bin:{repo.variables['PATH']}",
        "PYTHONPATH": str(repo.root),
        "BASH_ENV": str(repo.path("bin/bash")),
        "PYTEST_ADDOPTS": "-p evil",
    }
    verified = verify(repo, mission(entry("exit 3"), criteria=[criterion()]), isolation=mode, variables=variables)
    assert (verified.only.verdict, verified.only.exit_code) == ("fail", 3)
    assert list(repo.path("bin").glob("*.ran")) == []
    done = repo.execute(
        *(sys.executable, "-P", "-m", "pytest_reqfile", "oracle", "run", str(repo.home / "m.json")),
        *("--sink", str(repo.home / "s"), "--isolation", mode),
        env={key: value for key, value in variables.items() if key != "PYTHONPATH"},
    )
    assert done.code == 2
    (repo.home / "m.json").write_text('{"verificationOracle": [{"command": "exit 3", "expectedExitCode": 0}]}')
    done = repo.execute(
        *(sys.executable, "-P", "-m", "pytest_reqfile", "oracle", "run", str(repo.home / "m.json")),
        *("--sink", str(repo.home / "s"), "--isolation", mode),
        env={key: value for key, value in variables.items() if key not in ("PYTHONPATH", "PATH")},
    )
    assert done.code == 3, done.err


@pytest.mark.skipif(os.geteuid() == 0, reason="root reads everything")
def test_an_unreadable_workspace_is_blocked(repo: Repo) -> None:
    """What cannot be looked at cannot be verified."""
    repo.write("secret/x", "1")
    repo.path("secret").chmod(0)
    verified = verify(repo, mission(entry("true")))
    assert verified.only.blocked == "isolation-missing"


def test_a_copy_flags_editable_installs(repo: Repo, tmp_path: Path) -> None:
    """spec 5.3: they import the original tree, not its copy."""
    packages = tmp_path / "venv" / "lib" / "python3.11" / "site-packages"
    packages.mkdir(parents=True)
    (packages / "__editable__.thing.pth").write_text(f"{repo.root}/src\n")
    variables = {"VIRTUAL_ENV": str(tmp_path / "venv")}
    what = mission(entry("true"), criteria=[criterion()])
    verified = verify(repo, what, isolation="copy", variables=variables)
    assert verified.only.confidence == "low"
    assert any("imports the reviewed tree, not its copy" in line for line in verified.claims["limitations"])
    if is_offered(tmp_path / "offered", "overlay"):
        assert verify(repo, what, isolation="overlay", variables=variables).only.confidence == "high"


@pytest.mark.case("oracle:9.20")
def test_isolation_that_is_not_offered_blocks(repo: Repo, tmp_path: Path) -> None:
    """seed 003: without read-only isolation stop blocked; run nothing."""
    what = mission(entry(f"touch {tmp_path}/ran"), criteria=[criterion()])
    sink = open_sink(repo.home / "sink", repo.root)
    # A limit on user namespaces and no root would refuse; here a folder that vanished does.
    gone = tmp_path / "gone"
    with open_session(what, gone, sink, Environment(variables=repo.variables), OracleOptions()) as session:
        (outcome,) = tuple(session.evaluate(item) for item in session.items)
    assert outcome.details["blocked"] == "isolation-missing"
    assert not (tmp_path / "ran").exists()
