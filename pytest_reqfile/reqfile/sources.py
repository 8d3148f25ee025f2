"""Other repositories that requirements are taken from, pinned to a commit (spec reqfile.md 1.6)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol

from pytest_reqfile.reqfile.discovery import Discovery
from pytest_reqfile.reqfile.values import RepositoryUse


@dataclass(frozen=True, slots=True, kw_only=True)
class Source:
    """Another repository at one commit: ``root`` is the absolute folder of its extracted tree.

    ``offline`` says that its tag could not be resolved now and the last resolution was used.
    """

    use: RepositoryUse
    commit: str
    root: str
    discovery: Discovery
    offline: bool = False


class SourceLoader(Protocol):
    """Brings a repository's tree to this machine."""

    def load(self, use: RepositoryUse) -> Source:
        """The source at its pin. Raises WorkspaceError with the whole message."""
