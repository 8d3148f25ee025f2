"""``generated_in_sync`` by the lock: are the generated files those that were pinned together with their sources?

A pass means that neither has changed since the lock was written. Whether the outputs were fresh then nobody knows but
the one who ran ``ai-rulez generate`` before ``reqfile lock`` (docs/lock.md).
"""

from __future__ import annotations

from collections.abc import Callable, Iterator

from pytest_reqfile.errors import FileError, FormatError, GitError
from pytest_reqfile.lock.changes import Change
from pytest_reqfile.lock.check import check_project
from pytest_reqfile.lock.opening import lock_file, open_tools
from pytest_reqfile.lock.outputs import GONE
from pytest_reqfile.lock.values import Lock
from pytest_reqfile.project.load import load_project
from pytest_reqfile.project.resources import GitView
from pytest_reqfile.project.values import Place
from pytest_reqfile.workspace.environment import Environment
from pytest_reqfile.workspace.git import Git, discover_root, refuse_unanswered


def lock_drift(place: Place, environment: Environment) -> Callable[[str], tuple[str, ...]]:
    """For a profile (empty: whichever was pinned), what has changed since the lock, as ``kind: path``.

    What it returns raises ``FileError`` where the lock cannot tell: there is none, it pins no outputs, or those of
    another profile.
    """

    def drift(profile: str) -> tuple[str, ...]:
        try:
            lock = lock_file(place).read()
            _refuse_silent(lock, profile)
            report = check_project(load_project(place), lock, open_tools(environment, _view(place, environment)))
        except FormatError as error:
            raise FileError("; ".join(error.messages)) from error
        return tuple(_items(report.changes, place.folder))

    return drift


def _view(place: Place, environment: Environment) -> GitView | None:
    try:
        git = Git(discover_root(place.root, environment), environment)
    except GitError as error:
        refuse_unanswered(place.root, error)
        return None
    return GitView(git=git, listed=frozenset(git.list_files()))


def _refuse_silent(lock: Lock | None, profile: str) -> None:
    if lock is None or not lock.outputs_pinned:
        raise FileError("the lock pins no outputs: run `ai-rulez generate`, then `reqfile lock`")
    if profile and profile != lock.profile:
        raise FileError(f'the lock pins outputs of profile "{lock.profile}", not of "{profile}"')


def _items(changes: tuple[Change, ...], folder: str) -> Iterator[str]:
    for change in changes:
        if change.scope == "lock":
            yield f"stale: {change.detail}"
        elif change.scope == "source":
            path = f"{folder}/{change.path}" if change.path else change.id
            yield f"stale: {path} ({change.kind} {change.change} since the lock was written)"
        elif change.scope == "output" and change.path:
            yield f"{_word(change)}: {change.path}"


def _word(change: Change) -> str:
    if change.change == "changed":
        return "edited"
    if change.change == "added":
        return "orphan"
    return "missing" if change.detail == GONE else "stale"
