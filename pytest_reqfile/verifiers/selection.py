"""Which files a check looks at, and the classes of files that all checks of a run treat alike (performance.md 3).

Every path is matched against all globs of a run in one go; paths that the same globs match form a class, and a
selection is a set of classes. The cost grows with paths and globs, not with their product per verifier.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from heapq import merge
from itertools import islice
from typing import Final, Literal

from pytest_reqfile.syntax.globs import Glob, GlobSet
from pytest_reqfile.workspace.paths import byte_order

Source = Literal["walk", "repository", "changed"]
SOURCES: Final[tuple[Source, ...]] = ("walk", "repository", "changed")


@dataclass(frozen=True, slots=True, kw_only=True)
class Selection:
    """The files of ``source`` that match any glob of ``include`` and none of ``exclude``.

    ``walk`` is everything on disk, ``repository`` what git lists, ``changed`` the changed files that still exist.
    """

    source: Source
    include: tuple[Glob, ...]
    exclude: tuple[Glob, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class FileClass:
    """Files that belong to the same selections; ``paths`` in byte order, ``selections`` are indices."""

    paths: tuple[str, ...]
    selections: frozenset[int]


class FileClasses:
    """All files of a run by class. ``listings`` gives the paths of each source that a selection uses."""

    def __init__(self, selections: Iterable[Selection], listings: dict[Source, tuple[str, ...]]) -> None:
        self.selections = tuple(dict.fromkeys(selections))
        self._index = {selection: number for number, selection in enumerate(self.selections)}
        self.classes = tuple(self._build(listings))
        self._of_selection: list[list[FileClass]] = [[] for _ in self.selections]
        for found in self.classes:
            for number in found.selections:
                self._of_selection[number].append(found)

    def index(self, selection: Selection) -> int:
        return self._index[selection]

    def count(self, selection: Selection) -> int:
        """How many files are selected."""
        return sum(len(found.paths) for found in self._of_selection[self._index[selection]])

    def files(self, selection: Selection, limit: int | None = None) -> tuple[str, ...]:
        """The selected files in byte order, or the first ``limit`` of them."""
        parts = [found.paths for found in self._of_selection[self._index[selection]]]
        if len(parts) == 1:
            return parts[0][:limit]
        return tuple(islice(merge(*parts, key=byte_order), limit))

    def _build(self, listings: dict[Source, tuple[str, ...]]) -> Iterable[FileClass]:
        globs = tuple(dict.fromkeys(glob for s in self.selections for glob in (*s.include, *s.exclude)))
        numbers = {glob: number for number, glob in enumerate(globs)}
        members = [
            (s.source, frozenset(map(numbers.__getitem__, s.include)), frozenset(map(numbers.__getitem__, s.exclude)))
            for s in self.selections
        ]
        for (sources, matched), paths in self._grouped(GlobSet(globs), listings).items():
            found = frozenset(matched)
            chosen = frozenset(
                number
                for number, (source, include, exclude) in enumerate(members)
                if source in sources and not include.isdisjoint(found) and exclude.isdisjoint(found)
            )
            if chosen:
                yield FileClass(paths=tuple(paths), selections=chosen)

    def _grouped(
        self, globs: GlobSet, listings: dict[Source, tuple[str, ...]]
    ) -> dict[tuple[tuple[Source, ...], tuple[int, ...]], list[str]]:
        wanted = [source for source in SOURCES if any(s.source == source for s in self.selections)]
        grouped: dict[tuple[tuple[Source, ...], tuple[int, ...]], list[str]] = {}
        matches = globs.matches
        for path, sources in _sources_of(wanted, listings):
            matched = matches(path)
            if matched:
                grouped.setdefault((sources, matched), []).append(path)
        return grouped


def _sources_of(
    wanted: list[Source], listings: dict[Source, tuple[str, ...]]
) -> Iterable[tuple[str, tuple[Source, ...]]]:
    """Every path with the sources that list it, in byte order."""
    if len(wanted) == 1:
        only = (wanted[0],)
        return ((path, only) for path in listings[wanted[0]])
    found: dict[str, tuple[Source, ...]] = {}
    for source in wanted:
        for path in listings[source]:
            found[path] = (*found.get(path, ()), source)
    return ((path, found[path]) for path in sorted(found, key=byte_order))
