"""Running a requirement's checks on one labeled example (seed 004 EXAMPLES; spec reqfile.md 6.1 to 6.3)."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING

from pytest_reqfile.errors import ReqfileError
from pytest_reqfile.outcome import Outcome
from pytest_reqfile.reqfile.catalog import Catalog
from pytest_reqfile.reqfile.command import CommandContext
from pytest_reqfile.reqfile.discovery import REQFILE_NAME, Discovery, Tree, discover
from pytest_reqfile.reqfile.example_cells import CaseRun, failed_run, judge_case
from pytest_reqfile.reqfile.examples import Example
from pytest_reqfile.reqfile.plan import Selection, plan_checks
from pytest_reqfile.reqfile.repository import Repository
from pytest_reqfile.reqfile.run import Judge, evaluate_check
from pytest_reqfile.reqfile.settings import CONFIG_NAME, Config, DecisionSettings, Settings
from pytest_reqfile.reqfile.values import Edition, Requirement
from pytest_reqfile.workspace.case_repository import (
    case_repository,
    copy_case,
    text_of,
    without_user_git,
    write_case_file,
)
from pytest_reqfile.workspace.git import Git
from pytest_reqfile.workspace.paths import folder_of, name_of
from pytest_reqfile.workspace.processes import Cancellation
from pytest_reqfile.workspace.snapshot import Snapshot
from pytest_reqfile.workspace.walk import Walk

if TYPE_CHECKING:
    from pytest_reqfile.reqfile.asking import Service


@dataclass(frozen=True, slots=True, kw_only=True)
class ExampleContext:
    """What running examples needs: the repository they belong to, what commands get, and how models are reached.

    Without a ``service`` decision checks are errors.
    """

    repository: Repository
    edition: Edition
    program: str
    cancellation: Cancellation | None = None
    service: Service | None = None


def run_example(example: Example, requirement: Requirement, context: ExampleContext) -> CaseRun:
    """One run of the requirement's checks in a repository made for it. What cannot run is an error of the case."""
    try:
        with case_repository(context.repository.environment) as git:
            outcomes = _evaluate(example, requirement, context, git)
    except ReqfileError as error:
        return failed_run(str(error))
    return judge_case(example.label, outcomes)


def _evaluate(example: Example, requirement: Requirement, context: ExampleContext, git: Git) -> Sequence[Outcome]:
    root = str(git.root)
    settings = context.repository.catalog.settings.decision(requirement.folder)
    if example.layout == "described":
        relocated, discovery = _described_case(example, requirement, settings, git)
    else:
        relocated, discovery = _named_case(example, requirement, settings, context.repository.root, git)
    catalog = Catalog(root=root, discovery=discovery, requirements=(relocated,), stages=())
    environment = without_user_git(context.repository.command_environment())
    running = CommandContext(
        root=root,
        environment=environment,
        edition=context.edition,
        program=context.program,
        cancellation=context.cancellation,
    )
    jury = _jury(catalog, context)
    return [evaluate_check(planned, running, jury) for planned in plan_checks(catalog, Selection())]


def _jury(catalog: Catalog, context: ExampleContext) -> Judge | None:
    """Judges the case; its answers are kept nowhere: each run of an example measures anew (spec 6.2)."""
    if context.service is None:
        return None
    from pytest_reqfile.reqfile.asking import Asking
    from pytest_reqfile.reqfile.jury import Jury

    asking = Asking(context.service, answers=None, cancellation=context.cancellation)
    return Jury(catalog=catalog, edition=context.edition, asking=asking).judge


def _described_case(
    example: Example, requirement: Requirement, settings: DecisionSettings, git: Git
) -> tuple[Requirement, Discovery]:
    """Only ``files/`` is there; Reqfiles and settings inside of it are data, the assets stay where they are."""
    copy_case(Path(example.base), example.case, git.root)
    config = _decision_config(settings)
    tree = Snapshot(git)
    discovery = _PlainFiles(tree=tree, settings=Settings(configs=(config,)), reqfiles=(), problems=())
    return replace(requirement, folder=""), discovery


class _PlainFiles(Discovery):
    """A case in which every file is a target: its Reqfiles, configs and ``.reqfile`` folders are ordinary data."""

    def could_be_target(self, path: str) -> bool:
        del path
        return True

    @cached_property
    def candidates(self) -> tuple[str, ...]:
        return self.tree.listed


def _decision_config(settings: DecisionSettings) -> Config:
    return Config(
        path=CONFIG_NAME,
        folder="",
        model=settings.model,
        api_key_env=settings.api_key_env,
        endpoint=settings.endpoint,
        concurrency=settings.concurrency,
    )


def _named_case(
    example: Example, requirement: Requirement, settings: DecisionSettings, repository: str, git: Git
) -> tuple[Requirement, Discovery]:
    """The case with the requirement's Reqfile, files and Jev settings beside it; the case's own Reqfiles apply."""
    copy_case(Path(example.base), example.case, git.root)
    _copy_reqfile(requirement, repository, git)
    assets = f".reqfile/{requirement.id}"
    base, identifier = Path(folder_of(requirement.assets)), name_of(requirement.assets)
    if Walk(base.parent).kind(base.name) == "folder" and Walk(base).kind(identifier) == "folder":
        copy_case(base, identifier, git.root / assets, without=f"{identifier}/examples")
    write_case_file(git, CONFIG_NAME, _config_text(settings))
    tree = Snapshot(git)
    found = discover(_WithoutRootReqfile(tree))
    _refuse_problems(found, requirement)
    discovery = replace(found, tree=tree)
    return replace(requirement, folder="", assets=f"{git.root}/{assets}"), discovery


def _copy_reqfile(requirement: Requirement, repository: str, git: Git) -> None:
    """The whole Reqfile of the requirement; one that ``--use`` tries has none."""
    walk = Walk(Path(repository))
    if walk.kind(requirement.location.path) == "file":
        write_case_file(git, REQFILE_NAME, text_of(walk, requirement.location.path))


def _config_text(settings: DecisionSettings) -> str:
    """The resolved Jev settings alone: no base, no excludes (spec 6.1). JSON strings are YAML strings."""
    lines = [
        f"  model: {json.dumps(settings.model)}",
        f"  api_key_env: {json.dumps(settings.api_key_env)}",
        f"  endpoint: {json.dumps(settings.endpoint)}",
        f"  concurrency: {settings.concurrency}",
    ]
    return "\n".join(["decision:", *lines]) + "\n"


class _WithoutRootReqfile:
    """The case's tree without the Reqfile that was copied there: it was read where it comes from."""

    def __init__(self, tree: Tree) -> None:
        self._tree = tree

    @property
    def listed(self) -> tuple[str, ...]:
        return tuple(path for path in self._tree.listed if path != REQFILE_NAME)

    def is_regular(self, path: str) -> bool:
        return self._tree.is_regular(path)

    def read_text(self, path: str) -> str:
        return self._tree.read_text(path)


def _refuse_problems(found: Discovery, requirement: Requirement) -> None:
    """A case with a broken Reqfile or config cannot run, nor one that defines the requirement a second time."""
    if found.problems:
        raise ReqfileError(str(found.problems[0]))
    for block in (block for reqfile in found.reqfiles for block in reqfile.blocks):
        if block.id == requirement.id and block.use is None:
            raise ReqfileError(
                f"{block.location}: requirement {block.id} is also defined in {REQFILE_NAME}; "
                "define it once and take it elsewhere with `use`"
            )
