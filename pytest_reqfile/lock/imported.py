"""The content of remote sources for those who load a project; light to import, as most projects have none."""

from __future__ import annotations

from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING

from pytest_reqfile.project.values import Fetched, Place, Source
from pytest_reqfile.workspace.environment import Environment

if TYPE_CHECKING:
    from pytest_reqfile.lock.pinned_content import PinnedContent


def fetched_content(place: Place, environment: Environment) -> Fetched:
    """Finds the content of a remote source in the caches of this machine, as the lock of the project pins it.

    Nothing is fetched. The lock is read when the first remote source is asked for.
    """

    @cache
    def pinned() -> PinnedContent:
        from pytest_reqfile.lock.pinned_content import PinnedContent

        return PinnedContent(place, environment)

    def fetched(source: Source) -> Path | str:
        return pinned().find(source)

    return fetched
