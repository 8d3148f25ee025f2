"""A real local service that answers like model providers do, in three protocols, and can lie and misbehave."""

from __future__ import annotations

import json
import threading
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any, ClassVar

KEY = "key-of-the-user-0123"
MODEL = "m1"
Json = dict[str, Any]


@dataclass(frozen=True, slots=True, kw_only=True)
class Heard:
    """One request as it came in: ``raw`` is every byte of its body."""

    path: str
    headers: Mapping[str, str]
    raw: bytes

    @property
    def body(self) -> Any:
        return json.loads(self.raw)

    @property
    def protocol(self) -> str:
        return "openai" if self.path.endswith("/chat/completions") else "anthropic" if self.is_messages else "gemini"

    @property
    def is_messages(self) -> bool:
        return self.path.endswith("/messages")

    @property
    def model(self) -> str:
        if self.protocol == "gemini":
            return self.path.rpartition("/")[2].partition(":")[0]
        return str(self.body["model"])

    @property
    def user(self) -> str:
        """The text of the user's message."""
        if self.protocol == "gemini":
            return str(self.body["contents"][0]["parts"][0]["text"])
        return str(self.body["messages"][-1]["content"])

    @property
    def schema(self) -> Any:
        """The schema of the reply."""
        if self.protocol == "openai":
            return self.body["response_format"]["json_schema"]["schema"]
        if self.protocol == "anthropic":
            return self.body["tools"][0]["input_schema"]
        return self.body["generationConfig"]["responseSchema"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Sent:
    """A reply: the model's ``text`` in the protocol that was spoken, or another ``status`` and ``body``."""

    text: str = ""
    status: int = 200
    body: bytes | None = None
    headers: Mapping[str, str] = field(default_factory=dict)
    delay: float = 0.0
    usage: bool = True


Answer = Callable[[Heard], Sent]


def verdict(item: int = 1, verdict: str = "pass", file: str = "", quote: str = "", reason: str = "") -> Json:
    """One entry of a reply."""
    return {"item": item, "verdict": verdict, "file": file, "quote": quote, "reason": reason}


def failing(file: str, quote: str, item: int = 1, reason: str = "it is wrong") -> Json:
    return verdict(item, "fail", file, quote, reason)


def results(*entries: Json) -> str:
    """The text of a reply with these entries."""
    return json.dumps({"results": list(entries)})


def passing(heard: Heard) -> Sent:
    """Every item of the checklist is met."""
    checklist = heard.user.partition("\n\n")[0].split("\n")[1:]
    return Sent(text=results(*(verdict(number) for number in range(1, len(checklist) + 1))))


class Models:
    """The service; ``answer`` is what the model says."""

    def __init__(self) -> None:
        self.answer: Answer = passing
        self.heard: list[Heard] = []
        self.port = 0

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.port}/v1"

    def says(self, *texts: str) -> None:
        """One text after the other; the last one from then on."""
        left = list(texts)
        self.answer = lambda heard: Sent(text=left.pop(0) if len(left) > 1 else left[0])

    def variables(self, provider: str = "openai", **settings: str) -> dict[str, str]:
        """Environment variables that lead here, with prices; ``settings`` are further ``AI_RULEZ_LLM_*``."""
        given = {
            "allow_network": "1",
            "model": f"{provider}/{MODEL}",
            "base_url": self.url,
            "api_key_env": "TEST_MODEL_KEY",
            "price_input_per_mtok": "1",
            "price_output_per_mtok": "10",
            **settings,
        }
        return {"TEST_MODEL_KEY": KEY} | {f"AI_RULEZ_LLM_{key.upper()}": value for key, value in given.items()}


class _Handler(BaseHTTPRequestHandler):
    models: ClassVar[Models]
    protocol_version = "HTTP/1.1"
    disable_nagle_algorithm = True

    def do_POST(self) -> None:
        raw = self.rfile.read(int(self.headers["Content-Length"]))
        heard = Heard(path=self.path, headers=dict(self.headers), raw=raw)
        self.models.heard.append(heard)
        sent = self.models.answer(heard)
        time.sleep(sent.delay)
        body = sent.body if sent.body is not None else json.dumps(_document(heard.protocol, sent)).encode()
        try:
            self.send_response(sent.status)
            for name, value in {"Content-Length": str(len(body)), **sent.headers}.items():
                self.send_header(name, value)
            self.end_headers()
            self.wfile.write(body)
        except OSError:
            self.close_connection = True  # the client has given up

    def log_message(self, format: str, *args: Any) -> None:
        del format, args


def _document(protocol: str, sent: Sent) -> Json:
    """The model's text as the provider wraps it."""
    if protocol == "openai":
        found: Json = {"choices": [{"message": {"role": "assistant", "content": sent.text}}]}
        return found | ({"usage": {"prompt_tokens": 100, "completion_tokens": 10}} if sent.usage else {})
    if protocol == "anthropic":
        return _blocks(sent) | ({"usage": {"input_tokens": 100, "output_tokens": 10}} if sent.usage else {})
    found = {"candidates": [{"content": {"parts": [{"text": sent.text}]}, "finishReason": "STOP"}]}
    return found | ({"usageMetadata": {"promptTokenCount": 100, "candidatesTokenCount": 10}} if sent.usage else {})


def _blocks(sent: Sent) -> Json:
    """A tool's input where the text is an object, else words."""
    try:
        given = json.loads(sent.text)
    except ValueError:
        given = None
    block = {"type": "tool_use", "name": "t", "input": given} if isinstance(given, dict) else None
    return {"content": [block or {"type": "text", "text": sent.text}], "stop_reason": "end_turn"}


class _Server(ThreadingHTTPServer):
    daemon_threads = True
    block_on_close = False

    def handle_error(self, request: Any, client_address: Any) -> None:
        """A client that leaves is part of the tests."""


@contextmanager
def serve(models: Models) -> Iterator[Models]:
    """Run the service on a free port of this machine."""
    server = _Server(("127.0.0.1", 0), type("Handler", (_Handler,), {"models": models}))
    models.port = server.server_address[1]
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.02}, daemon=True)
    thread.start()
    try:
        yield models
    finally:
        server.shutdown()
        server.server_close()
