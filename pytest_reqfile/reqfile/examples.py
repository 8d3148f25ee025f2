"""The labeled examples of a requirement, in both layouts (seed 004 EXAMPLES; spec reqfile.md 1.4, 6.1, 6.2).

A folder that holds example.yaml shows ``files/`` to the checks and nothing else. Any other one carries its label in its
name (``violation-…``, ``ok-…``) and is copied as a whole, beside the requirement's own Reqfile and files.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Final, Literal

from pytest_reqfile.errors import FileError, FormatError, Problem
from pytest_reqfile.outcome import Location
from pytest_reqfile.reqfile.catalog import Catalog
from pytest_reqfile.reqfile.labels import FILES_FOLDER, Label, label_of_folder, read_label
from pytest_reqfile.reqfile.values import Requirement
from pytest_reqfile.syntax.slugs import slugs
from pytest_reqfile.workspace.paths import folder_of
from pytest_reqfile.workspace.snapshot import Snapshot
from pytest_reqfile.workspace.walk import Walk

LABEL_NAME: Final = "example.yaml"
_LABEL_NEAR_MISSES: Final = frozenset({"example.yaml", "example.yml"})
Layout = Literal["named", "described"]
"""``named``: the label is in the folder's name, as in edition 0.1; ``described``: it is in example.yaml."""
_NAMED: Final[Layout] = "named"
_DESCRIBED: Final[Layout] = "described"


@dataclass(frozen=True, slots=True, kw_only=True)
class Example:
    """One labeled example. ``item`` is its name among the requirement's items, unique and stable.

    ``path`` is its folder and ``case`` the part that checks see, both below the absolute folder ``base``; ``declared``
    is where its label is written, or its requirement where that is no file.
    """

    name: str
    item: str
    declared: Location
    base: str
    path: str
    layout: Layout
    label: Label

    @property
    def case(self) -> str:
        """The folder whose content the checks see."""
        return f"{self.path}/{FILES_FOLDER}" if self.layout == "described" else self.path


@dataclass(frozen=True, slots=True, kw_only=True)
class BrokenExample:
    """A folder that should be an example and cannot be used; it is never left out in silence."""

    name: str
    item: str
    declared: Location
    path: str
    problems: tuple[Problem, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class _Place:
    """A folder of examples, below the absolute folder ``base``."""

    base: str
    path: str


def read_examples(catalog: Catalog, requirement: Requirement) -> tuple[Example | BrokenExample, ...]:
    """Every example of a requirement in folder byte order: its definition's, then a use block's own (spec 6.2)."""
    found = [(place, name) for place in _places(catalog, requirement) for name in _case_names(place)]
    items = slugs(name.rpartition("/")[2] for _, name in found)
    return tuple(
        _read(place, name, item, requirement.location) for (place, name), item in zip(found, items, strict=True)
    )


def usable(examples: Iterable[Example | BrokenExample]) -> tuple[Example, ...]:
    """The examples. Raises FormatError with the problems of all that cannot be used."""
    found = tuple(examples)
    problems = [problem for e in found if isinstance(e, BrokenExample) for problem in e.problems]
    if problems:
        raise FormatError(problems)
    return tuple(example for example in found if isinstance(example, Example))


def examples_folder(folder: str, identifier: str) -> str:
    """The repository path of the examples of a block in ``folder``."""
    return "/".join(part for part in (folder, ".reqfile", identifier, "examples") if part)


def _places(catalog: Catalog, requirement: Requirement) -> Iterator[_Place]:
    imported = requirement.imported
    if imported is not None:
        path = examples_folder(folder_of(imported.definition.path), requirement.id)
        yield _Place(base=_source_root(catalog, imported.commit, str(imported.use)), path=path)
    yield _Place(base=catalog.root, path=examples_folder(requirement.folder, requirement.id))


def _source_root(catalog: Catalog, commit: str | None, use: str) -> str:
    """Where the definition's tree lies: a source of that commit, or this repository."""
    if commit is None:
        return catalog.root
    return next(source.root for source in catalog.sources if source.commit == commit and str(source.use) == use)


def _case_names(place: _Place) -> tuple[str, ...]:
    """The paths of the cases; plain files beside them are none. A symlink to a folder is one, which cannot be used."""
    walk = Walk(Path(place.base))
    if walk.kind(place.path) is None:
        return ()
    if walk.kind(place.path) != "folder":
        raise FileError(f"{place.path} is no folder; it holds the examples of a requirement")
    entries = walk.entries(place.path)
    return tuple(f"{place.path}/{entry.name}" for entry in entries if entry.kind in {"folder", "link"})


def _read(place: _Place, path: str, item: str, requirement: Location) -> Example | BrokenExample:
    walk = Walk(Path(place.base))
    name = path.rpartition("/")[2]
    described = f"{path}/{LABEL_NAME}"
    declared, layout = requirement, _NAMED
    try:
        if walk.kind(path) == "link":
            raise FileError(f"{path} is a symlink; examples hold regular files only")
        if walk.kind(described) is None:
            _refuse_near_miss(walk, path)
            label = label_of_folder(path)
        else:
            declared, layout = Location(path=described, line=1), _DESCRIBED
            label = read_label(walk, path, described)
    except FormatError as error:
        return BrokenExample(name=name, item=item, declared=declared, path=path, problems=error.problems)
    except FileError as error:
        problem = Problem(message=str(error))
        return BrokenExample(name=name, item=item, declared=declared, path=path, problems=(problem,))
    return Example(name=name, item=item, declared=declared, base=place.base, path=path, layout=layout, label=label)


def is_listed_whole(example: Example, snapshot: Snapshot) -> bool:
    """Whether git can tell of a change in the example: an empty folder and ignored files are nothing to it."""
    if example.base != str(snapshot.root):
        return True  # another repository's, as it was at its commit
    files = Walk(Path(example.base)).below(example.path)
    return bool(files) and all(snapshot.is_listed(path) for path, _ in files)


def _refuse_near_miss(walk: Walk, path: str) -> None:
    """Beside ``files/`` a name like example.yml is a label that would be overlooked; elsewhere it is part of a case."""
    if walk.kind(f"{path}/{FILES_FOLDER}") != "folder":
        return
    for entry in walk.entries(path):
        if entry.name.lower() in _LABEL_NEAR_MISSES:
            problem = Problem(
                path=f"{path}/{entry.name}", line=1, message=f"a label must be named exactly {LABEL_NAME}"
            )
            raise FormatError([problem])
