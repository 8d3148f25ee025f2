"""The transport against a real local server: bounds in time and size, connections, proxies (libraries.md 8)."""

from __future__ import annotations

import socket
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

import pytest

from pytest_reqfile.errors import HttpError
from pytest_reqfile.workspace.environment import Environment
from pytest_reqfile.workspace.http import HttpReply, HttpTransport, is_loopback
from tests.support.jev import Jev, Said
from tests.support.tls import certificate, server_context

BODY = b'{"model": "m", "state": 1, "questions": {"A": {"type": "noul"}}}'
HEADERS = {"Content-Type": "application/json", "Authorization": "Bearer k"}
NOTHING = Environment(variables={})


@pytest.fixture
def transport() -> Iterator[HttpTransport]:
    """A transport that takes 4 KiB, and the time that a loaded machine needs."""
    made = HttpTransport(NOTHING, seconds=20, limit=4096)
    yield made
    made.close()


@pytest.fixture
def hasty() -> Iterator[HttpTransport]:
    """A transport that gives up after less than a second."""
    made = HttpTransport(NOTHING, seconds=0.8, limit=4096)
    yield made
    made.close()


def post(transport: HttpTransport, jev: Jev) -> HttpReply:
    return transport.post(f"{jev.endpoint}/systemone", HEADERS, BODY)


def test_a_reply_comes_whole_and_the_connection_is_kept(transport: HttpTransport, jev: Jev) -> None:
    """Ten requests, one connection, our name in each."""
    replies = [post(transport, jev) for _ in range(10)]
    assert {reply.status for reply in replies} == {200}
    assert b'"noul"' in replies[0].body
    assert (jev.connections, len(jev.heard)) == (1, 10)


def test_a_kept_connection_that_the_server_closed_is_replaced(transport: HttpTransport, jev: Jev) -> None:
    """Once, and only where no byte of an answer had come."""
    jev.behave = lambda heard: Said(body=b"{}", raw=b"HTTP/1.1 200 X\r\nContent-Length: 2\r\n\r\n{}")
    post(transport, jev)
    time.sleep(0.05)
    assert post(transport, jev).body == b"{}"
    assert (jev.connections, len(jev.heard)) == (2, 2)


@pytest.mark.parametrize(
    ("said", "message", "answered"),
    [
        (Said(delay=30.0), "no complete answer within 0.8 seconds", False),
        (Said(body=b"x" * 1000, drip=0.05), "no complete answer within 0.8 seconds", True),
        (Said(body=b"x" * 5000), "the answer is larger than 4 KiB", True),
        (Said(body=b"x" * 100, cut=80), "the answer was cut off", True),
        (Said(raw=b""), "the server closed the connection without an answer", False),
        (Said(raw=b"SSH-2.0-OpenSSH_9.6\r\n"), "the server does not speak HTTP", False),
        (Said(raw=b"HTTP/1.1 200 X\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\n"), "IncompleteRead(0 bytes read)", True),
        (Said(raw=b"HTTP/1.1 200 X\r\n" + b"A: b\r\n" * 200), "got more than 100 headers", False),
        (
            Said(raw=b"HTTP/1.1 200 X\r\nA: " + b"b" * 70000),
            "got more than 65536 bytes when reading header line",
            False,
        ),
    ],
    ids=lambda value: str(value)[:40] if isinstance(value, str) else "",
)
def test_what_is_no_complete_answer_in_time_is_an_error(
    transport: HttpTransport, hasty: HttpTransport, jev: Jev, said: Said, message: str, answered: bool
) -> None:
    """Whatever the server does; the connection is not used again."""
    transport = hasty if "0.8" in message else transport
    jev.behave = lambda heard: said
    start = time.monotonic()
    with pytest.raises(HttpError) as caught:
        post(transport, jev)
    assert str(caught.value) == message
    assert caught.value.answered is answered
    assert time.monotonic() - start < 15.0
    jev.behave = lambda heard: None
    assert post(transport, jev).status == 200
    assert jev.connections == 2


def test_what_comes_unasked_is_no_answer_to_the_next_request() -> None:
    """A server that answers twice: the second answer is about another question."""
    connections: list[int] = []
    read, sent = threading.Event(), threading.Event()

    def serve(connected: socket.socket) -> None:
        connections.append(len(connections))
        with suppress(OSError):
            connected.recv(65536)
            connected.sendall(b"HTTP/1.1 200 X\r\nContent-Length: 1\r\n\r\n%d" % len(connections))
            assert read.wait(10)
            connected.sendall(b"HTTP/1.1 200 X\r\nContent-Length: 5\r\n\r\nstale")
            sent.set()
            connected.recv(65536)  # the end

    with listener(serve) as port:
        transport = HttpTransport(NOTHING, seconds=5)
        assert transport.post(f"http://127.0.0.1:{port}/x", HEADERS, BODY).body == b"1"
        read.set()
        assert sent.wait(10)
        assert transport.post(f"http://127.0.0.1:{port}/x", HEADERS, BODY).body == b"2"
        transport.close()


@pytest.mark.parametrize("interim", [b"HTTP/1.1 100 Continue\r\n\r\n", b"HTTP/1.1 103 Early Hints\r\nLink: x\r\n\r\n"])
def test_interim_answers_are_passed_over(transport: HttpTransport, jev: Jev, interim: bytes) -> None:
    """What follows them is the answer to this request, not to the next one."""
    jev.behave = lambda heard: Said(raw=interim * 2 + b"HTTP/1.1 200 X\r\nContent-Length: 2\r\n\r\n{}")
    for _ in range(2):
        reply = post(transport, jev)
        assert (reply.status, reply.body) == (200, b"{}")


def test_endless_interim_answers_end_at_the_deadline(hasty: HttpTransport, jev: Jev) -> None:
    """``100 Continue`` again and again is no answer."""
    jev.behave = lambda heard: Said(raw=b"HTTP/1.1 100 Continue\r\n\r\n" * 200_000, delay=0.0)
    with pytest.raises(HttpError):
        post(hasty, jev)


def test_a_redirect_is_an_answer_and_is_never_followed(transport: HttpTransport, jev: Jev) -> None:
    """The key goes where it was meant to go, and nowhere else."""
    jev.behave = lambda heard: Said(status=307, headers={"Location": f"{jev.endpoint}/elsewhere"})
    assert post(transport, jev).status == 307
    assert [heard.path for heard in jev.heard] == ["/api/v1/systemone"]


@pytest.mark.parametrize(
    ("header", "seconds"),
    [
        ("7", 7.0),
        ("0", 0.0),
        ("Wed, 21 Oct 2015 07:28:00 GMT", 0.0),
        ("soon", None),
        ("-3", None),
        ("9" * 400, 999999999999.0),
    ],
)
def test_retry_after_is_seconds_or_a_date(
    transport: HttpTransport, jev: Jev, header: str, seconds: float | None
) -> None:
    """A date that has passed is no wait; anything else is no wish at all."""
    jev.behave = lambda heard: Said(status=429, headers={"Retry-After": header})
    assert post(transport, jev).retry_after == seconds


def test_abort_ends_what_runs_and_what_comes(jev: Jev) -> None:
    """At once, from another thread, however long the server would take."""
    transport = HttpTransport(NOTHING)
    jev.latency = 30.0
    failures: list[str] = []

    def ask() -> None:
        try:
            post(transport, jev)
        except HttpError as error:
            failures.append(str(error))

    threads = [threading.Thread(target=ask) for _ in range(4)]
    for thread in threads:
        thread.start()
    while len(jev.heard) < 4:
        time.sleep(0.01)
    start = time.monotonic()
    transport.abort()
    for thread in threads:
        thread.join()
    ask()
    assert failures == ["stopped"] * 5
    assert time.monotonic() - start < 15.0


@pytest.mark.parametrize(
    ("url", "message"),
    [
        ("http://example.invalid/x", "http:// is for this machine alone; use https:// for example.invalid"),
        ("ftp://127.0.0.1/x", "ftp://127.0.0.1/x is no address of a server"),
        ("https:///x", "https:///x is no address of a server"),
        ("http://127.0.0.1:99999/x", "http://127.0.0.1:99999/x is no address: Port out of range 0-65535"),
    ],
)
def test_an_address_that_must_not_be_used_is_refused(transport: HttpTransport, url: str, message: str) -> None:
    """Before any connection is made."""
    with pytest.raises(HttpError) as caught:
        transport.post(url, HEADERS, BODY)
    assert str(caught.value) == message


def test_nobody_listening_is_an_error(transport: HttpTransport) -> None:
    """In the words of the system."""
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    with pytest.raises(HttpError, match="Connection refused"):
        transport.post(f"http://127.0.0.1:{port}/x", HEADERS, BODY)


@pytest.mark.parametrize(
    ("host", "loopback"),
    [("localhost", True), ("127.8.9.1", True), ("::1", True), ("10.0.0.1", False), ("localhost.evil.example", False)],
)
def test_loopback_is_told_by_the_text_alone(host: str, loopback: bool) -> None:
    """No name is looked up: a resolver may be hostile."""
    assert is_loopback(host) is loopback


@contextmanager
def listener(serve: Callable[[socket.socket], None]) -> Iterator[int]:
    """A port whose connections ``serve`` handles, one after the other."""
    with socket.create_server(("127.0.0.1", 0)) as server:

        def accept() -> None:
            while True:
                try:
                    connected, _ = server.accept()
                except OSError:
                    return
                with connected:
                    serve(connected)

        threading.Thread(target=accept, daemon=True).start()
        yield server.getsockname()[1]
        server.shutdown(socket.SHUT_RDWR)


def test_https_goes_through_the_proxy_of_the_environment(jev: Jev) -> None:
    """By CONNECT, with its password for the proxy alone; plain http to this machine goes to none."""
    heads: list[bytes] = []

    def refuse(connected: socket.socket) -> None:
        heads.append(connected.recv(4096))
        connected.sendall(b"HTTP/1.1 407 Proxy Authentication Required\r\nContent-Length: 0\r\n\r\n")

    with listener(refuse) as port:
        environment = Environment(variables={"HTTPS_PROXY": f"http://me:s%40cret@127.0.0.1:{port}"})
        transport = HttpTransport(environment, seconds=5)
        with pytest.raises(HttpError, match="Tunnel connection failed: 407") as caught:
            transport.post("https://model.example/x", HEADERS, BODY)
        assert post(transport, jev).status == 200
        transport.close()
    (head,) = heads
    assert head.startswith(b"CONNECT model.example:443 HTTP/1.")
    assert b"Proxy-Authorization: Basic bWU6c0BjcmV0" in head
    assert b"Bearer" not in head
    assert "cret" not in str(caught.value)


def test_a_proxy_that_drips_its_answer_is_left_in_time() -> None:
    """Each byte is a sign of life; together they are none."""

    def drip(connected: socket.socket) -> None:
        connected.recv(4096)
        try:
            for byte in b"HTTP/1.1 200 OK\r\nX: " + b"a" * 1000:
                connected.sendall(bytes([byte]))
                time.sleep(0.1)
        except OSError:
            return

    with listener(drip) as port:
        transport = HttpTransport(Environment(variables={"https_proxy": f"127.0.0.1:{port}"}), seconds=0.8)
        start = time.monotonic()
        with pytest.raises(HttpError, match=r"^no complete answer within 0.8 seconds$"):
            transport.post("https://model.example/x", HEADERS, BODY)
        assert time.monotonic() - start < 15.0


@pytest.mark.parametrize(
    ("variables", "message"),
    [
        ({"https_proxy": "socks5://127.0.0.1:1"}, "the proxy must be an http:// address, found socks5://"),
        ({"https_proxy": "http://u:p@[::1"}, "the proxy's address cannot be read"),
        ({"all_proxy": "https://127.0.0.1:1"}, "the proxy must be an http:// address, found https://"),
    ],
)
def test_a_proxy_that_cannot_be_used_is_an_error(variables: dict[str, str], message: str) -> None:
    """Going around it would send what was meant to pass it."""
    with pytest.raises(HttpError) as caught:
        HttpTransport(Environment(variables=variables)).post("https://model.example/x", HEADERS, BODY)
    assert str(caught.value) == message


def test_a_server_must_prove_who_it_is(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A certificate of its own making is refused before the key is sent; one that the system trusts is not."""
    cert, key = certificate(tmp_path)
    context = server_context(cert, key)
    seen: list[bytes] = []

    def serve(connected: socket.socket) -> None:
        try:
            with context.wrap_socket(connected, server_side=True) as secure:
                heard = secure.recv(65536)
                while not heard.endswith(BODY) and (more := secure.recv(65536)):
                    heard += more  # what is left unread would reset the connection
                seen.append(heard)
                secure.sendall(b"HTTP/1.1 200 X\r\nContent-Length: 2\r\nConnection: close\r\n\r\n{}")
        except OSError:
            return  # the client does not like us

    with listener(serve) as port:
        url = f"https://localhost:{port}/x"
        with pytest.raises(HttpError, match="the server's certificate cannot be trusted: self-signed certificate"):
            HttpTransport(NOTHING, seconds=5).post(url, HEADERS, BODY)
        assert seen == []
        monkeypatch.setenv("SSL_CERT_FILE", str(cert))
        assert HttpTransport(NOTHING, seconds=5).post(url, HEADERS, BODY).body == b"{}"
    assert b"Authorization: Bearer k" in seen[0]
