"""A repository opened for one run: its listing, its settings and everything it requires."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING

from pytest_reqfile.workspace.environment import Environment, for_command
from pytest_reqfile.workspace.git import Git, find_repository
from pytest_reqfile.workspace.git_listing import GitListing
from pytest_reqfile.workspace.snapshot import Snapshot

if TYPE_CHECKING:
    # Loaded when the catalog is: until then git lists the files (issue 3.5).
    from pytest_reqfile.reqfile.catalog import Catalog
    from pytest_reqfile.reqfile.diffs import Diffs
    from pytest_reqfile.reqfile.parsed_store import ParsedStore
    from pytest_reqfile.reqfile.parsing import Parser
    from pytest_reqfile.reqfile.sources import GitSources, Source
    from pytest_reqfile.reqfile.trials import Trials
    from pytest_reqfile.reqfile.values import RepositoryUse
    from pytest_reqfile.workspace.git_ahead import Ahead


@dataclass(frozen=True, kw_only=True)
class Repository:
    """One repository as one run sees it. ``environment`` is that of our own process, read once.

    ``cached_only`` keeps loading from fetching other repositories (``--collect-only``); ``trials`` are what ``--use``
    adds. Parsed files are kept in ``git_folder``, which worktrees share; None keeps nothing.
    """

    git: Git
    listing: GitListing
    snapshot: Snapshot
    environment: Environment
    cached_only: bool = False
    trials: Trials | None = None
    git_folder: Path | None = None

    @property
    def root(self) -> str:
        """The canonical absolute path of the repository."""
        return str(self.snapshot.root)

    @cached_property
    def sources(self) -> GitSources:
        """Other repositories, each loaded at most once."""
        from pytest_reqfile.reqfile.sources import GitSources

        return GitSources(self.environment, cached_only=self.cached_only)

    @cached_property
    def diffs(self) -> Diffs:
        """What differs from other commits, each asked for once."""
        from pytest_reqfile.reqfile.diffs import Diffs

        return Diffs(self.git)

    def expect_changes(self, base: str | None) -> None:
        """Let git compare while everything else is imported and read: what changed since ``base`` is asked soon.

        None is the base that the root's config seems to name, else the default branch. A wrong guess costs git's work
        and nothing else.
        """
        from pytest_reqfile.reqfile.diffs import likely_base

        self.diffs.begin(base if base is not None else likely_base(self.snapshot))

    def load(self, use: RepositoryUse) -> Source:
        """A source at its pin: repositories that take nothing from others never meet the loader."""
        return self.sources.load(use)

    @cached_property
    def catalog(self) -> Catalog:
        """Every requirement; loaded at first use."""
        from pytest_reqfile.reqfile.catalog import load_catalog

        catalog = load_catalog(self.snapshot, self.root, self, self.trials, self.parser)
        if self.store is not None:
            self.store.save()
        return catalog

    @cached_property
    def store(self) -> ParsedStore | None:
        """Where parsed files are kept between runs."""
        if self.git_folder is None:
            return None
        from pytest_reqfile.reqfile.parsed_store import STORE_NAME, ParsedStore
        from pytest_reqfile.workspace.kept_file import KeptFile

        return ParsedStore(KeptFile(self.git_folder, STORE_NAME))

    @property
    def parser(self) -> Parser:
        """How Reqfiles and configs are read: from the store where there is one."""
        from pytest_reqfile.reqfile.parsing import DirectParser

        return self.store or DirectParser()

    def command_environment(self, more_secrets: Iterable[str] = ()) -> Environment:
        """What commands see: nothing of a surrounding git hook, and no key that a decision check would use.

        The usual variable is hidden also where every config names another, or a hostile one could ask for that.
        """
        from pytest_reqfile.reqfile.settings import DecisionSettings

        settings = self.catalog.settings
        named = {config.api_key_env for config in settings.configs if config.api_key_env is not None}
        secrets = {DecisionSettings().api_key_env, *named, *more_secrets}
        return for_command(self.environment, tuple(sorted(secrets)))


def open_repository(
    cwd: Path,
    environment: Environment,
    *,
    cached_only: bool = False,
    trials: Trials | None = None,
    keep_parsed: bool = False,
    ahead: Ahead | None = None,
) -> Repository:
    """The repository that holds ``cwd``. Raises GitError ``not inside a git repository``.

    git begins to list its files at once, or has begun ``ahead``. With ``keep_parsed`` what was parsed is kept in the
    git folder.
    """
    place = find_repository(cwd, environment, ahead)
    git = Git(place.root, environment, ahead)
    listing = GitListing(git)
    return Repository(
        git=git,
        listing=listing,
        snapshot=Snapshot(listing),
        environment=environment,
        cached_only=cached_only,
        trials=trials,
        git_folder=place.git_folder if keep_parsed else None,
    )
