"""Outcomes as bytes, for what the first worker of a run works out and the others read (design 4, "Under xdist")."""

from __future__ import annotations

import json
from typing import Any, Final

_BYTES: Final = "reqfile:bytes"


def to_json(wires: object) -> bytes:
    """Wire forms (``outcome.to_wire``) as JSON; bytes, which stand for text that UTF-8 cannot hold, as hex digits."""
    return json.dumps(wires, default=lambda data: {_BYTES: data.hex()}).encode()


def from_json(data: bytes) -> Any:
    """The inverse of ``to_json``."""
    return json.loads(data, object_hook=_bytes_back)


def _bytes_back(found: dict[str, Any]) -> Any:
    return bytes.fromhex(found[_BYTES]) if set(found) == {_BYTES} else found
