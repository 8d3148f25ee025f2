"""``.reqfile/reqfile.lock``: the requirements of a repository and their settings, pinned (issue 6.4).

Same form and scheme as ``ai-rulez.lock``, in a file of its own: nothing new is ever written into that one.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Final, Literal, Protocol

from pytest_reqfile.errors import FormatError, Problem
from pytest_reqfile.lock.changes import Change, Report, sorted_changes
from pytest_reqfile.lock.compare import Present, compare_content, compare_items
from pytest_reqfile.lock.digest import Leaf, file_leaf, irregular_leaf, symlink_leaf, tree_digest
from pytest_reqfile.lock.directories import Hasher
from pytest_reqfile.lock.file import LockFile
from pytest_reqfile.lock.governance import denials
from pytest_reqfile.lock.pins import Pins, unique
from pytest_reqfile.lock.records import refuse_denied
from pytest_reqfile.lock.toptree import tree_of
from pytest_reqfile.lock.values import ENTRY_TABLES, ItemPin, Lock, ordered
from pytest_reqfile.syntax.gojson import go_json
from pytest_reqfile.workspace.walk import Walk

REQFILE_LOCK: Final = ".reqfile/reqfile.lock"
_HEADER: Final = (
    "# reqfile.lock: pins the requirements of this repository and their settings. Commit this file.\n"
    "# Refresh it with `reqfile lock`; `reqfile lock --check` fails when it is stale.\n"
)
_FILES: Final = "files/"


class Thing(Protocol):
    """Something of a repository to pin, as plain values: the lock knows nothing of Reqfiles.

    ``documents`` are JSON values by leaf name: what is said, whatever its layout and comments. ``folder`` holds
    ``files`` (names below it, regular files and symlinks); both are empty where there are none. ``path`` is the file
    that says it, ``domain`` the folder that file is in. All paths are repository paths.
    """

    @property
    def kind(self) -> Literal["requirement", "config"]: ...

    @property
    def id(self) -> str: ...

    @property
    def domain(self) -> str: ...

    @property
    def path(self) -> str: ...

    @property
    def documents(self) -> Mapping[str, object]: ...

    @property
    def folder(self) -> str: ...

    @property
    def files(self) -> tuple[str, ...]: ...


def requirements_lock(root: Path) -> LockFile:
    """The place of the lock in the repository at ``root``."""
    return LockFile(walk=Walk(root), path=REQFILE_LOCK, header=_HEADER)


def pin_things(things: Iterable[Thing], root: Path, hasher: Hasher) -> tuple[ItemPin, ...]:
    """The pins of ``things``. Raises ``FileError`` and ``FormatError`` where a file cannot be hashed."""
    walk = Walk(root)
    return unique(_pin(thing, walk, hasher) for thing in things)


def _pin(thing: Thing, walk: Walk, hasher: Hasher) -> ItemPin:
    leaves: list[Leaf] = [file_leaf(name, go_json(value).encode()) for name, value in thing.documents.items()]
    kinds = {name: walk.kind(f"{thing.folder}/{name}") for name in thing.files}
    regular = [name for name, kind in kinds.items() if kind == "file"]
    if regular:
        leaves += hasher.leaves(walk.real(thing.folder), regular, _FILES)
    for name, kind in kinds.items():
        if kind == "link":
            leaves.append(symlink_leaf(f"{_FILES}{name}", walk.link_target(f"{thing.folder}/{name}")))
        elif kind == "other":
            leaves.append(irregular_leaf(f"{_FILES}{name}"))
    return ItemPin(
        kind=thing.kind,
        id=thing.id,
        domain=thing.domain,
        path=thing.path,
        digest=tree_digest(thing.kind, leaves),
    )


def renew_requirements(
    things: Iterable[Thing], problems: tuple[Problem, ...], root: Path, hasher: Hasher, current: Lock | None
) -> Lock:
    """The lock of ``things``; approvals and denials of the ``current`` one are kept.

    Raises ``FormatError`` with ``problems``: what cannot be read rightly is not pinned. ``UsageError`` as AR717.
    """
    if problems:
        raise FormatError(problems)
    items = pin_things(things, root, hasher)
    approvals, denied = (current.approvals, current.denied) if current is not None else ((), ())
    lock = Lock(scope="all", items=items, approvals=approvals, denied=denied)
    refuse_denied(lock)
    return ordered(replace(lock, tree=tree_of(lock)))


def _foreign(lock: Lock) -> Iterator[Change]:
    """That it holds what no lock of requirements does: nothing here would compare it."""
    labels = [f"{table} {entry.label}" for table in ENTRY_TABLES for entry in lock.entries(table)]
    labels += [f"output {pin.path or pin.role}" for pin in lock.outputs]
    for label in labels:
        yield Change(scope="lock", change="changed", detail=f"{label} is no requirement; it was added by hand")


def check_requirements(
    things: Iterable[Thing], problems: tuple[Problem, ...], root: Path, hasher: Hasher, lock: Lock | None
) -> Report:
    """The differences between ``lock`` and ``things``; every one of ``problems`` keeps it from being in sync.

    Without a lock everything is new.
    """
    items = pin_things(things, root, hasher)
    name = REQFILE_LOCK.rpartition("/")[2]
    if lock is None:
        return Report(name=name, changes=sorted_changes(compare_items((), items)), looked_at={"source": len(items)})
    pins = Pins(items=items, problems=tuple(map(str, problems)))
    changes = compare_content(lock, name, Present(pins=pins, include_outputs=False))
    return Report(
        name=name,
        changes=sorted_changes([*changes, *_foreign(lock), *denials(lock)]),
        no_content_pins=not lock.has_content_pins,
        lock_version=lock.version,
        looked_at={"lock": 1, "source": len({pin.key for pin in (*lock.items, *items)})},
    )
