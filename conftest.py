"""Fixtures for all tests; the helpers behind them are in tests/support/."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from tests.support import Repo, make_template
from tests.support.jev import Jev, serve
from tests.support.models import Models
from tests.support.models import serve as serve_models

pytest_plugins = ("pytester",)


@pytest.fixture(scope="session")
def repo_template(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The ``.git`` folder that every repository of the session starts from."""
    return make_template(tmp_path_factory.mktemp("template"))


@pytest.fixture
def make_repo(tmp_path: Path, repo_template: Path) -> Callable[[str], Repo]:
    """Makes a repository of the given name below ``tmp_path``."""

    def make(name: str) -> Repo:
        root = tmp_path / name
        root.mkdir(parents=True)
        return Repo(root, tmp_path / f"{name}.home", repo_template)

    return make


@pytest.fixture
def repo(make_repo: Callable[[str], Repo]) -> Repo:
    """A git repository with the one empty commit "start" on ``main``."""
    return make_repo("repo")


@pytest.fixture
def jev() -> Iterator[Jev]:
    """A local model service of this test."""
    with serve(Jev()) as service:
        yield service


@pytest.fixture
def models() -> Iterator[Models]:
    """A local service of this test that speaks the protocols of model providers."""
    with serve_models(Models()) as service:
        yield service
