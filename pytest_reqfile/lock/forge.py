"""When GitHub published the release of a tag, and for which commit (seed 001 "Minimum release age", 1)."""

from __future__ import annotations

import json
import os
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Final, Protocol
from urllib.parse import quote, urlsplit

from pytest_reqfile.errors import HttpError, ReqfileError
from pytest_reqfile.lock.tags import Tag
from pytest_reqfile.workspace.environment import Environment
from pytest_reqfile.workspace.git_credentials import named_hosts
from pytest_reqfile.workspace.http import HttpReply
from pytest_reqfile.workspace.processes import run_command
from pytest_reqfile.workspace.program import current_folder

_SERVER: Final = "https://github.com"
_API_HOST: Final = "api.github.com"
_API: Final = f"https://{_API_HOST}"
_ADDRESS: Final = re.compile(
    r"(?:git\+)?(?:https|ssh)://(?:[^/@]*@)?(?P<host>[^/:@]+)(?::[0-9]+)?/(?P<path>.+)"
    r"|[^:/\\@]*@(?P<scp_host>[^:/\\]+):/?(?P<scp_path>.+)",
    re.IGNORECASE,
)
_NAME: Final = re.compile(r"[A-Za-z0-9._-]+")
_COMMIT: Final = re.compile(r"[0-9a-f]{40}|[0-9a-f]{64}")
_JSON: Final = "application/vnd.github+json"
_ID_ALONE: Final = "application/vnd.github.sha"
_ALWAYS: Final = {"X-GitHub-Api-Version": "2022-11-28"}
_GH_SECONDS: Final = 10.0
_WORDS_SHOWN: Final = 200


class ForgeError(ReqfileError):
    """The forge knows no release time of a tag, or one that does not count."""


class Get(Protocol):
    """Sends a GET request; raises ``HttpError`` where there is no complete answer."""

    def get(self, url: str, headers: Mapping[str, str]) -> HttpReply: ...


@dataclass(frozen=True, slots=True, kw_only=True)
class ForgeRelease:
    """The release of a tag. ``target`` is the commit that it records, empty where it names a branch."""

    published: datetime
    target: str


class Forge:
    """Asks GitHub, or the GitHub Enterprise server that ``GITHUB_SERVER_URL`` and ``GITHUB_API_URL`` name.

    ``token`` is asked for at most once, for the API's host, and only if that host may have one. Once the forge cannot
    be reached or refuses to answer, it is not asked again: every later question fails with the same error.
    """

    def __init__(self, environment: Environment, client: Get, token: Callable[[str], str | None]) -> None:
        self._api = (environment.get("GITHUB_API_URL") or _API).rstrip("/")
        server = urlsplit(environment.get("GITHUB_SERVER_URL") or _SERVER).hostname or ""
        self._hosts = {server.lower(), f"www.{server.lower()}"}
        self._allowed = {_API_HOST, *named_hosts(environment)}
        self._client = client
        self._token = token
        self._headers: dict[str, str] | None = None
        self._broken: ForgeError | None = None
        self._releases: dict[tuple[str, Tag], ForgeRelease | ForgeError] = {}

    def release(self, source: str, tag: Tag) -> ForgeRelease:
        """The release of the tag at exactly its commit. Raises ``ForgeError``; asks once for each tag and commit."""
        key = (source, tag)
        if key not in self._releases:
            try:
                self._releases[key] = self._ask(self._repository(source), tag)
            except ForgeError as error:
                self._releases[key] = error
        found = self._releases[key]
        if isinstance(found, ForgeError):
            raise found
        return found

    def _repository(self, source: str) -> str:
        """``owner/repo`` as a path of the API."""
        found = _ADDRESS.fullmatch(source)
        host = (found["host"] or found["scp_host"]).lower() if found is not None else ""
        if found is None or host not in self._hosts:
            raise ForgeError("the repository is not on GitHub")
        parts = (found["path"] or found["scp_path"]).strip("/").removesuffix(".git").split("/")
        if len(parts) != 2 or not all(_NAME.fullmatch(part) and part.strip(".") for part in parts):
            raise ForgeError("the source names no repository of GitHub")
        return "/".join(parts)

    def _ask(self, repository: str, tag: Tag) -> ForgeRelease:
        name = quote(tag.name, safe="")
        published = self._get(f"/repos/{repository}/releases/tags/{name}", _JSON)
        if published is None:
            raise ForgeError(f"there is no release of {tag.name}")
        release = _release(published)
        commit = self._get(f"/repos/{repository}/commits/tags%2F{name}", _ID_ALONE)
        if commit is None:
            raise ForgeError(f"the forge has no tag {tag.name}")
        _refuse_moved(tag, commit.decode("ascii", "replace").strip(), release)
        return release

    def _get(self, path: str, accept: str) -> bytes | None:
        """The body; None where there is no such thing."""
        if self._broken is not None:
            raise self._broken
        if self._headers is None:
            self._headers = {**_ALWAYS, **self._authorization()}
        try:
            reply = self._client.get(f"{self._api}{path}", {**self._headers, "Accept": accept})
        except HttpError as error:
            self._broken = ForgeError(f"the forge cannot be asked: {error}")
            raise self._broken from error
        if reply.status == 200:
            return reply.body
        if reply.status == 404:
            return None
        refusal = ForgeError(_refusal(reply))
        # What is wrong with one tag (422, a redirect) says nothing about the next.
        if reply.status in {401, 403, 429} or reply.status >= 500:
            self._broken = refusal
        raise refusal

    def _authorization(self) -> dict[str, str]:
        host = (urlsplit(self._api).hostname or "").lower()
        token = self._token(host) if host in self._allowed else None
        return {"Authorization": f"Bearer {token}"} if token else {}


def forge_token(environment: Environment) -> Callable[[str], str | None]:
    """Finds the token for an API host: ``GITHUB_TOKEN``, ``GH_TOKEN``, or what ``gh auth token`` says."""

    def find(host: str) -> str | None:
        for variable in ("GITHUB_TOKEN", "GH_TOKEN"):
            if value := (environment.get(variable) or "").strip():
                return _usable(value)
        return _usable(_asked_gh(environment, "github.com" if host == _API_HOST else host))

    return find


def _asked_gh(environment: Environment, host: str) -> str:
    done = run_command(
        ("gh", "auth", "token", "--hostname", host),
        cwd=current_folder(),
        env=environment,
        timeout=_GH_SECONDS,
    )
    return os.fsdecode(done.stdout).strip() if done.exit == 0 else ""


def _usable(token: str) -> str | None:
    """A token that can stand in a header."""
    return token if token.isascii() and token.isprintable() and " " not in token and token else None


def _release(body: bytes) -> ForgeRelease:
    try:
        found = json.loads(body)
    except (ValueError, RecursionError):
        raise ForgeError("the forge's answer is no JSON") from None
    published = found.get("published_at") if isinstance(found, dict) else None
    target = found.get("target_commitish") if isinstance(found, dict) else None
    if not isinstance(published, str) or not isinstance(target, str):
        raise ForgeError("the forge's answer has no publish time")
    return ForgeRelease(published=_moment(published), target=target if _COMMIT.fullmatch(target) else "")


def _moment(text: str) -> datetime:
    try:
        moment = datetime.fromisoformat(text)
        if moment.tzinfo is None:
            raise ValueError(text)
        return moment.astimezone(UTC)
    except (ValueError, OverflowError):
        raise ForgeError(f"the forge's publish time cannot be read: {text[:40]!r}") from None


def _refuse_moved(tag: Tag, commit: str, release: ForgeRelease) -> None:
    if commit != tag.commit:
        raise ForgeError(f"{tag.name} is at {tag.commit[:12]}, but the forge has commit {commit[:12]!r}")
    if release.target and release.target != tag.commit:
        raise ForgeError(
            f"{tag.name} was moved: its release is of commit {release.target[:12]}, the tag is at {tag.commit[:12]}"
        )


def _refusal(reply: HttpReply) -> str:
    """What the forge says, in one bounded line; how long it asks to wait."""
    try:
        found = json.loads(reply.body)
        said = found.get("message") if isinstance(found, dict) else None
    except (ValueError, RecursionError):
        said = None
    words = f": {' '.join(said.split())[:_WORDS_SHOWN]}" if isinstance(said, str) and said.strip() else ""
    wait = f"; try again in {reply.retry_after:.0f} seconds" if reply.retry_after is not None else ""
    return f"the forge answered with status {reply.status}{words}{wait}"
