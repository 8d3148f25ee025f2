"""How messages of verifiers write values: quoted as Go does, lists cut, sizes in MiB (spec/verifiers.md 0)."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from pytest_reqfile.syntax.printable import visible

LISTED: Final = 10
MIB: Final = 1024 * 1024
_GO_ESCAPES: Final = {
    "\a": r"\a",
    "\b": r"\b",
    "\f": r"\f",
    "\n": r"\n",
    "\r": r"\r",
    "\t": r"\t",
    "\v": r"\v",
    '"': r"\"",
    "\\": r"\\",
}


def go_quoted(text: str) -> str:
    """``text`` as Go's ``%q`` writes it."""
    return '"' + "".join(map(_go_escaped, text)) + '"'


def _go_escaped(char: str) -> str:
    code = ord(char)
    if char in _GO_ESCAPES:
        return _GO_ESCAPES[char]
    if char.isprintable():
        return char
    if 0xDC80 <= code <= 0xDCFF:  # an undecodable byte of a file name
        return f"\\x{code - 0xDC00:02x}"
    if code < 0x80:
        return f"\\x{code:02x}"
    return f"\\u{code:04x}" if code < 0x10000 else f"\\U{code:08x}"


def sanitized(text: str) -> str:
    """``text`` on one line with nothing in it that moves a cursor (seed 000 "Output")."""
    return visible(text, kept=frozenset())


def first_list(items: Sequence[str], total: int | None = None) -> str:
    """The first ten of ``items``, and how many more there are; ``total`` counts them where ``items`` is cut."""
    count = len(items) if total is None else total
    rest = f" and {count - LISTED} more" if count > LISTED else ""
    return ", ".join(items[:LISTED]) + rest


def capped_list(items: Sequence[str]) -> str:
    """The first ten of ``items``, and that there are more (their number is not known)."""
    return ", ".join(items[:LISTED]) + (" and more" if len(items) > LISTED else "")


def size_text(size: int) -> str:
    """A limit in bytes as messages name it: ``5 MiB``, ``1000 bytes``."""
    return f"{size // MIB} MiB" if size and size % MIB == 0 else f"{size} bytes"
