"""Newer major versions than constraints allow (seed 001 "Taking a new major version"; spec/lock.md 6.10)."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from pytest_reqfile.lock.config_patch import with_constraint
from pytest_reqfile.lock.remotes import requested_ref
from pytest_reqfile.lock.standing import Standing


@dataclass(frozen=True, slots=True, kw_only=True)
class Major:
    """A source and the constraint that takes its newest major version, ``^2.0`` for v2.3.1."""

    standing: Standing
    latest: str
    constraint: str

    @property
    def current(self) -> str:
        """The constraint as it is."""
        return requested_ref(self.standing.source)

    def patched(self, text: str) -> str:
        """The text of config.toml with the constraint in it. Raises ``PatchError``."""
        source = self.standing.source
        return with_constraint(text, source.table, source.name, self.constraint)


def majors_of(standings: Iterable[Standing]) -> tuple[Major, ...]:
    """The sources that could take a newer major version; none whose tag was moved."""
    return tuple(
        Major(
            standing=standing,
            latest=standing.selection.latest.tag.name,
            constraint=f"^{newer.major}.0",
        )
        for standing in standings
        if standing.selection is not None
        and standing.status != "tag-moved"
        and (newer := standing.newer_major) is not None
    )
