"""Remote sources brought to this machine by git, for everyone who locks here (seed 001 "Version constraints"; issue 7).

Nothing of a repository is ever checked out or run: its files are copied from git's objects into the user's cache, by
commit, and read there by those who follow no symlink.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Final, TypeVar

from pytest_reqfile.errors import GitError, UsageError, WorkspaceError
from pytest_reqfile.lock.cached_content import find_cached, part_of, source_store
from pytest_reqfile.lock.remote_url import RemotePlace, place_of
from pytest_reqfile.lock.remotes import CachedTree, FindCached, is_full_commit
from pytest_reqfile.lock.tags import Tag, read_tags
from pytest_reqfile.project.values import Source
from pytest_reqfile.workspace.environment import Environment
from pytest_reqfile.workspace.extraction import Part
from pytest_reqfile.workspace.remotes import Remotes
from pytest_reqfile.workspace.source_store import SourceStore, is_commit
from pytest_reqfile.workspace.tree_listing import TooLargeError

MAX_BYTES: Final = 256 * 1024 * 1024
MAX_FILES: Final = 20_000
BYTES_VARIABLE: Final = "AI_RULEZ_MAX_CLONE_BYTES"
FILES_VARIABLE: Final = "AI_RULEZ_MAX_CLONE_FILES"
_LONGEST_REF: Final = 4096
_REF_SHOWN: Final = 100
_SHA_256: Final = 64
_CONTROL: Final = frozenset(map(chr, (*range(0x20), 0x7F)))
Answers = dict[tuple[str, ...], object]
"""What remotes have said in this run, by what they were asked; failures, too."""
_Answer = TypeVar("_Answer")


class OfflineError(WorkspaceError):
    """The network would be needed and may not be used."""


class Fetcher:
    """Asks the repositories of one project, each question once a run; answers and failures are both remembered.

    ``root`` is the project's folder, where relative file URLs start. ``offline`` turns every question to a remote into
    an ``OfflineError``. ``remotes`` is how repositories are reached; None makes the usual way. ``answers`` are shared
    by the projects of a run.
    """

    def __init__(
        self,
        environment: Environment,
        root: Path,
        *,
        offline: bool = False,
        remotes: Remotes | None = None,
        answers: Answers | None = None,
    ) -> None:
        self.offline = offline
        self._environment = environment
        self._root = root
        self._remotes = remotes or Remotes(environment=environment)
        self._answers: Answers = answers if answers is not None else {}
        self.cached: FindCached = find_cached(environment)

    def tags(self, source: Source) -> tuple[Tag, ...]:
        """Every tag of the source's repository. Raises ``ReqfileError`` where it cannot be asked."""
        place = self._place(source)
        return self._once(("tags", place.key), lambda: read_tags(self._reach(place).tags(place.url)), place)

    def commit_of(self, source: Source) -> str:
        """The commit that a plain ref leads to: a branch, else a tag; the default branch where none is written.

        A full commit id is itself. Raises ``ReqfileError`` where there is none, or nobody can be asked.
        """
        if is_full_commit(source.ref):
            return source.ref
        place = self._place(source)
        return self._once(("ref", place.key, source.ref), lambda: self._resolve(place, source.ref), place)

    def tree(self, source: Source, commit: str) -> CachedTree:
        """The content of a source at ``commit``, brought from its repository to the cache, once a run.

        So it is what the commit holds, whatever somebody did to the cache before: what is pinned anew comes from here,
        and ``cached`` is for what a pin can be compared with. Raises ``ReqfileError`` where it cannot be fetched, is
        too large, or may not be written.
        """
        place, part = self._place(source), self._part(source)
        try:
            _refuse_foreign(commit)
        except GitError as error:
            raise GitError(f"{place.shown}: {error}") from error
        key = ("tree", place.key, commit, part.name)
        return self._once(key, lambda: self._fetch(place, commit, part), place)

    def bring(self, source: Source, reference: str, store: Path) -> None:
        """Fetch one reference (a refspec) of the source's repository without history into an empty bare repository."""
        place = self._place(source)
        self._refuse_offline(place)
        self._reach(place).fetch_alone(store, place.url, reference, self._part(source).max_bytes)

    def _fetch(self, place: RemotePlace, commit: str, part: Part) -> CachedTree:
        remote = self._reach(place)

        def fetch(into: Path) -> None:
            remote.fetch_alone(into, place.url, commit, part.max_bytes)

        try:
            folder = self._store().receive_part(fetch, commit, part)
        except TooLargeError as error:
            raise TooLargeError(f"{error} ({FILES_VARIABLE} and {BYTES_VARIABLE} set the limits)") from error
        if folder is None:
            raise GitError(f"{commit} names no commit there")
        return CachedTree(folder=folder, commit=commit)

    def _resolve(self, place: RemotePlace, ref: str) -> str:
        names = (f"refs/heads/{ref}", f"refs/tags/{ref}^{{}}", f"refs/tags/{ref}") if ref else ("HEAD",)
        if len(ref) > _LONGEST_REF or not _CONTROL.isdisjoint(ref):  # git has none like it, and could not be asked
            raise GitError(_no_such(ref))
        lines = self._reach(place).references(place.url, *names).split("\n")
        found = {name: oid for oid, _, name in (line.partition("\t") for line in lines)}
        commit = next((found[name] for name in names if name in found), None)
        if commit is None:
            raise GitError(_no_such(ref))
        _refuse_foreign(commit)
        return commit

    def _once(self, key: tuple[str, ...], ask: Callable[[], _Answer], place: RemotePlace) -> _Answer:
        """An answer holds for every spelling of a repository, a failure for this one and its credentials alone."""
        self._refuse_offline(place)
        failed = (*key, place.url, str(hash(place.settings)))
        if key not in self._answers and failed not in self._answers:
            try:
                self._answers[key] = ask()
            except WorkspaceError as error:
                self._answers[failed] = type(error)(f"{place.shown}: {' '.join(str(error).split())}")
        answer = self._answers[key] if key in self._answers else self._answers[failed]
        if isinstance(answer, WorkspaceError):
            raise answer
        return answer  # type: ignore[return-value] # the key says what was asked

    def _refuse_offline(self, place: RemotePlace) -> None:
        if self.offline:
            raise OfflineError(f"{place.shown} is not asked offline")

    def _reach(self, place: RemotePlace) -> Remotes:
        return replace(self._remotes, protocols=place.protocols, settings=place.settings)

    def _place(self, source: Source) -> RemotePlace:
        return place_of(source.source, self._root, self._environment)

    def _store(self) -> SourceStore:
        return source_store(self._environment)

    def _part(self, source: Source) -> Part:
        return replace(
            part_of(source),
            max_bytes=_limit(self._environment, BYTES_VARIABLE, MAX_BYTES),
            max_files=_limit(self._environment, FILES_VARIABLE, MAX_FILES),
        )


def _refuse_foreign(commit: str) -> None:
    if len(commit) == _SHA_256 and not set(commit) - set("0123456789abcdef"):
        raise GitError("it names commits by SHA-256, which a lock cannot record here")
    if not is_commit(commit):
        raise GitError(f'"{commit}" is no commit id')


def _no_such(ref: str) -> str:
    if not ref:
        return "it has no default branch"
    hint = " (a commit id is written in lower case)" if is_commit(ref.lower()) else ""
    shown = ref if len(ref) <= _LONGEST_REF else f"{ref[:_REF_SHOWN]}..."
    return f'it has no branch or tag "{shown}"{hint}'


def _limit(environment: Environment, variable: str, default: int) -> int:
    text = environment.get(variable)
    if not text:
        return default
    if not (text.isascii() and text.isdecimal() and int(text) > 0):
        raise UsageError(f"{variable} must be a whole number above 0, found {text!r}")
    return int(text)
