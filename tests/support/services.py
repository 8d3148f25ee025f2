"""Model services inside the test process, for what needs no socket: functions given as a ``Transport``."""

from __future__ import annotations

import json
import threading
from collections.abc import Callable, Mapping
from typing import Any

from pytest_reqfile.errors import HttpError
from pytest_reqfile.workspace.http import HttpReply
from tests.support.jev import EXACT

Respond = Callable[[dict[str, Any]], HttpReply]


def answered(probability: Callable[[dict[str, Any], str], float], model: str = EXACT) -> Respond:
    """Answers every question about a state by a function of body and question id."""

    def respond(body: dict[str, Any]) -> HttpReply:
        answers = {i: {"noul": probability(body, i)} for i in body["questions"]}
        return HttpReply(status=200, body=json.dumps({"model": model, "answers": answers}).encode())

    return respond


class GivenTransport:
    """Hands each request's body to a function; remembers what was sent, and refuses everything once aborted."""

    def __init__(self, respond: Respond) -> None:
        self._respond = respond
        self._lock = threading.Lock()
        self.sent: list[dict[str, Any]] = []
        self.urls: list[str] = []
        self.aborted = False

    def post(self, url: str, headers: Mapping[str, str], body: bytes) -> HttpReply:
        assert headers["Authorization"].startswith("Bearer ")
        if self.aborted:
            raise HttpError("stopped")
        parsed = json.loads(body)
        with self._lock:
            self.sent.append(parsed)
            self.urls.append(url)
        return self._respond(parsed)

    def abort(self) -> None:
        self.aborted = True

    def close(self) -> None:
        """Nothing is kept."""
