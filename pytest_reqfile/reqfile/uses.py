"""The value of ``use``: a folder of this repository, or another one pinned to a commit or tag (spec reqfile.md 1.6)."""

from __future__ import annotations

import re
from typing import Final

from pytest_reqfile.reqfile.values import FolderUse, RepositoryUse, Use

_REPOSITORY: Final = re.compile(r"([A-Za-z0-9._-]+)/([A-Za-z0-9._-]+)@(.*)", re.DOTALL)
_COMMIT: Final = re.compile(r"[0-9a-fA-F]{40}")
_SHORT_COMMIT: Final = re.compile(r"(?=.*[0-9])[0-9a-fA-F]{7,}")


def read_use(text: str) -> Use:
    """The location in a Reqfile's ``use``. Raises ValueError with the message for the ``use`` line.

    A Reqfile pins a repository to a full commit id: a tag can move.
    """
    use = read_location(text, f"`use: {text}`")
    if isinstance(use, RepositoryUse) and not use.commit:
        raise ValueError(
            f"`use: {text}` is pinned to a tag, which can move; a Reqfile pins a repository to a full commit id. "
            f"`reqfile add {use}` writes the line pinned to the commit {use.ref} points to"
        )
    return use


def read_location(text: str, shown: str) -> Use:
    """A location as ``add`` and ``--use`` take it, tags included. Raises ValueError; ``shown`` opens the message."""
    if text in {".", ".."} or text.startswith(("./", "../")):
        return FolderUse(path=text)
    found = _REPOSITORY.fullmatch(text)
    if found is None or {found[1], found[2]} & {".", ".."}:
        raise ValueError(
            f"{shown} must be a folder relative to this Reqfile (./std) or a repository pinned to a tag or commit "
            "(owner/repo@v1.0.0)"
        )
    repo, ref = f"{found[1]}/{found[2]}", found[3]
    if _COMMIT.fullmatch(ref):
        return RepositoryUse(repo=repo, ref=ref.lower(), commit=True)
    if not ref or ref == "HEAD" or ref.startswith(("refs/", "-")):
        raise ValueError(
            f"`{ref}` is not a tag or a full commit id; pin requirements to a tag (v1.0.0) or a 40-character commit id"
        )
    if _SHORT_COMMIT.fullmatch(ref):
        raise ValueError(
            f"`{ref}` looks like a short commit id; use the full 40-character id so the pin cannot become ambiguous"
        )
    return RepositoryUse(repo=repo, ref=ref, commit=False)
