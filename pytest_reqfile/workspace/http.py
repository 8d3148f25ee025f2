"""HTTP requests to a model service or a forge: bounded in time and size, never redirected (libraries.md 8)."""

from __future__ import annotations

import http.client
import ssl
import threading
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, nullcontext
from dataclasses import dataclass, field
from functools import lru_cache
from typing import Any, Final, Protocol
from urllib.parse import SplitResult, urlsplit

from pytest_reqfile import __version__
from pytest_reqfile.errors import HttpError
from pytest_reqfile.workspace.bounded_socket import BoundedSocket, shut_down
from pytest_reqfile.workspace.environment import Environment
from pytest_reqfile.workspace.proxies import Proxy, proxy_for

ATTEMPT_SECONDS: Final = 60.0
CONNECT_SECONDS: Final = 10.0
BODY_LIMIT: Final = 4 * 1024 * 1024
_WORDS_SHOWN: Final = 300


@dataclass(frozen=True, slots=True, kw_only=True)
class HttpReply:
    """What a server answered, whatever its status. ``retry_after`` is how many seconds it asks to wait."""

    status: int
    body: bytes
    retry_after: float | None = None


class Transport(Protocol):
    """Sends requests; used from several threads at once."""

    def post(self, url: str, headers: Mapping[str, str], body: bytes) -> HttpReply:
        """The complete reply, a redirect as it is. Raises HttpError when there is none."""

    def abort(self) -> None:
        """Cut every request short, those that run and those that come later."""

    def close(self) -> None:
        """Close the connections that are kept; later requests make new ones."""


class HttpTransport:
    """``Transport`` over ``http.client``: connections are kept and used by one thread at a time.

    TLS is verified, ``http://`` goes to loopback alone, proxies are those of ``environment``. Each request is answered
    within ``seconds`` however slowly the server drips, by at most ``limit`` bytes.
    """

    def __init__(self, environment: Environment, *, seconds: float = ATTEMPT_SECONDS, limit: int = BODY_LIMIT) -> None:
        self._environment = environment
        self._seconds = seconds
        self._limit = limit
        self._lock = threading.Lock()
        self._idle: dict[tuple[str, str], list[_Connection]] = {}
        self._open: set[_Connection] = set()
        self._aborted = False
        self._context: ssl.SSLContext | None = None

    def post(self, url: str, headers: Mapping[str, str], body: bytes) -> HttpReply:
        """See ``Transport``."""
        return self._ask(_Request(target=_target(url), method="POST", headers=headers, body=body))

    def get(self, url: str, headers: Mapping[str, str]) -> HttpReply:
        """The complete reply to a GET, under the same rules."""
        return self._ask(_Request(target=_target(url), method="GET", headers=headers, body=None))

    def _ask(self, request: _Request) -> HttpReply:
        """A kept connection that the server has closed meanwhile is replaced once."""
        expires = time.monotonic() + self._seconds
        connection = self._kept(request.target)
        if connection is not None:
            reply = self._exchange(connection, request, expires, kept=True)
            if reply is not None:
                return reply
        reply = self._exchange(self._connect(request.target, expires), request, expires, kept=False)
        assert reply is not None, "only a kept connection may be stale"
        return reply

    def abort(self) -> None:
        """See ``Transport``."""
        with self._lock:
            self._aborted = True
            connections = tuple(self._open)
        for connection in connections:
            connection.cut()

    def close(self) -> None:
        """See ``Transport``."""
        with self._lock:
            kept = [connection for idle in self._idle.values() for connection in idle]
            self._idle.clear()
        for connection in kept:
            self._drop(connection)

    def _exchange(self, connection: _Connection, request: _Request, expires: float, *, kept: bool) -> HttpReply | None:
        """The reply; None when a kept connection turned out to be closed before a byte of it came."""
        keep = False
        try:
            connection.expire_at(expires)
            response = connection.send(request)
            reply = connection.read(response, self._limit)
            keep = not response.will_close and response.status != _SWITCHING
            return reply
        except (http.client.RemoteDisconnected, ConnectionError) as error:
            if kept and not connection.answered and not self._aborted:
                return None
            raise self._failure(error, connection) from error
        except (OSError, http.client.HTTPException, ValueError) as error:
            raise self._failure(error, connection) from error
        finally:
            if keep and not self._aborted:
                self._keep(request.target, connection)
            else:
                self._drop(connection)

    def _connect(self, target: SplitResult, expires: float) -> _Connection:
        if self._aborted:
            raise HttpError("stopped")
        try:
            proxy = proxy_for(target, self._environment)
            context = self._tls() if target.scheme == "https" else None
            connection = _Connection(target, proxy, context)
            connection.open(min(CONNECT_SECONDS, expires - time.monotonic()))
        except (OSError, http.client.HTTPException, ValueError) as error:
            raise self._failure(error, None) from error
        with self._lock:
            self._open.add(connection)
        return connection

    def _failure(self, error: Exception, connection: _Connection | None) -> HttpError:
        if self._aborted:
            return HttpError("stopped")
        answered = connection is not None and connection.answered
        if isinstance(error, TimeoutError):
            seconds = min(CONNECT_SECONDS, self._seconds) if connection is None else self._seconds
            return HttpError(f"no complete answer within {seconds:g} seconds", answered=answered)
        return HttpError(_words(error), answered=answered)

    def _tls(self) -> ssl.SSLContext:
        with self._lock:
            if self._context is None:
                self._context = ssl.create_default_context()
            return self._context

    def _kept(self, target: SplitResult) -> _Connection | None:
        while True:
            with self._lock:
                idle = self._idle.get((target.scheme, target.netloc))
                connection = idle.pop() if idle else None
            if connection is None or connection.is_quiet():
                return connection
            self._drop(connection)

    def _keep(self, target: SplitResult, connection: _Connection) -> None:
        with self._lock:
            self._idle.setdefault((target.scheme, target.netloc), []).append(connection)

    def _drop(self, connection: _Connection) -> None:
        with self._lock:
            self._open.discard(connection)
        connection.close()


@dataclass(frozen=True, slots=True, kw_only=True)
class _Request:
    """What is asked; ``repr`` leaves out the headers, which hold keys."""

    target: SplitResult
    method: str
    headers: Mapping[str, str] = field(repr=False)
    body: bytes | None


class _Connection:
    """One connection to a server, directly or through a proxy's tunnel."""

    def __init__(self, target: SplitResult, proxy: Proxy | None, context: ssl.SSLContext | None) -> None:
        host, port = str(target.hostname), target.port
        first = (proxy.host, proxy.port) if proxy is not None else (host, port)
        self._client = (
            http.client.HTTPConnection(*first)
            if context is None
            else http.client.HTTPSConnection(*first, context=context)
        )
        self._client.response_class = _Response
        self._tunnels = proxy is not None
        if proxy is not None:
            self._client.set_tunnel(host, port or self._client.default_port, dict(proxy.headers))
        self.answered = False

    def open(self, wait: float) -> None:
        """Connect within ``wait`` seconds. Raises what ``http.client`` raises."""
        self._client.timeout = max(wait, _SOON)
        try:
            with self._tunnel_within(wait) if self._tunnels else nullcontext():
                self._client.connect()
        except BaseException:
            self._client.close()
            raise
        self._client.auto_open = 0  # a lost connection is never replaced in silence
        self._socket = BoundedSocket(self._client.sock)
        client: Any = self._client
        client.sock = self._socket

    @contextmanager
    def _tunnel_within(self, wait: float) -> Iterator[None]:
        """A proxy that drips its answer would start the client's own timeout again with each byte."""
        late = threading.Event()

        def cut() -> None:
            late.set()
            if self._client.sock is not None:
                shut_down(self._client.sock)

        watch = threading.Timer(max(wait, _SOON), cut)
        watch.daemon = True
        watch.start()
        try:
            yield
        except (OSError, http.client.HTTPException) as error:
            raise TimeoutError("timed out") if late.is_set() else error from error
        finally:
            watch.cancel()

    def expire_at(self, expires: float) -> None:
        """Every read and write from now on ends at ``expires``, on the monotonic clock."""
        self._socket.expires = expires
        self.answered = False

    def send(self, request: _Request) -> http.client.HTTPResponse:
        target = request.target
        path = target.path + (f"?{target.query}" if target.query else "")
        self._client.request(request.method, path, body=request.body, headers={**_ALWAYS, **request.headers})
        self._socket.flush()
        response = self._client.getresponse()
        self.answered = True
        return response

    def read(self, response: http.client.HTTPResponse, limit: int) -> HttpReply:
        data = response.read(limit + 1)
        if len(data) > limit:
            raise ValueError(f"the answer is larger than {limit // 1024} KiB")
        if response.length:
            raise ValueError("the answer was cut off")
        return HttpReply(status=response.status, body=data, retry_after=_retry_after(response.getheader("Retry-After")))

    def is_quiet(self) -> bool:
        """Whether nothing waits to be read: neither the end, nor what the next request would take for its answer."""
        return self._socket.is_quiet()

    def cut(self) -> None:
        """End what runs on the connection, from another thread."""
        self._socket.cut()

    def close(self) -> None:
        self._client.close()


class _Response(http.client.HTTPResponse):
    """One that passes over every interim answer, not ``100 Continue`` alone (RFC 9110, 15.2).

    Else ``103 Early Hints`` would be taken for the answer, and what follows for the answer to the next request.
    """

    def _read_status(self) -> tuple[str, int, str]:
        version, status, reason = super()._read_status()  # type: ignore[misc]  # the stubs leave it out
        return version, http.client.CONTINUE if status in _INTERIM else status, reason


_SOON: Final = 0.001
_SWITCHING: Final = 101
_INTERIM: Final = frozenset(range(100, 200)) - {_SWITCHING}
_ALWAYS: Final = {"User-Agent": f"pytest-reqfile/{__version__}"}


def is_loopback(host: str) -> bool:
    """Whether a host name is this machine by its text alone; no name is looked up."""
    import ipaddress

    if host == "localhost":
        return True
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return False


@lru_cache(maxsize=16)
def _target(url: str) -> SplitResult:
    try:
        target = urlsplit(url)
        _ = target.port
    except ValueError as error:
        raise HttpError(f"{url} is no address: {error}") from error
    host = target.hostname
    if target.scheme not in {"http", "https"} or not host:
        raise HttpError(f"{url} is no address of a server")
    if target.scheme == "http" and not is_loopback(host):
        raise HttpError(f"http:// is for this machine alone; use https:// for {host}")
    return target


def _retry_after(header: str | None) -> float | None:
    """``Retry-After`` as seconds from now: a number of them, or a date."""
    from email.utils import parsedate_to_datetime

    text = (header or "").strip()
    if text.isascii() and text.isdecimal():
        return float(text[:_LONGEST_NUMBER])
    try:
        return max(0.0, parsedate_to_datetime(text).timestamp() - time.time()) if text else None
    except (ValueError, OverflowError):
        return None


_LONGEST_NUMBER: Final = 12


def _words(error: Exception) -> str:
    """What went wrong, in one line that a hostile server cannot make long."""
    if isinstance(error, http.client.RemoteDisconnected):
        return "the server closed the connection without an answer"
    if isinstance(error, ssl.SSLCertVerificationError):
        return f"the server's certificate cannot be trusted: {error.verify_message}"
    if isinstance(error, http.client.BadStatusLine):
        return "the server does not speak HTTP"
    text = (isinstance(error, OSError) and error.strerror) or str(error) or type(error).__name__
    return " ".join(text.split())[:_WORDS_SHOWN]
