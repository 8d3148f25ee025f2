"""workspace/isolation.py and what it stands on: manifests, copies, locked folders (spec oracle.md 5.3, 5.5)."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from pytest_reqfile.errors import FileError, UsageError
from pytest_reqfile.workspace.environment import Environment
from pytest_reqfile.workspace.isolation import Request, isolated_workspace
from pytest_reqfile.workspace.locked_folder import locked_folder
from pytest_reqfile.workspace.manifest import Manifest, take_manifest
from pytest_reqfile.workspace.tree_copy import copy_tree, outer_git_folders
from tests.support import Repo
from tests.support.missions import is_offered

ENV = {"PATH": "/usr/bin:/bin"}


def changes(folder: Path, before: Manifest) -> tuple[str, ...]:
    """What changed in a folder."""
    return before.changed(take_manifest(folder))


# Manifests


def test_a_manifest_notices_every_kind_of_write(tmp_path: Path) -> None:
    """Added, removed, written, retyped, chmodded, and written with size and time put back."""
    for name in ("written", "restored", "removed", "mode", "retyped", "same"):
        (tmp_path / name).write_text("x")
    (tmp_path / "sub").mkdir()
    facts = (tmp_path / "restored").stat()
    before = take_manifest(tmp_path)
    (tmp_path / "written").write_text("y")
    (tmp_path / "restored").write_text("z")
    os.utime(tmp_path / "restored", ns=(facts.st_atime_ns, facts.st_mtime_ns))
    (tmp_path / "removed").unlink()
    (tmp_path / "mode").chmod(0o600)
    (tmp_path / "retyped").unlink()
    (tmp_path / "retyped").symlink_to("same")
    (tmp_path / "sub" / "added").write_text("")
    assert changes(tmp_path, before) == ("mode", "removed", "restored", "retyped", "sub/added", "written")


def test_reading_is_no_write(tmp_path: Path) -> None:
    """Times of access do not count."""
    (tmp_path / "a").write_text("x")
    before = take_manifest(tmp_path)
    (tmp_path / "a").read_text()
    list(tmp_path.iterdir())
    assert changes(tmp_path, before) == ()


def test_a_file_that_came_and_went_shows_in_its_folder(tmp_path: Path) -> None:
    """Only the folder's own time tells."""
    (tmp_path / "sub").mkdir()
    before = take_manifest(tmp_path)
    (tmp_path / "sub" / "x").write_text("")
    (tmp_path / "sub" / "x").unlink()
    assert changes(tmp_path, before) == ("sub",)


def test_links_are_not_followed(tmp_path: Path) -> None:
    """What a link leads to is not below the folder."""
    (tmp_path / "in").mkdir()
    (tmp_path / "out").mkdir()
    (tmp_path / "in" / "link").symlink_to(tmp_path / "out")
    before = take_manifest(tmp_path / "in")
    (tmp_path / "out" / "x").write_text("")
    assert changes(tmp_path / "in", before) == ()


def test_a_folder_that_is_gone_is_an_error(tmp_path: Path) -> None:
    """What was not looked at must not pass as unchanged."""
    with pytest.raises(FileError, match="cannot look at: No such file or directory"):
        take_manifest(tmp_path / "gone")


# Copies


def test_a_copy_is_whole_and_shares_nothing(repo: Repo, tmp_path: Path) -> None:
    """Modes, times and links are kept; no inode is shared; FIFOs have no content to copy."""
    repo.write("tool", "x", mode=0o750)
    repo.symlink("link", "tool")
    os.mkfifo(repo.path("pipe"))
    repo.commit()
    copy_tree(repo.root, tmp_path / "copy", repo.environment)
    tree = tmp_path / "copy" / "tree"
    assert oct((tree / "tool").stat().st_mode) == oct(repo.path("tool").stat().st_mode)
    assert (tree / "tool").stat().st_mtime_ns == repo.path("tool").stat().st_mtime_ns
    assert (tree / "link").readlink() == Path("tool")
    assert not (tree / "pipe").exists()
    ours = {path.lstat().st_ino for path in repo.root.rglob("*")}
    assert ours.isdisjoint(path.lstat().st_ino for path in tree.rglob("*"))


def test_a_copied_worktree_has_its_own_refs(repo: Repo, tmp_path: Path) -> None:
    """A commit in the copy of a linked worktree must not land in the reviewed repository."""
    repo.commit()
    repo.git("worktree", "add", "-q", "-b", "side", str(tmp_path / "side"))
    outer = outer_git_folders(tmp_path / "side")
    assert outer is not None
    assert outer.common == repo.path(".git")
    copy_tree((tmp_path / "side").resolve(), tmp_path / "copy", repo.environment)
    tree = str(tmp_path / "copy" / "tree")
    repo.git("-C", tree, "commit", "-q", "--allow-empty", "-m", "in the copy")
    assert repo.git("-C", tree, "log", "-1", "--format=%s") == "in the copy"
    assert repo.git("log", "-1", "--format=%s", "side") == "c"


def test_an_ordinary_repository_has_no_outer_folders(repo: Repo, tmp_path: Path) -> None:
    """Nor has a folder without git, or with a broken .git file."""
    assert outer_git_folders(repo.root) is None
    assert outer_git_folders(tmp_path) is None
    (tmp_path / ".git").write_text("gitdir: /nowhere/at/all\n")
    assert outer_git_folders(tmp_path) is None


@pytest.mark.skipif(os.geteuid() == 0, reason="root reads everything")
def test_what_cannot_be_copied_is_named(tmp_path: Path) -> None:
    """A copy with a hole is no copy."""
    (tmp_path / "in").mkdir()
    (tmp_path / "in" / "x").write_text("")
    (tmp_path / "in" / "x").chmod(0)
    with pytest.raises(FileError, match=r"cannot copy .*/in/x: "):
        copy_tree(tmp_path / "in", tmp_path / "copy", Environment.current())


# Locked folders


def test_a_locked_folder_is_private_and_goes_away(tmp_path: Path) -> None:
    """Whatever it holds."""
    with locked_folder("x-", tmp_path) as folder:
        assert oct(folder.stat().st_mode & 0o777) == "0o700"
        (folder / "sub").mkdir()
        (folder / "sub").chmod(0)
    assert list(tmp_path.iterdir()) == []


def test_what_a_killed_process_left_is_removed(tmp_path: Path) -> None:
    """And nothing else: not what is in use, not what has no lock, not a file."""
    script = (
        "import os, sys; from pathlib import Path; from pytest_reqfile.workspace.locked_folder import locked_folder\n"
    )
    script += "with locked_folder('x-', Path(sys.argv[1])) as folder: os.kill(os.getpid(), 9)"
    subprocess.run((sys.executable, "-c", script, str(tmp_path)), check=False)
    (left,) = tmp_path.iterdir()
    (tmp_path / "x-unlocked").mkdir()
    (tmp_path / "x-file").write_text("")
    with locked_folder("x-", tmp_path) as first, locked_folder("x-", tmp_path) as second:
        assert not left.exists()
        assert first.exists()
        assert second.exists()
    assert sorted(path.name for path in tmp_path.iterdir()) == ["x-file", "x-unlocked"]


# Isolation


@pytest.mark.parametrize("request_", ["overlay", "readonly-namespace", "copy", "external"])
def test_each_mode_says_what_it_is(tmp_path: Path, request_: Request) -> None:
    """The mode is evidence: what the kernel enforces, what is only detected, what is asserted."""
    if not is_offered(tmp_path / "offered", request_):
        pytest.skip(f"this machine offers no {request_}")
    root = tmp_path / "root"
    root.mkdir()
    with isolated_workspace(root, Environment.current(), request_) as workspace:
        isolation = workspace.isolation
        run = workspace.run(("sh", "-c", "pwd"), cwd="", env=ENV, timeout=10, limit=1000)
    assert (isolation.mode, isolation.enforced) in {
        ("overlay", "kernel"),
        ("readonly-namespace", "kernel"),
        ("copy", "detect-only"),
        ("external", "asserted"),
    }
    assert isolation.mode == request_
    assert run.result.stdout.decode().strip() == str(workspace.folder)
    assert (workspace.folder == root) == (request_ != "copy")


def test_auto_takes_the_strongest(tmp_path: Path) -> None:
    """In the order of the specification."""
    offered = [mode for mode in ("overlay", "readonly-namespace", "copy") if is_offered(tmp_path / "o", mode)]
    with isolated_workspace(tmp_path / "o", Environment.current()) as workspace:
        assert workspace.isolation.mode == offered[0]


def test_scratch_space_in_the_workspace_is_refused(tmp_path: Path) -> None:
    """It would change what is verified, and be copied into itself."""
    root = tmp_path / "root"
    (root / "scratch").mkdir(parents=True)
    with (
        pytest.raises(UsageError, match=r"no isolation for .*: temporary files would lie in it; set TMPDIR"),
        isolated_workspace(root, Environment.current(), scratch_base=root / "scratch"),
    ):
        pass
    assert list((root / "scratch").iterdir()) == []


def test_programs_below_tmp_stay_visible(tmp_path: Path) -> None:
    """/tmp is replaced by a private one unless PATH leads there."""
    tools = tmp_path / "tools"
    tools.mkdir()
    (tools / "mytool").write_text("#!/bin/sh\necho tool\n")
    (tools / "mytool").chmod(0o755)
    root = tmp_path / "root"
    root.mkdir()
    env = {"PATH": f"{tools}:/usr/bin:/bin"}
    with isolated_workspace(root, Environment(variables=env)) as workspace:
        run = workspace.run(("mytool",), cwd="", env=env, timeout=10, limit=1000)
        script = f'echo x > "{workspace.temporary}/y" && cat "{workspace.temporary}/y"'
        write = workspace.run(("sh", "-c", script), cwd="", env=env, timeout=10, limit=1000)
    assert run.result.stdout == b"tool\n"
    assert write.result.stdout == b"x\n", write.result.stderr


def test_the_plan_with_the_variables_does_not_stay(tmp_path: Path) -> None:
    """Values of variables may be secrets; they are gone as soon as the command is."""
    root = tmp_path / "root"
    root.mkdir()
    with isolated_workspace(root, Environment.current(), scratch_base=tmp_path) as workspace:
        workspace.run(("true",), cwd="", env={**ENV, "SECRET": "hunter2"}, timeout=10, limit=1000)
        files = [path for path in tmp_path.rglob("*") if path.is_file()]
        assert not any(b"hunter2" in path.read_bytes() for path in files)


@pytest.mark.skipif(os.geteuid() != 0 or sys.platform != "linux", reason="needs root to become somebody else")
@pytest.mark.parametrize("request_", ["overlay", "readonly-namespace", "copy"])
def test_nobody_in_particular_is_isolated_too(request_: str) -> None:
    """An unprivileged user gets the same through user namespaces, and stays who they are."""
    package = Path(__file__).parents[3]
    python = "/usr/bin/python3"
    script = f"""
import os, sys, tempfile
sys.path.insert(0, {str(package)!r})
from pathlib import Path
from pytest_reqfile.errors import UsageError
from pytest_reqfile.workspace.environment import Environment
from pytest_reqfile.workspace.isolation import isolated_workspace
with tempfile.TemporaryDirectory() as folder:
    Path(folder, "kept").write_text("1")
    env = {{"PATH": "/usr/bin:/bin"}}
    try:
        with isolated_workspace(Path(folder), Environment(variables=env), {request_!r}) as workspace:
            run = workspace.run(("sh", "-c", "id -u; echo 2 > kept; exit 7"), cwd="", env=env, timeout=10, limit=999)
    except UsageError as error:
        sys.exit(f"skip: {{error}}")
    print(run.result.exit, run.result.stdout, Path(folder, "kept").read_text(), workspace.isolation.network)
"""
    able = subprocess.run((python, "-c", "import sys; sys.exit(sys.version_info < (3, 11))"), check=False)
    if not Path(python).exists() or able.returncode != 0 or not os.access(package, os.X_OK):
        pytest.skip("no interpreter that everybody may run")
    command = ("setpriv", "--reuid=65534", "--regid=65534", "--clear-groups", python, "-B", "-c", script)
    done = subprocess.run(command, capture_output=True, text=True, timeout=60, check=False, cwd="/")
    if done.stderr.startswith(("skip", "ModuleNotFoundError")) or "Permission denied" in done.stderr:
        pytest.skip(done.stderr)
    assert done.stdout.startswith("7 b'65534\\n' 1"), done.stderr
