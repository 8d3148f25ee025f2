"""The project of the current folder with its lock, as the commands about range pins need it."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass

from pytest_reqfile.cli.lock_around import Surroundings
from pytest_reqfile.errors import UsageError
from pytest_reqfile.lock.directories import Hasher
from pytest_reqfile.lock.fetching import Fetcher
from pytest_reqfile.lock.release_age import Gates, open_gates
from pytest_reqfile.project.places import find_project
from pytest_reqfile.project.values import LockSettings, Place
from pytest_reqfile.workspace.clock import SystemClock
from pytest_reqfile.workspace.environment import Environment
from pytest_reqfile.workspace.http import HttpTransport
from pytest_reqfile.workspace.program import current_folder


def project_here(around: Surroundings) -> Place:
    """The project that holds the current folder. Raises ``UsageError`` where there is none."""
    place = find_project(current_folder(), top=around.root, user_config=around.user_config())
    if place is None:
        raise UsageError(f"no .ai-rulez project in or above {current_folder()}")
    return place


@dataclass(frozen=True, slots=True, kw_only=True)
class Online:
    """How the remotes of one project are asked in one run."""

    fetcher: Fetcher
    gates: Gates
    hasher: Hasher


@contextmanager
def online(place: Place, settings: LockSettings, environment: Environment) -> Iterator[Online]:
    """Connections are closed afterwards; none is made before something is asked."""
    fetcher = Fetcher(environment, place.root)
    client = HttpTransport(environment)
    try:
        gates = open_gates(settings, environment, SystemClock(), client, fetcher.bring)
        yield Online(fetcher=fetcher, gates=gates, hasher=Hasher())
    finally:
        client.close()
