"""The hashing scheme: one kind of digest for everything (seed 001 "Hashing scheme"; spec/lock.md 2.1 to 2.4).

``lp(x)`` is the length of ``x`` in 8 bytes, big-endian, and ``x``; ``u64(n)`` is ``n`` in 8 bytes, big-endian.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterable, Iterator
from itertools import pairwise
from typing import Final, Literal

from pytest_reqfile.errors import FileError, FormatError, Problem
from pytest_reqfile.workspace.hashing import OpenFile

TreeKind = Literal[
    "rule",
    "context",
    "skill",
    "agent",
    "command",
    "check",
    "hook",
    "role",
    "verifier",
    "rubric",
    "settings",
    "output",
    "role-output",
    "include",
    "okf-include",
    "installed-skill",
    "skill-source",
    "served-skill",
    # Ours, in .reqfile/reqfile.lock only (issue 6.4).
    "requirement",
    "config",
]
Mode = Literal["100644", "100755"]
Leaf = tuple[bytes, bytes]
"""A path below its item, as bytes, and the 32 bytes of its digest."""

PLAIN: Final[Mode] = "100644"
EXECUTABLE: Final[Mode] = "100755"
TEXT_EXTENSIONS: Final = (
    *(".json", ".jsonc", ".markdown", ".md", ".mdc", ".mdx"),
    *(".toml", ".txt", ".yaml", ".yml"),
)
_TEXT: Final = frozenset(TEXT_EXTENSIONS)
_IN_MEMORY: Final = 1 << 20
_BAD_PATH: Final = re.compile(r"\\|\A\Z|(?:\A|/)\.{0,2}(?:/|\Z)")


def lp(data: bytes) -> bytes:
    """``data`` with its length in front."""
    return len(data).to_bytes(8, "big") + data


def lp_text(text: str) -> bytes:
    """``text`` with its length in bytes in front; undecodable bytes of file names are themselves."""
    return lp(encoded(text))


def u64(number: int) -> bytes:
    return number.to_bytes(8, "big")


def encoded(text: str) -> bytes:
    """``text`` as the lock hashes and sorts it."""
    return text.encode("utf-8", "surrogateescape")


def digest_text(digest: bytes) -> str:
    """A digest as the lock writes it."""
    return f"sha256:{digest.hex()}"


def digest_bytes(text: str) -> bytes:
    """The inverse of ``digest_text``."""
    return bytes.fromhex(text.removeprefix("sha256:"))


def mode_of(executable: bool) -> Mode:
    return EXECUTABLE if executable else PLAIN


def is_text(path: str) -> bool:
    """Whether CRLF means LF in a file of this name: documents and data, no scripts (seed 001 "File leaf")."""
    name = path.rpartition("/")[2]
    dot = name.rfind(".")
    return dot >= 0 and name[dot:].lower() in _TEXT


def file_leaf(path: str, data: bytes, mode: Mode = PLAIN) -> Leaf:
    """The leaf of a file with the bytes ``data``. Raises ``FormatError`` for a path that no tree may hold."""
    if is_text(path):
        data = data.replace(b"\r\n", b"\n")
    name, head = _head(path, mode)
    hasher = hashlib.sha256(head + u64(len(data)))
    hasher.update(data)
    return name, hasher.digest()


def open_file_leaf(path: str, file: OpenFile) -> Leaf:
    """The leaf of a file on disk; a large one is streamed. Raises ``FileError`` for one that changes meanwhile."""
    if file.size > _IN_MEMORY:
        return streamed_leaf(path, file)
    data = file.whole()
    if len(data) != file.size:
        raise _changed(file)
    return file_leaf(path, data, mode_of(file.executable))


def streamed_leaf(path: str, file: OpenFile) -> Leaf:
    """As ``open_file_leaf`` in bounded memory: text is read twice, as its normalised length comes first."""
    normalise = is_text(path)
    size = sum(map(len, without_cr(file.chunks()))) if normalise else file.size
    name, head = _head(path, mode_of(file.executable))
    hasher = hashlib.sha256(head + u64(size))
    raw = 0
    for chunk in without_cr(file.chunks()) if normalise else file.chunks():
        hasher.update(chunk)
        raw += len(chunk)
    if raw != size:
        raise _changed(file)
    return name, hasher.digest()


def without_cr(chunks: Iterable[bytes]) -> Iterator[bytes]:
    """CRLF as LF, also where a chunk ends between the two; a lone CR stays."""
    held = b""
    for chunk in chunks:
        data = held + chunk
        held = b"\r" if data.endswith(b"\r") else b""
        yield (data[:-1] if held else data).replace(b"\r\n", b"\n")
    yield held


def symlink_leaf(path: str, target: str) -> Leaf:
    """The leaf of a symlink in a directory: what it says, never what is there (spec/lock.md 2.3)."""
    name = _checked(path)
    return name, _sha256(lp(b"ai-rulez/symlink/v1") + lp(name) + lp_text(target))


def irregular_leaf(path: str) -> Leaf:
    """The leaf of a socket, FIFO or device, which is never opened."""
    name = _checked(path)
    return name, _sha256(lp(b"ai-rulez/irregular/v1") + lp(name))


def tree_digest(kind: TreeKind, leaves: Iterable[Leaf]) -> str:
    """The digest of an item: its leaves by path, under its kind. Raises ``FormatError`` for a repeated path."""
    ordered = sorted(leaves)
    for (path, _), (following, _) in pairwise(ordered):
        if path == following:
            shown = path.decode("utf-8", "backslashreplace")
            raise FormatError([Problem(path=shown, message=f"duplicate path in {kind} tree")])
    hasher = hashlib.sha256(lp(f"ai-rulez/{kind}/v1".encode()) + u64(len(ordered)))
    hasher.update(b"".join(digest for _, digest in ordered))
    return digest_text(hasher.digest())


def _head(path: str, mode: Mode) -> tuple[bytes, bytes]:
    name = _checked(path)
    return name, lp(b"ai-rulez/file/v1") + lp(name) + lp(mode.encode())


def _checked(path: str) -> bytes:
    if _BAD_PATH.search(path):
        raise FormatError([Problem(path=path or None, message="invalid path in a digest tree")])
    return encoded(path)


def _sha256(data: bytes) -> bytes:
    return hashlib.sha256(data).digest()


def _changed(file: OpenFile) -> FileError:
    return FileError(f"{file.path} changed while it was being hashed")
