"""Where a key may be sent (design 2.6): repositories choose the endpoint and the variable, and may be hostile."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Final
from urllib.parse import urlsplit

from pytest_reqfile.errors import ReqfileError
from pytest_reqfile.reqfile.settings import DecisionSettings
from pytest_reqfile.workspace.environment import Environment
from pytest_reqfile.workspace.http import is_loopback

ALLOW_VARIABLE: Final = "REQFILE_ALLOW_ENDPOINTS"
DEFAULT_HOSTS: Final = ("openrouter.ai", "api.typesafe.ai")
_SEPARATORS: Final = re.compile(r"[,\s]+")
_KEY: Final = re.compile(r"[!-~]+")


class EndpointError(ReqfileError):
    """Nothing is sent with these settings; the text says why."""


class MissingKeyError(EndpointError):
    """The variable that holds the key is not set."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Endpoint:
    """An address that may get the key. ``repr`` leaves the key out: pytest shows local variables of failures."""

    url: str
    key: str

    def __repr__(self) -> str:
        return f"<Endpoint {self.url}>"


def endpoint_of(settings: DecisionSettings, environment: Environment) -> Endpoint:
    """Where requests go and with which key. Raises EndpointError, MissingKeyError first."""
    variable = settings.api_key_env
    key = environment.get(variable)
    if not key:
        raise MissingKeyError(f"{variable} is not set; decision checks call Jev with it")
    _refuse_foreign(settings, environment)
    if not _KEY.fullmatch(key):
        raise EndpointError(f"{variable} cannot be a key: it holds a space, a line break or another unusual character")
    return Endpoint(url=f"{settings.endpoint.rstrip('/')}/systemone", key=key)


def _refuse_foreign(settings: DecisionSettings, environment: Environment) -> None:
    host, netloc, scheme = _parts(settings.endpoint)
    if is_loopback(host):
        return
    if scheme != "https":
        raise EndpointError(f"decision.endpoint {settings.endpoint} must be https://, or this machine")
    allowed = set(filter(None, _SEPARATORS.split((environment.get(ALLOW_VARIABLE) or "").lower())))
    if host in DEFAULT_HOSTS or host in allowed or netloc in allowed:
        return
    raise EndpointError(
        f"decision.endpoint would send {settings.api_key_env} to {host}; keys go only to {', '.join(DEFAULT_HOSTS)}, "
        f"this machine, and the hosts listed in {ALLOW_VARIABLE}"
    )


def _parts(endpoint: str) -> tuple[str, str, str]:
    """Host, host with port, and scheme. Raises EndpointError for what is no plain address of a service."""
    try:
        address = urlsplit(endpoint)
        _ = address.port
    except ValueError as error:
        raise EndpointError(f"decision.endpoint {endpoint} cannot be read: {error}") from error
    plain = not (address.query or address.fragment or "@" in address.netloc) and endpoint.isprintable()
    if address.scheme not in {"http", "https"} or not address.hostname or not plain or " " in endpoint:
        raise EndpointError(
            f"decision.endpoint {endpoint} must be an https:// address without user, query and fragment"
        )
    return address.hostname, address.netloc.lower(), address.scheme
