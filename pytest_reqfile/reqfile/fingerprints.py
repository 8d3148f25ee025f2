"""What makes two states of a requirement the same, so that unchanged files need no new look (spec reqfile.md 5.3)."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Final

from pytest_reqfile.outcome import Location
from pytest_reqfile.reqfile.catalog import Catalog
from pytest_reqfile.reqfile.discovery import in_reqfile_folder
from pytest_reqfile.reqfile.settings import DecisionSettings
from pytest_reqfile.reqfile.values import Check, DecisionCheck, Requirement
from pytest_reqfile.workspace.paths import folder_of

_LINE: Final = 1
_ASSETS: Final = ".reqfile/"

Contents = Callable[[str], str]
"""What stands for the content of an asset: equal exactly for equal contents."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Fingerprint:
    """Everything that decides what a requirement's checks say of a file.

    Comments, lines, ``base``, ``concurrency``, examples and other requirements are not part of it.
    """

    requirement: Requirement
    excludes: tuple[tuple[str, str], ...]
    decision: DecisionSettings | None
    assets: tuple[tuple[str, str], ...]


class Fingerprints:
    """The fingerprints of one catalog's requirements, each made when asked for."""

    def __init__(self, catalog: Catalog, contents: Contents) -> None:
        self._catalog = catalog
        self._contents = contents
        self._assets = _assets_by_owner(catalog)
        self._made: dict[tuple[str, str], Fingerprint] = {}

    def of(self, requirement: Requirement) -> Fingerprint:
        key = (requirement.location.path, requirement.id)
        if key not in self._made:
            self._made[key] = self._make(requirement)
        return self._made[key]

    def _make(self, requirement: Requirement) -> Fingerprint:
        settings = self._catalog.settings
        above = settings.above(requirement.folder)
        judges = any(isinstance(check, DecisionCheck) for check in requirement.checks)
        return Fingerprint(
            requirement=without_lines(requirement),
            excludes=tuple((config.folder, glob.text) for config in above for glob in config.exclude),
            decision=replace(settings.decision(requirement.folder), concurrency=1) if judges else None,
            assets=self._assets_of(requirement),
        )

    def _assets_of(self, requirement: Requirement) -> tuple[tuple[str, str], ...]:
        """Path and content of every asset; those of another repository are fixed by its commit."""
        imported = requirement.imported
        folder = requirement.folder
        if imported is not None and imported.checks_inherited:
            if imported.commit is not None:
                return ()
            folder = folder_of(imported.definition.path)
        owned = self._assets.get((folder, requirement.id), ())
        return tuple((path, self._contents(path)) for path in owned if self._catalog.discovery.is_asset(path))


def without_lines(requirement: Requirement) -> Requirement:
    """The requirement wherever its file says it: a comment added above changes nothing it requires."""
    imported = requirement.imported
    if imported is not None:
        imported = replace(imported, definition=Location(path=imported.definition.path, line=_LINE))
    return replace(
        requirement,
        location=Location(path=requirement.location.path, line=_LINE),
        checks=tuple(map(_without_line, requirement.checks)),
        assets="",
        imported=imported,
    )


def _without_line(check: Check) -> Check:
    return replace(check, line=_LINE)


def _assets_by_owner(catalog: Catalog) -> dict[tuple[str, str], list[str]]:
    """Paths in ``.reqfile/<ID>/`` outside of its examples, by folder and id."""
    found: defaultdict[tuple[str, str], list[str]] = defaultdict(list)
    for path in filter(in_reqfile_folder, catalog.discovery.tree.listed):
        start = 0 if path.startswith(_ASSETS) else path.index(f"/{_ASSETS}") + 1
        identifier, _, rest = path[start + len(_ASSETS) :].partition("/")
        if rest and not rest.startswith("examples/"):
            found[path[:start].rstrip("/"), identifier].append(path)
    return found
