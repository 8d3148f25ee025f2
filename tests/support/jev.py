"""A local model service that speaks the protocol of spec reqfile.md 4.4 to the letter, and remembers what it heard."""

from __future__ import annotations

import json
import threading
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any, ClassVar, Final

ALIAS: Final = "~typesafe/jev-latest"
EXACT: Final = "typesafe/jev-1.13-20260917"
NEWER: Final = "typesafe/jev-1.14-20261101"
KEY: Final = "test-key"
PATH: Final = "/api/v1/systemone"


@dataclass(frozen=True, slots=True, kw_only=True)
class Heard:
    """One request: its path, its Authorization header, its body."""

    path: str
    authorization: str | None
    body: dict[str, Any]

    @property
    def model(self) -> str:
        model: str = self.body["model"]
        return model

    @property
    def state(self) -> Any:
        return self.body["state"]

    @property
    def questions(self) -> dict[str, Any]:
        questions: dict[str, Any] = self.body["questions"]
        return questions

    @property
    def is_probe(self) -> bool:
        return "probe" in self.questions

    @property
    def is_conflict(self) -> bool:
        return not self.is_probe and "finding" in self.state


@dataclass(frozen=True, slots=True, kw_only=True)
class Said:
    """How the server answers one request, otherwise than it should.

    ``delay`` seconds pass first; ``cut`` closes the connection after that many bytes of the whole reply; ``drip`` sends
    one byte of the body each so many seconds; ``raw`` replaces the whole reply, and the connection ends unless it
    ``stays``.
    """

    status: int = 200
    body: bytes = b""
    headers: Mapping[str, str] = field(default_factory=dict)
    delay: float = 0.0
    cut: int | None = None
    drip: float | None = None
    raw: bytes | None = None
    stays: bool = False


Probability = Callable[[Heard, str], float]
Behaviour = Callable[[Heard], Said | None]


def by_marker(heard: Heard, identifier: str) -> float:
    """The probability of a unit by the mark its text holds (cases/reqfile.md, "Fixtures")."""
    del identifier
    unit = heard.state.get("unit", "") if isinstance(heard.state, dict) else ""
    return next((p for mark, p in (("HOT", 0.95), ("P80", 0.8), ("WARM", 0.5)) if mark in unit), 0.05)


class Jev:
    """The service. ``behave`` may answer a request in its own way; None leaves it to ``probability``."""

    def __init__(self) -> None:
        self.probability: Probability = by_marker
        self.behave: Behaviour = lambda heard: None
        self.latency = 0.0
        self.exact = EXACT
        self.answer_as: str | None = None
        self.heard: list[Heard] = []
        self.connections = 0
        self.peak = 0
        self._now = 0
        self._lock = threading.Lock()
        self.port = 0

    @property
    def endpoint(self) -> str:
        return f"http://127.0.0.1:{self.port}/api/v1"

    @property
    def config(self) -> str:
        """The text of a .reqfile/config.yaml that leads here."""
        return f"decision:\n  endpoint: {self.endpoint}\n"

    @property
    def pinned(self) -> str:
        """The same with an exact model."""
        return f"{self.config}  model: {EXACT}\n"

    @property
    def questions(self) -> list[Heard]:
        """Requests about code units."""
        return [heard for heard in self.heard if not heard.is_probe and not heard.is_conflict]

    @property
    def probes(self) -> list[Heard]:
        return [heard for heard in self.heard if heard.is_probe]

    @property
    def conflicts(self) -> list[Heard]:
        """Requests about findings."""
        return [heard for heard in self.heard if heard.is_conflict]

    @property
    def units(self) -> list[tuple[str, str]]:
        """Path and requirement of each question about a unit, sorted."""
        return sorted((heard.state["path"], identifier) for heard in self.questions for identifier in heard.questions)

    def reply(self, heard: Heard) -> Said:
        """What the server says; ``peak`` counts how many replies are being made at once."""
        with self._lock:
            self.heard.append(heard)
            self._now += 1
            self.peak = max(self.peak, self._now)
        try:
            time.sleep(self.latency)
            return self.behave(heard) or self.answer(heard)
        finally:
            with self._lock:
                self._now -= 1

    def answer(self, heard: Heard) -> Said:
        """The answer as the protocol has it."""
        model = self.answer_as or (self.exact if heard.model == ALIAS else heard.model)
        answers = {i: {"type": "noul", "noul": self.probability(heard, i)} for i in heard.questions}
        usage = {"input_tokens": 10, "output_tokens": 1}
        return said({"model": model, "answers": answers, "usage": usage})


def said(document: object, status: int = 200, **facts: Any) -> Said:
    """A reply whose body is a JSON document."""
    return Said(status=status, body=json.dumps(document).encode(), **facts)


def well_formed(body: object) -> bool:
    """Whether a request is one that the service takes: nothing missing, nothing unknown."""
    if not isinstance(body, dict) or set(body) != {"model", "state", "questions"} or not body["questions"]:
        return False
    return isinstance(body["model"], str) and all(q.get("type") == "noul" for q in body["questions"].values())


class _Handler(BaseHTTPRequestHandler):
    """Answers for ``jev``; refuses what the real service would refuse."""

    jev: ClassVar[Jev]
    protocol_version = "HTTP/1.1"
    disable_nagle_algorithm = True

    def setup(self) -> None:
        super().setup()
        self.jev.connections += 1

    def do_POST(self) -> None:
        data = self.rfile.read(int(self.headers["Content-Length"]))
        body = json.loads(data)
        authorization = self.headers["Authorization"]
        heard = Heard(path=self.path, authorization=authorization, body=body)
        if self.path != PATH or self.headers["Content-Type"] != "application/json" or not well_formed(body):
            self._send(said({"error": "bad request"}, 400))
        elif not (authorization or "").startswith("Bearer "):
            self._send(said({"error": "forbidden"}, 403))
        else:
            self._send(self.jev.reply(heard))

    def _send(self, reply: Said) -> None:
        time.sleep(reply.delay)
        headers = {"Content-Type": "application/json", "Content-Length": str(len(reply.body)), **reply.headers}
        head = f"HTTP/1.1 {reply.status} X\r\n" + "".join(f"{k}: {v}\r\n" for k, v in headers.items()) + "\r\n"
        whole = reply.raw if reply.raw is not None else head.encode() + reply.body
        try:
            if reply.drip is None:
                self.wfile.write(whole[: reply.cut])
            else:
                self._drip(head.encode(), reply.body, reply.drip)
        except OSError:
            self.close_connection = True  # the client has given up
        if reply.cut is not None or (reply.raw is not None and not reply.stays):
            self.close_connection = True

    def _drip(self, head: bytes, body: bytes, seconds: float) -> None:
        self.wfile.write(head)
        for byte in body:
            self.wfile.write(bytes([byte]))
            time.sleep(seconds)

    def log_message(self, format: str, *args: Any) -> None:
        del format, args


class _Server(ThreadingHTTPServer):
    daemon_threads = True
    block_on_close = False
    request_queue_size = 128

    def handle_error(self, request: Any, client_address: Any) -> None:
        """A client that leaves is part of the tests."""


@contextmanager
def serve(jev: Jev) -> Iterator[Jev]:
    """Run the service on a free port of this machine."""
    server = _Server(("127.0.0.1", 0), type("Handler", (_Handler,), {"jev": jev}))
    jev.port = server.server_address[1]
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.02}, daemon=True)
    thread.start()
    try:
        yield jev
    finally:
        server.shutdown()
        server.server_close()
