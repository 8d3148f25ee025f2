"""Which proxy a server is reached through, as the environment says (spec reqfile.md 4.4)."""

from __future__ import annotations

from base64 import b64encode
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final
from urllib.parse import SplitResult, unquote, urlsplit

from pytest_reqfile.workspace.environment import Environment

_DEFAULT_PORT: Final = 80


@dataclass(frozen=True, slots=True, kw_only=True)
class Proxy:
    """Where a tunnel starts; ``headers`` are for the proxy alone, and may hold a password, so ``repr`` has none."""

    host: str
    port: int
    headers: Mapping[str, str]

    def __repr__(self) -> str:
        return f"<Proxy {self.host}:{self.port}>"


def proxy_for(target: SplitResult, environment: Environment) -> Proxy | None:
    """The proxy of ``https_proxy`` or ``all_proxy`` unless ``no_proxy`` names the host; lower-case names go first.

    Plain ``http`` goes to loopback only, so to no proxy. Raises ValueError for a proxy that is no ``http://`` one.
    """
    from urllib.request import proxy_bypass_environment  # type: ignore[attr-defined]  # the stubs leave it out

    given = _first(environment, "https_proxy", "all_proxy")
    if target.scheme != "https" or not given:
        return None
    excepted = _first(environment, "no_proxy")
    # The second parameter keeps urllib from looking at the process's own variables.
    if excepted and proxy_bypass_environment(str(target.hostname), {"no": excepted}):
        return None
    return _parsed(given)


def _first(environment: Environment, *names: str) -> str | None:
    spellings = (spelling for name in names for spelling in (name, name.upper()))
    return next((value for name in spellings if (value := environment.get(name))), None)


def _parsed(text: str) -> Proxy:
    try:
        address = urlsplit(text if "://" in text else f"http://{text}")
        port = address.port or _DEFAULT_PORT
    except ValueError:
        raise ValueError("the proxy's address cannot be read") from None  # it may hold a password
    if address.scheme != "http" or not address.hostname:
        raise ValueError(f"the proxy must be an http:// address, found {address.scheme or 'no'}://")
    headers: dict[str, str] = {}
    if address.username is not None:
        user = f"{unquote(address.username)}:{unquote(address.password or '')}"
        headers["Proxy-Authorization"] = f"Basic {b64encode(user.encode()).decode()}"
    return Proxy(host=address.hostname, port=port, headers=headers)
