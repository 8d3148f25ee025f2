"""What git is given when it reaches for a remote."""

from __future__ import annotations

from pathlib import Path

import pytest

from pytest_reqfile.errors import GitError
from pytest_reqfile.workspace.environment import Environment
from pytest_reqfile.workspace.remotes import Remotes
from tests.support import Repo


@pytest.fixture
def seen(repo: Repo, tmp_path: Path) -> Path:
    """The folder in which a git that only notes what it is given leaves its arguments and variables."""
    shim = tmp_path / "bin/git"
    shim.parent.mkdir()
    shim.write_text(f'#!/bin/sh\nenv > "{tmp_path}/env"\nprintf "%s\\n" "$@" > "{tmp_path}/argv"\n')
    shim.chmod(0o755)
    repo.variables["PATH"] = f"{shim.parent}:{repo.variables['PATH']}"
    return tmp_path


def variables(seen: Path) -> dict[str, str]:
    lines = (seen / "env").read_text().splitlines()
    return {name: value for name, _, value in (line.partition("=") for line in lines)}


def test_settings_come_after_those_of_the_environment(repo: Repo, seen: Path) -> None:
    """A container's ``safe.directory`` stays; arguments hold no secret."""
    given = {"GIT_CONFIG_COUNT": "1", "GIT_CONFIG_KEY_0": "safe.directory", "GIT_CONFIG_VALUE_0": "*"}
    environment = Environment(variables={**repo.variables, **given})
    Remotes(environment=environment, settings=(("http.x.extraHeader", "secret"), ("a.b", "c"))).tags("https://h/r")
    found = variables(seen)
    assert found["GIT_CONFIG_COUNT"] == "3"
    pairs = [(found[f"GIT_CONFIG_KEY_{number}"], found[f"GIT_CONFIG_VALUE_{number}"]) for number in range(3)]
    assert pairs == [("safe.directory", "*"), ("http.x.extraHeader", "secret"), ("a.b", "c")]
    assert "secret" not in (seen / "argv").read_text()
    assert (found["GIT_TERMINAL_PROMPT"], "GIT_ALLOW_PROTOCOL" in found) == ("0", False)


@pytest.mark.parametrize(
    ("users", "allowed"), [(None, "https:ssh"), ("https:git:file", "https"), ("file", ""), ("", "")]
)
def test_protocols(repo: Repo, seen: Path, users: str | None, allowed: str) -> None:
    """Ours, and never more than the user allows."""
    environment = Environment(variables={**repo.variables, **({} if users is None else {"GIT_ALLOW_PROTOCOL": users})})
    Remotes(environment=environment, protocols=("https", "ssh")).references("https://h/r", "HEAD")
    assert variables(seen)["GIT_ALLOW_PROTOCOL"] == allowed


def test_no_window_opens(repo: Repo, seen: Path) -> None:
    """A desktop's program that asks for passwords is not git's to start; one that somebody set for git is."""
    environment = Environment(variables={**repo.variables, "SSH_ASKPASS": "ksshaskpass", "GIT_ASKPASS": "vault"})
    Remotes(environment=environment).tags("https://h/r")
    found = variables(seen)
    assert ("SSH_ASKPASS" in found, found["SSH_ASKPASS_REQUIRE"], found["GIT_ASKPASS"]) == (False, "never", "vault")


def test_one_commit_without_its_history(repo: Repo, tmp_path: Path) -> None:
    """Nothing else arrives, no reference is written, whatever object format new repositories have by default."""
    repo.write("old", "old")
    repo.commit()
    repo.delete("old")
    repo.write("new", "new")
    commit = repo.commit()
    store = tmp_path / "store.git"
    repo.git("init", "-q", "--bare", "--template=", str(store))
    Remotes(environment=repo.environment).fetch_alone(store, f"file://{repo.root}", commit, 10_000)
    listed = repo.execute("git", f"--git-dir={store}", "cat-file", "--batch-all-objects", "--batch-check").out
    assert sorted(line.split()[1] for line in listed.splitlines()) == ["blob", "commit", "tree"]
    assert repo.execute("git", f"--git-dir={store}", "for-each-ref").out == ""
    with pytest.raises(GitError, match=r"not our ref|no such remote ref|unadvertised"):
        Remotes(environment=repo.environment).fetch_alone(store, f"file://{repo.root}", "1" * 40, 10_000)


def test_a_listing_without_end(repo: Repo, seen: Path) -> None:
    """It is told as what it is; a part of it is no answer."""
    (seen / "bin/git").write_text("#!/bin/sh\nhead -c 68000000 /dev/zero\n")
    with pytest.raises(GitError) as refused:
        Remotes(environment=Environment(variables=repo.variables)).tags("https://me:secret@h/r")
    assert str(refused.value) == "https://h/r answers with more than 64 MiB"
