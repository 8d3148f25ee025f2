"""workspace/environment.py: what git and commands get to see."""

from __future__ import annotations

import pytest

from pytest_reqfile.workspace.environment import Environment, for_command, for_git
from tests.support import Repo


def environment(**variables: str) -> Environment:
    return Environment(variables=variables)


def test_a_value_does_not_change_with_its_source() -> None:
    """The mapping is copied, and cannot be written to."""
    source = {"A": "1"}
    env = Environment(variables=source)
    source["A"] = "2"
    assert env.get("A") == "1"
    with pytest.raises(TypeError):
        env.variables["A"] = "3"  # type: ignore[index]


def test_current_is_read_once(monkeypatch: pytest.MonkeyPatch) -> None:
    """Later changes of the process do not show."""
    monkeypatch.setenv("REQFILE_TEST_VALUE", "before")
    env = Environment.current()
    monkeypatch.setenv("REQFILE_TEST_VALUE", "after")
    assert env.get("REQFILE_TEST_VALUE") == "before"
    assert env.get("REQFILE_TEST_NOTHING") is None


def test_derived_values() -> None:
    """Each change is a new value."""
    env = environment(A="1", B="2")
    assert env.without(["A", "C"]) == environment(B="2")
    assert env.updated({"B": "3", "C": "4"}) == environment(A="1", B="3", C="4")
    assert env == environment(A="1", B="2")


def test_repr_shows_no_values() -> None:
    """Failures print local variables, and these hold keys."""
    assert repr(environment(KEY="hunter2")) == "<Environment of 1 variables>"


def test_git_sees_nothing_of_a_hook() -> None:
    """Every GIT_ variable goes but those that say where git and its configuration are and how remotes are reached."""
    kept = {
        "PATH": "/bin",
        "GIT_CONFIG_GLOBAL": "/dev/null",
        "GIT_CONFIG_NOSYSTEM": "1",
        "GIT_CONFIG_COUNT": "1",
        "GIT_CONFIG_KEY_0": "safe.directory",
        "GIT_CONFIG_VALUE_0": "*",
        "GIT_SSH_COMMAND": "ssh -i key",
        "GIT_ASKPASS": "ask",
        "GIT_CEILING_DIRECTORIES": "/tmp",
        "GIT_EXEC_PATH": "/usr/lib/git-core",
        "GIT_SSL_CAINFO": "ca.pem",
    }
    hook = ("DIR", "WORK_TREE", "INDEX_FILE", "PREFIX", "CONFIG_PARAMETERS", "EXTERNAL_DIFF", "TRACE", "NEW_IN_GIT_9")
    seen = for_git(Environment(variables={**kept, **{f"GIT_{name}": "x" for name in hook}, "LC_ALL": "de_DE"}))
    assert dict(seen.variables) == {**kept, "LC_ALL": "C", "GIT_TERMINAL_PROMPT": "0", "GIT_OPTIONAL_LOCKS": "0"}


def test_commands_see_no_hook_and_no_secret() -> None:
    """spec/reqfile.md 9: neither the repository of a hook nor the key; the rest is inherited (3.2)."""
    env = environment(GIT_DIR="x", GIT_INDEX_FILE="x", GIT_AUTHOR_NAME="me", JEV="key", OTHER="y", PATH="/bin")
    assert for_command(env, ("JEV", "NOT_SET")) == environment(GIT_AUTHOR_NAME="me", OTHER="y", PATH="/bin")


def test_gits_own_list_is_covered(repo: Repo) -> None:
    """What this git calls local to a repository never reaches a command, but for configuration users set themselves."""
    names = repo.git("rev-parse", "--local-env-vars").split()
    seen = for_command(Environment(variables=dict.fromkeys(names, "x")), ())
    assert set(seen.variables) == {"GIT_CONFIG_COUNT"}
    assert set(for_git(Environment(variables=dict.fromkeys(names, "x"))).variables) == {
        *("GIT_CONFIG_COUNT", "LC_ALL", "GIT_TERMINAL_PROMPT", "GIT_OPTIONAL_LOCKS")
    }
