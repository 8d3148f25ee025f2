"""What one pytest run knows: its repositories, opened at first need and kept in ``config.stash``."""

from __future__ import annotations

from collections.abc import Callable
from functools import cached_property
from pathlib import Path
from typing import Final

import pytest

from pytest_reqfile.errors import GitError, UsageError
from pytest_reqfile.plugin import options
from pytest_reqfile.plugin.collect import ReqfileFile, collect_file
from pytest_reqfile.plugin.items import ReqfileItem
from pytest_reqfile.plugin.links import Links
from pytest_reqfile.plugin.names import is_config_like
from pytest_reqfile.plugin.narrowing import Narrowing, Wire
from pytest_reqfile.plugin.opened import OpenedRepository
from pytest_reqfile.plugin.workers import given_by_controller
from pytest_reqfile.reports.run_log import parse_tags
from pytest_reqfile.reqfile.repository import Repository, open_repository
from pytest_reqfile.reqfile.values import Edition
from pytest_reqfile.workspace.environment import Environment
from pytest_reqfile.workspace.git import nearest_repository
from pytest_reqfile.workspace.paths import canonical
from pytest_reqfile.workspace.process_tree import COOKIE

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
        return self.opened(self._config.rootpath).repository

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
            repository = open_repository(folder, self._environment, cached_only=cached_only)
        except GitError as error:
            return error
        return OpenedRepository(repository=repository, narrowing=self.narrowing, edition=lambda: self.edition)

    def start_workers(self) -> None:
        """Work out once, in the controller, what every worker needs; a change that cannot be known stops here."""
        self.judge_options()
        try:
            opened = self.opened(self._config.rootpath)
        except GitError:
            return  # nothing of ours can be narrowed outside a repository; what is collected says so itself
        self.handed_over = self.narrowing.wire(opened.repository, self.edition)

    def judge_options(self) -> None:
        """Raise pytest.UsageError for options that ask for something impossible, before anything runs."""
        self.narrowing.judge()
        tags = options.values(self._config, "log_tag")
        if tags and options.value(self._config, "log") is None:
            raise pytest.UsageError("--reqfile-log-tag needs --reqfile-log: without a log there is nothing to tag")
        try:
            parse_tags(tags, "--reqfile-log-tag")
        except UsageError as error:
            raise pytest.UsageError(*error.messages) from error
        _ = self.edition

    def add_whole_repository(self, session: pytest.Session, items: list[pytest.Item]) -> None:
        """Collect what the walk did not meet, found in the one git listing (design 2.1, ``--reqfile``).

        Adding arguments instead would lose tests: pytest before 9 collects only the deeper of two nested arguments.
        """
        if self._is_nested:
            return
        try:
            opened = self.opened(self._config.rootpath)
        except GitError as error:
            raise pytest.UsageError(f"--reqfile: {error}") from error
        met = {item.nodeid for item in items if isinstance(item, ReqfileItem)}
        walked = {item.path for item in items if isinstance(item, ReqfileItem)} - self._partly_named
        for path in (Path(opened.repository.root, path) for path in opened.files):
            if path not in walked and not self._is_ignored(path):
                items.extend(item for item in collect_file(session, path) if item.nodeid not in met)

    def _is_ignored(self, path: Path) -> bool:
        """Whether ``--ignore`` names the path or a folder above it."""
        ignored = self._config.getoption("ignore") or ()
        start = self._config.invocation_params.dir
        return any(path.is_relative_to(canonical(Path(start, name))) for name in ignored)

    def ignores(self, path: Path) -> bool | None:
        """Whether a path in a settings folder is skipped: only its config may hold something to collect."""
        if any(".reqfile" in named.parts for named in self._named):
            return None
        return not (path.name == ".reqfile" or is_config_like(path))

    def collector(self, path: Path, parent: pytest.Collector) -> pytest.Collector | None:
        """The collector of a file of ours; a run started by one of our own commands has none unless asked by path."""
        if self._is_nested and path not in self._named:
            return None
        collector: ReqfileFile = ReqfileFile.from_parent(parent, path=path)
        return collector

    def is_named(self, path: Path) -> bool:
        """Whether the path itself was asked for on the command line."""
        return path in self._named

    def arrange(self, items: list[pytest.Item]) -> None:
        """Link Python tests to their requirements and keep only the requirements asked for.

        Options are judged here, where pytest still answers with a usage error before anything runs.
        """
        self.judge_options()
        links = Links(self)
        for item in items:
            links.complete(item)
        for opened in self._opened.values():
            if isinstance(opened, OpenedRepository):
                opened.narrow()
        try:
            dropped = links.left_out(items, self.narrowing.plain.only)
        except UsageError as error:
            raise pytest.UsageError(*error.messages) from error
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
        return frozenset(Path(start, a.partition("::")[0]) for a in self._config.args if takes(a))
