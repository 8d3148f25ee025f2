"""What a model may be shown of a change: hunks, what is withheld, calls (seed 000 "What is sent"; spec 5.2).

Nothing else of a repository ever leaves the machine.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Final

from pytest_reqfile.syntax.credentials import holds_known, masked
from pytest_reqfile.syntax.hidden import hidden_character, without_hidden
from pytest_reqfile.verifiers.diffs import Lines
from pytest_reqfile.verifiers.words import sanitized

CONTEXT: Final = 3
MAX_LINE_BYTES: Final = 400
_CREDENTIAL: Final = "looks like it holds a credential"
_PER_LINE: Final = 8
"""What a line's number and marks are counted with."""
# Of OpenSSL and OpenSSH, of SSH's own format (RFC 4716), of PuTTY.
_KEY_BEGINS: Final = re.compile(r"-{4,5} ?BEGIN [A-Z0-9 ]*PRIVATE KEY|^Private-Lines: ")
_KEY_ENDS: Final = re.compile(r"-{4,5} ?END [A-Z0-9 ]*PRIVATE KEY|^Private-(?:MAC|Hash): ")


@dataclass(frozen=True, slots=True, kw_only=True)
class SentLine:
    """One line as it is sent: ``number`` is 1-based, ``text`` cut to ``MAX_LINE_BYTES``."""

    number: int
    text: str
    added: bool

    @property
    def size(self) -> int:
        """In bytes, as ``max_diff_bytes`` counts."""
        return len(self.text.encode()) + _PER_LINE


@dataclass(frozen=True, slots=True, kw_only=True)
class Hunk:
    """Consecutive lines of one file, added ones and their context."""

    file: str
    lines: tuple[SentLine, ...]

    @property
    def size(self) -> int:
        return sum(line.size for line in self.lines)


@dataclass(frozen=True, slots=True, kw_only=True)
class Sendable:
    """The hunks of one file that may be sent; ``notes`` say which were withheld, and why.

    ``cut`` counts the added lines among them of which only the beginning is sent.
    """

    hunks: tuple[Hunk, ...] = ()
    notes: tuple[str, ...] = ()
    cut: int = 0


def sendable(file: str, content: bytes, added: Lines | None) -> Sendable:
    """What of a file's ``added`` lines (None for all) may be sent, with three lines of context on both sides."""
    lines = split_lines(content)
    ranges = list(widened(added, len(lines)))
    if ranges and (fault := fault_of(file)) is not None:
        return Sendable(notes=(f"withheld {sanitized(file)}: its name {fault}",))
    keys = _lines_of_keys(lines)
    new = None if added is None else frozenset(n for a, b in added for n in range(a, min(b, len(lines)) + 1))
    hunks: list[Hunk] = []
    notes: list[str] = []
    for first, last in ranges:
        reason = _reason_to_withhold(lines, first, last, keys)
        if reason is not None:
            notes.append(f"withheld {file}: {reason}")
            continue
        sent = (
            SentLine(number=number, text=cut(lines[number - 1]), added=new is None or number in new)
            for number in range(first, last + 1)
        )
        hunks.append(Hunk(file=file, lines=tuple(sent)))
    judged = [line for hunk in hunks for line in hunk.lines if line.added]
    return Sendable(
        hunks=tuple(hunks), notes=tuple(notes), cut=sum(line.text != lines[line.number - 1] for line in judged)
    )


def split_lines(content: bytes) -> list[str]:
    """The lines of a file as numbers count them: ends normalised to LF, one at the end of the file not counting."""
    text = content.replace(b"\r\n", b"\n").decode("utf-8", "replace")
    return text.removesuffix("\n").split("\n") if text else []


def widened(added: Lines | None, count: int) -> Iterator[tuple[int, int]]:
    """Ranges of lines around ``added`` ones in a file of ``count`` lines; what touches or is adjacent is one."""
    first = last = 0
    for start, end in ((1, count),) if added is None else added:
        if start > count:
            break
        begin, finish = max(1, start - CONTEXT), min(count, end + CONTEXT)
        if last and begin > last + 1:
            yield first, last
            first = 0
        first, last = first or begin, finish
    if last:
        yield first, last


def cut(line: str) -> str:
    """``line`` within ``MAX_LINE_BYTES``, cut between characters and marked where it is longer."""
    data = line.encode()
    if len(data) <= MAX_LINE_BYTES:
        return line
    return data[:MAX_LINE_BYTES].decode("utf-8", "ignore") + "..."


def _reason_to_withhold(lines: list[str], first: int, last: int, keys: frozenset[int]) -> str | None:
    """Judged by whole lines: what is cut off is not sent, but tells what the rest belongs to."""
    for number in range(first, last + 1):
        fault = _CREDENTIAL if number in keys else fault_of(lines[number - 1])
        if fault is not None:
            return f"line {number} {fault}"
    return None


def fault_of(text: str) -> str | None:
    """Why one line of text may not be sent; None where it may."""
    if masked(text) != text:
        return _CREDENTIAL
    return _hidden_fault(text)


def fault_of_prose(text: str) -> str | None:
    """The same of a sentence that people wrote: "uses basic authentication" only looks like a credential."""
    return _CREDENTIAL if holds_known(text) else _hidden_fault(text)


def _hidden_fault(text: str) -> str | None:
    hidden = hidden_character(text)
    return None if hidden is None else f"holds a hidden or control character (U+{ord(hidden):04X})"


def _lines_of_keys(lines: list[str]) -> frozenset[int]:
    """Lines of private keys: of those between the first and the last none looks like a credential by itself."""
    found: list[int] = []
    inside = False
    for number, written in enumerate(lines, start=1):
        line = without_hidden(written) if not written.isascii() else written
        inside = inside or _KEY_BEGINS.search(line) is not None
        if inside:
            found.append(number)
            inside = _KEY_ENDS.search(line) is None
    return frozenset(found)


def packed(hunks: Iterable[Hunk], max_bytes: int) -> tuple[tuple[Hunk, ...], ...]:
    """The hunks of each call, in order; a hunk larger than a call is split by lines."""
    calls: list[tuple[Hunk, ...]] = []
    call: list[Hunk] = []
    size = 0
    for piece in (piece for hunk in hunks for piece in _pieces(hunk, max_bytes)):
        if call and size + piece.size > max_bytes:
            calls.append(tuple(call))
            call, size = [], 0
        call.append(piece)
        size += piece.size
    return (*calls, tuple(call)) if call else tuple(calls)


def _pieces(hunk: Hunk, max_bytes: int) -> Iterator[Hunk]:
    """Parts of a hunk that fit; context alone is left out, as it has nothing to judge."""
    part: list[SentLine] = []
    size = 0
    for line in hunk.lines:
        if part and size + line.size > max_bytes:
            yield from _judged(hunk.file, part)
            part, size = [], 0
        part.append(line)
        size += line.size
    yield from _judged(hunk.file, part)


def _judged(file: str, lines: list[SentLine]) -> Iterator[Hunk]:
    if any(line.added for line in lines):
        yield Hunk(file=file, lines=tuple(lines))
