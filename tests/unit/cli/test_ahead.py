"""cli/ahead.py: which command lines let git begin at once (issues 3.5 and 4.7)."""

from __future__ import annotations

import pytest

from pytest_reqfile.cli.ahead import begin_ahead
from pytest_reqfile.workspace.git_ahead import LISTING, git_command
from tests.support import Repo


@pytest.mark.parametrize(
    ("words", "asked"),
    [
        (["check", "--fast"], LISTING),
        (["verifiers", "run", "--since", "main"], LISTING),
        (["verifiers", "run", "--format", "json", "--since=main"], LISTING),
    ],
)
def test_git_begins(repo: Repo, monkeypatch: pytest.MonkeyPatch, words: list[str], asked: tuple[str, ...]) -> None:
    """For runs that have to know what is there, or what changed."""
    repo.write(".ai-rulez/config.toml")
    repo.commit()
    monkeypatch.chdir(repo.root)
    ahead = begin_ahead(words)
    assert ahead is not None
    assert ahead.holds(git_command(repo.root, asked))


@pytest.mark.parametrize(
    "line",
    ["", "check --help", "list", "verifiers", "verifiers run", "verifiers run --since", "verifiers test --since x"],
)
def test_git_does_not_begin(line: str) -> None:
    """For help, and where nothing is asked of it or nobody knows what."""
    assert begin_ahead(line.split()) is None
