"""What ``reqfile lock`` does about remote sources: resolve, scan before pinning, verify tags (spec/lock.md 6)."""

from __future__ import annotations

from pytest_reqfile.lock.cached_content import find_cached
from pytest_reqfile.lock.directories import Hasher
from pytest_reqfile.lock.fetching import Fetcher
from pytest_reqfile.lock.release_age import Gates, open_gates
from pytest_reqfile.lock.remotes import remote_sources
from pytest_reqfile.lock.resolving import Resolver
from pytest_reqfile.lock.scan_settings import scan_settings
from pytest_reqfile.lock.security_scan import report_lines, scan_changed
from pytest_reqfile.lock.values import Lock
from pytest_reqfile.project.values import Project
from pytest_reqfile.workspace.clock import SystemClock
from pytest_reqfile.workspace.environment import Environment
from pytest_reqfile.workspace.http import HttpTransport


def gates_of(project: Project, environment: Environment, fetcher: Fetcher) -> Gates:
    """The minimum release ages of the project's sources; nobody is asked before one is needed."""
    client = HttpTransport(environment)
    return open_gates(project.config.lock, environment, SystemClock(), client, fetcher.bring)


def open_resolver(project: Project, environment: Environment, hasher: Hasher, fetcher: Fetcher) -> Resolver:
    """Pins the project's sources anew."""
    return Resolver(fetcher, hasher, gates_of(project, environment, fetcher))


def scan_new_pins(
    project: Project, environment: Environment, old: Lock | None, new: Lock, *, accepted: bool
) -> tuple[tuple[str, ...], int]:
    """The lines of the security scan of what is pinned anew, and how many sources it refuses."""
    scanned = scan_changed(
        old, new, remote_sources(project.config), find_cached(environment), scan_settings(project.config)
    )
    lines = tuple(line for one in scanned for line in report_lines(one.label, one.result, accepted=accepted))
    return lines, 0 if accepted else sum(one.result.refuses for one in scanned)


def refusal(count: int) -> str:
    """Why nothing was written."""
    return (
        f"refused {count} source(s): the security scan of the new tree has error findings; review them, then pass "
        "--accept-findings. Nothing was written"
    )
