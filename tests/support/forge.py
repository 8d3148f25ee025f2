"""A local server that answers about releases and tags as GitHub's REST API does, and remembers what it was asked."""

from __future__ import annotations

import json
import re
import threading
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import ClassVar
from urllib.parse import unquote

_RELEASE = re.compile(r"/repos/([^/]+/[^/]+)/releases/tags/([^/]+)")
_COMMIT = re.compile(r"/repos/([^/]+/[^/]+)/commits/([^/]+)")
NOT_FOUND = {"message": "Not Found", "documentation_url": "https://docs.github.com/rest", "status": "404"}


@dataclass(frozen=True, slots=True, kw_only=True)
class Answer:
    """Status, body and headers; ``delay`` seconds pass first."""

    status: int = 200
    body: bytes = b""
    headers: Mapping[str, str] = field(default_factory=dict)
    delay: float = 0.0


@dataclass(frozen=True, slots=True, kw_only=True)
class Asked:
    """One request."""

    path: str
    headers: Mapping[str, str]


def answer(document: object, status: int = 200, **headers: str) -> Answer:
    """A JSON document."""
    names = {name.replace("_", "-"): value for name, value in headers.items()}
    return Answer(status=status, body=json.dumps(document).encode(), headers=names)


class LocalForge:
    """``releases`` and ``tags`` by repository and tag name; ``behave`` may answer a request in its own way."""

    def __init__(self) -> None:
        self.port = 0
        self.releases: dict[tuple[str, str], dict[str, object]] = {}
        self.tags: dict[tuple[str, str], str] = {}
        self.asked: list[Asked] = []
        self.behave: Callable[[Asked], Answer | None] = lambda asked: None

    @property
    def api(self) -> str:
        return f"http://127.0.0.1:{self.port}"

    def publish(
        self, tag: str, at: str, commit: str, target: str | None = None, repository: str = "acme/rules"
    ) -> None:
        """A release whose tag is at ``commit``, and that records ``target`` (default: that commit)."""
        self.tags[repository, tag] = commit
        self.releases[repository, tag] = {
            "id": len(self.releases) + 1,
            "tag_name": tag,
            "target_commitish": commit if target is None else target,
            "draft": False,
            "prerelease": False,
            "created_at": "2020-01-01T00:00:00Z",
            "published_at": at,
            "assets": [],
        }

    def reply(self, asked: Asked) -> Answer:
        self.asked.append(asked)
        own = self.behave(asked)
        if own is not None:
            return own
        if found := _RELEASE.fullmatch(asked.path):
            release = self.releases.get((found[1], unquote(found[2])))
            return answer(release) if release is not None else answer(NOT_FOUND, 404)
        found = _COMMIT.fullmatch(asked.path)
        name = unquote(found[2]) if found is not None else ""
        commit = self.tags.get((found[1], name.removeprefix("tags/"))) if found is not None else None
        if commit is None or not name.startswith("tags/"):
            return answer({"message": f"No commit found for SHA: {name}"}, 422 if commit is None and found else 404)
        if asked.headers.get("Accept") == "application/vnd.github.sha":
            return Answer(body=commit.encode(), headers={"Content-Type": "application/vnd.github.sha; charset=utf-8"})
        return answer({"sha": commit, "files": []})


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    forge: ClassVar[LocalForge]

    def do_GET(self) -> None:
        said = self.forge.reply(Asked(path=self.path, headers=dict(self.headers.items())))
        time.sleep(said.delay)
        self.send_response(said.status)
        for name, value in {"Content-Type": "application/json; charset=utf-8", **said.headers}.items():
            self.send_header(name, value)
        self.send_header("Content-Length", str(len(said.body)))
        self.end_headers()
        with suppress(ConnectionError):  # who asked may have given up
            self.wfile.write(said.body)

    def log_message(self, format: str, *args: object) -> None:
        del format, args


@contextmanager
def local_forge() -> Iterator[LocalForge]:
    """A forge that runs while the block does."""
    forge = LocalForge()
    handler = type("Handler", (_Handler,), {"forge": forge})
    server = ThreadingHTTPServer(("127.0.0.1", 0), handler)
    server.daemon_threads = True
    forge.port = server.server_address[1]
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.02}, daemon=True)
    thread.start()
    try:
        yield forge
    finally:
        server.shutdown()
        server.server_close()
        thread.join()
