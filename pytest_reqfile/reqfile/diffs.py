"""What differs from a revision, asked of git once each, and ahead of need (seed 004 SELECTION; issue 3.5)."""

from __future__ import annotations

from typing import Final

from pytest_reqfile.errors import FileError, GitError
from pytest_reqfile.workspace.git import Git, TrackedChange
from pytest_reqfile.workspace.git_call import GitCall
from pytest_reqfile.workspace.snapshot import Snapshot

_ROOT_CONFIG: Final = ".reqfile/config.yaml"
_KEY: Final = "base:"


def likely_base(snapshot: Snapshot) -> str | None:
    """What the root's config seems to name as its base, found without reading YAML; None where it names none."""
    try:
        text = snapshot.read_text(_ROOT_CONFIG)
    except FileError:
        return None
    for line in text.splitlines():
        if line.startswith(_KEY):
            return line.removeprefix(_KEY).partition(" #")[0].strip().strip("'\"") or None
    return None


class Diffs:
    """Merge-bases and changes of one repository for one run."""

    def __init__(self, git: Git) -> None:
        self._git = git
        self._commits: dict[str, str | GitError] = {}
        self._default: list[str | None] = []
        self._started: dict[str, GitCall] = {}
        self._changes: dict[str, tuple[TrackedChange, ...]] = {}

    def begin(self, revision: str | None) -> None:
        """Let git begin to compare with where HEAD left ``revision``; None is the default branch.

        What is wrong with it is told by those who need it.
        """
        try:
            base = revision if revision is not None else self.default_branch()
            if base is not None:
                self._start(self.merge_base(base))
        except GitError:
            return

    def default_branch(self) -> str | None:
        """``origin/HEAD``'s branch. Raises GitError when it cannot be read."""
        if not self._default:
            self._default.append(self._git.default_branch())
        return self._default[0]

    def merge_base(self, revision: str) -> str:
        """The commit where HEAD left ``revision``. Raises GitError."""
        if revision not in self._commits:
            try:
                self._commits[revision] = self._git.merge_base(revision)
            except GitError as error:
                self._commits[revision] = error
        found = self._commits[revision]
        if isinstance(found, GitError):
            raise found
        return found

    def changes(self, commit: str) -> tuple[TrackedChange, ...]:
        """Every tracked path that differs between ``commit`` and the working tree."""
        if commit not in self._changes:
            self._start(commit)
            self._changes[commit] = self._git.read_changes(self._started[commit])
        return self._changes[commit]

    def _start(self, commit: str) -> None:
        if commit not in self._started:
            self._started[commit] = self._git.start_changes(commit)
