"""workspace/git_listing.py, git_call.py and reqfile/diffs.py: what is asked of git ahead of need (issue 3.5)."""

from __future__ import annotations

import gc
import os
import warnings
from pathlib import Path

import pytest

from pytest_reqfile.errors import GitError
from pytest_reqfile.reqfile.diffs import Diffs, likely_base
from pytest_reqfile.workspace.git_listing import GitListing
from tests.support import Repo

NAMES = (
    "Reqfile.yaml",
    "a/REQFILE.YML",
    "a b",
    "new\nline",
    "ü",
    "byte\udcff",
    "notreqfile.yaml",
    "? x",
    "reqfile.yaml.bak",
)


@pytest.fixture
def listed(repo: Repo) -> GitListing:
    """Tracked and untracked files of odd names, an ignored one, one in conflict with itself."""
    for name in NAMES[:5]:
        repo.write(name)
    repo.write(".gitignore", "ignored\n")
    repo.write("ignored")
    repo.commit()
    for name in NAMES[5:]:
        repo.write(name)
    return GitListing(repo.workspace_git())


def test_the_listing_is_gits_own(repo: Repo, listed: GitListing) -> None:
    """Tracked and untracked ones in byte order, the letters of ``-t`` gone."""
    assert listed.list_files() == repo.workspace_git().list_files()
    assert listed.untracked == repo.workspace_git().untracked()
    assert set(listed.untracked) == set(NAMES[5:])
    assert all(path in listed for path in listed.list_files())
    assert not any(path in listed for path in ("ignored", "", "a", 1))


def test_few_paths_are_found_among_all(listed: GitListing) -> None:
    """As looking at each of them would."""
    endings = ("reqfile.yaml", "reqfile.yml")
    expected = tuple(path for path in listed.list_files() if path.lower().endswith(endings))
    assert listed.with_ending(endings) == expected
    assert expected == ("Reqfile.yaml", "a/REQFILE.YML", "notreqfile.yaml")


def test_an_empty_repository_lists_nothing(repo: Repo) -> None:
    """No file is an answer."""
    listing = GitListing(repo.workspace_git())
    assert (listing.list_files(), listing.untracked, listing.with_ending(("x",))) == ((), (), ())


def test_a_listing_that_fails_is_an_error(repo: Repo) -> None:
    """Never an empty listing; in the words of git, each time it is asked."""
    repo.write("x")
    repo.git("add", "x")
    repo.path(".git/index").write_bytes(b"garbage")
    listing = GitListing(repo.workspace_git())
    for _ in range(2):
        with pytest.raises(GitError, match=r"^git ls-files -z -v .* failed: fatal: .*index"):
            listing.list_files()


def test_an_answer_nobody_wants_leaves_nothing(repo: Repo) -> None:
    """Neither a process nor an open file, and no warning."""
    git = repo.workspace_git()
    before = len(os.listdir("/proc/self/fd")) if Path("/proc/self/fd").exists() else 0
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        for _ in range(5):
            git.start("ls-files", "-z")
        gc.collect()
    after = len(os.listdir("/proc/self/fd")) if before else 0
    assert after <= before


def test_a_missing_git_is_an_error_at_the_start(repo: Repo, tmp_path: Path) -> None:
    """Before anything else happens."""
    repo.variables["PATH"] = str(tmp_path)
    with pytest.raises(GitError, match=r"^could not run git: "):
        GitListing(repo.workspace_git())


@pytest.mark.parametrize(
    ("text", "base"),
    [
        ("base: main\n", "main"),
        ("exclude: []\nbase: 'origin/main'  # where we branch off\n", "origin/main"),
        ('base: "v1"\n', "v1"),
        ("decision:\n  base: nested\n", None),
        ("base:\n", None),
        ("", None),
        ("\xff", None),
    ],
)
def test_the_likely_base(repo: Repo, text: str, base: str | None) -> None:
    """Guessed from one line of the root's config; what it really says is read later."""
    repo.write(".reqfile/config.yaml", text.encode("latin-1"))
    assert likely_base(repo.snapshot()) == base


def test_without_a_config_there_is_no_likely_base(repo: Repo) -> None:
    """Nor where it is a symlink."""
    assert likely_base(repo.snapshot()) is None
    repo.symlink(".reqfile/config.yaml", "/etc/hostname")
    assert likely_base(repo.snapshot()) is None


def test_a_wrong_guess_is_told_by_nobody(repo: Repo) -> None:
    """Only who needs the base hears that it does not exist, and hears it every time."""
    diffs = Diffs(repo.workspace_git())
    diffs.begin("nowhere")
    diffs.begin(None)
    for _ in range(2):
        with pytest.raises(GitError, match="cannot find the merge-base of nowhere and HEAD"):
            diffs.merge_base("nowhere")
    assert diffs.default_branch() is None
    commit = diffs.merge_base("main")
    repo.write("x")
    repo.git("add", "x")
    assert [change.path for change in diffs.changes(commit)] == ["x"]
