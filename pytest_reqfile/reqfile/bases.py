"""The revisions a change is compared with, each asked of git once (seed 004 SELECTION; spec reqfile.md 5.2)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

from pytest_reqfile.errors import FormatError, GitError, Problem
from pytest_reqfile.reqfile.repository import Repository
from pytest_reqfile.reqfile.settings import CONFIG_NAME
from pytest_reqfile.reqfile.values import Requirement
from pytest_reqfile.workspace.paths import shown


@dataclass(frozen=True, slots=True, kw_only=True)
class _Base:
    """A revision and, where a config names it, the file and line that do."""

    revision: str
    path: str | None = None
    line: int | None = None


def find_merge_bases(repository: Repository, requirements: Sequence[Requirement], base: str | None) -> dict[str, str]:
    """The commit where HEAD left its base, for the folder of each requirement.

    Raises FormatError with a problem for each base that cannot be used and each folder without one.
    """
    finder = _Finder(repository, base)
    folders = dict.fromkeys(requirement.folder for requirement in requirements)
    commits = {folder: finder.commit(folder) for folder in folders}
    if finder.problems:
        raise FormatError(finder.problems)
    return {folder: commit for folder, commit in commits.items() if commit is not None}


class _Finder:
    """Asks about each revision once and keeps what is wrong, so that all of it can be told."""

    def __init__(self, repository: Repository, base: str | None) -> None:
        self._repository = repository
        self._given = base
        self._commits: dict[str, str | None] = {}
        self.problems: list[Problem] = []

    def commit(self, folder: str) -> str | None:
        """The merge-base for ``folder``; None when there is a problem, which is then kept."""
        base = self._base(folder)
        if base is None:
            return None
        if base.revision not in self._commits:
            self._commits[base.revision] = self._merge_base(base)
        return self._commits[base.revision]

    def _base(self, folder: str) -> _Base | None:
        if self._given is not None:
            return _Base(revision=self._given)
        config = self._repository.catalog.settings.base_config(folder)
        if config is not None and config.base is not None:
            return _Base(revision=config.base, path=config.path, line=config.base_line)
        if isinstance(self._default, _Base):
            return self._default
        self._add(self._default or _missing(folder))
        return None

    @cached_property
    def _default(self) -> _Base | Problem | None:
        """The remote's default branch, asked for only where no config says anything."""
        try:
            branch = self._repository.diffs.default_branch()
        except GitError as error:
            return Problem(message=str(error))
        return _Base(revision=branch) if branch is not None else None

    def _merge_base(self, base: _Base) -> str | None:
        try:
            return self._repository.diffs.merge_base(base.revision)
        except GitError as error:
            message = f"{error}{self._path_hint(base.revision)}"
            self._add(Problem(path=base.path, line=base.line, message=message))
            return None

    def _path_hint(self, revision: str) -> str:
        """``--changed src`` takes the path for a revision: say so rather than let people wonder."""
        snapshot = self._repository.snapshot
        path = revision.rstrip("/").removeprefix("./")
        is_path = bool(path) and (snapshot.is_folder(path) or snapshot.is_listed(path))
        if not is_path or self._repository.git.knows(revision):
            return ""
        return f"; `{revision}` is a path, but a base is a revision, such as origin/main"

    def _add(self, problem: Problem) -> None:
        if problem not in self.problems:
            self.problems.append(problem)


def _missing(folder: str) -> Problem:
    config = f"{folder}/{CONFIG_NAME}" if folder else CONFIG_NAME
    return Problem(
        message=f"--changed needs a base for {shown(folder)}: pass one (reqfile check --changed origin/main), "
        f"set `base` in {config}, or set origin/HEAD (git remote set-head origin --auto)"
    )
