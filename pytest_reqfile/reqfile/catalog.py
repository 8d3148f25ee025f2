"""Every requirement of a repository as it applies: unique ids, ``use``, scopes (seed 004 CASCADE; spec 1.6, 2.5 f.)."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

from pytest_reqfile.errors import Problem
from pytest_reqfile.reqfile.discovery import Discovery, Tree, discover
from pytest_reqfile.reqfile.resolution import Resolver
from pytest_reqfile.reqfile.settings import Settings
from pytest_reqfile.reqfile.values import Block, Requirement
from pytest_reqfile.workspace.memory import collection_paused
from pytest_reqfile.workspace.paths import contains, folder_of

if TYPE_CHECKING:
    from pytest_reqfile.reqfile.parsing import Parser
    from pytest_reqfile.reqfile.sources import Source, SourceLoader
    from pytest_reqfile.reqfile.trials import Trials


@dataclass(frozen=True, kw_only=True)
class Catalog:
    """What a repository requires.

    ``stages`` holds the problems of each stage of loading (spec 2.7). Good parts are kept: a bad file never hides the
    others, though a run on the command line stops at the first stage with a problem.
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
        return (
            contains(requirement.folder, path)
            and self.nearest_folder(requirement.id, folder_of(path)) == requirement.folder
        )

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

    def nested_folders(self, requirement: Requirement) -> frozenset[str]:
        """The folders below the requirement's own that have a nearer block with its id, so are not in its scope."""
        folders = self._folders_by_id.get(requirement.id, frozenset())
        return frozenset(f for f in folders if f != requirement.folder and contains(requirement.folder, f))

    def applying_to(self, folder: str) -> tuple[Requirement, ...]:
        """The requirements that apply to files directly in ``folder``, from the root down."""
        found = [r for r in self.requirements if self.nearest_folder(r.id, folder) == r.folder]
        return tuple(sorted(found, key=lambda r: r.folder.count("/") + bool(r.folder)))


def load_catalog(
    tree: Tree, root: str, loader: SourceLoader, trials: Trials | None = None, parser: Parser | None = None
) -> Catalog:
    """Read and resolve every Reqfile of the working tree. ``root`` is the repository's absolute path.

    ``trials`` are the requirements that ``--use`` adds for this run, last in order.
    """
    with collection_paused():
        discovery = discover(tree, parser)
        kept, repeated = _keep_first_definitions(discovery)
        resolver = Resolver(discovery=discovery, root=root, loader=loader)
        tried = _tried(trials, kept, resolver) if trials is not None else ()
        resolved = tuple(resolver.resolve(block) for block in (*kept, *tried))
    return Catalog(
        root=root,
        discovery=discovery,
        requirements=tuple(requirement for requirement in resolved if requirement is not None),
        stages=(discovery.problems, (*repeated, *resolver.fetch_problems), tuple(resolver.problems)),
        sources=resolver.sources,
    )


def _tried(trials: Trials, kept: tuple[Block, ...], resolver: Resolver) -> tuple[Block, ...]:
    from pytest_reqfile.reqfile.trials import trial_blocks

    return trial_blocks(trials, kept, resolver)


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
