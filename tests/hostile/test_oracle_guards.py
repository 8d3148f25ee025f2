"""Guards of ``mustNotRegress`` that a reviewed repository tries to deceive (seed 003; spec oracle.md 5.6)."""

from __future__ import annotations

import json
from collections.abc import Callable
from hashlib import sha256
from typing import Any

import pytest

from tests.support import Repo
from tests.support.missions import entry, mission_text

Prepare = Callable[[Repo], None]
PATHS = {"id": "G", "paths": ["kept"], "baseline": "HEAD"}


def guard(repo: Repo, what: object, *commands: object) -> tuple[str, dict[str, Any]]:
    """What the program says of one guard, and the receipt it leaves."""
    text = mission_text(*(commands or (entry("true"),)), mustNotRegress=[what])
    (repo.home / "mission.json").write_text(text)
    done = repo.run("oracle", "run", str(repo.home / "mission.json"), "--sink", str(repo.home / "sink"))
    (line,) = (line for line in done.out.splitlines() if " guard/G: " in line)
    (receipt,) = (repo.home / "sink" / "oracle").glob("*-G.json")
    found: dict[str, Any] = json.loads(receipt.read_text())
    return line, found


def report(repo: Repo, receipt: dict[str, Any]) -> str:
    """The evidence a guard of paths leaves."""
    path: str = receipt["stdout"]["path"]
    return (repo.home / "sink" / path).read_text()


@pytest.fixture
def guarded(repo: Repo) -> Repo:
    """A commit with a guarded folder."""
    repo.write("kept/a.txt", "one\n")
    repo.write("kept/b.txt", "two\n")
    repo.commit()
    return repo


def _marked(mark: str) -> Prepare:
    def prepare(repo: Repo) -> None:
        repo.git("update-index", mark, "kept/a.txt")
        repo.write("kept/a.txt", "evil\n")

    return prepare


def _filtered(repo: Repo) -> None:
    repo.write(".git/info/attributes", "*.txt filter=x\n")
    repo.git("config", "filter.x.clean", "echo one; cat >/dev/null")
    repo.write("kept/a.txt", "evil\n")


def _unseen_mode(repo: Repo) -> None:
    repo.git("config", "core.fileMode", "false")
    repo.path("kept/a.txt").chmod(0o755)


def _linked(repo: Repo) -> None:
    repo.path("kept").rename(repo.path("moved"))
    repo.symlink("kept", "moved")
    repo.write(".git/info/exclude", "kept\nmoved\n")


def _unlisted(repo: Repo) -> None:
    repo.git("rm", "-q", "--cached", "kept/b.txt")
    repo.write(".git/info/exclude", "b.txt\n")
    repo.write("kept/b.txt", "evil\n")


def _replaced(repo: Repo) -> None:
    base = repo.git("rev-parse", "HEAD")
    repo.write("kept/a.txt", "evil\n")
    repo.commit()
    repo.git("tag", "base", base)
    repo.git("replace", base, "HEAD")


@pytest.mark.parametrize(
    ("prepare", "name"),
    [
        (_marked("--assume-unchanged"), "a.txt"),
        (_marked("--skip-worktree"), "a.txt"),
        (_filtered, "a.txt"),
        (_unseen_mode, "a.txt"),
        (_linked, "a.txt"),
        (lambda repo: repo.write("kept/new.txt", "evil\n"), "new.txt"),
        (lambda repo: repo.delete("kept/b.txt"), "b.txt"),
        (_unlisted, "b.txt"),
    ],
    ids=["assume-unchanged", "skip-worktree", "filter", "mode", "link", "untracked", "deleted", "unlisted"],
)
def test_a_changed_path_cannot_be_hidden(guarded: Repo, prepare: Prepare, name: str) -> None:
    """Content and mode on disk count, not what the repository's own index and configuration make git say."""
    prepare(guarded)
    line, receipt = guard(guarded, PATHS)
    assert line.startswith("fail "), line
    assert f"kept/{name}" in line
    assert f"'kept/{name}'" in report(guarded, receipt)
    assert (receipt["verdict"], receipt["process"]["exitCode"], receipt["process"]["reason"]) == (
        "fail",
        None,
        "not-started",
    )


def test_a_replaced_commit_is_no_baseline(guarded: Repo) -> None:
    """``git replace`` would let the reviewed repository say what the baseline holds."""
    _replaced(guarded)
    line, _ = guard(guarded, {**PATHS, "baseline": "base"})
    assert line == "fail    guard/G: changed since the baseline: kept/a.txt"


def test_a_command_cannot_restore_a_guarded_path(guarded: Repo) -> None:
    """What is guarded is the reviewed workspace, not the disposable one that commands wrote to."""
    guarded.write("kept/a.txt", "evil\n")
    line, _ = guard(guarded, PATHS, entry("git show HEAD:kept/a.txt > kept/a.txt"))
    assert line == "fail    guard/G: changed since the baseline: kept/a.txt"


def test_ignored_files_are_told(guarded: Repo) -> None:
    """The baseline says nothing of them: neither a failure nor unseen."""
    guarded.write(".git/info/exclude", "*.pyc\n")
    guarded.write("kept/x.pyc", "evil")
    line, receipt = guard(guarded, PATHS)
    assert line == "pass    guard/G: unchanged since the baseline"
    assert "ignored 'kept/x.pyc'" in report(guarded, receipt)
    claims = json.loads((guarded.home / "sink" / "worker-claims.json").read_text())
    assert "G: kept/x.pyc is ignored by git, so the baseline says nothing of it" in claims["limitations"]


def test_line_ends_of_a_checkout_are_no_change(guarded: Repo) -> None:
    """``eol=crlf`` writes other bytes than the commit has; a real change besides is one."""
    guarded.write("kept/a.txt", "one\r\n")
    line, _ = guard(guarded, PATHS)
    assert line == "pass    guard/G: unchanged since the baseline"
    guarded.write("kept/a.txt", "two\r\n")
    (guarded.home / "sink").rename(guarded.home / "before")
    assert guard(guarded, PATHS)[0] == "fail    guard/G: changed since the baseline: kept/a.txt"


@pytest.mark.parametrize(("content", "verdict"), [("large", "pass"), ("other", "fail")])
def test_large_files_are_compared_by_their_digest(repo: Repo, content: str, verdict: str) -> None:
    """git LFS commits a pointer; what is on disk must have its digest."""
    pointer = "version https://git-lfs.github.com/spec/v1\noid sha256:" + sha256(b"large").hexdigest() + "\nsize 5\n"
    repo.write("kept/big.bin", pointer)
    repo.commit()
    repo.write("kept/big.bin", content)
    assert guard(repo, PATHS)[0].startswith(verdict)


@pytest.mark.parametrize(("change", "verdict"), [("", "pass"), ("dirty", "fail"), ("commit", "fail")])
def test_submodules_are_compared_whole(guarded: Repo, change: str, verdict: str) -> None:
    """By the commit they are at, and by whether that is what is on disk."""
    guarded.git("-c", "protocol.file.allow=always", "submodule", "--quiet", "add", str(guarded.root), "kept/sub")
    guarded.commit()
    below = ("-C", "kept/sub")
    if change:
        guarded.write("kept/sub/kept/a.txt", "evil\n")
        guarded.git(*below, "update-index", "--assume-unchanged", "kept/b.txt")
    if change == "commit":
        guarded.git(*below, "commit", "-qam", "more")
    line, _ = guard(guarded, PATHS)
    assert line.startswith(verdict), line


@pytest.mark.parametrize("mark", ["--assume-unchanged", "--skip-worktree", "replace"])
def test_a_baseline_cannot_be_poisoned(repo: Repo, mark: str) -> None:
    """A regression must not look old because the baseline's files were not checked out."""
    repo.write("check.sh", "exit 0")
    repo.commit()
    base = repo.git("rev-parse", "HEAD")
    if mark == "replace":
        repo.write("check.sh", "exit 1")
        repo.commit()
        repo.git("replace", base, "HEAD")
    else:
        repo.git("update-index", mark, "check.sh")
        repo.write("check.sh", "exit 1")
    line, receipt = guard(repo, {"id": "G", "command": "sh check.sh", "expectedExitCode": 0, "baseline": base})
    assert line == "fail    guard/G: expected exit code 0, found 1; it passed at the baseline"
    assert receipt["process"]["exitCode"] == 1
