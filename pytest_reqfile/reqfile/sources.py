"""Other repositories that requirements are taken from, pinned to a commit (spec reqfile.md 1.6)."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Final, NoReturn, Protocol

from pytest_reqfile.errors import GitError, WorkspaceError
from pytest_reqfile.reqfile.discovery import Discovery, discover
from pytest_reqfile.reqfile.tags import read_tags
from pytest_reqfile.reqfile.values import RepositoryUse
from pytest_reqfile.workspace.environment import Environment, cache_folder
from pytest_reqfile.workspace.snapshot import Snapshot

# Imported where first needed: most repositories take nothing from others (design 4, idle cost).
if TYPE_CHECKING:
    from pytest_reqfile.workspace.extraction import ExtractedTree
    from pytest_reqfile.workspace.remotes import Remotes
    from pytest_reqfile.workspace.source_store import SourceStore

DEFAULT_GIT_BASE: Final = "https://github.com"


@dataclass(frozen=True, slots=True, kw_only=True)
class Source:
    """Another repository at one commit: ``root`` is the absolute folder of its extracted tree.

    ``offline`` says that its tag could not be resolved now and the last resolution was used.
    """

    use: RepositoryUse
    commit: str
    root: str
    discovery: Discovery
    offline: bool = False


class SourceLoader(Protocol):
    """Brings a repository's tree to this machine."""

    def load(self, use: RepositoryUse) -> Source:
        """The source at its pin. Raises WorkspaceError with the whole message."""


class GitSources:
    """Sources fetched with git below ``$REQFILE_GIT_BASE`` and kept in the user's cache, by commit.

    A commit is fetched once per machine and a tag resolved once per run; ``cached_only`` fetches and resolves nothing.
    ``remotes`` is how repositories are reached; None makes the usual one.
    """

    def __init__(self, environment: Environment, *, cached_only: bool = False, remotes: Remotes | None = None) -> None:
        self._environment = environment
        self._cached_only = cached_only
        self._given_remotes = remotes
        self._loaded: dict[str, Source] = {}

    def load(self, use: RepositoryUse) -> Source:
        """The source at its pin, fetched if it is not in the cache. Raises WorkspaceError naming the location."""
        location = str(use)
        if location not in self._loaded:
            commit, offline = (use.ref, False) if use.commit else self._resolve(use)
            tree = self._store.extracted(commit) or self._bring(use, commit)
            discovery = discover(Snapshot(tree))
            self._loaded[location] = Source(
                use=use, commit=commit, root=str(tree.root), discovery=discovery, offline=offline
            )
        return self._loaded[location]

    def url(self, repo: str) -> str:
        """Where ``owner/repo`` is fetched from."""
        base = self._environment.get("REQFILE_GIT_BASE") or DEFAULT_GIT_BASE
        return f"{base.rstrip('/')}/{repo}"

    def tags(self, repo: str) -> dict[str, str]:
        """Every tag of the remote with its commit. Raises WorkspaceError when it cannot be reached."""
        url = self.url(repo)
        try:
            return read_tags(self._remotes.tags(url))
        except GitError as error:
            raise WorkspaceError(
                f"cannot read the tags of {repo}: {self._remotes.shown(url)} cannot be reached: {error}"
            ) from error

    @cached_property
    def _remotes(self) -> Remotes:
        from pytest_reqfile.workspace.remotes import Remotes

        return self._given_remotes or Remotes(environment=self._environment)

    @cached_property
    def _store(self) -> SourceStore:
        from pytest_reqfile.workspace.source_store import SourceStore

        return SourceStore(cache_folder(self._environment) / "sources", self._environment)

    def _resolve(self, use: RepositoryUse) -> tuple[str, bool]:
        """The commit of a tag and whether that is an earlier resolution, as the remote could not be asked now."""
        known = self._store.known_tag(use.repo, use.ref)
        if self._cached_only:
            if known is None:
                self._refuse_fetching(use)
            return known, True
        url, name = self.url(use.repo), f"refs/tags/{use.ref}"
        try:
            commit = read_tags(self._remotes.tags(url, name, f"{name}^{{}}")).get(use.ref)
        except GitError as error:
            if known is not None:
                return known, True
            raise WorkspaceError(
                f"cannot resolve {use}: {self._remotes.shown(url)} cannot be reached "
                f"and the tag was never resolved here: {error}"
            ) from error
        if commit is None:
            raise WorkspaceError(
                f"cannot resolve {use}: {self._remotes.shown(url)} has no tag {use.ref}; "
                "pin requirements to a tag or a full commit id, never a branch"
            )
        self._store.remember_tag(use.repo, use.ref, commit)
        return commit, False

    def _bring(self, use: RepositoryUse, commit: str) -> ExtractedTree:
        """Extract the commit, fetching it if need be; what a damaged store has lost is fetched into a new one."""
        try:
            if not self._store.has_commit(commit):
                self._fetch(use, commit)
            return self._extract(use, commit)
        except GitError:
            if self._store.is_sound(commit):
                raise
        self._fetch(use, commit, anew=True)
        return self._extract(use, commit)

    def _extract(self, use: RepositoryUse, commit: str) -> ExtractedTree:
        try:
            return self._store.extract(commit)
        except WorkspaceError as error:
            raise type(error)(f"cannot extract {use}: {error}") from error

    def _fetch(self, use: RepositoryUse, commit: str, *, anew: bool = False) -> None:
        if self._cached_only:
            self._refuse_fetching(use)
        url = self.url(use.repo)
        absent = f"cannot fetch {use}: commit {commit} is not in {self._remotes.shown(url)}"

        def fetch(into: Path) -> None:
            try:
                self._remotes.fetch(into, url, commit)
            except GitError as error:
                raise GitError(f"{absent}: {error}") from error

        receive = self._store.receive_anew if anew else self._store.receive
        if not receive(fetch, commit):
            raise GitError(f"{absent}: the id names no commit there")

    def _refuse_fetching(self, use: RepositoryUse) -> NoReturn:
        raise WorkspaceError(
            f"{use} is not in the cache {self._store.folder} and nothing is fetched here; `reqfile check` fetches it"
        )
