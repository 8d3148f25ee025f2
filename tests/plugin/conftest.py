"""A project under test: a git repository in which pytest is run with the plugin, in the three xdist modes."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import git  # noqa: F401  loaded before pytester remembers what is: its C twin would outlive a reload
import pytest
import re2  # noqa: F401
import yaml  # noqa: F401

from tests.support import Repo

MODES = {"workers": ("-n", "2"), "idle": (), "without": ("-p", "no:xdist")}


@pytest.fixture(params=MODES, ids=str)
def mode(request: pytest.FixtureRequest) -> tuple[str, ...]:
    """The arguments of one xdist mode: two workers, installed but unused, not loaded."""
    return MODES[request.param]


@pytest.fixture
def project(
    pytester: pytest.Pytester,
    repo_template: Path,
    tmp_path_factory: pytest.TempPathFactory,
    monkeypatch: pytest.MonkeyPatch,
) -> Repo:
    """A git repository in pytester's folder; in-process runs see its variables and none of a surrounding command."""
    repo = Repo(pytester.path, tmp_path_factory.mktemp("home"), repo_template)
    for name in ("REQFILE_RUN", "REQFILE_EDITION"):
        monkeypatch.delenv(name, raising=False)
    repo.variables["COLUMNS"] = "200"  # summary lines are cut at the terminal's width
    monkeypatch.setenv("COLUMNS", "200")
    for name, value in repo.variables.items():
        if name.startswith(("GIT_", "REQFILE_", "PYTEST_")):
            monkeypatch.setenv(name, value)
    return repo


@pytest.fixture
def run(pytester: pytest.Pytester, project: Repo) -> Callable[..., pytest.RunResult]:
    """Runs pytest in this process, where a fraction of a second counts."""
    del project

    def run_inline(*arguments: str) -> pytest.RunResult:
        return pytester.runpytest_inprocess("-p", "no:cacheprovider", "-p", "no:randomly", *arguments)

    return run_inline
