"""Every requirement of a repository as it applies: unique ids, use blocks resolved, scopes (seed 004 CASCADE; spec 1.6, 2.5, 2.6)."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property

from pytest_reqfile.errors import Problem, WorkspaceError
from pytest_reqfile.outcome import Location
from pytest_reqfile.reqfile.discovery import Discovery, Tree, discover
from pytest_reqfile.reqfile.settings import Settings
from pytest_reqfile.reqfile.sources import Source, SourceLoader
from pytest_reqfile.reqfile.uses import read_location
from pytest_reqfile.reqfile.values import Block, FolderUse, Import, RepositoryUse, Requirement
from pytest_reqfile.workspace.paths import contains, folder_of, joined, shown

COMMAND_LINE_REQFILE = "--use"


@dataclass(frozen=True, kw_only=True)
class Catalog:
    """What a repository requires. ``stages`` holds the problems of each stage of loading (spec 2.7), good parts are kept:
    a file that is bad never hides the others, but a run on the command line stops at the first stage with a problem.
    """

    root: str
    discovery: Discovery
    requirements: tuple[Requirement, ...]
    stages: tuple[tuple[Problem, ...], ...]
    sources: tuple[Source, ...] = ()

    @property
    def settings(self) -> Settings:
        """The settings of the repository's folders."""
        return self.discovery.settings

    @property
    def problems(self) -> tuple[Problem, ...]:
        """Every problem of every stage."""
        return tuple(problem for stage in self.stages for problem in stage)

    @property
    def first_problems(self) -> tuple[Problem, ...]:
        """The problems of the first stage that has any: what the command line reports."""
        return next((stage for stage in self.stages if stage), ())

    @cached_property
    def _folders_by_id(self) -> Mapping[str, frozenset[str]]:
        folders: defaultdict[str, set[str]] = defaultdict(set)
        for requirement in self.requirements:
            folders[requirement.id].add(requirement.folder)
        return {identifier: frozenset(found) for identifier, found in folders.items()}

    def in_scope(self, requirement: Requirement, path: str) -> bool:
        """Whether ``path`` lies under the requirement's folder and no nearer block has its id."""
        return contains(requirement.folder, path) and self.nearest_folder(requirement.id, folder_of(path)) == requirement.folder

    def nearest_folder(self, identifier: str, folder: str) -> str | None:
        """The folder of the nearest block with this id at or above ``folder``."""
        folders = self._folders_by_id.get(identifier, frozenset())
        if folders == {""}:
            return ""
        while folder not in folders:
            if not folder:
                return None
            folder = folder_of(folder)
        return folder

    def applying_to(self, folder: str) -> tuple[Requirement, ...]:
        """The requirements that apply to files directly in ``folder``, from the root down."""
        found = [r for r in self.requirements if self.nearest_folder(r.id, folder) == r.folder]
        return tuple(sorted(found, key=lambda r: r.folder.count("/") + bool(r.folder)))


def load_catalog(tree: Tree, root: str, loader: SourceLoader) -> Catalog:
    """Read and resolve every Reqfile of the working tree. ``root`` is the repository's absolute path."""
    discovery = discover(tree)
    kept, repeated = _keep_first_definitions(discovery)
    resolver = _Resolver(discovery=discovery, root=root, loader=loader)
    requirements: list[Requirement] = []
    for block in kept:
        if (requirement := resolver.resolve(block)) is not None:
            requirements.append(requirement)
    return Catalog(
        root=root,
        discovery=discovery,
        requirements=tuple(requirements),
        stages=(discovery.problems, (*repeated, *resolver.fetch_problems), tuple(resolver.problems)),
        sources=tuple(resolver.sources.values()),
    )


def _keep_first_definitions(discovery: Discovery) -> tuple[tuple[Block, ...], tuple[Problem, ...]]:
    first: dict[str, str] = {}
    kept: list[Block] = []
    problems: list[Problem] = []
    for reqfile in discovery.reqfiles:
        for block in reqfile.blocks:
            if block.use is None and block.id in first:
                message = (
                    f"requirement {block.id} is also defined in {first[block.id]}; "
                    "define it once and take it elsewhere with `use`"
                )
                problems.append(Problem(path=reqfile.path, line=block.location.line, message=message))
                continue
            if block.use is None:
                first[block.id] = reqfile.path
            kept.append(block)
    return tuple(kept), tuple(problems)


@dataclass(frozen=True, slots=True, kw_only=True)
class _Found:
    """A definition and the tree it was found in; ``base`` is that tree's absolute root."""

    block: Block
    discovery: Discovery
    base: str
    commit: str | None


class _Resolver:
    """Completes blocks to requirements; problems of fetching and of resolving are kept apart (spec 2.7)."""

    def __init__(self, *, discovery: Discovery, root: str, loader: SourceLoader) -> None:
        self.discovery = discovery
        self.root = root
        self.loader = loader
        self.problems: list[Problem] = []
        self.fetch_problems: list[Problem] = []
        self.sources: dict[str, Source] = {}

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
        imported = Import(use=block.use, definition=definition.location, commit=found.commit, checks_inherited=inherited)
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
        source = self._source(block)
        if source is None:
            return None
        place = f"the root of {block.use.repo} at commit {source.commit}"
        return self._unique(block, source.discovery, "", place=place, base=source.root, commit=source.commit)

    def _source(self, block: Block) -> Source | None:
        location = str(block.use)
        if location not in self.sources:
            use = read_location(location, location)
            assert isinstance(use, RepositoryUse)
            try:
                source = self.loader.load(use)
            except WorkspaceError as error:
                problem = Problem(path=block.location.path, line=block.location.line, message=str(error))
                self.fetch_problems.append(problem)
                return None
            self.sources[location] = source
            self.fetch_problems.extend(
                Problem(message=f"in {location}: {problem}") for problem in source.discovery.problems
            )
        return self.sources[location]

    def _unique(
        self, block: Block, discovery: Discovery, below: str, *, place: str, base: str, commit: str | None
    ) -> _Found | None:
        same = [b for b in _blocks(discovery, below) if b.id == block.id and b is not block]
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
    for path in discovery.tree.listed:
        if path.startswith(prefix) and not path.startswith(prefix + "examples/"):
            if discovery.settings.excluder(path) is None and discovery.tree.is_regular(path):
                return path
    return None


def _blocks(discovery: Discovery, below: str) -> Iterator[Block]:
    for reqfile in discovery.reqfiles:
        if contains(below, folder_of(reqfile.path)):
            yield from reqfile.blocks


def command_line_location(identifier: str) -> Location:
    """The declaration of a block that ``--use`` adds for one run: a pseudo Reqfile, last in order (spec 5.4)."""
    return Location(path=COMMAND_LINE_REQFILE, line=1)
