"""Changed-only runs on the histories that git knows (seed 004 SELECTION), through the command line."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.support import Completed, Repo
from tests.support.blocks import block, reqfile_text, run, seen

EDITIONS = ("0.1", "0.4")
SEEN = block("SEEN", seen())
NONE_RAN = "\n\n0 checks run, 0 with nothing to check. 0 violations, 0 advisory findings, 1 error.\n"


@pytest.fixture
def seeing(repo: Repo) -> Repo:
    """A requirement that says which ``*.txt`` it was given, and two such files, on main."""
    repo.write("Reqfile.yaml", reqfile_text(SEEN))
    repo.write("one.txt", "1\n")
    repo.write("two.txt", "2\n")
    repo.commit()
    return repo


def files_of(done: Completed) -> list[str]:
    """The files SEEN was given; none if it had nothing to check."""
    assert done.code in {0, 1}, done
    first = done.out.split("\n")[0]
    return first.removeprefix("SEEN  saw ").split(" ") if first.startswith("SEEN  ") else []


@pytest.mark.parametrize("edition", EDITIONS)
def test_a_renamed_file_is_a_deleted_and_an_added_one(seeing: Repo, edition: str) -> None:
    """Only the new name can be looked at, whatever git takes for similar."""
    seeing.branch("topic")
    seeing.git("mv", "one.txt", "three.txt")
    assert files_of(seeing.run("check", "--changed", "main", "--edition", edition)) == ["three.txt"]
    seeing.commit()
    seeing.git("config", "diff.renames", "copies")
    assert files_of(seeing.run("check", "--changed", "main", "--edition", edition)) == ["three.txt"]


@pytest.mark.parametrize("edition", EDITIONS)
def test_what_a_merge_brought_from_the_base_is_not_changed(seeing: Repo, edition: str) -> None:
    """The merge-base moves along when the base is merged into the branch."""
    seeing.branch("topic")
    seeing.write("mine.txt", "x")
    seeing.commit()
    seeing.git("switch", "-q", "main")
    seeing.write("theirs.txt", "x")
    seeing.commit()
    seeing.git("switch", "-q", "topic")
    assert files_of(seeing.run("check", "--changed", "main", "--edition", edition)) == ["mine.txt"]
    seeing.git("merge", "-q", "--no-edit", "main")
    assert files_of(seeing.run("check", "--changed", "main", "--edition", edition)) == ["mine.txt"]


def test_files_in_conflict_are_changed(seeing: Repo) -> None:
    """A merge that stopped half way: both sides' edits are in the working tree."""
    seeing.branch("topic")
    seeing.write("one.txt", "mine\n")
    seeing.commit()
    seeing.git("switch", "-q", "main")
    seeing.write("one.txt", "theirs\n")
    seeing.delete("two.txt")
    seeing.commit()
    seeing.git("switch", "-q", "topic")
    seeing.write("two.txt", "kept\n")
    seeing.commit()
    assert seeing.execute("git", "merge", "-q", "main").code == 1
    assert files_of(seeing.run("check", "--changed", "HEAD")) == ["one.txt"]
    assert files_of(seeing.run("check", "--changed", "main~1")) == ["one.txt", "two.txt"]


def test_criss_cross_merges_have_a_base(seeing: Repo) -> None:
    """Two branches that merged each other have several merge-bases; one is enough."""
    for name in ("left", "right"):
        seeing.git("switch", "-q", "-c", name, "main")
        seeing.write(f"{name}.txt", name)
        seeing.commit()
    left, right = seeing.git("rev-parse", "left"), seeing.git("rev-parse", "right")
    seeing.git("merge", "-q", "--no-edit", left)
    seeing.git("switch", "-q", "left")
    seeing.git("merge", "-q", "--no-edit", right)
    assert set(files_of(seeing.run("check", "--changed", "right"))) <= {"left.txt", "right.txt"}


@pytest.mark.parametrize("edition", EDITIONS)
def test_a_submodule_is_no_file(seeing: Repo, tmp_path: Path, edition: str) -> None:
    """Neither its entry nor what is in it, whether its commit moved, it is dirty, or it is gone."""
    inner = tmp_path / "inner"
    seeing.git("clone", "-q", str(seeing.root), str(inner))
    seeing.git("-c", "protocol.file.allow=always", "submodule", "add", "-q", str(inner), "sub.txt")
    seeing.commit()
    seeing.branch("topic")
    seeing.write("sub.txt/one.txt", "dirty\n")
    seeing.write("sub.txt/new.txt", "new\n")
    seeing.write("mine.txt", "x")
    assert files_of(seeing.run("check", "--changed", "main", "--edition", edition)) == ["mine.txt"]
    seeing.git("-C", "sub.txt", "commit", "-q", "-a", "-m", "moved")
    assert files_of(seeing.run("check", "--changed", "main", "--edition", edition)) == ["mine.txt"]
    seeing.delete("sub.txt")
    assert files_of(seeing.run("check", "--changed", "main", "--edition", edition)) == ["mine.txt"]


def test_a_worktree_is_compared_with_its_own_head(seeing: Repo, tmp_path: Path) -> None:
    """Each worktree has its own branch, index and files."""
    seeing.git("worktree", "add", "-q", "-b", "topic", str(tmp_path / "tree"))
    (tmp_path / "tree" / "there.txt").write_text("x")
    seeing.write("here.txt", "x")
    done = seeing.run("check", "--changed", "main", cwd=str(tmp_path / "tree"))
    assert files_of(done) == ["there.txt"]
    assert files_of(seeing.run("check", "--changed", "topic")) == ["here.txt"]


def test_a_detached_head_has_a_merge_base(seeing: Repo) -> None:
    """As in CI, where a commit is checked out and no branch."""
    seeing.branch("topic")
    seeing.write("mine.txt", "x")
    commit = seeing.commit()
    seeing.git("checkout", "-q", "--detach", commit)
    assert files_of(seeing.run("check", "--changed", "main")) == ["mine.txt"]


def test_from_a_folder_below_the_whole_repository_is_checked(seeing: Repo) -> None:
    """The current folder changes nothing."""
    seeing.write("sub/x.txt", "x")
    seeing.write("one.txt", "changed\n")
    assert files_of(seeing.run("check", "--changed", "HEAD", cwd="sub")) == ["one.txt", "sub/x.txt"]


@pytest.mark.parametrize("base", [(), ("main",), ("HEAD",)])
def test_a_repository_without_commits_is_an_error(repo: Repo, base: tuple[str, ...]) -> None:
    """Nothing can be compared with nothing; a full run works."""
    repo.git("checkout", "-q", "--orphan", "fresh")
    repo.write("Reqfile.yaml", reqfile_text(SEEN))
    repo.write(".reqfile/config.yaml", "base: main\n")
    repo.write("one.txt")
    repo.git("branch", "-D", "main")
    done = repo.run("check", "--changed", *base)
    assert done.code == 3
    name = base[0] if base else "main"
    place = "" if base else ".reqfile/config.yaml:1: "
    assert done.out.startswith(f"error  {place}cannot find the merge-base of {name} and HEAD: ")
    assert "; this repository has no commit yet, so nothing can be compared with it" in done.out
    assert "\n0 checks run, " in done.out
    assert files_of(repo.run("check")) == ["one.txt"]


def test_unrelated_histories_are_an_error(seeing: Repo) -> None:
    """git itself says nothing at all."""
    seeing.git("checkout", "-q", "--orphan", "fresh")
    seeing.commit()
    done = seeing.run("check", "--changed", "main")
    assert (done.code, done.out) == (
        3,
        "error  cannot find the merge-base of main and HEAD: git merge-base main HEAD failed: exit code 1; "
        f"they have no common ancestor{NONE_RAN}",
    )


def test_a_shallow_clone_is_an_error_that_says_what_to_do(seeing: Repo, tmp_path: Path) -> None:
    """As CI checks out by default."""
    seeing.branch("topic")
    seeing.write("mine.txt", "x")
    seeing.commit()
    seeing.git("switch", "-q", "main")
    seeing.write("theirs.txt", "x")
    seeing.commit()
    clone = tmp_path / "clone"
    seeing.git("clone", "-q", "--depth", "1", "--no-single-branch", "-b", "topic", seeing.root.as_uri(), str(clone))
    done = seeing.run("check", "--changed", "origin/main", cwd=str(clone))
    assert done.code == 3
    assert "; the clone is shallow, fetch its history first: git fetch --unshallow\n" in done.out


def test_outside_of_a_repository_is_an_error(seeing: Repo, tmp_path: Path) -> None:
    """Never an empty run."""
    (tmp_path / "plain").mkdir()
    done = seeing.run(
        "check", "--changed", "main", cwd=str(tmp_path / "plain"), env={"GIT_CEILING_DIRECTORIES": str(tmp_path)}
    )
    assert (done.code, done.out) == (3, f"error  not inside a git repository{NONE_RAN}")


@pytest.mark.parametrize("base", ["sub", "./sub/", "one.txt"])
def test_a_path_is_no_base(seeing: Repo, base: str) -> None:
    """``--changed sub`` is a likely slip, and git's words alone would not say so."""
    seeing.write("sub/x", "")
    done = seeing.run("check", "--changed", base)
    assert done.code == 3
    assert f"; `{base}` is a path, but a base is a revision, such as origin/main\n" in done.out


@pytest.mark.parametrize("base", ["--output=x", "@{-1}", "HEAD:one.txt", "main..topic", "a b", "\x1b[31m", "x\ny"])
def test_a_base_is_only_ever_a_revision(seeing: Repo, base: str) -> None:
    """Hostile names come back as errors, and nothing is written."""
    before = sorted(path.name for path in seeing.root.iterdir())
    done = seeing.run("check", f"--changed={base}")
    assert done.code == 3
    assert done.out.startswith("error  cannot find the merge-base of ")
    assert "\x1b" not in done.out
    assert sorted(path.name for path in seeing.root.iterdir()) == before


@pytest.mark.parametrize("setting", ["true", "input"])
@pytest.mark.parametrize("edition", EDITIONS)
def test_line_endings_that_git_converts_are_no_change(repo: Repo, setting: str, edition: str) -> None:
    """With CRLF settings the bytes on disk are not those of the commit, and still nothing changed."""
    repo.git("config", "core.autocrlf", setting)
    repo.write("Reqfile.yaml", reqfile_text(SEEN))
    repo.write(".reqfile/SEEN/words.lst", "one\r\ntwo\r\n")
    repo.write("one.txt", "1\r\n")
    repo.commit()
    repo.branch("topic")
    repo.write("two.txt", "2\r\n")
    repo.write(".gitattributes", "*.txt text\n")
    assert files_of(repo.run("check", "--changed", "main", "--edition", edition)) == ["two.txt"]
    # A changed Reqfile makes edition 0.4 compare blocks, assets included: they are as they were.
    repo.write("Reqfile.yaml", "# a comment\n" + reqfile_text(SEEN).replace("\n", "\r\n"))
    expected = ["one.txt", "two.txt"] if edition == "0.1" else ["two.txt"]
    assert files_of(repo.run("check", "--changed", "main", "--edition", edition)) == expected


@pytest.mark.parametrize("edition", EDITIONS)
def test_a_file_that_git_no_longer_shows_is_deleted(seeing: Repo, edition: str) -> None:
    """Untracked and ignored now, though still on disk: no target of a full run, so none of this one."""
    trigger = block("TRIG", run("echo ran; exit 1", files="*.txt"))
    seeing.write("Reqfile.yaml", reqfile_text(SEEN, trigger))
    seeing.commit()
    seeing.branch("topic")
    seeing.git("rm", "-q", "--cached", "one.txt")
    seeing.write(".gitignore", "one.txt\n")
    done = seeing.run("check", "--changed", "main", "--edition", edition)
    assert done.out.startswith("TRIG  ran\n")
    assert "1 check run, 1 with nothing to check" in done.out
    seeing.delete(".gitignore")
    done = seeing.run("check", "--changed", "main", "--edition", edition)
    assert files_of(done) == ["one.txt"]


def test_a_file_that_became_a_symlink_is_deleted(seeing: Repo) -> None:
    """It triggers what takes no files, and is never given to a command; a new symlink is nothing at all."""
    trigger = block("TRIG", run("echo ran; exit 1", files="*.txt"))
    seeing.write("Reqfile.yaml", reqfile_text(SEEN, trigger))
    seeing.commit()
    seeing.branch("topic")
    seeing.symlink("link.txt", "two.txt")
    assert "0 checks run, 2 with nothing to check" in seeing.run("check", "--changed", "main").out
    seeing.delete("one.txt")
    seeing.symlink("one.txt", "two.txt")
    done = seeing.run("check", "--changed", "main")
    assert done.out.startswith("TRIG  ran\n")
    assert "1 check run, 1 with nothing to check" in done.out


@pytest.mark.parametrize("edition", EDITIONS)
def test_odd_names_are_files_like_any(seeing: Repo, edition: str) -> None:
    """Spaces, newlines, quotes, leading dashes and bytes that are no text."""
    names = ("a b.txt", "-x.txt", 'q"uote.txt', "new\nline.txt", "ünï.txt", "byte\udcff.txt")
    for name in names:
        seeing.write(name, "x")
    done = seeing.run("check", "--changed", "main", "--edition", edition)
    assert done.code == 1
    assert done.out.startswith("SEEN  saw ./-x.txt a b.txt byte")
    assert 'q"uote.txt ünï.txt' in done.out.replace("\n", " ")


@pytest.mark.parametrize("edition", EDITIONS)
def test_an_invalid_reqfile_at_the_base_widens(seeing: Repo, edition: str) -> None:
    """What applied then cannot be known (edition 0.4), or the Reqfile changed (0.1): every file is looked at."""
    seeing.write("Reqfile.yaml", "reqfile: 1\ncode: oops\n")
    seeing.commit()
    seeing.branch("topic")
    seeing.write("Reqfile.yaml", reqfile_text(SEEN))
    assert files_of(seeing.run("check", "--changed", "main", "--edition", edition)) == ["one.txt", "two.txt"]


@pytest.mark.parametrize("edition", EDITIONS)
def test_a_commit_hook_asks_about_the_repository_it_runs_in(seeing: Repo, edition: str) -> None:
    """git gives hooks its own index and folder; what they say must not bend the answer."""
    seeing.write("one.txt", "changed\n")
    env = {"GIT_DIR": str(seeing.root / ".git"), "GIT_INDEX_FILE": str(seeing.root / ".git" / "index.hook")}
    assert files_of(seeing.run("check", "--changed", "main", "--edition", edition, env=env)) == ["one.txt"]


def test_every_distinct_base_is_asked_once(seeing: Repo) -> None:
    """Thirty folders, two bases between them: two merge-bases, one comparison, one look through the folders."""
    for number in range(30):
        seeing.write(f"d{number}/Reqfile.yaml", reqfile_text(block(f"R_{number}", seen())))
    seeing.write(".reqfile/config.yaml", "base: main\n")
    seeing.write("d7/.reqfile/config.yaml", "base: release\n")
    seeing.commit()
    seeing.git("branch", "release")
    log = seeing.home / "git-log"
    fake = seeing.home / "bin" / "git"
    fake.parent.mkdir()
    real = seeing.execute("sh", "-c", "command -v git").out.strip()
    fake.write_text(f'#!/bin/sh\necho "$*" >> "{log}"\nexec "{real}" "$@"\n')
    fake.chmod(0o755)
    seeing.run("check", "--changed", env={"PATH": f"{fake.parent}:{seeing.variables['PATH']}"})
    calls = log.read_text().replace("-c core.preloadIndex=false ", "").splitlines()  # where processors are few
    asked = [call.split("--no-pager ")[1].split(" ")[0] for call in calls]
    assert sorted(asked) == ["diff", "ls-files", "merge-base", "merge-base", "rev-parse"]


@pytest.mark.parametrize("edition", EDITIONS)
@pytest.mark.parametrize("flag", ["--assume-unchanged", "--skip-worktree"])
def test_a_file_that_git_was_told_to_overlook_is_compared(seeing: Repo, flag: str, edition: str) -> None:
    """git diff says nothing of it; a full run looks at it as it is on disk, so an edit counts, and only an edit."""
    seeing.git("config", "core.autocrlf", "true")
    seeing.git("update-index", flag, "one.txt", "two.txt")
    seeing.write("one.txt", "changed\n")
    seeing.write("two.txt", "2\r\n")
    assert files_of(seeing.run("check", "--changed", "main", "--edition", edition)) == ["one.txt"]
    seeing.git("update-index", flag, "Reqfile.yaml")
    seeing.write("Reqfile.yaml", reqfile_text(SEEN, block("MORE", run("echo ran; exit 1", files="two.txt"))))
    done = seeing.run("check", "--changed", "main", "--only", "MORE", "--edition", edition)
    assert done.out.startswith("MORE  ran\n")


def test_an_overlooked_file_that_is_gone_was_deleted(seeing: Repo) -> None:
    """Unless it was left out of the checkout: what is not meant to be on disk did not change."""
    seeing.write("Reqfile.yaml", reqfile_text(block("TRIG", run("echo ran; exit 1", files="*.txt"))))
    seeing.commit()
    seeing.git("update-index", "--assume-unchanged", "one.txt")
    seeing.delete("one.txt")
    assert seeing.run("check", "--changed", "main").out.startswith("TRIG  ran\n")
    seeing.git("update-index", "--no-assume-unchanged", "one.txt")
    seeing.git("update-index", "--skip-worktree", "one.txt")
    assert "0 checks run, 1 with nothing to check" in seeing.run("check", "--changed", "main").out


def test_the_order_of_diffs_is_nobodys_setting(seeing: Repo) -> None:
    """``diff.orderFile`` may name a file that is not there, which git takes for an error."""
    seeing.git("config", "diff.orderFile", "nowhere")
    seeing.write("one.txt", "changed\n")
    assert files_of(seeing.run("check", "--changed", "main")) == ["one.txt"]
