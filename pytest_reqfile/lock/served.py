"""Served skills: their digest, their views, and their pins where their bytes are known (spec/lock.md 2.9, 7)."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import Final

from pytest_reqfile.errors import FileError
from pytest_reqfile.lock.changes import Change
from pytest_reqfile.lock.digest import PLAIN, digest_text, file_leaf, tree_digest
from pytest_reqfile.lock.outputs import served_text
from pytest_reqfile.lock.values import Entry, Lock
from pytest_reqfile.project.values import Config, Project

ServedFiles = Mapping[str, bytes]
"""The files of a served skill by path, as the server returns them."""

ServedDigests = Callable[[str], Mapping[str, str] | None]
"""For a view, the digest of every skill that is served in it; None where nobody here knows its bytes."""

KEPT: Final = (
    "{count} served skill(s) stay pinned as they were, and were not looked at: what a server serves is known to "
    "ai-rulez alone"
)
UNKNOWN: Final = (
    "{count} served skill(s) were not compared: what a server serves is known to ai-rulez alone "
    "(their sources are compared)"
)


_GONE: Final = "in the lock but no longer served"


def served_digest(files: ServedFiles) -> str:
    """The digest a lock pins: volatile header lines left out, every mode plain."""
    return tree_digest("served-skill", [file_leaf(path, served_text(data), PLAIN) for path, data in files.items()])


def reported_digest(files: ServedFiles) -> str:
    """The digest a server reports for what it serves, header lines included."""
    return tree_digest("served-skill", [file_leaf(path, data, PLAIN) for path, data in files.items()])


def reported_file_digest(path: str, data: bytes) -> str:
    """The digest a server reports for one file: that of its leaf."""
    return digest_text(file_leaf(path, data, PLAIN)[1])


def view_key(
    *, role: str = "", profile: str = "", targets: str = "", static: bool = False, sources: Iterable[str] = ()
) -> str:
    """The key of the view a server is started with; empty for the default one. A role wins over a profile."""
    parts = [f"role:{role}" if role else f"profile:{profile}" if profile else ""]
    parts += [f"targets:{targets}" if targets else "", "static" if static else ""]
    parts += sorted(f"source:{name}" for name in sources)
    return "+".join(part for part in parts if part)


def may_be_served(entry: Entry, project: Project) -> bool:
    """False for a pin that can be of nothing any more: its view or its own file is gone."""
    if not still_exists(entry.view, project.config):
        return False
    try:
        return (
            not entry.source.startswith(f"{project.place.folder}/") or project.own.tree.kind(entry.source) is not None
        )
    except FileError:  # no path in the project, which only a hand writes, or a folder that is closed to us
        return False


def still_exists(view: str, config: Config) -> bool:
    """Whether the role or profile that a view names is still declared; views of sources are kept as they are."""
    parts = view.split("+")
    if any(part.startswith("source:") for part in parts):
        return True
    for part in parts:
        what, _, name = part.partition(":")
        if what == "role" and config.role(name) is None:
            return False
        if what == "profile" and name != config.default and config.profile(name) is None:
            return False
    return True


def check_served(
    lock: Lock, digests: ServedDigests, may_be: Callable[[Entry], bool] = lambda _entry: True
) -> tuple[tuple[Change, ...], tuple[str, ...], int]:
    """Changes, notes and the number of served skills compared, over every view the lock has and the default one.

    Where nobody knows what is served, a pin that ``may_be`` of nothing any more is a change all the same.
    """
    changes: list[Change] = []
    unknown = compared = 0
    for view in sorted({"", *(entry.view for entry in lock.served)}):
        served = digests(view)
        pinned = {entry.name: entry for entry in lock.served if entry.view == view}
        if served is None:
            gone = [name for name, entry in pinned.items() if not may_be(entry)]
            changes += [_change(name, view, _GONE) for name in gone]
            compared += len(gone)
            unknown += len(pinned) - len(gone)
            continue
        compared += len(served.keys() | pinned.keys())
        changes += _view_changes(lock, view, served, pinned)
    notes = (UNKNOWN.format(count=unknown),) if unknown else ()
    return tuple(changes), notes, compared


def _view_changes(lock: Lock, view: str, served: Mapping[str, str], pinned: Mapping[str, Entry]) -> list[Change]:
    """A pin without a view stands for every view that has none of its own."""
    changes: list[Change] = []
    for name, digest in served.items():
        entry = pinned.get(name) or lock.entry("served", name)
        if entry is None:
            changes.append(_change(name, view, "not pinned in ai-rulez.lock"))
        elif entry.digest != digest:
            changes.append(_change(name, view, f"digest {digest} differs from the lock's {entry.digest}"))
    changes += [_change(name, view, _GONE) for name in pinned if name not in served]
    return changes


def _change(name: str, view: str, detail: str) -> Change:
    label = f"{name} (view {view})" if view else name
    return Change(scope="served", change="changed", kind="served", id=label, detail=detail)
