"""What is mounted on this machine, and by which sockets its services are asked."""

from __future__ import annotations

import os
import re
from pathlib import Path
from typing import Final

_MOUNTS: Final = Path("/proc/self/mountinfo")
_POINT: Final = 4
_ESCAPED: Final = re.compile(rb"\\([0-7]{3})")


_RUN: Final = Path("/run")
_SOCKETS: Final = (
    *("docker.sock", "podman/podman.sock", "containerd/containerd.sock", "crio/crio.sock"),
    *("systemd/private", "dbus/system_bus_socket"),
    *("user/*/bus", "user/*/systemd/private", "user/*/docker.sock", "user/*/podman/podman.sock"),
)


def service_sockets() -> list[str]:
    """Sockets of services that start programs for whoever asks: isolation ends there."""
    return [str(path) for pattern in _SOCKETS for path in _RUN.glob(pattern)]


def mounts_below(folder: Path) -> list[str]:
    """Where something else is mounted below ``folder``, outermost only; empty where the system does not tell."""
    try:
        lines = _MOUNTS.read_bytes().splitlines()
    except OSError:
        return []
    points = (os.fsdecode(_ESCAPED.sub(_character, line.split(b" ")[_POINT])) for line in lines)
    found: list[str] = []
    for point in sorted(set(points)):
        if point.startswith(f"{folder}/") and not any(point.startswith(f"{above}/") for above in found):
            found.append(point)
    return found


def _character(escape: re.Match[bytes]) -> bytes:
    return bytes((int(escape[1], 8),))
