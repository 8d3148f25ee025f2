"""Where a remote source is fetched from, and what may not be (spec/lock.md 6.2; spec/airulez-project.md 4.1)."""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path
from typing import Final
from urllib.parse import quote, unquote

from pytest_reqfile.errors import UsageError
from pytest_reqfile.lock.cache import normalised_url
from pytest_reqfile.lock.remotes import redacted
from pytest_reqfile.syntax.credentials import without_user
from pytest_reqfile.workspace.environment import Environment
from pytest_reqfile.workspace.git_credentials import https_settings
from pytest_reqfile.workspace.paths import canonical

ALLOW_FILE_URLS: Final = "AI_RULEZ_ALLOW_FILE_URLS"
_PROTOCOLS: Final = ("https", "ssh", "file")
_URL: Final = re.compile(
    r"(?P<scheme>https|ssh)://(?:(?P<user>[^/@:]*)(?::(?P<password>[^/@]*))?@)?"
    r"(?P<host>\[[0-9A-Fa-f:.]+\]|[A-Za-z0-9_.][A-Za-z0-9_.-]*)(?P<port>:[0-9]{1,5})?(?P<path>/.*)",
    re.IGNORECASE,
)
_SCP: Final = re.compile(r"[A-Za-z0-9_.][^:/\\@]*@[A-Za-z0-9_.][A-Za-z0-9_.-]*:.+")
_FILE: Final = re.compile(r"file://(?P<path>.+)", re.IGNORECASE)
_GIT_PREFIX: Final = "git+"


@dataclass(frozen=True, slots=True, kw_only=True)
class RemotePlace:
    """A repository as git is asked for it: ``url`` holds no password, ``shown`` no credentials at all.

    ``key`` is equal for spellings of one repository. ``settings`` are git's configuration, with the credentials.
    ``protocols`` are those that git may speak on the way: a local repository sends nobody anywhere else.
    """

    url: str
    shown: str
    key: str
    settings: tuple[tuple[str, str], ...] = ()
    protocols: tuple[str, ...] = _PROTOCOLS

    def __repr__(self) -> str:
        return f"<RemotePlace {self.shown}>"


def place_of(text: str, root: Path, environment: Environment) -> RemotePlace:
    """The repository that ``source`` or ``url`` of a configuration names; ``root`` is the project's folder.

    Raises ``UsageError`` for one that is not asked: over an unprotected connection, a host or user that git could take
    for an option, a local repository outside the project unless the user allows it.
    """
    url = text[len(_GIT_PREFIX) :] if text.lower().startswith(_GIT_PREFIX) else text
    shown = redacted(text)
    if not unquote(url).isprintable():
        raise UsageError("the source holds control characters")
    if (found := _FILE.fullmatch(url)) is not None:
        local = _local(found["path"], shown, root, environment)
        return RemotePlace(url=local, shown=shown, key=normalised_url(local), protocols=("file",))
    if _SCP.fullmatch(url) and "://" not in url:
        return RemotePlace(url=url, shown=shown, key=normalised_url(url))
    found = _URL.fullmatch(url)
    if found is None or (found["user"] or "").startswith("-"):
        raise UsageError(f"{without_user(text)} is not fetched: expected https://, ssh:// or user@host:path")
    host = f"{found['host']}{found['port'] or ''}"
    if found["scheme"].lower() == "ssh":
        user = f"{found['user']}@" if found["user"] else ""
        clean = f"ssh://{user}{host}{found['path']}"
        return RemotePlace(url=clean, shown=shown, key=normalised_url(clean))
    clean = f"https://{host}{found['path']}"
    credentials = unquote(found["user"] or ""), unquote(found["password"] or "")
    settings = https_settings(environment, host, *credentials)
    return RemotePlace(url=clean, shown=shown, key=normalised_url(clean), settings=settings)


def _local(path: str, shown: str, root: Path, environment: Environment) -> str:
    """A file URL without symlinks; a relative path starts at the project."""
    place = canonical(root / unquote(path))
    if not place.is_relative_to(root) and environment.get(ALLOW_FILE_URLS) != "1":
        raise UsageError(f"{shown} lies outside the project; set {ALLOW_FILE_URLS}=1 to allow local repositories there")
    return f"file://{quote(str(place), errors='surrogateescape')}"
