"""workspace/git.py against real repositories."""

from __future__ import annotations

import os
import re
import time
from pathlib import Path

import pytest

from pytest_reqfile.errors import GitError
from pytest_reqfile.workspace.git import Git, TreeFile, discover_root
from tests.support import Repo


def test_root_is_found_from_a_folder_below(repo: Repo) -> None:
    """spec/reqfile.md 2.2: the top folder, canonical, from anywhere inside."""
    repo.write("a/b/file")
    assert discover_root(repo.path("a/b"), repo.environment) == repo.root


def test_root_is_canonical(repo: Repo, tmp_path: Path) -> None:
    """A repository entered through a symlink has the root of the real folder."""
    (tmp_path / "link").symlink_to(repo.root)
    assert discover_root(tmp_path / "link", repo.environment) == repo.root


def test_outside_a_repository(repo: Repo, tmp_path: Path) -> None:
    """spec/reqfile.md 2.2: one message, whatever git says."""
    (tmp_path / "plain").mkdir()
    with pytest.raises(GitError, match=r"^not inside a git repository$"):
        discover_root(tmp_path / "plain", repo.environment.updated({"GIT_CEILING_DIRECTORIES": str(tmp_path)}))


def test_bare_repository_has_no_root(repo: Repo, tmp_path: Path) -> None:
    """A bare repository has no files to require anything of."""
    repo.git("clone", "-q", "--bare", ".", str(tmp_path / "bare.git"))
    with pytest.raises(GitError, match=r"^not inside a git repository$"):
        discover_root(tmp_path / "bare.git", repo.environment)


def test_a_folder_that_is_gone_is_not_replaced_by_the_current_one(repo: Repo, tmp_path: Path) -> None:
    """GitPython falls back to the current folder, which would be another repository."""
    with pytest.raises(GitError, match="cannot change to"):
        Git(tmp_path / "gone", repo.environment).run(("status",))


def test_failure_shows_the_arguments_given(repo: Repo) -> None:
    """spec/reqfile.md 2.2: the words of the failure; hardening flags are not the reader's business."""
    with pytest.raises(
        GitError, match=r"^git rev-parse --verify nope\^\{commit\} failed: fatal: Needed a single revision$"
    ):
        repo.workspace_git().resolve("nope")


def test_ok_codes(repo: Repo) -> None:
    """An exit code that is an answer is no failure."""
    assert repo.workspace_git().run(("diff", "--quiet", "HEAD", "HEAD"), ok_codes=(0, 1)) == b""
    with pytest.raises(GitError, match=r"failed: exit code 1$"):
        repo.workspace_git().run(("config", "--get", "no.such"))


def test_missing_git(repo: Repo, tmp_path: Path) -> None:
    """A PATH without git is one clear error."""
    env = repo.environment.updated({"PATH": str(tmp_path)})
    with pytest.raises(GitError, match=r"^could not run git: .*No such file"):
        Git(repo.root, env).run(("status",))


@pytest.mark.parametrize("rev", ["--help", "--output=x", "-x", "a b", "HEAD:file", "", "@{u}", "x\ny"])
def test_a_revision_is_never_an_option(repo: Repo, rev: str) -> None:
    """Text from people reaches git as a revision or not at all."""
    with pytest.raises(GitError):
        repo.workspace_git().resolve(rev)
    with pytest.raises(
        GitError, match=re.escape(f"cannot find the merge-base of {rev} and HEAD: git merge-base {rev} HEAD")
    ):
        repo.workspace_git().merge_base(rev)
    assert sorted(os.listdir(repo.root)) == [".git"]


def test_resolve_head_and_common_dir(repo: Repo) -> None:
    """Object ids and the folder that worktrees share."""
    oid = repo.git("rev-parse", "HEAD")
    git = repo.workspace_git()
    assert (git.resolve("main"), git.head()) == (oid, oid)
    assert git.git_common_dir() == repo.root / ".git"
    assert not git.is_shallow()


def test_head_before_the_first_commit(repo: Repo) -> None:
    """An unborn branch has no commit."""
    repo.git("checkout", "-q", "--orphan", "new")
    assert repo.workspace_git().head() is None


def test_common_dir_of_a_worktree(repo: Repo, tmp_path: Path) -> None:
    """A linked worktree has its own root and the repository's common folder."""
    repo.git("worktree", "add", "-q", str(tmp_path / "tree"))
    root = discover_root(tmp_path / "tree", repo.environment)
    assert root == tmp_path.resolve() / "tree"
    assert Git(root, repo.environment).git_common_dir() == repo.root / ".git"


def test_merge_base(repo: Repo) -> None:
    """The commit where the branch left its base."""
    fork = repo.git("rev-parse", "HEAD")
    repo.branch("topic")
    repo.commit()
    repo.git("switch", "-q", "main")
    repo.commit()
    repo.git("switch", "-q", "topic")
    assert repo.workspace_git().merge_base("main") == fork


def test_merge_base_failure(repo: Repo) -> None:
    """spec/reqfile.md 5.2: the words for a base that does not exist."""
    with pytest.raises(GitError) as caught:
        repo.workspace_git().merge_base("nope")
    assert str(caught.value) == (
        "cannot find the merge-base of nope and HEAD: git merge-base nope HEAD failed: "
        "fatal: Not a valid object name nope"
    )


def test_shallow_clone_says_what_to_do(repo: Repo, tmp_path: Path) -> None:
    """A cut history is the usual reason in CI, so it is named."""
    repo.branch("topic")
    repo.commit()
    repo.git("switch", "-q", "main")
    repo.commit()
    clone = tmp_path / "clone"
    repo.git("clone", "-q", "--depth", "1", "--no-single-branch", repo.root.as_uri(), str(clone))
    git = Git(clone, repo.environment)
    assert git.is_shallow()
    with pytest.raises(GitError, match=r"shallow, fetch its history first: git fetch --unshallow$"):
        git.merge_base("origin/topic")


def test_default_branch(repo: Repo) -> None:
    """spec/reqfile.md 5.2: exit 1 means there is none, another failure is an error."""
    git = repo.workspace_git()
    assert git.default_branch() is None
    repo.git("update-ref", "refs/remotes/origin/main", "HEAD")
    repo.git("symbolic-ref", "refs/remotes/origin/HEAD", "refs/remotes/origin/main")
    assert git.default_branch() == "origin/main"
    (repo.root / ".git" / "HEAD").write_text("garbage")
    with pytest.raises(GitError, match=r"^cannot read origin/HEAD: fatal: "):
        git.default_branch()


def changed(repo: Repo, base: str) -> tuple[str, ...]:
    git = repo.workspace_git()
    return tuple(change.path for change in git.read_changes(git.start_changes(base)))


def test_tracked_changes(repo: Repo) -> None:
    """spec/reqfile.md 5.2: committed, staged, unstaged, deleted, renamed; untracked ones apart, never ignored ones."""
    for name in ("kept", "edited", "gone", "renamed", "staged"):
        repo.write(name, f"{name}\n" * 9)
    repo.write(".gitignore", "ignored\n")
    base = repo.commit()
    repo.write("committed", "x")
    repo.commit()
    repo.write("edited", "other")
    repo.delete("gone")
    repo.git("mv", "renamed", "fresh")
    repo.write("staged", "other")
    repo.git("add", "staged")
    repo.write("untracked")
    repo.write("ignored")
    expected = ("committed", "edited", "fresh", "gone", "renamed", "staged")
    assert changed(repo, base) == expected
    assert repo.workspace_git().untracked() == ("untracked",)


def test_a_touched_file_is_not_changed(repo: Repo) -> None:
    """A new time stamp without new content is no change."""
    repo.write("file", "x")
    base = repo.commit()
    os.utime(repo.path("file"), (1, 1))
    assert changed(repo, base) == ()


def test_configuration_cannot_bend_a_diff(repo: Repo) -> None:
    """External diff programs, text conversion, relative paths and quoting are switched off."""
    repo.write("sub/ü", "x")
    repo.write(".gitattributes", "* diff=evil\n")
    base = repo.commit()
    repo.write("sub/ü", "y")
    for key, value in {
        "diff.external": "touch evil-external",
        "diff.evil.command": "touch evil-command",
        "diff.evil.textconv": "touch evil-textconv",
        "core.fsmonitor": "touch evil-monitor; false",
        "diff.relative": "true",
        "core.quotePath": "true",
        "color.ui": "always",
    }.items():
        repo.git("config", key, value)
    assert changed(repo, base) == ("sub/ü",)
    assert repo.snapshot().listed == (".gitattributes", "sub/ü")


def test_commits_are_taken_as_object_ids_only(repo: Repo) -> None:
    """Whoever has a name resolves it first; a name here is a bug of ours."""
    for ask in (repo.workspace_git().start_changes, repo.workspace_git().tree_files):
        with pytest.raises(ValueError, match="resolve the revision first"):
            ask("main")


def test_tree_and_blobs(repo: Repo) -> None:
    """spec/reqfile.md 5.3: a commit's files with modes, their contents by object id."""
    repo.write("a file\nwith newline", b"\0\xff\n")
    repo.write("run", "#!", mode=0o755)
    repo.write("empty")
    repo.symlink("link", "run")
    commit = repo.commit()
    repo.delete("run")
    git = repo.workspace_git()
    files = {file.path: file for file in git.tree_files(commit)}
    assert {path: file.mode for path, file in files.items()} == {
        "a file\nwith newline": "100644",
        "empty": "100644",
        "link": "120000",
        "run": "100755",
    }
    assert [path for path, file in files.items() if file.is_regular] == ["a file\nwith newline", "empty", "run"]
    blobs = git.blobs([files["run"].oid, files["empty"].oid, files["a file\nwith newline"].oid, files["run"].oid])
    assert blobs == {
        files["run"].oid: b"#!",
        files["empty"].oid: b"",
        files["a file\nwith newline"].oid: b"\0\xff\n",
    }
    assert git.blobs(()) == {}


def test_a_blob_that_is_missing(repo: Repo) -> None:
    """An object that is not there, or no blob, is an error and not an empty file."""
    with pytest.raises(GitError, match="expected the blob"):
        repo.workspace_git().blobs(["0" * 40])
    with pytest.raises(GitError, match="expected the blob"):
        repo.workspace_git().blobs([repo.git("rev-parse", "HEAD")])


def test_tree_of_the_empty_commit(repo: Repo) -> None:
    """No file is an answer, too."""
    assert repo.workspace_git().tree_files(repo.git("rev-parse", "HEAD")) == ()
    assert TreeFile(path="x", mode="160000", oid="0" * 40).is_regular is False


def test_a_surrounding_hook_is_not_seen(repo: Repo, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Inside a hook of another repository git still answers about the folder it is asked about."""
    repo.write("mine")
    for name in ("GIT_DIR", "GIT_WORK_TREE", "GIT_INDEX_FILE"):
        monkeypatch.setenv(name, str(tmp_path / "other"))
    monkeypatch.setenv("GIT_LITERAL_PATHSPECS", "1")
    env = repo.environment.updated({"GIT_DIR": str(tmp_path / "other")})
    assert discover_root(repo.root, env) == repo.root
    assert Git(repo.root, env).list_files() == ("mine",)


def test_stdin_is_given(repo: Repo) -> None:
    """Bytes for git's standard input, more than a pipe holds."""
    data = b"x" * 200_000
    oid = repo.workspace_git().run(("hash-object", "-w", "--stdin"), stdin=data).decode().strip()
    assert repo.workspace_git().blobs([oid]) == {oid: data}


def test_hashes_are_those_git_would_store(repo: Repo) -> None:
    """Line endings are converted as ``git add`` does, whatever the names; nothing asked is nothing started."""
    repo.git("config", "core.autocrlf", "true")
    names = ("-x", "new\nline", "byte\udcff")
    for name in names:
        repo.write(name, f"{name!r}\r\n")
    repo.commit()
    git = repo.workspace_git()
    stored = {file.path: file.oid for file in git.tree_files(git.resolve("HEAD"))}
    assert git.hashes(names) == stored
    assert git.hashes(()) == {}


def test_the_index_of_a_commit_is_that_of_its_hook(repo: Repo, tmp_path: Path) -> None:
    """Only one in this repository's git folder is taken: a hook of another repository means another index."""
    repo.write("a", "1")
    repo.commit()
    repo.write("a", "2")
    repo.execute("cp", ".git/index", ".git/index.lock")
    repo.git("add", "a", env={"GIT_INDEX_FILE": str(repo.root / ".git/index.lock")})
    repo.execute("cp", ".git/index.lock", str(tmp_path / "index"))

    def staged(index: str) -> list[str]:
        git = Git(repo.root, repo.environment.updated({"GIT_INDEX_FILE": index}))
        return [change.path for change in git.staged_changes()]

    assert staged(str(repo.root / ".git/index.lock")) == staged(".git/index.lock") == ["a"]
    assert staged(str(tmp_path / "index")) == staged(".git/nowhere") == staged("") == []


@pytest.mark.parametrize("key", ["include.path", "core.excludesFile"])
def test_a_git_that_never_answers_is_given_up(repo: Repo, key: str) -> None:
    """A pipe that nobody writes to, where git reads its configuration or what to ignore: an error that names the call.

    Both for calls that run in the background and for those that go through GitPython.
    """
    pipe = repo.root.parent / "pipe"
    os.mkfifo(pipe)
    with (repo.root / ".git" / "config").open("a", encoding="utf-8") as config:
        section, name = key.split(".")
        config.write(f"[{section}]\n\t{name} = {pipe}\n")
    git = Git(repo.root, repo.environment, patience=0.3)
    begun = time.monotonic()
    for ask in (git.untracked, lambda: git.run(("ls-files", "-z", "--others", "--exclude-standard"))):
        with pytest.raises(GitError, match=r"^git ls-files -z --others --exclude-standard did not answer and was stop"):
            ask()
    assert time.monotonic() - begun < 30
