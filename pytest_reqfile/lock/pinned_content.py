"""What the lock pins of remote sources, read from this machine, and only if it is that.

Nothing is fetched (seed 000 "Imported verifiers"; spec/airulez-project.md 4.4; spec/lock.md 6.3).
"""

from __future__ import annotations

from pathlib import Path
from typing import Final

from pytest_reqfile.errors import FormatError
from pytest_reqfile.lock.cached_content import find_cached
from pytest_reqfile.lock.directories import Hasher
from pytest_reqfile.lock.opening import lock_file
from pytest_reqfile.lock.remote_pins import altered, uncovered
from pytest_reqfile.lock.remotes import table_of
from pytest_reqfile.lock.values import Lock
from pytest_reqfile.project.values import Place, Source
from pytest_reqfile.workspace.environment import Environment

NOT_CACHED: Final = "its content is not on this machine; run `reqfile lock --fetch`"


class PinnedContent:
    """The content of a project's remote sources. The lock is read once; one that cannot be read pins nothing."""

    def __init__(self, place: Place, environment: Environment) -> None:
        self._find = find_cached(environment)
        self._hasher = Hasher()
        self._lock: Lock | None = None
        self._unreadable = ""
        try:
            self._lock = lock_file(place).read()
        except FormatError as error:
            self._unreadable = "; ".join(error.messages)

    def find(self, source: Source) -> Path | str:
        """The folder that the entry of a source digests, or why nothing of it may be used."""
        reason = self._unreadable or uncovered(source, self._lock)
        entry = self._lock.entry(table_of(source), source.name) if self._lock is not None else None
        if reason or entry is None:
            return f"{reason}"
        cached = self._find(source, entry)
        if cached is None:
            return NOT_CACHED
        return altered(source, entry, cached, self._hasher) or cached.folder
