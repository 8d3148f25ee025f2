"""One provider, asked with patience and an end to it (libraries.md 8: attempts, Retry-After, a total deadline)."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Final

from pytest_reqfile.errors import HttpError
from pytest_reqfile.syntax.credentials import masked
from pytest_reqfile.verifiers.chat import ChatError, ChatRequest, ErrorKind
from pytest_reqfile.verifiers.models import Provider
from pytest_reqfile.verifiers.providers import Answered, Wire, read_reply, status_error, wire_request, words
from pytest_reqfile.workspace.clock import Clock
from pytest_reqfile.workspace.environment import Environment
from pytest_reqfile.workspace.http import HttpReply, Transport, is_loopback

WAITS: Final = (0.5, 1.0)
"""Seconds before the second and the third attempt."""
LONGEST_WAIT: Final = 60.0
"""Seconds that a provider may ask to wait; if it asks for more, the call fails at once."""
ATTEMPT_SECONDS: Final = 120.0
DEADLINE_SECONDS: Final = 240.0
"""How long one call may take, all attempts and waits included."""
LOST_SECONDS: Final = 600.0
"""How long a run waits in vain in all, before it takes the provider for dead."""
_OK: Final = 200
_RETRIED: Final[frozenset[ErrorKind]] = frozenset({"rate_limit", "server", "timeout"})
_KEY: Final = re.compile(r"[!-~]+")
_KEY_LENGTH: Final = 8
Pause = Callable[[float], object]
"""Waits that many seconds."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Attempts:
    """What is told about attempts: ``before`` each of them, which may raise ChatError, and when one was ``lost``.

    A lost attempt reached the provider and brought no answer: it may have to be paid all the same.
    """

    before: Callable[[], None]
    lost: Callable[[], None]


@dataclass(frozen=True, kw_only=True)
class ModelService:
    """A provider and what is needed to reach it. ``repr`` shows no key."""

    provider: Provider
    environment: Environment = field(repr=False)
    transport: Transport
    clock: Clock
    pause: Pause
    _lost: list[float] = field(default_factory=list, repr=False)

    def send(self, request: ChatRequest, model: str, attempts: Attempts) -> Answered:
        """The model's answer; ``model`` is its name without provider. Raises ChatError."""
        key = self._key()
        wire = wire_request(self.provider, key, model, request)
        if sum(self._lost) > LOST_SECONDS:
            raise ChatError(
                "timeout", f"given up: {self.provider.name} kept this run waiting for {sum(self._lost):.0f} s"
            )
        started = self.clock.monotonic()
        try:
            reply = self._patiently(wire, started + DEADLINE_SECONDS, attempts)
        except ChatError as error:
            self._lost.append(self.clock.monotonic() - started)
            raise ChatError(error.kind, _without(key, str(error))) from None
        try:
            return read_reply(self.provider.protocol, reply.body)
        except ChatError as error:
            attempts.lost()
            raise ChatError(error.kind, _without(key, str(error))) from None

    def _patiently(self, wire: Wire, deadline: float, attempts: Attempts) -> HttpReply:
        """A reply of status 200, after as many attempts as it takes and may take."""
        for wait in (*WAITS, None):
            attempts.before()
            asked: float | None = None
            try:
                reply = self.transport.post(wire.url, wire.headers, wire.body)
            except HttpError as error:
                failure = _http_failure(error, wire.url)
                if error.answered or failure.kind == "timeout":
                    attempts.lost()
            else:
                if reply.status == _OK:
                    return reply
                failure, asked = status_error(reply.status, reply.body), reply.retry_after
            patience = max(wait or 0.0, asked or 0.0)
            late = self.clock.monotonic() + patience > deadline
            if wait is None or failure.kind not in _RETRIED or patience > LONGEST_WAIT or late:
                raise failure
            self.pause(patience)
        raise AssertionError("the last attempt returns or raises")

    def _key(self) -> str:
        """The key from the environment, which is the only place it is ever in. On this machine none is needed."""
        variable = self.provider.key_env
        key = (self.environment.get(variable) or "").strip() if variable else ""
        if key and not _KEY.fullmatch(key):
            raise ChatError("auth", f"{variable} cannot be a key: it holds a space or another unusual character")
        if not key and variable and not is_loopback(_host(self.provider.base_url)):
            raise ChatError("auth", f"{variable} is not set; {self.provider.name} is asked with the key in it")
        return key


def _host(url: str) -> str:
    from urllib.parse import urlsplit

    return urlsplit(url).hostname or ""


def _http_failure(error: HttpError, url: str) -> ChatError:
    """No complete answer. One that had begun is not asked for again, unless it only took too long."""
    from urllib.parse import urlsplit

    if isinstance(error.__cause__, TimeoutError):
        return ChatError("timeout", words(str(error)))
    if error.answered:
        return ChatError("reply", words(str(error)))
    return ChatError("server", f"{urlsplit(url).netloc} cannot be reached: {words(str(error))}")


def _without(key: str, text: str) -> str:
    """A provider may send back what it was sent.

    A key of a few characters is what a server on this machine is given for none, and is part of many words.
    """
    return masked(text.replace(key, "***") if len(key) >= _KEY_LENGTH else text)
