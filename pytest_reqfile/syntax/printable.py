"""Text of unknown origin made fit for a terminal: nothing in it can move the cursor, hide or reorder text."""

from __future__ import annotations

from typing import Final

_KEPT: Final = frozenset("\n\t")


def visible(text: str, *, kept: frozenset[str] = _KEPT) -> str:
    r"""``text`` with every character that does not print shown as ``\xNN`` or ``\uNNNN``; ``kept`` ones pass.

    Covers control characters, bidirectional marks, zero-width characters and undecodable bytes of file names.
    """
    if text.isprintable():
        return text
    return "".join(char if char in kept or char.isprintable() else _escaped(char) for char in text)


def braced(text: str) -> str:
    r"""``text`` on one line, characters that do not print shown as ``\u{HEX}``, undecodable bytes as ``\xNN``."""
    if text.isprintable():
        return text
    return "".join(char if char.isprintable() else _braced(char) for char in text)


def _braced(char: str) -> str:
    code = ord(char)
    return _escaped(char) if 0xDC80 <= code <= 0xDCFF else f"\\u{{{code:X}}}"


def _escaped(char: str) -> str:
    code = ord(char)
    if 0xDC80 <= code <= 0xDCFF:  # an undecodable byte, as os.fsdecode keeps it
        return f"\\x{code - 0xDC00:02x}"
    return f"\\x{code:02x}" if code < 0x100 else f"\\u{code:04x}"
