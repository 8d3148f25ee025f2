"""RE2 as Go reads it: the patterns users write (spec/verifiers.md 2.9).

google-re2 is the C++ library; where it would silently read a pattern or a text otherwise than Go's regexp,
``compile_pattern`` and ``Haystack`` see to it (tests/unit/syntax/test_patterns.py has the table).
"""

from __future__ import annotations

import re
from array import array
from bisect import bisect_left
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, TypeAlias

from pytest_reqfile.errors import ReqfileError
from pytest_reqfile.syntax.re2_library import load_re2, re2_options

if TYPE_CHECKING:
    import re2

Span: TypeAlias = tuple[int, int]

# The parts of an accepted pattern, so that what is quoted or in a class is not taken for an operator.
_PART = re.compile(
    r"\\Q.*?(?:\\E|\Z)|\\(?P<escaped>.)|\[\^?\]?(?:\\.|\[:\^?\w+:\]|[^\]\\])*+\]|\(\?P?<(?P<name>[^>]*)>|.",
    re.DOTALL,
)
_NAME = re.compile(r"[A-Za-z0-9_]+")
_INVALID_BYTE = re.compile("[\udc80-\udcff]")


class PatternError(ReqfileError):
    """A pattern that cannot be read; the text is the reason."""


class Haystack:
    """Bytes to search; every byte that is not UTF-8 is one U+FFFD, as in Go.

    Make it once for a text that many patterns look at. Spans are always those of ``data``.
    """

    __slots__ = ("_inserted", "data", "readable")

    def __init__(self, data: bytes) -> None:
        self.data = data
        self.readable = data
        # Where in ``readable`` three bytes stand for one of ``data``.
        self._inserted = array("Q")
        if not data.isascii():
            try:
                data.decode()
            except UnicodeDecodeError:
                self._replace_invalid_bytes()

    def _replace_invalid_bytes(self) -> None:
        chunks = [chunk.encode() for chunk in _INVALID_BYTE.split(self.data.decode(errors="surrogateescape"))]
        place = 0
        for chunk in chunks[:-1]:
            self._inserted.append(place + len(chunk))
            place += len(chunk) + 3
        self.readable = b"\xef\xbf\xbd".join(chunks)

    def readable_offset(self, offset: int) -> int:
        """The place in ``readable`` of an offset in ``data``."""
        if not self._inserted:
            return offset
        before = bisect_left(range(len(self._inserted)), offset, key=lambda index: self._inserted[index] - 2 * index)
        return offset + 2 * before

    def offset(self, readable_offset: int) -> int:
        """The place in ``data`` of an offset in ``readable``."""
        return readable_offset - 2 * bisect_left(self._inserted, readable_offset)

    def boundary(self, readable_offset: int) -> int:
        """The first place at or after this one where a character begins or the text ends."""
        while readable_offset < len(self.readable) and self.readable[readable_offset] & 0xC0 == 0x80:
            readable_offset += 1
        return readable_offset


@dataclass(frozen=True, slots=True, kw_only=True)
class Pattern:
    """A compiled pattern; equal to another of the same text."""

    text: str
    regex: re2._Regexp = field(compare=False, repr=False)

    def search(self, data: bytes | Haystack, pos: int = 0) -> Span | None:
        """The first match at or after ``pos``; what is before ``pos`` still counts for ``^`` and ``\\b``."""
        haystack = data if isinstance(data, Haystack) else Haystack(data)
        found = self._search(haystack, haystack.readable_offset(pos))
        return (haystack.offset(found[0]), haystack.offset(found[1])) if found else None

    def finditer(self, data: bytes | Haystack) -> Iterator[Span]:
        """All matches as Go's FindAll has them: no empty match directly behind a match."""
        haystack = data if isinstance(data, Haystack) else Haystack(data)
        at, last_end = 0, -1
        while at <= len(haystack.readable) and (found := self._search(haystack, at)):
            start, end = found
            if not (start == end == last_end):
                yield haystack.offset(start), haystack.offset(end)
            at = haystack.boundary(end + 1) if end == at else end
            last_end = end

    def _search(self, haystack: Haystack, at: int) -> Span | None:
        while found := self.regex.search(haystack.readable, at):
            start, end = found.span()
            # RE2 finds `\\B` inside a character of several bytes, Go between characters only.
            at = haystack.boundary(start)
            if at == start:
                return start, end
        return None


def compile_pattern(text: str) -> Pattern:
    """The pattern as Go would take it; raises ``PatternError`` with the reason."""
    library = load_re2()
    try:
        regex = library.compile(text, re2_options())
    except library.error as error:
        raise PatternError(_reason(error)) from None
    except UnicodeEncodeError:
        raise PatternError("invalid UTF-8") from None
    _refuse_what_go_refuses(text)
    return Pattern(text=text, regex=regex)


def _reason(error: Exception) -> str:
    reason = error.args[0]
    return reason.decode(errors="replace") if isinstance(reason, bytes) else str(reason)


def _refuse_what_go_refuses(text: str) -> None:
    names: set[str] = set()
    for part in _PART.finditer(text):
        if part["escaped"] == "C":
            raise PatternError("invalid escape sequence: \\C")
        name = part["name"]
        if name is None:
            continue
        if not _NAME.fullmatch(name):
            raise PatternError(f"invalid named capture group: {part.group()}")
        if name in names:
            raise PatternError(f"duplicate capture group name: {name}")
        names.add(name)
