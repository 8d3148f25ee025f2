"""google-re2 itself: found, checked to be the right one, and how to write a character for it."""

from __future__ import annotations

from importlib import import_module
from types import ModuleType
from typing import Any, Final

from pytest_reqfile.errors import ReqfileError

# Go bounds a pattern's size far above RE2's default of 8 MiB.
MAX_MEMORY: Final = 64 << 20

_PUNCTUATION: Final = frozenset("!\"#$%&'()*+,-./:;<=>?@[\\]^_`{|}~")


def load_re2() -> ModuleType:
    """google-re2, which two other distributions shadow with their own ``re2`` (libraries.md 1)."""
    try:
        re2: ModuleType = import_module("re2")
    except ImportError as error:
        raise ReqfileError(
            f"google-re2 cannot be imported: {error}; install it with `pip install google-re2`"
        ) from error
    if hasattr(re2, "Set") and hasattr(re2, "Options"):
        return re2
    raise ReqfileError(
        f"the module re2 at {re2.__file__} is not google-re2: another distribution (pyre2 or fb-re2) installed it; "
        "uninstall that and reinstall google-re2"
    )


def re2_options(max_memory: int = MAX_MEMORY) -> Any:
    """Options for a pattern or a set of at most ``max_memory`` bytes; RE2 writes nothing to stderr."""
    options = load_re2().Options()
    options.log_errors = False
    options.max_mem = max_memory
    return options


def quote(character: str) -> str:
    """A pattern that matches this one character, inside and outside of classes."""
    if character in _PUNCTUATION:
        return "\\" + character
    return character if character.isprintable() or character > "\x7f" else f"\\x{ord(character):02x}"
