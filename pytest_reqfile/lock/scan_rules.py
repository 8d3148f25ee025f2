"""The rules AR001 to AR009 over one file (spec/airulez-project.md 7)."""

from __future__ import annotations

import os
import re
import unicodedata
from array import array
from bisect import bisect_left
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import cache, cached_property
from typing import Final

from pytest_reqfile.lock.digest import TEXT_EXTENSIONS
from pytest_reqfile.lock.scan_hosts import foreign_hosts
from pytest_reqfile.lock.scan_patterns import BLOBS, COMMENT, IN_COMMENT, PHRASES, SECRETS, Shape, configured_secret
from pytest_reqfile.lock.scan_settings import ScanCode, ScanSettings, ScanSeverity
from pytest_reqfile.lock.scan_shell import ACCESS, EXECUTED
from pytest_reqfile.lock.scan_tools import broad_tools
from pytest_reqfile.syntax.credentials import MASK, masked
from pytest_reqfile.syntax.patterns import Haystack, Pattern, Span, compile_pattern

LISTED: Final = 10
"""Findings of one rule in one file, at most: the file is refused by the first."""
_QUOTED: Final = 100
_LOOKED_AT: Final = 400
_UTF_16: Final = (b"\xff\xfe", b"\xfe\xff")
_RARE_ASCII: Final = 16
"""Text of another script has blanks and line ends at least."""
_SCRIPTS: Final = (".sh", ".bash", ".zsh", ".py", ".js", ".mjs", ".cjs", ".ts", ".html", ".svg", ".xml", ".csv")
_TEXTS: Final = (*TEXT_EXTENSIONS, *_SCRIPTS)
# Unicode's Bidi_Control, what has no width, tags, fillers, and selectors, rows of which can spell any text: all that
# text can be hidden or reordered with.
_HIDDEN: Final = re.compile(
    "[\u061c\u17b4\u17b5\u180e\u200b-\u200f\u202a-\u202e\u2060-\u206f\u3164\ufe00-\ufe0f\ufeff\uffa0\ufff0-\ufffb"
    "\U0001bca0-\U0001bca3\U0001d173-\U0001d17a\U000e0000-\U000e0fff]"
)
_BETWEEN: Final = "\u200c\u200d"
"""Joiners, which stand between two characters of a script that has them."""
_BEHIND: Final = re.compile("[\ufe00-\ufe0f\U000e0100-\U000e01ef]")
"""Selectors, one of which chooses the look of the character before it."""
_STYLES: Final = "\ufe0e\ufe0f"
_STYLED: Final = "0123456789#*"
"""Of ASCII, what has an emoji."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Match:
    """What a rule found at a line of a file."""

    code: ScanCode
    severity: ScanSeverity
    line: int
    message: str


@dataclass(frozen=True, slots=True, kw_only=True)
class FileScan:
    """``cut``: there is more of a kind than is listed; ``binary``: hidden characters were not looked for."""

    matches: tuple[Match, ...]
    cut: bool = False
    binary: bool = False


class RuleSet:
    """The rules that are on, as the settings have them."""

    def __init__(self, settings: ScanSettings) -> None:
        self._settings = settings
        self._shapes: dict[ScanCode, list[Shape]] = {}
        for shape in (
            *SECRETS,
            *map(configured_secret, settings.secret_patterns),
            *PHRASES,
            *EXECUTED,
            *ACCESS,
            *BLOBS,
        ):
            self._shapes.setdefault(shape.code, []).append(shape)

    def scan(self, path: str, data: bytes) -> FileScan:
        """Everything of note in the file ``path``, in line order, each rule once a line."""
        binary = b"\0" in data and not path.lower().endswith(_TEXTS)
        matches: dict[tuple[int, ScanCode], Match] = {}
        cut = False
        for read in _readings(data):
            text = Text(path, read, binary=binary)
            for code, level in self._settings.levels.items():
                if level == "off":
                    continue
                kept = Kept(text)
                self._look(code, text, kept)
                cut |= kept.is_full
                for line, message in sorted(kept.found.items())[:LISTED]:
                    matches.setdefault((line, code), Match(code=code, severity=level, line=line, message=message))
        return FileScan(matches=tuple(matches[key] for key in sorted(matches)), cut=cut, binary=binary)

    def scan_name(self, path: str) -> Match | None:
        """What nobody sees in a name, by which rules and skills are called."""
        level = self._settings.levels["AR002"]
        found = next(_hidden(os.fsencode(path)), None)
        if level == "off" or found is None:
            return None
        return Match(code="AR002", severity=level, line=1, message=f"in its name: {found[1]}")

    def _look(self, code: ScanCode, text: Text, kept: Kept) -> None:
        """Keep what one rule finds."""
        for shape in self._shapes.get(code, ()):
            _look_for(shape, text, kept)
        if code == "AR002" and not text.binary:
            kept.add_all(_hidden(text.data))
        elif code == "AR003":
            _look_into_comments(text, kept)
        elif code == "AR007":
            kept.add_all(broad_tools(text.path, text.data, self._settings.allowed_tools))
        elif code == "AR008" and self._settings.allowed_hosts is not None:
            kept.add_all(foreign_hosts(text.haystack, self._settings.allowed_hosts))


class Text:
    """A file's bytes as patterns look at them, in lower case for a first look, and its lines."""

    def __init__(self, path: str, data: bytes, *, binary: bool = False) -> None:
        self.path = path
        self.data = data
        self.binary = binary
        self.haystack = Haystack(data)
        self._lowered = data.lower()

    @cached_property
    def _line_ends(self) -> array[int]:
        return array("L", (found.start() for found in re.finditer(rb"\n", self.data)))

    def line(self, offset: int) -> int:
        """The number of the line that an offset is in."""
        return bisect_left(self._line_ends, offset) + 1

    def may_hold(self, words: tuple[str, ...]) -> bool:
        return not words or any(word.encode() in self._lowered for word in words)

    def at(self, span: Span) -> str:
        return self.data[span[0] : span[1]].decode(errors="replace")


class Kept:
    """What one rule found in a file: the first of each line, and of one line more than is listed."""

    def __init__(self, text: Text) -> None:
        self._text = text
        self.found: dict[int, str] = {}

    @property
    def is_full(self) -> bool:
        return len(self.found) > LISTED

    def wants(self, offset: int) -> bool:
        """Whether the line of an offset has nothing yet; then it is worth to look closer."""
        return self._text.line(offset) not in self.found

    def add(self, offset: int, message: str) -> None:
        self.found.setdefault(self._text.line(offset), message)

    def add_all(self, found: Iterable[tuple[int, str]]) -> None:
        for offset, message in found:
            self.add(offset, message)
            if self.is_full:
                return


def _readings(data: bytes) -> Iterator[bytes]:
    """The bytes as patterns read them: every way in which somebody may read them hides nothing in the others.

    A NUL ends a word for some (not for RE2), for others it is not there: bash leaves it out of a script, and a model
    looks through it. UTF-16 may be marked as such or not.
    """
    yield data.replace(b"\0", b" ")
    if b"\0" in data:
        yield data.replace(b"\0", b"")
    for encoding in _wide_encodings(data):
        text = data.decode(encoding, errors="replace").encode("utf-8", "replace")
        yield text.replace(b"\0", b"")


def _wide_encodings(data: bytes) -> tuple[str, ...]:
    """The kinds of UTF-16 that the bytes may be: as they are marked, else as NULs stand beside ASCII."""
    if data.startswith(_UTF_16):
        return ("utf-16",)
    even, odd = data[::2].count(0), data[1::2].count(0)
    if min(even, odd) * 4 > max(even, odd) or max(even, odd) * _RARE_ASCII < len(data):
        return ()
    return ("utf-16-be",) if even > odd else ("utf-16-le",)


@cache
def _compiled(regex: str) -> Pattern:
    return compile_pattern(regex)


def _look_for(shape: Shape, text: Text, kept: Kept) -> None:
    if not text.may_hold(shape.words):
        return
    for span in _compiled(shape.regex).finditer(text.haystack):
        if kept.is_full:
            return
        start = span[0] + _blanks(text.data, span)
        if kept.wants(start) and shape.accepts(matched := text.at(span)):
            kept.add(start, f"{shape.what}: {MASK if shape.hides else quoted(matched)}")


def _blanks(data: bytes, span: Span) -> int:
    """How many blanks and line ends a match begins with."""
    matched = data[span[0] : span[1]]
    return len(matched) - len(matched.lstrip())


def quoted(text: str) -> str:
    """What a finding shows of a match: one line, at most 100 characters, credentials masked."""
    line = " ".join(masked(text[:_LOOKED_AT]).split())
    return line if len(line) <= _QUOTED else f"{line[:_QUOTED]}..."


def _look_into_comments(text: Text, kept: Kept) -> None:
    if not text.may_hold(("<!--",)):
        return
    for span in _compiled(COMMENT).finditer(text.haystack):
        if kept.is_full:
            return
        comment = text.data[span[0] : span[1]]
        if kept.wants(span[0]) and _compiled(IN_COMMENT).search(comment):
            kept.add(span[0], f"an HTML comment with instructions: {quoted(text.at(span))}")


def _hidden(data: bytes) -> Iterator[tuple[int, str]]:
    """Every line with characters nobody sees, and which those are."""
    if data.isascii():
        return
    place = 0
    for line in data.split(b"\n"):
        text = line.decode(errors="surrogateescape")
        kinds = dict.fromkeys(found[0] for found in _HIDDEN.finditer(text) if _is_hidden(text, found, first=place == 0))
        if kinds:
            named = ", ".join(f"\\u{{{ord(char):X}}} ({_name(char)})" for char in list(kinds)[:3])
            yield place, f"hidden characters: {named}{', ...' if len(kinds) > 3 else ''}"
        place += len(line) + 1


def _is_hidden(text: str, found: re.Match[str], *, first: bool) -> bool:
    """All but a mark at the very beginning, and what belongs to the visible characters around it."""
    start, end = found.span()
    char, before, after = found[0], text[max(0, start - 1) : start], text[end : end + 1]
    if first and start == 0 and char == "\ufeff":
        return False
    if char in _BETWEEN:
        return not ((_joins(before) or (before != "" and before in _STYLES)) and _joins(after))
    if _BEHIND.match(char) is not None:
        return not (_joins(before) or (char in _STYLES and before != "" and before in _STYLED))
    return True


def _joins(char: str) -> bool:
    return not char.isascii() and _HIDDEN.match(char) is None


def _name(char: str) -> str:
    return unicodedata.name(char, "unassigned").lower()
