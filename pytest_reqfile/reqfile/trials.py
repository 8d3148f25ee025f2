"""``--use LOCATION``: requirements tried for one run, as if a use block at the root took them (spec reqfile.md 5.4)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from pytest_reqfile.errors import Problem, UsageError, WorkspaceError
from pytest_reqfile.outcome import Location
from pytest_reqfile.reqfile.resolution import Resolver, blocks_below
from pytest_reqfile.reqfile.uses import read_location
from pytest_reqfile.reqfile.values import Block, FolderUse, RepositoryUse, Use
from pytest_reqfile.workspace.paths import contains, folder_of, joined, relative_to_root

TRIAL_PATH: Final = "--use"
"""Where a tried block is declared: line 1 of a Reqfile of this name, which no repository has."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Trials:
    """The values of ``--use``; folders among them are relative to ``cwd``, the absolute current folder.

    ``only`` narrows them to the ids of ``--only``; None takes every code and process definition.
    """

    locations: tuple[str, ...]
    cwd: str
    only: frozenset[str] | None = None


def trial_blocks(trials: Trials, kept: Sequence[Block], resolver: Resolver) -> tuple[Block, ...]:
    """The use blocks that ``trials`` add at the root; what is wrong with them joins the problems of fetching."""
    added: list[Block] = []
    for text in trials.locations:
        try:
            found = _blocks_of(text, trials, resolver)
            for block in found:
                _refuse_required(text, block, (*kept, *added))
        except (UsageError, WorkspaceError) as error:
            resolver.fetch_problems.append(Problem(message=str(error)))
            continue
        added.extend(found)
    return tuple(added)


def _blocks_of(text: str, trials: Trials, resolver: Resolver) -> tuple[Block, ...]:
    use = _read(text, trials.cwd, resolver.root)
    kinds = {
        block.id: block.kind
        for block in _definitions(use, resolver)
        if block.kind != "product" and (trials.only is None or block.id in trials.only)
    }
    if not kinds:
        raise UsageError(f"--use {text}: no code or process requirement to try there")
    location = Location(path=TRIAL_PATH, line=1)
    return tuple(Block(id=identifier, kind=kind, location=location, use=use) for identifier, kind in kinds.items())


def _read(text: str, cwd: str, root: str) -> Use:
    """The location with a folder seen from the root, where the tried blocks stand."""
    try:
        use = FolderUse(path=text) if text.startswith("/") else read_location(text, f"`use: {text}`")
    except ValueError as error:
        raise UsageError(f"--use: {error}") from error
    if isinstance(use, RepositoryUse):
        return use
    folder = relative_to_root(Path(root), Path(cwd, text))
    if folder is None:
        raise UsageError(f"--use {text}: outside the repository")
    return FolderUse(path=f"./{folder}" if folder else ".")


def _definitions(use: Use, resolver: Resolver) -> tuple[Block, ...]:
    if isinstance(use, FolderUse):
        found = blocks_below(resolver.discovery, joined("", use.path) or "")
    else:
        source = resolver.source(use)
        if isinstance(source, WorkspaceError):
            raise source
        found = blocks_below(source.discovery, "")
    return tuple(block for block in found if block.use is None)


def _refuse_required(text: str, tried: Block, present: Sequence[Block]) -> None:
    """A folder's own definitions do not clash, unless they stand at the root and so already apply there."""
    own = joined("", tried.use.path) if isinstance(tried.use, FolderUse) else None
    for block in present:
        place = folder_of(block.location.path)
        is_own = own is not None and block.use is None and place != "" and contains(own, place)
        if block.id == tried.id and not is_own:
            raise UsageError(
                f"--use {text}: {tried.id} is already required here; "
                "try it with --only on other ids, or edit the Reqfile"
            )
