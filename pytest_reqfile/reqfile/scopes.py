"""Which files lie in a requirement's scope, worked out once for all that share it (spec reqfile.md 2.5)."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property

from pytest_reqfile.reqfile.catalog import Catalog
from pytest_reqfile.reqfile.values import Requirement
from pytest_reqfile.workspace.paths import is_below


class Scopes:
    """The scopes of one catalog's requirements. Hundreds of requirements share a few scopes."""

    def __init__(self, catalog: Catalog) -> None:
        self._catalog = catalog
        self._targets: dict[tuple[str, frozenset[str]], tuple[str, ...]] = {}

    def targets(self, requirement: Requirement) -> tuple[str, ...]:
        """Every target in the requirement's scope, in byte order: what a full run looks at."""
        key = (requirement.folder, self._catalog.nested_folders(requirement))
        if key not in self._targets:
            self._targets[key] = self.in_scope(requirement, self._all_targets)
        return self._targets[key]

    def in_scope(self, requirement: Requirement, paths: Sequence[str]) -> tuple[str, ...]:
        """Those of ``paths`` that lie in the requirement's scope, in their order."""
        nested = self._catalog.nested_folders(requirement)
        folder = requirement.folder
        found = (path for path in paths if is_below(path, folder))
        return tuple(path for path in found if not any(is_below(path, nearer) for nearer in nested))

    @cached_property
    def _all_targets(self) -> tuple[str, ...]:
        discovery = self._catalog.discovery
        return tuple(path for path in discovery.candidates if discovery.tree.is_regular(path))
