"""What one pytest run knows: its repositories, opened at first need and kept in ``config.stash``."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from fnmatch import fnmatch
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Final

import pytest

from pytest_reqfile.errors import GitError, Problem, UsageError
from pytest_reqfile.plugin import options
from pytest_reqfile.plugin.checklists import max_cost
from pytest_reqfile.plugin.collect import collect_file, new_file
from pytest_reqfile.plugin.items import ReqfileItem
from pytest_reqfile.plugin.links import Links
from pytest_reqfile.plugin.names import (
    concerns_us,
    is_declaration_file,
    is_lock_file,
    is_project_file,
    is_skipped,
    project_root,
)
from pytest_reqfile.plugin.narrowing import Narrowing, Wire
from pytest_reqfile.plugin.opened import OpenedRepository
from pytest_reqfile.plugin.plans import Expecting, ItemPlan, load_plan, skipped_plan
from pytest_reqfile.plugin.projects import OpenedProject, VerifierOptions
from pytest_reqfile.plugin.requirement_plans import requirement_plans
from pytest_reqfile.plugin.verifier_options import verifier_options
from pytest_reqfile.plugin.verifier_plans import verifier_plans
from pytest_reqfile.plugin.workers import given_by_controller, run_folder_of, tell_controller
from pytest_reqfile.project.places import project_folders
from pytest_reqfile.reports.run_log import parse_tags
from pytest_reqfile.reqfile.repository import Repository, open_repository
from pytest_reqfile.reqfile.values import Edition
from pytest_reqfile.verifiers.values import FlatVerifier, SpecVerifier
from pytest_reqfile.workspace.environment import Environment
from pytest_reqfile.workspace.git import is_inside_repository, nearest_repository
from pytest_reqfile.workspace.memory import settle, unsettle
from pytest_reqfile.workspace.paths import absolute_below, canonical, leads_through_link, relative_to_root
from pytest_reqfile.workspace.process_tree import COOKIE

if TYPE_CHECKING:
    from pytest_reqfile.plugin.deciding import Deliberation
    from pytest_reqfile.plugin.locks import Locks
    from pytest_reqfile.plugin.missions import OpenedMission

_SINKS: Final = "sinks"
_MANY: Final = 500
"""Items from which on it pays to keep the cycle collector from looking at all of them again and again."""
_KEY: Final = pytest.StashKey["RunState"]()


def state_of(config: pytest.Config) -> RunState:
    """The state of the run that ``config`` belongs to."""
    if _KEY not in config.stash:
        config.stash[_KEY] = RunState(config)
    return config.stash[_KEY]


class RunState:
    """Opens repositories, decides what is collected, and links Python tests to requirements."""

    def __init__(self, config: pytest.Config) -> None:
        self._config = config
        self._environment = Environment.current()
        self._opened: dict[Path, OpenedRepository | GitError] = {}
        self._projects: dict[Path, OpenedProject] = {}
        self._missions: dict[Path, OpenedMission] = {}
        self.narrowing = Narrowing(config, given_by_controller(config))
        self.handed_over: Wire = {}

    @cached_property
    def edition(self) -> Edition:
        """The edition of this run: option, ini key, environment, else 0.1."""
        chosen = options.value(self._config, "edition") or self._environment.get("REQFILE_EDITION") or "0.1"
        if chosen not in {"0.1", "0.4"}:
            raise pytest.UsageError(f"REQFILE_EDITION: expected one of 0.1, 0.4, found {chosen!r}")
        return "0.4" if chosen == "0.4" else "0.1"

    @property
    def repository(self) -> Repository:
        """The repository of the run's root folder. Raises GitError outside of one."""
        return self.opened(self._home).repository

    @cached_property
    def _home(self) -> Path:
        """pytest's root folder, or where it was started if an ini file above the repository makes that the root."""
        root = self._config.rootpath
        return root if is_inside_repository(root) else self._config.invocation_params.dir

    def opened(self, folder: Path) -> OpenedRepository:
        """The repository that holds ``folder``, opened once per run. Raises GitError outside of one."""
        top = nearest_repository(folder)
        if top not in self._opened:
            self._opened[top] = self._open(top)
        found = self._opened[top]
        if isinstance(found, GitError):
            raise found
        return found

    def _open(self, folder: Path) -> OpenedRepository | GitError:
        cached_only = bool(self._config.option.collectonly)
        try:
            repository = open_repository(
                folder, self._environment, cached_only=cached_only, keep_parsed=not cached_only
            )
        except GitError as error:
            return error
        return OpenedRepository(
            repository=repository,
            narrowing=self.narrowing,
            edition=lambda: self.edition,
            deliberation=lambda: self._deliberation,
        )

    @cached_property
    def _deliberation(self) -> Deliberation:
        """How decision items are judged; made when the first of them, or of their examples, runs."""
        from pytest_reqfile.plugin.deciding import Deliberation
        from pytest_reqfile.reqfile.asking import Service
        from pytest_reqfile.workspace.http import HttpTransport

        chosen = options.value(self._config, "advisory_errors")
        transport = HttpTransport(self._environment)
        self._config.add_cleanup(transport.close)
        return Deliberation(
            service=Service(environment=self._environment, transport=transport),
            advisory_errors="fail" if chosen == "fail" else "report" if chosen == "report" else None,
            folder=run_folder_of(self._config),
        )

    def has_variable(self, name: str) -> bool:
        """Whether an environment variable has a value."""
        return bool(self._environment.get(name))

    def start_workers(self) -> None:
        """Work out once, in the controller, what every worker needs; a change that cannot be known stops here."""
        with self._usage_errors([]):
            self.judge_options()
            self.handed_over = {_SINKS: self.sinks}
        try:
            opened = self.opened(self._home)
        except GitError:
            return  # nothing of ours can be narrowed outside a repository; what is collected says so itself
        self.handed_over |= self.narrowing.wire(opened.repository, self.edition)

    def judge_options(self) -> None:
        """Raise pytest.UsageError for options that ask for something impossible, before anything runs."""
        self.narrowing.judge()
        tags = options.values(self._config, "log_tag")
        if tags and options.value(self._config, "log") is None:
            raise pytest.UsageError("--reqfile-log-tag needs --reqfile-log: without a log there is nothing to tag")
        parse_tags(tags, "--reqfile-log-tag")
        max_cost(self._config)
        _ = self.edition

    def _add_whole_repository(self, session: pytest.Session, items: list[pytest.Item]) -> None:
        """Collect what the walk did not meet, found in the one git listing (design 2.1, ``--reqfile``).

        Adding arguments instead would lose tests: pytest before 9 collects only the deeper of two nested arguments.
        """
        if self._is_nested:
            return
        try:
            opened = self.opened(self._home)
        except GitError as error:
            raise UsageError(f"--reqfile: {error}") from error
        met = {item.nodeid for item in items if isinstance(item, ReqfileItem)}
        walked = {item.path for item in items if isinstance(item, ReqfileItem)} - self._partly_named
        for path in self._files_of(opened):
            if path not in walked and not self._is_ignored(path):
                items.extend(item for item in collect_file(session, path) if item.nodeid not in met)

    def _files_of(self, opened: OpenedRepository) -> Iterator[Path]:
        root = opened.repository.snapshot.root
        yield from (root / path for path in opened.files)
        yield from dict.fromkeys(self._project_files(root, opened.repository.snapshot.listed))
        yield from self.locks.files(root, opened.repository.snapshot.listed)

    def _project_files(self, root: Path, listed: tuple[str, ...]) -> Iterator[Path]:
        for folder in project_folders(listed):
            project = self.project(root / folder)
            names = project.by_file or ({project.sign: ()} if project.sign else {})
            yield from (root / folder / name for name in sorted(names))
        yield from (root / path for path in listed if is_declaration_file(Path(path)))

    def project(self, folder: Path) -> OpenedProject:
        """The project of exactly that folder, opened once per run."""
        if folder not in self._projects:
            top = nearest_repository(folder)
            shared = run_folder_of(self._config)
            self._projects[folder] = OpenedProject(folder, top, self._environment, self._verifier_options, shared)
        return self._projects[folder]

    @cached_property
    def _verifier_options(self) -> VerifierOptions:
        return verifier_options(self._config, self._environment, self.narrowing, self._base_of)

    def _base_of(self, folder: Path) -> str | None:
        """The revision that changes below a project's folder are measured from where none was given."""
        repository = self.opened(folder).repository
        relative = relative_to_root(repository.snapshot.root, folder) or ""
        return repository.catalog.settings.base(relative) or repository.git.default_branch()

    def plans(self, path: Path) -> Iterator[ItemPlan]:
        """The items of a file of ours."""
        if path.suffix == ".json":
            yield from self._mission(path).plans()
            return
        if is_lock_file(path):
            yield from self.locks.plans(path)
            return
        if is_project_file(path):
            # Links below the project's folder stay as they are written: that is how declarations name their files.
            root = project_root(path)
            yield from verifier_plans(self.project(canonical(root)), path.relative_to(root).as_posix())
            return
        try:
            opened = self.opened(path.parent)
        except GitError as error:
            problem = Problem(path=path.name, message=f"{error}; requirements need one")
            yield load_plan(path.name, (problem,), str(path.parent))
            return
        relative = relative_to_root(opened.repository.snapshot.root, canonical(path))
        is_named = path in self._named
        if relative is not None and not leads_through_link(nearest_repository(path.parent), path):
            yield from requirement_plans(opened, relative, is_named=is_named)
        elif is_named:
            reason = f"{path.name} leads through a symbolic link, so it is no file of the repository"
            yield skipped_plan(path.name, reason, str(path.parent))

    @cached_property
    def locks(self) -> Locks:
        """The locks of this run."""
        from pytest_reqfile.plugin.locks import locks_of

        return locks_of(self._config)

    def _mission(self, path: Path) -> OpenedMission:
        from pytest_reqfile.plugin.influence import is_influenced_by
        from pytest_reqfile.plugin.missions import OpenedMission

        if path not in self._missions:
            root = self.reviewed_root
            self._missions[path] = OpenedMission(
                path=path,
                root=root,
                sink=self.sinks.get(str(path)),
                folder=run_folder_of(self._config),
                environment=self._environment,
                inside_reviewed=lambda: is_influenced_by(root, self._config),
            )
        return self._missions[path]

    def _is_mission(self, path: Path) -> bool:
        from pytest_reqfile.plugin.missions import looks_like_mission

        return path in self._named and looks_like_mission(path)

    @cached_property
    def reviewed_root(self) -> Path:
        """The workspace that missions review: the repository that pytest was started in, else that folder."""
        return canonical(nearest_repository(self._config.invocation_params.dir))

    @cached_property
    def sinks(self) -> dict[str, str]:
        """Where each mission named on the command line leaves its claims; opened once, by the controller under xdist.

        Raises UsageError for a sink that cannot be one.
        """
        given = given_by_controller(self._config)
        if given is not None:
            return dict(given.get(_SINKS, {}))
        folder = options.path(self._config, "oracle_sink")
        if folder is None or self._config.option.collectonly:
            return {}
        from pytest_reqfile.oracle.sink import open_sink
        from pytest_reqfile.plugin.missions import looks_like_mission

        missions = [path for path in sorted(self._named) if looks_like_mission(path)]
        places = [folder] if len(missions) == 1 else [folder / path.stem for path in missions]
        sinks = zip(missions, places, strict=True)
        return {str(path): str(open_sink(place, self.reviewed_root).folder) for path, place in sinks}

    def prepare(self, items: list[pytest.Item]) -> None:
        """Plan the verifiers that are left to run, each project's together. Nothing is looked at under ``--co``."""
        if self._config.option.collectonly:
            return
        left = [item.plan.source for item in items if isinstance(item, ReqfileItem)]
        if len(left) > _MANY:
            settle()
            self._config.add_cleanup(unsettle)
        with self._usage_errors(items):
            for project in self._projects.values():
                mine = {id(verifier) for verifiers in project.by_file.values() for verifier in verifiers}
                project.prepare(v for v in left if isinstance(v, FlatVerifier | SpecVerifier) and id(v) in mine)

    def expect(self, items: list[pytest.Item]) -> None:
        """What is left is done together: no code unit is sent twice, and a mission's commands run in one workspace.

        Called once nobody deselects any more: ``--lf`` does so after every other.
        """
        sources = (item.plan.source for item in items if isinstance(item, ReqfileItem))
        for source in sources:
            if source is not None and isinstance(source, Expecting):
                source.expect()

    @contextmanager
    def _usage_errors(self, items: list[pytest.Item]) -> Iterator[None]:
        """What is wrong with an option ends the run as pytest's usage error, in a worker too.

        A worker announces its items even then, so none may be left for the controller to hand out.
        """
        try:
            try:
                yield
            except (UsageError, GitError) as error:
                raise pytest.UsageError(*error.messages) from error
        except pytest.UsageError as error:
            items.clear()
            tell_controller(self._config, error)
            raise

    def _is_ignored(self, path: Path) -> bool:
        """Whether ``--ignore`` or ``--ignore-glob`` names the path or a folder above it."""
        start = self._config.invocation_params.dir
        ignored = [absolute_below(start, name) for name in self._config.getoption("ignore") or ()]
        globs = [str(absolute_below(start, glob)) for glob in self._config.getoption("ignore_glob") or ()]
        return any(path.is_relative_to(folder) or path.is_relative_to(canonical(folder)) for folder in ignored) or any(
            fnmatch(str(above), glob) for glob in globs for above in (path, *path.parents)
        )

    def ignores(self, path: Path) -> bool | None:
        """Whether a path in a settings folder is skipped: only its config may hold something to collect.

        None leaves it to pytest, which knows what the user ignores.
        """
        if self._is_ignored(path) or any(concerns_us(named) for named in self._named):
            return None
        return is_skipped(path)

    def collector(self, path: Path, parent: pytest.Collector) -> pytest.Collector | None:
        """The collector of a file of ours; a run started by one of our own commands has none unless asked by path."""
        if self._is_nested and path not in self._named:
            return None
        if path.suffix == ".json" and not self._is_mission(path):
            return None
        return new_file(parent, path)

    def arrange(self, session: pytest.Session, items: list[pytest.Item]) -> None:
        """Complete what was collected: the whole repository where asked for, links of Python tests, the ids asked for.

        Options are judged here, where pytest still answers with a usage error before anything runs.
        """
        with self._usage_errors(items):
            self.judge_options()
            _ = self.sinks
            if options.is_on(self._config, "whole"):
                self._add_whole_repository(session, items)
            self._judge_projects()
            self._narrow(items)

    def _judge_projects(self) -> None:
        for project in self._projects.values():
            if project.usage is not None:
                raise project.usage

    def _narrow(self, items: list[pytest.Item]) -> None:
        links = Links(self)
        for item in items:
            links.complete(item)
        for opened in self._opened.values():
            if isinstance(opened, OpenedRepository):
                opened.narrow()
        dropped = links.left_out(items, self.narrowing.plain.only)
        if dropped:
            items[:] = [item for item in items if item not in dropped]
            self._config.hook.pytest_deselected(items=list(dropped))

    @property
    def _is_nested(self) -> bool:
        return self._environment.get(COOKIE) is not None

    @cached_property
    def _named(self) -> frozenset[Path]:
        return self._arguments(lambda argument: True)

    @cached_property
    def _partly_named(self) -> frozenset[Path]:
        """Files of which single items were asked for."""
        return self._arguments(lambda argument: "::" in argument)

    def _arguments(self, takes: Callable[[str], bool]) -> frozenset[Path]:
        start = self._config.invocation_params.dir
        return frozenset(absolute_below(start, a.partition("::")[0]) for a in self._config.args if takes(a))
