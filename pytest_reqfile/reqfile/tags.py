"""What a remote's tags say: the commit behind each, and which is the latest release (spec reqfile.md 1.6, 7.4)."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Final

from pytest_reqfile.workspace.remotes import tag_ids

_SHA1_DIGITS: Final = 40
_RELEASE: Final = re.compile(r"v?(\d{1,18}(?:\.\d{1,18})*)", re.ASCII)


def read_tags(listing: str) -> dict[str, str]:
    """Tag → commit of a ``git ls-remote --tags`` listing; an annotated tag is peeled to what it points to."""
    return {name: commit for name, (_, commit) in tag_ids(listing).items() if len(commit) == _SHA1_DIGITS}


def latest_release(tags: Mapping[str, str]) -> str | None:
    """The tag of the highest version made of numbers and dots only, with or without a ``v``; None without one.

    Pre-releases (``v2.0.0-rc1``) and names (``nightly``) are no releases.
    """
    versions = {tag: version for tag in tags if (version := _version(tag)) is not None}
    return max(versions, key=lambda tag: (versions[tag], tag), default=None)


def _version(tag: str) -> tuple[int, ...] | None:
    found = _RELEASE.fullmatch(tag)
    return tuple(map(int, found[1].split("."))) if found else None
