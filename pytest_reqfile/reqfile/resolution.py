"""A block as written → the requirement it stands for: use blocks find their definition (spec reqfile.md 1.6)."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import islice, takewhile
from typing import TYPE_CHECKING

from pytest_reqfile.errors import Problem, WorkspaceError
from pytest_reqfile.reqfile.discovery import Discovery
from pytest_reqfile.reqfile.values import Block, FolderUse, Import, RepositoryUse, Requirement
from pytest_reqfile.workspace.paths import byte_order, contains, folder_of, joined, shown

if TYPE_CHECKING:
    from pytest_reqfile.reqfile.sources import Source, SourceLoader


@dataclass(frozen=True, slots=True, kw_only=True)
class _Found:
    """A definition and the tree it was found in; ``base`` is that tree's absolute root."""

    block: Block
    discovery: Discovery
    base: str
    commit: str | None


class Resolver:
    """Completes blocks to requirements; problems of fetching and of resolving are kept apart (spec 2.7)."""

    def __init__(self, *, discovery: Discovery, root: str, loader: SourceLoader) -> None:
        self.discovery = discovery
        self.root = root
        self.problems: list[Problem] = []
        self.fetch_problems: list[Problem] = []
        self._loader = loader
        self._loaded: dict[RepositoryUse, Source | WorkspaceError] = {}

    @property
    def sources(self) -> tuple[Source, ...]:
        """The sources loaded so far, in the order they were needed."""
        return tuple(loaded for loaded in self._loaded.values() if not isinstance(loaded, WorkspaceError))

    def resolve(self, block: Block) -> Requirement | None:
        """The requirement of ``block``; None when it has a problem, which is then kept."""
        folder = folder_of(block.location.path)
        if block.use is None:
            return complete(block, block, folder, assets=assets_of(self.root, folder, block.id), imported=None)
        found = self._find(block, folder)
        if found is None or self._refused(block, found, folder):
            return None
        inherited = block.checks is None
        definition = found.block
        imported = Import(
            use=block.use, definition=definition.location, commit=found.commit, checks_inherited=inherited
        )
        base = assets_of(found.base, folder_of(definition.location.path), block.id)
        assets = base if inherited else assets_of(self.root, folder, block.id)
        return complete(block, definition, folder, assets=assets, imported=imported)

    def _find(self, block: Block, folder: str) -> _Found | None:
        if isinstance(block.use, FolderUse):
            below = joined(folder, block.use.path)
            if below is None:
                self._add(
                    block,
                    f"`use: {block.use}` points above the repository root; "
                    "a folder source must be inside the repository",
                )
                return None
            return self._unique(block, self.discovery, below, place=shown(below), base=self.root, commit=None)
        assert isinstance(block.use, RepositoryUse)
        source = self.source(block.use)
        if isinstance(source, WorkspaceError):
            self.fetch_problems.append(Problem(path=block.location.path, line=block.location.line, message=str(source)))
            return None
        place = f"the root of {block.use.repo} at commit {source.commit}"
        return self._unique(block, source.discovery, "", place=place, base=source.root, commit=source.commit)

    def source(self, use: RepositoryUse) -> Source | WorkspaceError:
        """The source at ``use``, or why there is none; asked for once, however many blocks take from it."""
        if use not in self._loaded:
            try:
                self._loaded[use] = source = self._loader.load(use)
            except WorkspaceError as error:
                self._loaded[use] = error
            else:
                inside = (Problem(message=f"in {use}: {problem}") for problem in source.discovery.problems)
                self.fetch_problems.extend(inside)
        return self._loaded[use]

    def _unique(
        self, block: Block, discovery: Discovery, below: str, *, place: str, base: str, commit: str | None
    ) -> _Found | None:
        same = [b for b in blocks_below(discovery, below) if b.id == block.id and b is not block]
        definitions = [b for b in same if b.use is None]
        if len(definitions) == 1:
            return _Found(block=definitions[0], discovery=discovery, base=base, commit=commit)
        if definitions:
            first, second = (b.location for b in definitions[:2])
            self._add(block, f"`use: {block.use}`: {block.id} is defined twice, in {first} and {second}")
        elif same:
            self._add(
                block,
                f"`use: {block.use}`: {block.id} in {same[0].location} is a use block, not a definition; "
                f"point `use` to the folder that defines {block.id}",
            )
        else:
            self._add(block, f"`use: {block.use}`: no Reqfile at or under {place} defines {block.id}")
        return None

    def _refused(self, block: Block, found: _Found, folder: str) -> bool:
        definition = found.block
        if definition.kind != block.kind:
            self._add(
                block,
                f"requirement {block.id} is listed under `{block.kind}`, but its definition in {definition.location} "
                f"is a {definition.kind} requirement; list it under `{definition.kind}`",
            )
            return True
        own = own_assets(self.discovery, folder, block.id) if block.checks is None else None
        if own is None:
            return False
        where = f"{folder}/.reqfile/{block.id}/" if folder else f".reqfile/{block.id}/"
        self._add(
            block,
            f"requirement {block.id} takes its checks from its definition, whose files are in its own "
            f".reqfile/{block.id}/, so {where} may only hold examples/; found {own}. "
            "Set `checks` here to use local files, or move the file",
        )
        return True

    def _add(self, block: Block, message: str) -> None:
        self.problems.append(Problem(path=block.location.path, line=block.location.line, message=message))


def complete(block: Block, definition: Block, folder: str, *, assets: str, imported: Import | None) -> Requirement:
    """The requirement of ``block``, completed by ``definition`` where it leaves things open (spec 1.6)."""
    assert definition.must is not None
    assert definition.why is not None
    return Requirement(
        id=block.id,
        kind=block.kind,
        must=definition.must,
        why=block.why or definition.why,
        who=block.who or definition.who,
        ref=definition.ref,
        checks=block.checks or definition.checks or (),
        location=block.location,
        folder=folder,
        assets=assets,
        imported=imported,
    )


def assets_of(base: str, folder: str, identifier: str) -> str:
    """The absolute path of a block's files, ``.reqfile/<ID>`` next to its Reqfile."""
    return "/".join(part for part in (base, folder, ".reqfile", identifier) if part)


def own_assets(discovery: Discovery, folder: str, identifier: str) -> str | None:
    """A file in the block's own ``.reqfile/<ID>/`` that is not one of its examples, or None."""
    prefix = f"{folder}/.reqfile/{identifier}/" if folder else f".reqfile/{identifier}/"
    listed = discovery.tree.listed
    first = bisect_left(listed, byte_order(prefix), key=byte_order)
    for path in takewhile(lambda path: path.startswith(prefix), islice(listed, first, None)):
        if path.startswith(prefix + "examples/") or discovery.settings.excluder(path) is not None:
            continue
        if discovery.tree.is_regular(path):
            return path
    return None


def blocks_below(discovery: Discovery, below: str) -> Iterator[Block]:
    """The blocks of every Reqfile in the repository folder ``below`` or under it, in Reqfile order."""
    for reqfile in discovery.reqfiles:
        if contains(below, folder_of(reqfile.path)):
            yield from reqfile.blocks
