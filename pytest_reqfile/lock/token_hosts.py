"""To which servers tokens of the environment may go (seed 001 "Minimum release age"; spec/airulez-project.md 4)."""

from __future__ import annotations

from typing import Final

from pytest_reqfile.workspace.environment import Environment

VARIABLE: Final = "AI_RULEZ_GIT_TOKEN_HOSTS"
DEFAULT_HOSTS: Final = frozenset({"github.com", "api.github.com"})


def token_hosts(environment: Environment) -> frozenset[str]:
    """GitHub, and the hosts that the user names in ``AI_RULEZ_GIT_TOKEN_HOSTS``, between commas; lower case."""
    named = (environment.get(VARIABLE) or "").lower().split(",")
    return DEFAULT_HOSTS.union(host.strip() for host in named if host.strip())
