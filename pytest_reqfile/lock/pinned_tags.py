"""Whether the remotes still have the pinned tags where they were (seed 001 "Checking pinned tags online"; 6.11)."""

from __future__ import annotations

from dataclasses import dataclass

from pytest_reqfile.lock.fetching import Fetcher
from pytest_reqfile.lock.remotes import is_range, remote_sources, table_of
from pytest_reqfile.lock.tags import pin_state
from pytest_reqfile.lock.values import Entry, EntryTable, Lock
from pytest_reqfile.project.values import Config


@dataclass(frozen=True, slots=True, kw_only=True)
class PinnedTags:
    """``moved`` are findings that fail a check, ``missing`` warnings; both sorted, one line each."""

    moved: tuple[str, ...]
    missing: tuple[str, ...]


def verify_tags(config: Config, lock: Lock, fetcher: Fetcher) -> PinnedTags:
    """Compare the tag of every version constraint with its remote: one listing for each repository, no content.

    Raises ``ReqfileError`` where a remote does not answer.
    """
    moved: list[str] = []
    missing: list[str] = []
    for source in remote_sources(config):
        entry = lock.entry(table_of(source), source.name)
        if entry is None or not entry.tag or not is_range(source):
            continue
        state, commit = pin_state(fetcher.tags(source), entry.tag, entry.commit)
        if state == "moved":
            moved.append(moved_text(table_of(source), entry, commit))
        elif state == "missing":
            missing.append(missing_text(table_of(source), entry))
    return PinnedTags(moved=tuple(sorted(moved)), missing=tuple(sorted(missing)))


def moved_text(table: EntryTable, pin: Entry, commit: str) -> str:
    """AR732: what a maintainer, or somebody with their account, may have done."""
    return (
        f"AR732 {table} {pin.name}: tag {pin.tag} was pinned at {pin.commit} but now points to {commit} "
        "(review the new commit, then `reqfile lock update --accept-moved-tag`)"
    )


def missing_text(table: EntryTable, pin: Entry) -> str:
    """AR735: a warning, as the commit is still what was reviewed."""
    return (
        f"AR735 {table} {pin.name}: tag {pin.tag} no longer exists on the remote; the pinned commit {pin.commit} is "
        "still used"
    )
