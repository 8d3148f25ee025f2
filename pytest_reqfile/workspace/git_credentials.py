"""Which credentials git is given for which host (issue 7; spec/lock.md 6.2).

A source is named by files of a repository, so a token goes to hosts that the user names, never where a file says.
"""

from __future__ import annotations

from base64 import b64encode
from typing import Final

from pytest_reqfile.workspace.environment import Environment

TOKEN: Final = "AI_RULEZ_GIT_TOKEN"  # noqa: S105 - a name
TOKEN_HOSTS: Final = "AI_RULEZ_GIT_TOKEN_HOSTS"  # noqa: S105 - a name
GITHUB: Final = "github.com"
_GITHUB_TOKENS: Final = ("GITHUB_TOKEN", "GH_TOKEN")
_USER_OF_TOKENS: Final = "x-access-token"
_HTTPS_PORT: Final = ":443"


def named_hosts(environment: Environment) -> frozenset[str]:
    """The hosts of ``AI_RULEZ_GIT_TOKEN_HOSTS``, in lower case: tokens may go there, too."""
    return frozenset(map(_normal, (environment.get(TOKEN_HOSTS) or "").split(","))) - {""}


def token_for(environment: Environment, host: str) -> str | None:
    """The token that may be sent to ``host`` (with ``:port`` where it is not the usual one).

    ``AI_RULEZ_GIT_TOKEN`` goes to the hosts of ``AI_RULEZ_GIT_TOKEN_HOSTS`` (comma-separated; github.com where that is
    not set), ``GITHUB_TOKEN`` and ``GH_TOKEN`` to github.com alone.
    """
    asked = _normal(host)
    listed = named_hosts(environment)
    own = environment.get(TOKEN)
    if own and asked in (listed or {GITHUB}):
        return own
    if asked != GITHUB:
        return None
    return next((token for name in _GITHUB_TOKENS if (token := environment.get(name))), None)


def https_settings(environment: Environment, host: str, user: str, password: str) -> tuple[tuple[str, str], ...]:
    """The git configuration that authenticates to ``https://host/``.

    With a password that is used, else a token of the environment if the host may have it. Neither follows a redirect:
    git would take them to wherever it leads. A user alone is told to credential helpers.
    """
    if not password and (token := token_for(environment, host)) is not None:
        user, password = _USER_OF_TOKENS, token
    if password:
        pair = b64encode(f"{user}:{password}".encode("utf-8", "surrogateescape")).decode()
        base = f"http.https://{host}/"
        return (f"{base}.extraHeader", f"Authorization: Basic {pair}"), (f"{base}.followRedirects", "false")
    return ((f"credential.https://{host}.username", user),) if user else ()


def _normal(host: str) -> str:
    return host.strip().lower().removesuffix(_HTTPS_PORT)
