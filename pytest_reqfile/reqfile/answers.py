"""Answers of past runs, kept in the git folder and never in tracked files (seed 004 DECISION_CHECK; spec 4.5)."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable
from hashlib import sha256
from pathlib import Path
from typing import Final

from pytest_reqfile.errors import FileError, ReqfileError
from pytest_reqfile.reqfile.numbers import shortest
from pytest_reqfile.workspace.git import Git
from pytest_reqfile.workspace.shared_file import read_shared, update_shared

CACHE_NAME: Final = "reqfile/jev-cache"
_KEY_LENGTH: Final = 16
_LINE: Final = re.compile(r"(\S+) (\+?(?:[0-9]+\.?[0-9]*|\.[0-9]+)(?:[eE][-+]?[0-9]+)?)")
_LINE_SHOWN: Final = 80


class AnswersError(ReqfileError):
    """The file of answers cannot be read, or says something else; the text names it."""


def answer_key(model: str, state: str, identifier: str, question: str) -> str:
    """What an answer is kept under: the exact model and everything that it saw (the key of reqfile 0.2 and later)."""
    return sha256(f"{model}\n{state}\n{identifier}\n{question}".encode()).hexdigest()[:_KEY_LENGTH]


class Answers:
    """The probabilities of one repository, shared by its worktrees; those used in this run are remembered.

    Not safe for several threads; safe for several processes, none of whose answers is lost.
    """

    def __init__(self, path: Path) -> None:
        self.path = path
        self._known: dict[str, float] | None = None
        self._new: dict[str, float] = {}
        self._used: set[str] = set()

    def load(self) -> None:
        """Read the file, once. Raises AnswersError."""
        if self._known is None:
            try:
                self._known = parse_answers(read_shared(self.path), str(self.path))
            except FileError as error:
                reason = str(error).removeprefix(f"cannot read {self.path}: ")
                raise AnswersError(f"cannot read the Jev cache {self.path}: {reason}") from error

    def get(self, key: str) -> float | None:
        """The probability kept under ``key``."""
        assert self._known is not None, "answers are loaded first"
        found = self._new.get(key, self._known.get(key))
        if found is not None:
            self._used.add(key)
        return found

    def put(self, key: str, probability: float) -> None:
        """Keep an answer of this run."""
        self._new[key] = probability
        self._used.add(key)

    def save(self, *, prune: bool) -> None:
        """Write what is new; ``prune`` drops answers that were there before and that this run did not use.

        Raises FileError ``cannot write the Jev cache {path}: {reason}``.
        """
        unused = (self._known or {}).keys() - self._used if prune else set()
        if not self._new and not unused:
            return
        try:
            update_shared(self.path, lambda current: self._merged(current, unused))
        except (FileError, AnswersError) as error:
            reason = str(error).removeprefix(f"cannot write {self.path}: ")
            raise FileError(f"cannot write the Jev cache {self.path}: {reason}") from error

    def _merged(self, current: bytes, unused: Iterable[str]) -> bytes:
        """What other processes added meanwhile stays: somebody uses it."""
        entries = parse_answers(current, str(self.path)) | self._new
        for key in unused:
            entries.pop(key, None)
        return render_answers(entries)


def answers_of(git: Git) -> Answers:
    """The answers of a repository, in the folder that all its worktrees share."""
    return Answers(git.git_common_dir() / CACHE_NAME)


def parse_answers(data: bytes, path: str) -> dict[str, float]:
    """Lines ``KEY PROBABILITY``; blank ones are ignored, the last of a key wins. Raises AnswersError."""
    entries: dict[str, float] = {}
    for number, line in enumerate(data.decode("utf-8", "replace").split("\n"), start=1):
        if not line.strip():
            continue
        found = _LINE.fullmatch(line.removesuffix("\r"))
        probability = float(found[2]) if found else -1.0
        if found is None or not 0 <= probability <= 1:
            shown = json.dumps(line[:_LINE_SHOWN])
            raise AnswersError(f"{path}: invalid line {number}: {shown}; delete the file to rebuild it")
        entries[found[1]] = probability
    return entries


def render_answers(entries: dict[str, float]) -> bytes:
    """The inverse of ``parse_answers``, sorted by key."""
    return "".join(f"{key} {shortest(entries[key])}\n" for key in sorted(entries)).encode()
