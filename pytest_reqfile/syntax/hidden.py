"""Characters that people do not see and programs read all the same (seed 000 "What is sent")."""

from __future__ import annotations

import unicodedata
from typing import Final

_CATEGORIES: Final = frozenset({"Cc", "Cf", "Cs", "Zl", "Zp"})
# Unicode's Default_Ignorable_Code_Point, as far as the categories do not say it: fillers, joiners, selectors that can
# carry bytes, and code points that are kept free for more of the kind.
_IGNORABLE: Final = frozenset(
    {
        *(0x034F, 0x115F, 0x1160, 0x17B4, 0x17B5, 0x180B, 0x180C, 0x180D, 0x180F, 0x2065, 0x3164, 0xFFA0),
        *range(0xFE00, 0xFE10),
        *range(0xFFF0, 0xFFF9),
    }
)
_IGNORABLE_PLANE: Final = range(0xE0000, 0xE1000)
_STYLES: Final = "\ufe0e\ufe0f"
# What has a coloured and a plain look, which one of `_STYLES` behind it chooses between.
_STYLED: Final = frozenset({"So", "Sm", "Sk", "Po", "Pd", "Nd"})


def hidden_character(text: str) -> str | None:
    """The first character of one line that nobody would see; a tab is none, nor is what gives a symbol its colours."""
    if text.isascii() and text.replace("\t", "").isprintable():
        return None
    before = ""
    for char in text:
        if is_hidden(char) and char != "\t" and not (char in _STYLES and _has_styles(before)):
            return char
        before = char
    return None


def is_hidden(char: str) -> bool:
    """Whether the character is shown as nothing, steers what is shown around it, or ends a line."""
    code = ord(char)
    return unicodedata.category(char) in _CATEGORIES or code in _IGNORABLE or code in _IGNORABLE_PLANE


def without_hidden(text: str) -> str:
    """``text`` as people read it: its lines and tabs, and what is seen of them."""
    return "".join(char for char in text if char in "\n\t" or not is_hidden(char))


def _has_styles(char: str) -> bool:
    return char != "" and unicodedata.category(char) in _STYLED
