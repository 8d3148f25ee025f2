"""A repository opened for one run: its listing, its settings and everything it requires."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

from pytest_reqfile.reqfile.catalog import Catalog, load_catalog
from pytest_reqfile.reqfile.sources import GitSources
from pytest_reqfile.reqfile.trials import Trials
from pytest_reqfile.workspace.environment import Environment, for_command
from pytest_reqfile.workspace.git import Git, discover_root
from pytest_reqfile.workspace.snapshot import Snapshot


@dataclass(frozen=True, kw_only=True)
class Repository:
    """One repository as one run sees it. ``environment`` is that of our own process, read once.

    ``cached_only`` keeps loading from fetching other repositories (``--collect-only``); ``trials`` are what ``--use``
    adds.
    """

    git: Git
    snapshot: Snapshot
    environment: Environment
    cached_only: bool = False
    trials: Trials | None = None

    @property
    def root(self) -> str:
        """The canonical absolute path of the repository."""
        return str(self.snapshot.root)

    @cached_property
    def sources(self) -> GitSources:
        """Other repositories, each loaded at most once."""
        return GitSources(self.environment, cached_only=self.cached_only)

    @cached_property
    def catalog(self) -> Catalog:
        """Every requirement; loaded at first use."""
        return load_catalog(self.snapshot, self.root, self.sources, self.trials)

    def command_environment(self, more_secrets: Iterable[str] = ()) -> Environment:
        """What commands see: nothing of a surrounding git hook, and no key that a decision check would use."""
        settings = self.catalog.settings
        folders = {"", *(config.folder for config in settings.configs)}
        secrets = {settings.decision(folder).api_key_env for folder in folders}
        return for_command(self.environment, tuple(sorted(secrets.union(more_secrets))))


def open_repository(
    cwd: Path, environment: Environment, *, cached_only: bool = False, trials: Trials | None = None
) -> Repository:
    """The repository that holds ``cwd``. Raises GitError ``not inside a git repository``."""
    root = discover_root(cwd, environment)
    git = Git(root, environment)
    return Repository(git=git, snapshot=Snapshot(git), environment=environment, cached_only=cached_only, trials=trials)
