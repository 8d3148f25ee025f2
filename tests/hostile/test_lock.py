"""The lock under attack and in bad luck: killed writes, full disks, other Pythons, hostile trees (issue 6 "Proof")."""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
import sys
import sysconfig
import time
from pathlib import Path

import pytest

from pytest_reqfile.errors import FileError
from pytest_reqfile.lock.file import LockFormatError, parse_lock
from pytest_reqfile.lock.opening import lock_file
from pytest_reqfile.lock.values import ItemPin, Lock
from tests.support.locks import LockProject
from tests.support.repo import Repo

PYTHONS = {version: Path.home() / ".pyenv/versions" for version in ("3.11", "3.12", "3.13")}


@pytest.fixture
def project(repo: Repo) -> LockProject:
    return LockProject(repo).base()


def _interpreter(version: str) -> Path | None:
    if f"{sys.version_info.major}.{sys.version_info.minor}" == version:
        return Path(sys.executable)
    found = sorted(PYTHONS[version].glob(f"{version}.*/bin/python"))
    return found[-1] if found else None


@pytest.mark.parametrize("version", PYTHONS)
def test_every_python_writes_the_same_lock(project: LockProject, version: str) -> None:
    """Byte for byte, and each finds the other's in sync."""
    python = _interpreter(version)
    if python is None:
        pytest.skip(f"Python {version} is not installed")
    project.config(
        '[[hooks]]\nevent = "Stop"\n[[hooks.hooks]]\ncommand = "a && b"\ntimeout = 5\n'
        '[[mcp_servers]]\nname = "é"\nenv = { b = "1", a = "<&>" }\n'
    )
    project.write("verifiers/v.toml", '[[verifiers]]\nid = "v"\nx = 1e-7\ny = 1.0\nz = 2026-10-01T10:00:00.50Z\n')
    project.write("rules/é.md", "---\nowner: x\nversion: 1.10\n---\n")
    project.repo.write("CLAUDE.md", "x\n")
    project.write(".generated-manifest.json", '{"files": ["CLAUDE.md"]}')
    project.lock()
    expected = (project.folder / "ai-rulez.lock").read_bytes()
    (project.folder / "ai-rulez.lock").unlink()
    # The pure Python parts of the dependencies are those of this environment.
    paths = os.pathsep.join((str(Path(__file__).parents[2]), sysconfig.get_paths()["purelib"]))
    env = {"PYTHONPATH": paths, "PYTHONDONTWRITEBYTECODE": "1"}
    command = (str(python), "-P", "-m", "pytest_reqfile", "lock")
    done = project.repo.execute(*command, env=env)
    assert (done.code, done.err) == (0, "")
    assert (project.folder / "ai-rulez.lock").read_bytes() == expected
    assert project.repo.execute(*command, "--check", env=env).code == 0


def test_a_killed_write_leaves_the_old_lock(project: LockProject) -> None:
    """kill -9 at any moment: the file is the old one or the new one, whole, and the next write works."""
    for number in range(300):
        project.write(f"rules/r{number}.md", f"# {number}\n")
    project.lock()
    path = project.folder / "ai-rulez.lock"
    old = path.read_bytes()
    project.write("rules/new.md", "# New\n")
    new = project.renew().lock
    seen = set()
    for delay in (0.05, 0.1, 0.15, 0.2, 0.25, 0.3, 0.35, 0.4, 0.5, 0.7):
        path.write_bytes(old)
        process = subprocess.Popen(
            (sys.executable, "-P", "-m", "pytest_reqfile", "lock"),
            cwd=project.repo.root,
            env=project.repo.variables,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        )
        time.sleep(delay)
        process.send_signal(signal.SIGKILL)
        process.wait()
        lock = parse_lock(path.read_bytes(), "x")
        assert path.read_bytes() == old or lock == new
        seen.add(process.returncode)
    assert -signal.SIGKILL in seen
    assert project.repo.run("lock").code == 0
    assert parse_lock(path.read_bytes(), "x") == new


WRITE_AND_DIE = """
import os, sys
from pathlib import Path
import pytest_reqfile.workspace.files as files
from pytest_reqfile.lock.file import LockFile
from pytest_reqfile.lock.values import ItemPin, Lock
from pytest_reqfile.workspace.walk import Walk

step, root = int(sys.argv[1]), Path(sys.argv[2])
calls = 0

def dying(function):
    def call(*args, **kwargs):
        global calls
        calls += 1
        if calls == step:
            os.kill(os.getpid(), 9)
        return function(*args, **kwargs)
    return call

for name in ("open", "write", "fsync", "close"):
    setattr(os, name, dying(getattr(os, name)))
Path.rename = dying(Path.rename)
items = tuple(ItemPin(kind="rule", id=f"r{n}", digest="sha256:1") for n in range(2000))
LockFile(walk=Walk(root), path="ai-rulez.lock").write(Lock(items=items, tree="new"))
"""


@pytest.mark.parametrize("step", [1, 2, 3, 4])
def test_killed_at_each_step_of_the_write(tmp_path: Path, step: int) -> None:
    """Before the temporary file, before its sync, before the rename, after it."""
    path = tmp_path / "ai-rulez.lock"
    path.write_text("version = 1\ntree = 'old'\n")
    done = subprocess.run(
        (sys.executable, "-P", "-c", WRITE_AND_DIE, str(step), str(tmp_path)), check=False, capture_output=True
    )
    lock = parse_lock(path.read_bytes(), "x")
    assert lock.tree == ("old" if done.returncode == -signal.SIGKILL else "new"), done.stderr.decode()
    assert done.returncode in {0, -signal.SIGKILL}
    assert (step == 4) or done.returncode == -signal.SIGKILL


def test_a_full_disk(project: LockProject, tmp_path: Path) -> None:
    """The old lock stays, nothing is left behind, exit 1."""
    project.lock()
    for number in range(200):
        project.write(f"rules/r{number}.md", f"# {number}\n")
    # Outside of git, whose listing would meet the limit first.
    folder = tmp_path / "plain/.ai-rulez"
    shutil.copytree(project.folder, folder)
    before = (folder / "ai-rulez.lock").read_bytes()
    script = f"trap '' XFSZ; ulimit -f 8; exec {sys.executable} -P -m pytest_reqfile lock"
    env = {"PYTHONDONTWRITEBYTECODE": "1"}  # compiled modules would be cut short, too
    done = project.repo.execute("sh", "-c", script, cwd=tmp_path / "plain", env=env)
    assert (done.code, done.out) == (1, "")
    assert done.err == f"error: cannot write {folder}/ai-rulez.lock: File too large\n"
    assert (folder / "ai-rulez.lock").read_bytes() == before
    assert [path.name for path in folder.iterdir() if path.name.endswith(".tmp")] == []


def test_a_folder_that_is_closed(project: LockProject) -> None:
    """Content that cannot be read is an error of the write and of the check, never left out."""
    project.lock()
    (project.folder / "skills/pack/assets").chmod(0)
    try:
        if os.access(project.folder / "skills/pack/assets", os.R_OK):
            pytest.skip("this user may read everything")
        for arguments in ((), ("--check",)):
            assert project.repo.run("lock", *arguments).code == 1
    finally:
        (project.folder / "skills/pack/assets").chmod(0o755)


def test_bundled_links_and_fifos(project: LockProject) -> None:
    """No way out through a resource, and nothing blocks."""
    project.lock()
    project.repo.symlink(".ai-rulez/skills/pack/assets/passwd", "/etc/passwd")
    os.mkfifo(project.folder / "skills/pack/assets/fifo")
    assert project.check().in_sync


def test_names_with_escapes(project: LockProject) -> None:
    """A terminal shows them harmless, the lock holds them as they are."""
    name = "a\x1b[31m'\"\n.md"
    project.write(f"rules/{name}", "x")
    done = project.repo.run("lock", "--diff")
    assert "\x1b" not in done.out
    assert "  source added    rule a\\x1b[31m'\"\\x0a (rules/a\\x1b[31m'\"\\x0a.md)\n" in done.out  # one line
    lock = project.lock()
    assert any(item.path == f"rules/{name}" for item in lock.items)
    assert project.read() == lock
    assert project.check().in_sync


def test_a_backslash_in_a_resource(project: LockProject) -> None:
    """It could mean two places, so it is refused with its name."""
    project.write("skills/pack/assets/a\\b.bin", "x")
    project.write("skills/pack/assets/c\\d.bin", "x")
    project.write("domains/api/skills/pack/scripts/e\\f", "x")
    done = project.repo.run("lock")
    message = "invalid path in a digest tree; rename it"
    assert (done.code, done.out) == (1, "")
    assert done.err == (
        f"error: .ai-rulez/skills/pack/assets/a\\b.bin: {message}\n"
        f"error: .ai-rulez/domains/api/skills/pack/scripts/e\\f: {message}\n"
    )


@pytest.mark.parametrize("size", [64 * 1024 * 1024 + 1])
def test_a_lock_that_is_a_bomb(project: LockProject, size: int) -> None:
    """It is not read into memory."""
    with (project.folder / "ai-rulez.lock").open("wb") as stream:
        stream.truncate(size)
    with pytest.raises(LockFormatError, match="larger than 67108864 bytes"):
        project.read()


def test_a_deep_lock(project: LockProject) -> None:
    """Nesting is refused where it stands."""
    project.write("ai-rulez.lock", "version = 1\nx = " + "[" * 5000 + "]" * 5000 + "\n")
    with pytest.raises(LockFormatError, match=r"ai-rulez\.lock:\d+: parse lock file: .*nested"):
        project.read()


def test_control_characters_from_the_lock(project: LockProject) -> None:
    """A lock from a pull request cannot move the cursor."""
    lock = project.lock()
    evil = ItemPin(kind="rule", id="a\x1b[2J", digest="sha256:1", path="x\u202e")
    project.save(Lock(items=(*lock.items, evil), tree="x\x1b]0;"))
    for arguments in (("--check",), ("--diff",), ("--subject",)):
        done = project.repo.run("lock", *arguments)
        assert not {"\x1b", "\u202e"} & set(done.out + done.err)
    done = project.repo.run("lock", "--diff", "--format", "json")
    assert "\x1b" not in done.out


def test_two_writers(project: LockProject) -> None:
    """Both end well and the lock is whole."""
    command = (sys.executable, "-P", "-m", "pytest_reqfile", "lock")
    writers = [
        subprocess.Popen(command, cwd=project.repo.root, env=project.repo.variables, stdout=subprocess.DEVNULL)
        for _ in range(3)
    ]
    assert [writer.wait(60) for writer in writers] == [0, 0, 0]
    assert project.check().in_sync


def test_a_folder_in_place_of_the_lock(project: LockProject) -> None:
    """Refused by reading and writing."""
    (project.folder / "ai-rulez.lock").mkdir()
    for arguments in ((), ("--check",)):
        done = project.repo.run("lock", *arguments)
        assert (done.code, "not a regular file" in done.err) == (1, True)
    shutil.rmtree(project.folder / "ai-rulez.lock")
    (project.folder / "ai-rulez.lock").symlink_to(project.repo.root)
    with pytest.raises((LockFormatError, FileError)):
        lock_file(project.load().place).read()
