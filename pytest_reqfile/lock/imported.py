"""The content of remote sources for those who load a project: only what the lock pins, and only if it is that.

Nothing is fetched (seed 000 "Imported verifiers"; spec/airulez-project.md 4.4; spec/lock.md 6.3).
"""

from __future__ import annotations

from functools import cache
from pathlib import Path
from typing import Final

from pytest_reqfile.errors import FormatError
from pytest_reqfile.lock.directories import Hasher
from pytest_reqfile.lock.fetching import find_cached
from pytest_reqfile.lock.opening import lock_file
from pytest_reqfile.lock.remote_pins import altered, uncovered
from pytest_reqfile.lock.remotes import FindCached, table_of
from pytest_reqfile.lock.values import Lock
from pytest_reqfile.project.values import Fetched, Place, Source
from pytest_reqfile.workspace.environment import Environment

NOT_CACHED: Final = "its content is not on this machine; run `reqfile lock` to fetch it"


def fetched_content(place: Place, environment: Environment) -> Fetched:
    """Finds the content of a remote source in the caches of this machine, as the lock of the project pins it.

    The lock is read when the first remote source is asked for.
    """
    find, hasher = find_cached(environment), Hasher()

    @cache
    def lock() -> Lock | str | None:
        try:
            return lock_file(place).read()
        except FormatError as error:
            return "; ".join(error.messages)

    def fetched(source: Source) -> Path | str:
        read = lock()
        return read if isinstance(read, str) else _content(source, read, find, hasher)

    return fetched


def _content(source: Source, lock: Lock | None, find: FindCached, hasher: Hasher) -> Path | str:
    """The folder, or why what is there may not be used."""
    reason = uncovered(source, lock)
    entry = lock.entry(table_of(source), source.name) if lock is not None else None
    if reason is not None or entry is None:
        return f"{reason}"
    cached = find(source, entry)
    if cached is None:
        return NOT_CACHED
    return altered(source, entry, cached, hasher) or cached.folder
