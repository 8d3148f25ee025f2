"""What a remote's tags say: the commit behind each, and which is the latest release (spec reqfile.md 1.6, 7.4)."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Final

_REFERENCE: Final = re.compile(r"([0-9a-f]{40})\trefs/tags/(.+)")
_PEELED: Final = "^{}"
_RELEASE: Final = re.compile(r"v?(\d{1,18}(?:\.\d{1,18})*)", re.ASCII)


def read_tags(listing: str) -> dict[str, str]:
    """Tag → commit of a ``git ls-remote --tags`` listing; an annotated tag is peeled to what it points to."""
    tags: dict[str, str] = {}
    peeled: dict[str, str] = {}
    for line in listing.split("\n"):
        if found := _REFERENCE.fullmatch(line):
            name = found[2].removesuffix(_PEELED)
            (tags if name == found[2] else peeled)[name] = found[1]
    return tags | peeled


def latest_release(tags: Mapping[str, str]) -> str | None:
    """The tag of the highest version made of numbers and dots only, with or without a ``v``; None without one.

    Pre-releases (``v2.0.0-rc1``) and names (``nightly``) are no releases.
    """
    versions = {tag: version for tag in tags if (version := _version(tag)) is not None}
    return max(versions, key=lambda tag: (versions[tag], tag), default=None)


def _version(tag: str) -> tuple[int, ...] | None:
    found = _RELEASE.fullmatch(tag)
    return tuple(map(int, found[1].split("."))) if found else None
