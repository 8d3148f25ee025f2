"""Where ``reqfile lock`` was started: light to import, so that git lists files while the rest is imported."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING

from pytest_reqfile.errors import GitError, WorkspaceError
from pytest_reqfile.workspace.environment import Environment, cache_folder
from pytest_reqfile.workspace.git import Git, discover_root, refuse_unanswered
from pytest_reqfile.workspace.git_listing import GitListing
from pytest_reqfile.workspace.program import current_folder

if TYPE_CHECKING:
    from pytest_reqfile.project.resources import GitView
    from pytest_reqfile.reqfile.repository import Repository
    from pytest_reqfile.workspace.leaf_cache import LeafCache


@dataclass(kw_only=True)
class Surroundings:
    """The current folder and the repository that holds it, if there is one; asked once."""

    environment: Environment

    @cached_property
    def root(self) -> Path | None:
        """The repository's top folder; None outside of git. Raises ``GitError`` where git does not answer."""
        try:
            return discover_root(current_folder(), self.environment)
        except GitError as error:
            refuse_unanswered(current_folder(), error)
            return None

    @cached_property
    def listing(self) -> GitListing | None:
        """git at work on the list of files, from the first time it is asked for."""
        return GitListing(Git(self.root, self.environment)) if self.root is not None else None

    @cached_property
    def listed(self) -> tuple[str, ...]:
        """The repository's files; none outside of git."""
        return self.listing.list_files() if self.listing is not None else ()

    @cached_property
    def view(self) -> GitView | None:
        """What git knows of the files."""
        from pytest_reqfile.project.resources import GitView

        if self.root is None or self.listing is None:
            return None
        return GitView(git=Git(self.root, self.environment), listed=self.listing)

    def repository(self, *, cached_only: bool) -> Repository:
        """The repository with its requirements; ``cached_only`` keeps it from the network."""
        from pytest_reqfile.reqfile.repository import open_repository

        return open_repository(current_folder(), self.environment, cached_only=cached_only)

    def cache(self, root: Path) -> LeafCache | None:
        """The digests of files that have not changed; None where there is no place for them."""
        from pytest_reqfile.lock.opening import leaf_cache

        try:
            return leaf_cache(root, cache_folder(self.environment))
        except WorkspaceError:
            return None

    def user_config(self) -> Path | None:
        """The user's own ``ai-rulez`` folder, which is no project."""
        for variable, below in (("XDG_CONFIG_HOME", "ai-rulez"), ("HOME", ".config/ai-rulez")):
            if value := self.environment.get(variable):
                return Path(value, below)
        return None
