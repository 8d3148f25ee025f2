"""What ``git diff --raw -p -U0`` says: which files changed, which of their lines are new (spec/verifiers.md 3.5)."""

from __future__ import annotations

import os
import re
from dataclasses import dataclass
from io import BytesIO
from typing import Final, Literal

ChangeStatus = Literal["A", "M", "D", "R"]
Lines = tuple[tuple[int, int], ...]
"""Ranges of 1-based lines, both ends included, ascending."""

_HUNK: Final = re.compile(rb"@@ -\d+(?:,(\d+))? \+(\d+)(?:,(\d+))? @@")
_QUOTED: Final = re.compile(rb"\\([0-7]{3}|.)", re.DOTALL)
_ESCAPES: Final = {b"a": b"\a", b"b": b"\b", b"f": b"\f", b"n": b"\n", b"r": b"\r", b"t": b"\t", b"v": b"\v"}
_BINARY: Final = re.compile(rb"Binary files .* differ\n?", re.DOTALL)


@dataclass(frozen=True, slots=True, kw_only=True)
class Change:
    """One file that differs. ``old_path`` is set for a rename; ``added`` are its new lines, None meaning every line."""

    path: str
    status: ChangeStatus
    old_path: str | None = None
    added: Lines | None = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Patch:
    """The new lines of each file in a patch, and the files git called binary."""

    added: dict[str, Lines]
    binary: tuple[str, ...]


def parse_diff(out: bytes) -> tuple[tuple[Change, ...], Patch]:
    """The changes of the ``--raw`` part, without their lines, and the ``--patch`` part behind it, if there is one."""
    stream = BytesIO(out)
    changes: list[Change] = []
    while (line := stream.readline()).startswith(b":"):
        changes.append(_change(line.rstrip(b"\n")))
    return tuple(changes), parse_patch(stream)


def _change(line: bytes) -> Change:
    facts, *paths = line.split(b"\t")
    letter = facts.split(b" ")[-1][:1]
    names = [_name(path) for path in paths]
    if letter == b"R":
        return Change(path=names[1], status="R", old_path=names[0])
    if letter in (b"A", b"C"):
        return Change(path=names[-1], status="A", added=None)
    return Change(path=names[-1], status="D" if letter == b"D" else "M")


def parse_patch(stream: BytesIO) -> Patch:
    """The new lines per file. Lines of a hunk are counted, so nothing in a file reads as a header."""
    added: dict[str, list[tuple[int, int]]] = {}
    binary: list[str] = []
    current: str | None = None
    for line in stream:
        if line.startswith(b"diff --git "):
            current = None
        elif line.startswith(b"+++ "):
            current = _new_path(line)
        elif _BINARY.fullmatch(line):
            binary.append(_binary_path(line))
        elif (hunk := _HUNK.match(line)) is not None:
            first, count = int(hunk[2]), _count(hunk[3])
            if current is not None and count:
                added.setdefault(current, []).append((first, first + count - 1))
            _skip_hunk(stream, _count(hunk[1]), count)
    found = {path: tuple(ranges) for path, ranges in added.items()}
    return Patch(added=found, binary=tuple(path for path in binary if path))


def _count(text: bytes | None) -> int:
    return 1 if text is None else int(text)


def _skip_hunk(stream: BytesIO, removed: int, added: int) -> None:
    while removed or added:
        line = stream.readline()
        if not line:
            return
        removed -= line.startswith(b"-")
        added -= line.startswith(b"+")


def _new_path(line: bytes) -> str | None:
    name = _name(line[4:].rstrip(b"\n").removesuffix(b"\t"))
    return name.removeprefix("b/") if name.startswith("b/") else None


def _binary_path(line: bytes) -> str:
    """``Binary files a/OLD and b/NEW differ``: the new path, found from behind; empty for a deletion."""
    names = line.removeprefix(b"Binary files ").rstrip(b"\n").removesuffix(b" differ")
    for separator in (b" and b/", b' and "b/'):
        if separator in names:
            rest = separator[5:] + names.split(separator)[-1]
            return _name(rest).removeprefix("b/")
    return ""


def _name(text: bytes) -> str:
    """A path as git writes it, C-quoted where it has characters that would break the line."""
    if not (len(text) > 1 and text.startswith(b'"') and text.endswith(b'"')):
        return os.fsdecode(text)
    return os.fsdecode(_QUOTED.sub(_unescaped, text[1:-1]))


def _unescaped(found: re.Match[bytes]) -> bytes:
    escape = found[1]
    return bytes([int(escape, 8)]) if len(escape) == 3 else _ESCAPES.get(escape, escape)


def covers(added: Lines | None, line: int) -> bool:
    """Whether ``line`` is one of the new lines."""
    return added is None or any(first <= line <= last for first, last in added)
