"""The file:line references a brief gives for a criterion, as evidence with digests (seed 003; spec oracle.md 7)."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Final

from pytest_reqfile.errors import FileError
from pytest_reqfile.oracle.claims import one_line
from pytest_reqfile.oracle.digests import Artifact, sha256_digest
from pytest_reqfile.oracle.mission import Criterion
from pytest_reqfile.workspace.paths import normalised
from pytest_reqfile.workspace.snapshot import FolderWalk, Snapshot

_LINE: Final = re.compile(r"(?P<path>.+?)(?::(?P<line>\d+)(?:-\d+)?)?")
_URL: Final = re.compile(r"[A-Za-z][A-Za-z0-9+.-]*://")


def cite(criterion: Criterion, root: Path) -> tuple[tuple[Artifact, ...], tuple[str, ...]]:
    """The references that have a digest, and an observation for each that cannot have one.

    The digest is of the whole file as reviewed. A URL has none: nothing is fetched to get one.
    """
    files = Snapshot(FolderWalk(root))
    found: list[Artifact] = []
    unusable: list[str] = []
    for reference in criterion.evidence:
        if _URL.match(reference):
            unusable.append(one_line(f"{criterion.id}: {reference} was not fetched, so it has no digest"))
            continue
        try:
            found.append(_artifact(reference, files))
        except FileError as error:
            unusable.append(one_line(f"{criterion.id}: no evidence at {error}"))
    return tuple(found), tuple(unusable)


def _artifact(reference: str, files: Snapshot) -> Artifact:
    place = _LINE.fullmatch(reference)
    path = normalised(place["path"]) if place else None
    if place is None or not path:
        raise FileError(f"{reference}: not a path inside the workspace")
    data = files.read(path)
    lines = data.count(b"\n") + (not data.endswith(b"\n"))
    if place["line"] is not None and not 1 <= int(place["line"]) <= lines:
        raise FileError(f"{reference}: the file has {lines} lines")
    return Artifact(ref=reference, digest=sha256_digest(data), size=len(data))
