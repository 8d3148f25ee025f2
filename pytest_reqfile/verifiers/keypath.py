"""The ``key`` of ``key_equals`` as the segments it addresses (seed 000 "Fields"; spec/verifiers.md 1.9)."""

from __future__ import annotations

from pytest_reqfile.verifiers.words import go_quoted


class KeyPathError(ValueError):
    """A key that cannot be read; the text is the reason."""


def parse_key(key: str) -> tuple[str, ...]:
    """The segments of ``key``: separated by dots, ``\\`` escaping the next character, ``["…"]`` and ``[1]`` as well."""
    if not key:
        raise KeyPathError("key is empty")
    return _Parser(key).segments()


class _Parser:
    def __init__(self, key: str) -> None:
        self._key = key
        self._at = 0

    def segments(self) -> tuple[str, ...]:
        found: list[str] = []
        while True:
            found.append(self._bracket() if self._next() == "[" else self._plain())
            while self._next() == "[":
                found.append(self._bracket())
            if self._at == len(self._key):
                return tuple(found)
            if self._next() != ".":
                raise self._bracket_error(f"unexpected '{self._next()}' after ']'")
            self._at += 1

    def _next(self) -> str:
        return self._key[self._at : self._at + 1]

    def _plain(self) -> str:
        text = ""
        while self._next() not in ("", ".", "["):
            if self._next() == "\\":
                self._at += 1
                if not self._next():
                    raise KeyPathError(f"key {go_quoted(self._key)} ends with a backslash")
            text += self._next()
            self._at += 1
        if not text:
            raise KeyPathError(f"key {go_quoted(self._key)} has an empty segment")
        return text

    def _bracket(self) -> str:
        self._at += 1
        if self._next() == '"':
            return self._quoted()
        end = self._key.find("]", self._at)
        if end < 0:
            raise self._bracket_error("unterminated '['")
        inside = self._key[self._at : end]
        if not (inside.isascii() and inside.isdigit()):
            raise self._bracket_error(f"[{inside}] is neither a list index nor a quoted key")
        self._at = end + 1
        return inside

    def _quoted(self) -> str:
        text = ""
        self._at += 1
        while self._next() != '"':
            if self._next() == "\\":
                self._at += 1
            if not self._next():
                raise self._bracket_error("unterminated quoted segment")
            text += self._next()
            self._at += 1
        self._at += 1
        if self._next() != "]":
            raise self._bracket_error("closing quote must be followed by ']'")
        self._at += 1
        return text

    def _bracket_error(self, reason: str) -> KeyPathError:
        return KeyPathError(f"key {go_quoted(self._key)}: {reason}")
