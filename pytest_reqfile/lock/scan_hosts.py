"""Hosts outside of the allow list: AR008 (spec/airulez-project.md 7)."""

from __future__ import annotations

from collections.abc import Iterator
from functools import cache
from typing import Final

from pytest_reqfile.syntax.credentials import masked
from pytest_reqfile.syntax.patterns import Haystack, Pattern, compile_pattern

_URL: Final = r"""(?i)\b(?:https?|wss?|ftps?|sftp|ssh|git)://([^\s/"'`<>\\)\],;?#]+)"""
_LOCAL: Final = ("localhost", "127.0.0.1", "[::1]", "0.0.0.0")  # noqa: S104  # compared with, not bound
_LOOKED_AT: Final = 400
_SHOWN: Final = 100


def foreign_hosts(haystack: Haystack, allowed: tuple[str, ...]) -> Iterator[tuple[int, str]]:
    """Where a URL names a host that is not allowed, and the message. ``*.example.org`` allows every host below."""
    for start, end in _url().finditer(haystack):
        url = haystack.data[start:end].decode(errors="replace")
        host = _host(url)
        if any(map(str.isalnum, host)) and not _is_allowed(host, allowed):
            yield start, f"a host outside of [lint.security] allowed_hosts: {masked(host[:_LOOKED_AT])[:_SHOWN]}"


@cache
def _url() -> Pattern:
    return compile_pattern(_URL)


def _host(url: str) -> str:
    """The host of ``scheme://user@host:port``; what is before the last ``@`` is no part of it."""
    authority = url.partition("://")[2].rpartition("@")[2]
    if authority.startswith("["):
        return authority.partition("]")[0].lower() + "]"
    return authority.partition(":")[0].rstrip(".").lower()


def _is_allowed(host: str, allowed: tuple[str, ...]) -> bool:
    return host in _LOCAL or host.endswith(".localhost") or any(_covers(one.lower(), host) for one in allowed)


def _covers(allowed: str, host: str) -> bool:
    return host.endswith(allowed[1:]) if allowed.startswith("*.") else host == allowed
