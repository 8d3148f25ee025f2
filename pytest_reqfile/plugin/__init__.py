"""The pytest plugin ``reqfile`` (design 2). Every hook is a line or two and delegates; nothing heavy is imported here.

A pytest run that meets nothing of ours imports this module, ``options``, ``names`` and ``recorder``, and no more of us.
"""

from __future__ import annotations

from collections.abc import Generator
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from pytest_reqfile.plugin import options
from pytest_reqfile.plugin.names import concerns_us, is_ours
from pytest_reqfile.plugin.recorder import ADVISORY, LINKS, Recorder

if TYPE_CHECKING:
    from pytest_reqfile.lock.state import LockState
    from pytest_reqfile.plugin.state import RunState
    from pytest_reqfile.reqfile.catalog import Catalog
    from pytest_reqfile.reqfile.repository import Repository

MARKERS = (
    "requirement(id, kind): the requirement an item checks, or the ones a Python test is linked to",
    "verifier(id, severity): the verifier of an .ai-rulez project that an item is",
    "oracle: a command of a verification oracle, or a regression guard",
    "lock: a part of the comparison with a lock file",
    "example(of): a labeled example of a requirement or verifier",
    "fast: cheap enough for an edit hook",
    "blocking: its failure fails the run",
    "advisory: its findings never fail the run",
    "llm-advisory: a model judges it and it does not gate",
)


def pytest_addoption(parser: pytest.Parser) -> None:
    options.add_options(parser)


def pytest_configure(config: pytest.Config) -> None:
    for marker in MARKERS:
        config.addinivalue_line("markers", marker)
    options.check_report_paths(config)
    if options.value(config, "generator") is not None:
        from pytest_reqfile.plugin.generators import generator

        generator(config)
    config.pluginmanager.register(Recorder(config), "reqfile-recorder")
    if config.pluginmanager.hasplugin("xdist"):
        from pytest_reqfile.plugin.workers import XdistHooks

        config.pluginmanager.register(XdistHooks(), "reqfile-xdist")


@pytest.hookimpl(tryfirst=True)
def pytest_sessionstart(session: pytest.Session) -> None:
    config = session.config
    if options.is_narrowed(config) and config.pluginmanager.hasplugin("dsession"):
        _state(config).start_workers()


@pytest.hookimpl(tryfirst=True)
def pytest_ignore_collect(collection_path: Path, config: pytest.Config) -> bool | None:
    return _state(config).ignores(collection_path) if concerns_us(collection_path) and _is_on(config) else None


def pytest_collect_file(file_path: Path, parent: pytest.Collector) -> pytest.Collector | None:
    config = parent.config
    if not (is_ours(file_path) or options.names_a_mission(config, file_path)) or not _is_on(config):
        return None
    return _state(config).collector(file_path, parent)


@pytest.hookimpl(wrapper=True, tryfirst=True)
def pytest_collection_modifyitems(
    session: pytest.Session, config: pytest.Config, items: list[pytest.Item]
) -> Generator[None]:
    concerned = _is_on(config) and (
        options.is_on(config, "whole")
        or options.is_narrowed(config)
        or any(hasattr(item, "describe_in_report") or item.get_closest_marker("requirement") for item in items)
    )
    if concerned:
        _state(config).arrange(session, items)
    yield
    if concerned:
        _state(config).prepare(items)


@pytest.hookimpl(trylast=True)
def pytest_collection_finish(session: pytest.Session) -> None:
    nodeids = [item.nodeid for item in session.items if hasattr(item, "describe_in_report")]
    if nodeids:
        from pytest_reqfile.plugin.workers import tell_choices

        _state(session.config).expect(session.items)
        tell_choices(session.config, nodeids)


@pytest.hookimpl(tryfirst=True)
def pytest_runtest_setup(item: pytest.Item) -> None:
    unknown = item.stash.get(options.UNKNOWN_REQUIREMENTS, None)
    if unknown:
        pytest.fail(unknown, pytrace=False)


@pytest.hookimpl(wrapper=True, tryfirst=True)
def pytest_runtest_makereport(
    item: pytest.Item, call: pytest.CallInfo[None]
) -> Generator[None, pytest.TestReport, pytest.TestReport]:
    report = yield
    describe = getattr(item, "describe_in_report", None)
    if describe is not None:
        describe(report, call)
    links = item.stash.get(options.LINKED_REQUIREMENTS, None)
    if links:
        setattr(report, LINKS, list(links))
    return report


def pytest_report_teststatus(report: pytest.TestReport) -> tuple[str, str, tuple[str, dict[str, bool]]] | None:
    return ("advisory", "A", ("ADVISORY", {"yellow": True})) if getattr(report, ADVISORY, False) else None


@pytest.fixture(scope="session")
def reqfile_repository(pytestconfig: pytest.Config) -> Repository:
    """The git repository of the run's root folder: its listing, files and settings, read once per run."""
    return _state(pytestconfig).repository


@pytest.fixture(scope="session")
def reqfile_catalog(reqfile_repository: Repository) -> Catalog:
    """Every requirement of the repository as it applies; problems of loading are in its ``problems``."""
    return reqfile_repository.catalog


@pytest.fixture(scope="session")
def reqfile_lock(pytestconfig: pytest.Config) -> LockState:
    """The lock of the project of the root folder, compared once per run; an error where it cannot be read.

    Without a project it is the lock of the repository's Reqfiles.
    """
    from pytest_reqfile.plugin.locks import locks_of

    state = locks_of(pytestconfig).main()
    if state.error:
        pytest.fail(state.error, pytrace=False)
    return state


def _is_on(config: pytest.Config) -> bool:
    return not options.is_on(config, "off")


def _state(config: pytest.Config) -> RunState:
    from pytest_reqfile.plugin.state import state_of

    return state_of(config)
