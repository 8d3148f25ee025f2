"""A file as a tool names it → a repository path (spec reqfile.md 3.4)."""

from __future__ import annotations

import re
from typing import Final

from pytest_reqfile.workspace.paths import joined, normalised

_ESCAPE: Final = re.compile(rb"%([0-9A-Fa-f]{2})")


def repository_path(uri: str, *, root: str, folder: str) -> str:
    """The repository path of ``uri``, which is relative to ``folder`` unless absolute.

    A path outside the repository is kept as decoded: it is still the best answer to "where".
    """
    decoded = decode_percent(uri.removeprefix("file://"))
    if decoded.startswith(root.rstrip("/") + "/"):
        return normalised(decoded[len(root.rstrip("/")) + 1 :]) or decoded
    if decoded.startswith("/"):
        return decoded
    return joined(folder, decoded) or decoded


def decode_percent(text: str) -> str:
    """``text`` with valid percent escapes decoded and invalid ones kept; bytes that are not UTF-8 become U+FFFD."""
    raw = _ESCAPE.sub(lambda found: bytes([int(found[1], 16)]), text.encode("utf-8", "surrogateescape"))
    return raw.decode("utf-8", "replace")
