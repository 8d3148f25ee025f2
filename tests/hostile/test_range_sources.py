"""Range pins under attack and in bad luck: full disks, Ctrl-C, ten thousand tags, odd names (issue 7 "Proof")."""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.support.ranges import ALLOWED, RangeProject
from tests.support.repo import Repo

REQFILE = (sys.executable, "-P", "-m", "pytest_reqfile")
MAJOR = ("lock", "update", "--major", "--write-config")


@pytest.fixture
def project(repo: Repo, make_repo: Callable[[str], Repo]) -> RangeProject:
    return RangeProject(repo, make_repo)


@pytest.fixture
def locked(project: RangeProject) -> RangeProject:
    project.remote.publish("v3.4.0")
    project.config(project.include()).lock()
    project.remote.publish("v4.1.0")
    return project


def _state(project: RangeProject) -> object:
    """Both files and what is beside them; the config's inode and times, too."""
    config = project.folder / "config.toml"
    facts = config.stat()
    names = sorted(path.name for path in project.folder.iterdir())
    return config.read_bytes(), facts.st_ino, facts.st_mtime_ns, facts.st_mode, project.bytes, names


def _git_that(folder: Path, act: str, repo: Repo) -> str:
    """A PATH whose git does something before it is the real one."""
    git = folder / "git"
    git.write_text(f'#!/bin/sh\n{act}\nexec {shutil.which("git")} "$@"\n')
    git.chmod(0o755)
    return f"{folder}{os.pathsep}{repo.variables['PATH']}"


def _start(project: RangeProject, *argv: str, env: dict[str, str]) -> subprocess.Popen[bytes]:
    return subprocess.Popen(
        (*REQFILE, *argv),
        cwd=project.repo.root,
        env={**project.repo.variables, **ALLOWED, **env},
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
    )


def test_a_full_disk_between_config_and_lock(locked: RangeProject) -> None:
    """config.toml is small enough to be written, the lock is not: the very file that was there is back."""
    for number in range(100):
        locked.write(f"rules/rule-{number}.md", "# Rule\n")
    locked.lock()
    assert (locked.folder / "config.toml").stat().st_size < 8192 < len(locked.bytes)
    before = _state(locked)
    env = {**ALLOWED, "PYTHONDONTWRITEBYTECODE": "1"}
    done = locked.repo.execute("sh", "-c", 'ulimit -S -f 16; exec "$@"', "sh", *REQFILE, *MAJOR, env=env)
    assert done.code == 1
    assert "error: cannot write " in done.err
    assert "ai-rulez.lock" in done.err
    assert _state(locked) == before
    assert locked.repo.run(*MAJOR, env=ALLOWED).code == 0


def test_a_lock_that_is_no_file(locked: RangeProject) -> None:
    """A symlink in its place is not read, so nothing is planned or written."""
    lock = locked.folder / "ai-rulez.lock"
    lock.rename(locked.folder / "real.lock")
    lock.symlink_to("real.lock")
    before = _state(locked)
    done = locked.repo.run(*MAJOR, env=ALLOWED)
    assert (done.code, "symbolic link" in done.err) == (1, True)
    assert _state(locked) == before


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_ctrl_c_while_a_remote_hangs(locked: RangeProject, tmp_path: Path, number: signal.Signals) -> None:
    """The process ends at once, with what it started; nothing was written."""
    ssh = tmp_path / "ssh"
    ssh.write_text(f"#!/bin/sh\ntouch {tmp_path}/asked\nexec sleep 60\n")
    ssh.chmod(0o755)
    url = "ssh://git@example.invalid/acme/rules"
    locked.config(locked.include() + locked.include(name="slow").replace(locked.remote.url, url))
    before = _state(locked)
    process = _start(locked, *MAJOR, env={"GIT_SSH_COMMAND": str(ssh)})
    deadline = time.monotonic() + 30
    while not (tmp_path / "asked").exists():
        assert time.monotonic() < deadline
        assert process.poll() is None
        time.sleep(0.05)
    process.send_signal(number)
    _, err = process.communicate(timeout=20)
    assert process.returncode == 128 + number
    assert b"error: interrupted\n" in err
    assert _state(locked) == before


@pytest.mark.parametrize("name", ["config.toml", "ai-rulez.lock"])
def test_a_file_that_changes_meanwhile_is_not_overwritten(locked: RangeProject, tmp_path: Path, name: str) -> None:
    """Somebody edits it while the update fetches: the edit stays, and neither file is written."""
    path = locked.folder / name
    other = locked.folder / ({"config.toml", "ai-rulez.lock"} - {name}).pop()
    before = other.read_bytes()
    (tmp_path / "edited").write_bytes(path.read_bytes().replace(b"core", b"mine"))
    act = f'case "$*" in *" fetch "*) cp {tmp_path}/edited {path};; esac'
    env = {**ALLOWED, "PATH": _git_that(tmp_path, act, locked.repo)}
    done = locked.repo.run(*MAJOR, env=env)
    assert (done.code, "has changed meanwhile; nothing was written, run it again" in done.err) == (1, True)
    assert path.read_bytes() == (tmp_path / "edited").read_bytes()
    assert other.read_bytes() == before


def test_a_lock_that_was_updated_meanwhile_is_not_overwritten(locked: RangeProject, tmp_path: Path) -> None:
    """``reqfile lock`` keeps the pins that it read, so it must not bring them back over newer ones."""
    path = locked.folder / "ai-rulez.lock"
    old = path.read_bytes()
    locked.remote.publish("v3.9.0")
    locked.run("update")
    newer = tmp_path / "newer"
    newer.write_bytes(path.read_bytes())
    path.write_bytes(old)
    act = f'case "$*" in *" ls-remote "*) cp {newer} {path};; esac'
    done = locked.repo.run("lock", env={**ALLOWED, "PATH": _git_that(tmp_path, act, locked.repo)})
    assert (done.code, "has changed meanwhile; nothing was written, run it again" in done.err) == (1, True)
    assert path.read_bytes() == newer.read_bytes() != old


def test_two_updates_at_once(locked: RangeProject) -> None:
    """Each writes the same, or says that the other was faster; the lock is whole."""
    locked.remote.publish("v3.9.0")
    running = [_start(locked, "lock", "update", env={}) for _ in range(3)]
    done = [(process.communicate(timeout=60), process.returncode) for process in running]
    for (_, err), code in done:
        assert code == 0 or b"has changed meanwhile; nothing was written, run it again" in err
    assert 0 in {code for _, code in done}
    assert locked.pin().tag == "v3.9.0"
    assert locked.run("--check").code == 0


def test_ten_thousand_tags(locked: RangeProject) -> None:
    """They are listed once and looked at in seconds."""
    commit = locked.remote.repo.git("rev-parse", "HEAD")
    packed = [f"{commit} refs/tags/v3.{n}.{m}" for n in range(100, 200) for m in range(100)]
    packed += [f"{commit} refs/tags/v3.200.0+{n}" for n in range(300)]
    locked.remote.repo.git("pack-refs", "--all")
    file = locked.remote.repo.path(".git/packed-refs")
    lines = file.read_text().splitlines()
    heads = [line for line in lines if not line.startswith("#")]
    body = sorted([*heads, *packed], key=lambda line: line.split(" ")[1])
    file.write_text("\n".join(["# pack-refs with: peeled fully-peeled sorted ", *body]) + "\n")
    begun = time.monotonic()
    locked.config('[lock]\nmin_release_age = "1h"\nmin_release_age_source = "commit"\n' + locked.include())
    code, document = locked.outdated()
    (row,) = document["sources"]
    assert (code, row["status"], row["allowed"]) == (0, "updatable", "v3.200.0+0")
    assert row["note"].startswith('tags "v3.200.0+0" and "v3.200.0+1" differ only in build metadata')
    code, document = locked.update()
    assert (code, document["updates"][0]["to"]) == (0, "v3.200.0+0")
    assert time.monotonic() - begun < 60
    record = (locked.repo.home / ".cache/ai-rulez/observed-tags.toml").read_text()
    assert record.count("[[tag]]") == 1000


def test_tags_with_odd_names(project: RangeProject) -> None:
    """What cannot be a version is left out, and shown so that it moves nothing on a terminal."""
    project.remote.publish("v1.0.0")
    remote = project.remote.repo
    commit = remote.git("rev-parse", "HEAD")
    odd = ("\u202ev9.9.9", "v9.9.9\u200b", 'v9"9', "v9.9.9;x", "$(touch;x)", "--upload-pack=x", "v９.9.9", "a'b")
    for name in odd:
        remote.git("update-ref", f"refs/tags/{name}", commit)
    project.config(project.include("*"))
    assert project.run().code == 0
    assert project.pin().tag == "v1.0.0"
    project.remote.delete("v1.0.0")
    (project.folder / "ai-rulez.lock").unlink()
    done = project.run("--outdated")
    assert done.code == 2
    assert "no semantic version tags" in done.out
    assert not {"\u202e", "\u200b"}.intersection(done.out)
    assert project.run("update").code == 2


def test_a_listing_that_is_cut_is_no_listing(locked: RangeProject, tmp_path: Path) -> None:
    """git that dies on the way is an error, whatever it had listed by then."""
    act = f'case "$*" in *ls-remote*) {shutil.which("git")} "$@"; exit 128;; esac'
    before = _state(locked)
    done = locked.run("update", env={"PATH": _git_that(tmp_path, act, locked.repo)})
    assert done.code == 1
    assert _state(locked) == before
