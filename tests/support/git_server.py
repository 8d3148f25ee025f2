"""git over https on this machine: git's own server program behind TLS, which remembers what it was sent."""

from __future__ import annotations

import os
import ssl
import subprocess
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Final

_CGI: Final = {"GIT_HTTP_EXPORT_ALL": "1", "REMOTE_ADDR": "127.0.0.1", "GIT_PROTOCOL": "version=2"}


@dataclass(slots=True, kw_only=True)
class GitServer:
    """Serves the repositories below ``root`` at ``url``.

    ``requests`` are what was asked, each a path and its Authorization header; ``connections`` counts those that were
    accepted, also without a word. ``demands`` is the header without which the answer is 401; a path that begins with
    ``/moved`` is redirected to ``moved_to``.
    """

    root: Path
    port: int = 0
    requests: list[tuple[str, str | None]] = field(default_factory=list)
    connections: int = 0
    demands: str | None = None
    moved_to: str = ""

    @property
    def host(self) -> str:
        return f"localhost:{self.port}"

    @property
    def url(self) -> str:
        return f"https://{self.host}"

    @property
    def authorizations(self) -> set[str | None]:
        return {header for _, header in self.requests}


@contextmanager
def serve_git(root: Path, context: ssl.SSLContext) -> Iterator[GitServer]:
    """A server as long as the test needs it."""
    state = GitServer(root=root)

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            _answer(self, state)

        def do_POST(self) -> None:
            _answer(self, state)

        def log_message(self, format: str, *args: object) -> None:
            """Says nothing."""

    class Server(ThreadingHTTPServer):
        daemon_threads = True

        def get_request(self) -> tuple[ssl.SSLSocket, object]:
            connected, address = self.socket.accept()
            state.connections += 1
            connected.settimeout(10)
            return context.wrap_socket(connected, server_side=True, do_handshake_on_connect=False), address

        def handle_error(self, request: object, client_address: object) -> None:
            """A client that hangs up is no concern of the test."""

    with Server(("127.0.0.1", 0), Handler) as server:
        state.port = server.server_port
        thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.05})
        thread.start()
        try:
            yield state
        finally:
            server.shutdown()
            thread.join()


def _answer(handler: BaseHTTPRequestHandler, state: GitServer) -> None:
    sent = handler.headers.get("Authorization")
    body = _body(handler)
    state.requests.append((handler.path, sent))
    if handler.path.startswith("/moved"):
        handler.send_response(302)
        handler.send_header("Location", f"{state.moved_to}{handler.path.removeprefix('/moved')}")
        handler.send_header("Content-Length", "0")
        handler.end_headers()
    elif state.demands is not None and sent != state.demands:
        handler.send_response(401)
        handler.send_header("WWW-Authenticate", 'Basic realm="private"')
        handler.send_header("Content-Length", "0")
        handler.end_headers()
    else:
        _serve(handler, state.root, body)


def _body(handler: BaseHTTPRequestHandler) -> bytes:
    if handler.headers.get("Transfer-Encoding") != "chunked":
        return handler.rfile.read(int(handler.headers.get("Content-Length") or 0))
    parts: list[bytes] = []
    while size := int(handler.rfile.readline().strip() or b"0", 16):
        parts.append(handler.rfile.read(size))
        handler.rfile.readline()
    handler.rfile.readline()
    return b"".join(parts)


def _serve(handler: BaseHTTPRequestHandler, root: Path, body: bytes) -> None:
    path, _, query = handler.path.partition("?")
    variables = {
        **{name: value for name, value in os.environ.items() if not name.startswith("GIT_")},
        **_CGI,
        "GIT_PROJECT_ROOT": str(root),
        "PATH_INFO": path,
        "QUERY_STRING": query,
        "REQUEST_METHOD": handler.command,
        "CONTENT_TYPE": handler.headers.get("Content-Type") or "",
        "HTTP_CONTENT_ENCODING": handler.headers.get("Content-Encoding") or "",
        "GIT_CONFIG_COUNT": "1",
        "GIT_CONFIG_KEY_0": "safe.directory",
        "GIT_CONFIG_VALUE_0": "*",
    }
    done = subprocess.run(("git", "http-backend"), input=body, env=variables, capture_output=True, check=False)
    head, _, content = done.stdout.partition(b"\r\n\r\n")
    fields = [line.partition(": ") for line in head.decode().split("\r\n") if line]
    status = next((value for name, _, value in fields if name == "Status"), "200 OK")
    handler.send_response(int(status.split()[0]))
    for name, _, value in fields:
        if name != "Status":
            handler.send_header(name, value)
    handler.send_header("Content-Length", str(len(content)))
    handler.end_headers()
    handler.wfile.write(content)
