"""A tree that is a mapping, and the catalog of what it requires."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from pytest_reqfile.errors import FileError
from pytest_reqfile.reqfile.catalog import Catalog, load_catalog
from pytest_reqfile.reqfile.plan import PlannedCheck, Selection, plan_checks
from pytest_reqfile.reqfile.sources import Source
from pytest_reqfile.reqfile.values import RepositoryUse


@dataclass(frozen=True)
class MemoryTree:
    """Files by path; those in ``special`` are listed but are no regular files, those that are bytes are no text."""

    files: Mapping[str, str | bytes]
    special: frozenset[str] = field(default_factory=frozenset)

    @property
    def listed(self) -> tuple[str, ...]:
        return tuple(sorted({*self.files, *self.special}))

    def is_regular(self, path: str) -> bool:
        return path in self.files and path not in self.special

    def read_text(self, path: str) -> str:
        content = self.files[path]
        if isinstance(content, bytes):
            raise FileError(f"{path}: not valid UTF-8")
        return content


class NoSources:
    """Loads nothing."""

    def load(self, use: RepositoryUse) -> Source:
        raise AssertionError(f"nothing is to be fetched here, asked for {use}")


def catalog_of(files: Mapping[str, str | bytes], special: frozenset[str] = frozenset()) -> Catalog:
    """The catalog of a tree at ``/repo``."""
    return load_catalog(MemoryTree(files, special), "/repo", NoSources())


def plan_of(files: Mapping[str, str | bytes], **selection: object) -> tuple[PlannedCheck, ...]:
    """What a run over the files would look at; the files must be valid."""
    catalog = catalog_of(files)
    assert catalog.problems == ()
    return plan_checks(catalog, Selection(**selection))  # type: ignore[arg-type]  # forwarded by name
