"""pytest-xdist: what the controller works out once and hands to its workers, and what they tell it (design 4).

Registered only where xdist is there.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any, Final, Protocol

import pytest

from pytest_reqfile.plugin.names import may_ask

HANDED_OVER: Final = "reqfile"
"""The key of ``workerinput`` that holds what the controller worked out, as builtin types."""
_USAGE: Final = "reqfile_usage"
_RUN_FOLDER: Final = "reqfile_run_folder"


class Worker(Protocol):
    """What we need of xdist's ``WorkerController``."""

    config: pytest.Config
    workerinput: dict[str, Any]
    workeroutput: dict[str, Any]


class XdistHooks:
    """Hooks that exist only where xdist is there.

    A usage error in a worker would leave a run without tests that looks as if there were none: the controller makes
    it its own.
    """

    def __init__(self) -> None:
        self._usage: dict[str, None] = {}
        self._folder: Path | None = None
        self._announced = False

    def pytest_configure_node(self, node: Worker) -> None:
        """Hand over what the session's start worked out, and where workers share what only one of them does."""
        from pytest_reqfile.plugin.locks import HANDED_OVER as LOCKS
        from pytest_reqfile.plugin.state import state_of
        from pytest_reqfile.workspace.run_folder import new_run_folder

        node.workerinput[LOCKS] = state_of(node.config).locks.for_workers()
        self._folder = self._folder or new_run_folder()
        node.workerinput[_RUN_FOLDER] = str(self._folder)
        node.workerinput[HANDED_OVER] = state_of(node.config).handed_over

    def pytest_xdist_node_collection_finished(self, node: Worker, ids: Sequence[str]) -> None:
        """Every worker collects the same; nothing runs before all have."""
        if not self._announced:
            self._announced = True
            tell_choices(node.config, ids)

    def pytest_unconfigure(self) -> None:
        """What the workers shared is gone with them."""
        if self._folder is not None:
            from pytest_reqfile.workspace.run_folder import remove_run_folder

            remove_run_folder(self._folder)

    def pytest_testnodedown(self, node: Worker, error: object) -> None:
        """Take over what a worker said of the options before it stopped."""
        del error
        said = getattr(node, "workeroutput", {}).get(_USAGE)
        if said:
            self._usage[said] = None

    @pytest.hookimpl(tryfirst=True)
    def pytest_sessionfinish(self, session: pytest.Session) -> None:
        """The run's exit code is that of a usage error."""
        if self._usage:
            session.exitstatus = pytest.ExitCode.USAGE_ERROR

    def pytest_terminal_summary(self, terminalreporter: pytest.TerminalReporter) -> None:
        """Say what was wrong, as pytest says it without workers."""
        for line in "\n".join(self._usage).splitlines():
            terminalreporter.write_line(f"ERROR: {line}", red=True)


def run_folder_of(config: pytest.Config) -> Path | None:
    """The folder that a worker shares with the others; None in a process that is no worker."""
    given: str | None = getattr(config, "workerinput", {}).get(_RUN_FOLDER)
    return Path(given) if given is not None else None


def tell_choices(config: pytest.Config, nodeids: Sequence[str]) -> None:
    """Before items that may ask a model run, say where a repository's own config sends them."""
    asking = [nodeid for nodeid in nodeids if may_ask(nodeid)]
    if asking and not config.option.collectonly:
        from pytest_reqfile.plugin.announcing import announce

        announce(config, asking)


def tell_controller(config: pytest.Config, error: pytest.UsageError) -> None:
    """In a worker, have the controller know of a usage error; elsewhere pytest tells it itself."""
    output: dict[str, Any] | None = getattr(config, "workeroutput", None)
    if output is not None:
        output[_USAGE] = "\n".join(map(str, error.args))


def given_by_controller(config: pytest.Config) -> dict[str, Any] | None:
    """What the controller handed to this worker; None in a process that is no worker."""
    given: dict[str, Any] | None = getattr(config, "workerinput", {}).get(HANDED_OVER)
    return given
