"""What was verified must be what is there, all of it (seed 003 "never change the reviewed workspace"; spec 5.5)."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.support import Repo
from tests.support.missions import entry, is_offered, mission_text

Change = Callable[[Repo], object]


def _command(repo: Repo, *oracle: object, more: tuple[str, ...] = ()) -> tuple[str, ...]:
    (repo.home / "mission.json").write_text(mission_text(*oracle))
    return ("oracle", "run", str(repo.home / "mission.json"), "--sink", str(repo.home / "sink"), *more)


def _changed_meanwhile(repo: Repo, change: Change) -> str:
    """What the program says when ``change`` happens after its first command and before its end."""
    words = _command(repo, entry("true", check_id="first"), entry("sleep 0.7", check_id="second"))
    command = (sys.executable, "-P", "-m", "pytest_reqfile", *words)
    with subprocess.Popen(command, cwd=repo.root, env=repo.variables, stdout=subprocess.PIPE) as process:
        receipt = repo.home / "sink" / "oracle" / "01-first.json"
        give_up = time.monotonic() + 30
        while not receipt.exists() and time.monotonic() < give_up:
            time.sleep(0.01)
        change(repo)
        out, _ = process.communicate(timeout=30)
    return out.decode()


@pytest.fixture
def reviewed(repo: Repo) -> Repo:
    """A commit and an ignored file."""
    repo.write(".gitignore", "*.cfg\n")
    repo.write("a.txt", "1")
    repo.commit()
    repo.write("x.cfg", "1")
    return repo


@pytest.mark.parametrize(
    ("change", "path"),
    [
        (lambda repo: repo.write("x.cfg", "2"), "x.cfg"),
        (lambda repo: repo.write("new.cfg", "2"), "new.cfg"),
        (lambda repo: repo.delete("x.cfg"), "x.cfg"),
        (lambda repo: repo.git("tag", "moved"), ".git/refs/tags/moved"),
        (lambda repo: repo.git("config", "user.name", "other"), ".git/config"),
        (lambda repo: repo.write("a.txt", "2"), "a.txt"),
    ],
    ids=["ignored", "new-ignored", "ignored-gone", "tag", "config", "tracked"],
)
@pytest.mark.case("oracle:9.11")
def test_any_change_meanwhile_blocks_the_run(reviewed: Repo, change: Change, path: str) -> None:
    """spec 9.11: ignored files and git data too; commands saw them, and the state of the source does not tell."""
    out = _changed_meanwhile(reviewed, change)
    assert out.endswith("oracle: blocked\n"), out
    assert f"changed by somebody else meanwhile: {path}" in out
    assert "pass " not in out


def test_looking_at_it_meanwhile_is_no_change(reviewed: Repo, tmp_path: Path) -> None:
    """An editor's ``git status`` writes the index; a file saved as it was is what it was."""
    if not is_offered(tmp_path / "probe", "overlay"):
        pytest.skip("only the kernel can tell somebody else's writes from the command's")

    def change(repo: Repo) -> None:
        repo.write("a.txt", "1")
        repo.git("status")

    out = _changed_meanwhile(reviewed, change)
    assert out.endswith("oracle: pass\n"), out


def test_a_decoy_is_not_verified(reviewed: Repo, tmp_path: Path) -> None:
    """``core.worktree`` of the reviewed repository must not lead the verifier to files that pass."""
    (tmp_path / "decoy").mkdir()
    (tmp_path / "decoy" / "a.txt").write_text("good")
    reviewed.git("config", "core.worktree", str(tmp_path / "decoy"))
    done = reviewed.run(*_command(reviewed, entry("grep -q good a.txt")))
    assert done.code == 4, done.out + done.err
    assert f"its git configuration says that its files are in {tmp_path / 'decoy'}; unset core.worktree" in done.out


def test_a_submodule_is_part_of_the_state(reviewed: Repo) -> None:
    """What is in it counts, and whether it is what the commit says."""
    reviewed.git("-c", "protocol.file.allow=always", "submodule", "--quiet", "add", str(reviewed.root), "sub")
    reviewed.commit()
    found = []
    for content in ("1", "2"):
        reviewed.write("sub/a.txt", content)
        done = reviewed.run(*_command(reviewed, entry("true")))
        assert done.code == 0, done.out + done.err
        sink = reviewed.home / "sink"
        found.append(json.loads((sink / "environment.json").read_text())["source"])
        sink.rename(reviewed.home / f"sink-{content}")
    assert [state["clean"] for state in found] == [True, False]
    assert found[0]["snapshotHash"] != found[1]["snapshotHash"]
    assert found[0]["tree"] == found[1]["tree"] == reviewed.git("rev-parse", "HEAD^{tree}")


@pytest.mark.parametrize("isolation", ["auto", "copy"])
@pytest.mark.parametrize(
    ("folder", "reason"), [("missing", "No such file or directory"), ("out", "it leads out of the workspace")]
)
def test_the_folder_of_a_command_is_inside(reviewed: Repo, folder: str, reason: str, isolation: str) -> None:
    """The folder is the prerequisite that is named, not the shell; a link must not lead past what is reviewed."""
    reviewed.symlink("out", "/etc")
    words = _command(reviewed, entry("true", cwd=folder), more=("--isolation", isolation))
    done = reviewed.run(*words)
    assert done.code == 4, done.out + done.err
    assert f"needs the folder `{folder}` inside of the workspace: {reason}" in done.out


def test_a_folder_that_is_a_link_inside_is_no_way_out(reviewed: Repo) -> None:
    """Only where it leads counts."""
    reviewed.write("d/here", "")
    reviewed.symlink("inside", "d")
    done = reviewed.run(*_command(reviewed, entry("test -e here", cwd="inside")))
    assert done.code == 0, done.out + done.err


def test_a_sink_that_is_there_keeps_its_mode(reviewed: Repo) -> None:
    """``--sink /tmp`` must not lock everybody else out; what is written is private all the same."""
    sink = reviewed.home / "sink"
    sink.mkdir()
    sink.chmod(0o1777)
    done = reviewed.run(*_command(reviewed, entry("true")))
    assert done.code == 0, done.out + done.err
    assert sink.stat().st_mode & 0o7777 == 0o1777
    assert (sink / "oracle").stat().st_mode & 0o7777 == 0o700
    assert {path.stat().st_mode & 0o777 for path in sink.rglob("*.json")} == {0o600}


@pytest.mark.parametrize("path", [".git/info/exclude", ".gitignore", "d/.gitattributes", ".git/config"])
def test_a_pipe_where_git_reads_is_refused(reviewed: Repo, path: str) -> None:
    """git would wait for ever; whoever is verified must not keep the verifier from ending."""
    reviewed.path(path).unlink(missing_ok=True)
    reviewed.path(path).parent.mkdir(parents=True, exist_ok=True)
    os.mkfifo(reviewed.path(path))
    done = reviewed.run(*_command(reviewed, entry("true")), timeout=20)
    assert done.code == 4, done.out + done.err
    assert f"{reviewed.root}/{path}: a pipe where git reads a file, which would never end" in done.out
