"""Digests of files that have not changed since they were hashed, kept for the next check (issue 6.7).

Only speed may depend on it: it is never asked when a lock is written. An entry counts while the file system says the
same of every file of its folder, and is kept only if the youngest of them was left alone for a while: a later write
within the same tick of the clock would not show.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable, Mapping
from contextlib import suppress
from pathlib import Path
from typing import Final

from pytest_reqfile.errors import FileError
from pytest_reqfile.workspace.clock import Clock
from pytest_reqfile.workspace.files import write_atomic
from pytest_reqfile.workspace.hashing import FolderFacts
from pytest_reqfile.workspace.machine import read_if_there

QUIET_NS: Final = 2_000_000_000
_FORMAT: Final = 1
_MILLISECOND_NS: Final = 1_000_000


class LeafCache:
    """Digests by folder, in the one file ``file``. What cannot be read or written is as good as absent."""

    def __init__(self, file: Path, clock: Clock) -> None:
        self._file = file
        self._clock = clock
        self._old = _read(file)
        self._used: dict[str, list[str]] = {}

    def find(self, key: str, facts: FolderFacts) -> bytes | None:
        """The digests kept for ``key`` if nothing has changed since."""
        entry = self._old.get(key)
        if entry is None or entry[0] != _signed(facts):
            return None
        self._used[key] = entry
        return bytes.fromhex(entry[1])

    def retain(self, keys: Iterable[str]) -> None:
        """Keep what is known of ``keys`` although nobody asked: what holds them is unchanged as a whole."""
        self._used.update((key, self._old[key]) for key in keys if key in self._old)

    def keep(self, key: str, facts: FolderFacts, digests: bytes) -> None:
        """Remember ``digests``, which were taken after ``facts``."""
        if facts.newest < self._clock.now_ms() * _MILLISECOND_NS - QUIET_NS:
            self._used[key] = [_signed(facts), digests.hex()]

    def save(self) -> None:
        """Write down what this run asked for, if that is something new."""
        if self._used == self._old:
            return
        text = json.dumps({"format": _FORMAT, "folders": self._used}, separators=(",", ":"))
        with suppress(FileError):
            write_atomic(self._file, text.encode("utf-8", "surrogatepass"), parents=True)


def _signed(facts: FolderFacts) -> str:
    return hashlib.sha256(facts.signature).hexdigest()


def _read(file: Path) -> Mapping[str, list[str]]:
    try:
        found = json.loads((read_if_there(file) or b"{}").decode("utf-8", "surrogatepass"))
    except (FileError, ValueError, RecursionError):
        return {}
    folders = found.get("folders") if isinstance(found, dict) and found.get("format") == _FORMAT else None
    if not isinstance(folders, dict):
        return {}
    return {key: entry for key, entry in folders.items() if _is_entry(entry)}


def _is_entry(entry: object) -> bool:
    if not isinstance(entry, list) or [type(part) for part in entry] != [str, str]:
        return False
    try:
        return len(bytes.fromhex(entry[1])) % hashlib.sha256().digest_size == 0
    except ValueError:
        return False
