"""The tags of a repository as ``git ls-remote`` lists them (spec/lock.md 6.6)."""

from __future__ import annotations

import unicodedata
from dataclasses import dataclass
from typing import Final, Literal

from pytest_reqfile.lock.versions import Version
from pytest_reqfile.workspace.remotes import tag_ids

_LONGEST_NAME: Final = 255

PinState = Literal["same", "moved", "missing"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Tag:
    """A tag and the commit it leads to; ``tag_object`` is the id of an annotated tag itself, else empty."""

    name: str
    commit: str
    tag_object: str = ""


def read_tags(listing: str) -> tuple[Tag, ...]:
    """The tags of a listing, by name; other references and lines that say nothing are left out."""
    found = tag_ids(listing)
    names = sorted(filter(_is_usable, found), key=str.encode)
    return tuple(_tag(name, *found[name]) for name in names)


def _tag(name: str, identity: str, commit: str) -> Tag:
    return Tag(name=name, commit=commit, tag_object=identity if identity != commit else "")


def _is_usable(name: str) -> bool:
    """At most 255 bytes of text without control characters: all others could not stand in a lock."""
    try:
        length = len(name.encode())
    except UnicodeEncodeError:
        return False
    return length <= _LONGEST_NAME and not any(unicodedata.category(char) == "Cc" for char in name)


def tag_version(name: str, prefix: str = "") -> Version | None:
    """The version that a tag names: after exactly the ``prefix``, or without one after at most one ``v``."""
    if prefix:
        return Version.parse(name[len(prefix) :]) if name.startswith(prefix) else None
    return Version.parse(name.removeprefix("v"))


def pin_state(tags: tuple[Tag, ...], name: str, commit: str) -> tuple[PinState, str]:
    """What became of a pinned tag, and the commit it leads to now (empty where it is missing)."""
    found = next((tag for tag in tags if tag.name == name), None)
    if found is None:
        return "missing", ""
    return ("same" if found.commit == commit else "moved"), found.commit
