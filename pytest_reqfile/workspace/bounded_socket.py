"""Connected sockets that end in time, whatever the other side does (libraries.md 8)."""

from __future__ import annotations

import io
import select
import socket
import time
from contextlib import suppress
from typing import Any


class BoundedSocket:
    """A connected socket as ``http.client`` uses it, each of whose reads and writes ends at one deadline."""

    def __init__(self, connected: socket.socket) -> None:
        self._socket = connected
        self._unsent: list[bytes] = []
        self.expires = 0.0

    def wait_until_expiry(self) -> None:
        """What comes next may take as long as is left."""
        left = self.expires - time.monotonic()
        if left <= 0:
            raise TimeoutError("timed out")
        self._socket.settimeout(left)

    def sendall(self, data: bytes) -> None:
        """Kept until ``flush``: ``http.client`` hands over head and body apart, and a server would wake up for each."""
        self._unsent.append(data)

    def flush(self) -> None:
        data = b"".join(self._unsent)
        self._unsent.clear()
        self.wait_until_expiry()
        self._socket.sendall(data)

    def makefile(self, mode: str) -> io.BufferedReader:
        del mode
        return io.BufferedReader(_BoundedStream(self, self._socket.makefile("rb", buffering=0)))

    def is_quiet(self) -> bool:
        poll = select.poll()
        poll.register(self._socket, select.POLLIN)
        return not poll.poll(0)

    def cut(self) -> None:
        shut_down(self._socket)

    def close(self) -> None:
        self._socket.close()


class _BoundedStream(io.RawIOBase):
    """What a server sends, read until the socket's deadline."""

    def __init__(self, owner: BoundedSocket, raw: socket.SocketIO) -> None:
        self._owner = owner
        self._raw = raw

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: Any) -> int | None:
        self._owner.wait_until_expiry()
        return self._raw.readinto(buffer)

    def close(self) -> None:
        self._raw.close()
        super().close()


def shut_down(connected: socket.socket) -> None:
    """End what another thread does with a socket."""
    with suppress(OSError):  # closed meanwhile
        # Not that of an SSL socket, which would forget its keys while the other thread uses them.
        socket.socket.shutdown(connected, socket.SHUT_RDWR)
