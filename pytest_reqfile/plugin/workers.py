"""pytest-xdist: what the controller works out once and hands to its workers (design 4).

Registered only where xdist is there.
"""

from __future__ import annotations

from typing import Any, Final, Protocol

import pytest

HANDED_OVER: Final = "reqfile"
"""The key of ``workerinput`` that holds it, as builtin types."""


class Worker(Protocol):
    """What we need of xdist's ``WorkerController``."""

    config: pytest.Config
    workerinput: dict[str, Any]


class XdistHooks:
    """Hooks that exist only where xdist is there."""

    def pytest_configure_node(self, node: Worker) -> None:
        """Hand over what the session's start worked out."""
        from pytest_reqfile.plugin.state import state_of

        node.workerinput[HANDED_OVER] = state_of(node.config).handed_over


def given_by_controller(config: pytest.Config) -> dict[str, Any] | None:
    """What the controller handed to this worker; None in a process that is no worker."""
    given: dict[str, Any] | None = getattr(config, "workerinput", {}).get(HANDED_OVER)
    return given
