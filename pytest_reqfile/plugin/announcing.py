"""Tells where code and key go before anything is sent, where a repository's own config chose that (issue 8.3)."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from pathlib import Path

import pytest

from pytest_reqfile.errors import GitError
from pytest_reqfile.plugin.state import RunState, state_of
from pytest_reqfile.reqfile.asking import unusual_choice
from pytest_reqfile.reqfile.example_outcomes import is_judged
from pytest_reqfile.syntax.printable import visible


def announce(config: pytest.Config, nodeids: Sequence[str]) -> None:
    """Write a line per unusual choice; once items run, pytest keeps the terminal for itself."""
    terminal = config.pluginmanager.get_plugin("terminalreporter")
    if terminal is None:
        return  # a worker: its controller tells
    for text in dict.fromkeys(_choices(config, nodeids)):
        terminal.ensure_newline()
        terminal.write_line(f"reqfile: {visible(text)}")


def _choices(config: pytest.Config, nodeids: Sequence[str]) -> Iterable[str]:
    state = state_of(config)
    for path in dict.fromkeys(nodeid.partition("::")[0] for nodeid in nodeids):
        owners = {n.partition("::")[2].partition("/")[0] for n in nodeids if n.startswith(f"{path}::")}
        yield from _choices_of(state, Path(config.rootpath, path), owners)


def _choices_of(state: RunState, path: Path, owners: set[str]) -> Iterable[str]:
    try:
        catalog = state.opened(path.parent).repository.catalog
    except GitError:
        return  # its items say so themselves
    for requirement in catalog.requirements:
        if (
            requirement.id in owners
            and Path(catalog.root, requirement.location.path) == path
            and is_judged(requirement)
        ):
            settings = catalog.settings.decision(requirement.folder)
            text = unusual_choice(settings)
            if text is not None and state.has_variable(settings.api_key_env):
                yield text
