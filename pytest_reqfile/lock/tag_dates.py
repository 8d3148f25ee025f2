"""The date that a tag or its commit claims (seed 001 "Minimum release age", 3): anyone who can push can forge it."""

from __future__ import annotations

import re
from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import Path
from typing import Final

from pytest_reqfile.errors import GitError
from pytest_reqfile.lock.tags import Tag
from pytest_reqfile.project.values import Source
from pytest_reqfile.workspace.environment import Environment
from pytest_reqfile.workspace.files import temporary_folder
from pytest_reqfile.workspace.git import Git
from pytest_reqfile.workspace.source_store import BareStore

_USUAL: Final = re.compile(r"[A-Za-z0-9_][A-Za-z0-9._+-]*(?:/[A-Za-z0-9_][A-Za-z0-9._+-]*)*")
_FORMAT: Final = "--format=%(objectname) %(*objectname) %(creatordate:unix)"


Bring = Callable[[Source, str, Path], None]
"""Fetches a reference of a source's repository, without history, into an empty bare repository."""


class TagDates:
    """Reads dates, each by fetching one commit into a folder that is gone afterwards."""

    def __init__(self, bring: Bring, environment: Environment) -> None:
        self._bring = bring
        self._environment = environment

    def date(self, source: Source, tag: Tag) -> datetime:
        """When an annotated tag was made, or the commit of another one. Raises ``GitError``."""
        if _USUAL.fullmatch(tag.name) is None or ".." in tag.name or tag.name.endswith(".lock"):
            raise GitError(f"the date of a tag with so unusual a name cannot be asked for: {tag.name!r}")
        reference = f"refs/tags/{tag.name}"
        with temporary_folder("reqfile-tag-") as store:
            Git(store, self._environment).run(("init", "--quiet", "--bare", "--template="))
            self._bring(source, f"+{reference}:{reference}", store)
            listed = BareStore(store, self._environment).run(("for-each-ref", _FORMAT, reference))
        return _date(tag, listed.decode("ascii", "replace").split())


def _date(tag: Tag, words: list[str]) -> datetime:
    """``words``: the object, the commit it leads to if that is another one, the seconds since 1970."""
    if len(words) < 2 or words[-2] != tag.commit:
        raise GitError(f"the remote has moved {tag.name} since it listed its tags")
    try:
        return datetime.fromtimestamp(int(words[-1]), UTC)
    except (ValueError, OverflowError, OSError):
        raise GitError(f"the date of {tag.name} cannot be read: {words[-1][:40]!r}") from None
