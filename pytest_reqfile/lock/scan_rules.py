"""The rules AR001 to AR009 over one file (spec/airulez-project.md 7)."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import cache
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
_SCRIPTS: Final = (".sh", ".bash", ".zsh", ".py", ".js", ".mjs", ".cjs", ".ts", ".html", ".svg", ".xml", ".csv")
_TEXTS: Final = (*TEXT_EXTENSIONS, *_SCRIPTS)
# Unicode's Bidi_Control, what has no width, and the tags: all that text can be hidden or reordered with.
_HIDDEN: Final = re.compile(
    "[\u061c\u180e\u200b-\u200f\u202a-\u202e\u2060-\u2064\u2066-\u206f\ufeff\U000e0000-\U000e007f]"
)
_JOINERS: Final = "\u200c\u200d"


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


Found = tuple[ScanCode, int, str]
"""A code, where it is in the bytes, and the message."""


class RuleSet:
    """The rules that are on, as the settings have them."""

    def __init__(self, settings: ScanSettings) -> None:
        self._settings = settings
        secrets = (*SECRETS, *map(configured_secret, settings.secret_patterns))
        every = (*secrets, *PHRASES, *EXECUTED, *ACCESS, *BLOBS)
        self._shapes = tuple(shape for shape in every if settings.levels[shape.code] != "off")

    def scan(self, path: str, data: bytes) -> FileScan:
        """Everything of note in the file ``path``, in line order, each rule once a line."""
        data = _as_utf8(data)
        binary = b"\0" in data and not path.lower().endswith(_TEXTS)
        found: list[Found] = []
        cut = False
        for group in self._groups(path, data, binary=binary):
            kept = _first_of_lines(group, data)
            cut |= len(kept) > LISTED
            found += kept[:LISTED]
        matches = [self._match(one, data) for one in found]
        matches.sort(key=lambda match: (match.line, match.code))
        return FileScan(matches=tuple(matches), cut=cut, binary=binary)

    def _groups(self, path: str, data: bytes, *, binary: bool) -> Iterator[Iterable[Found]]:
        """What each rule that is on finds."""
        text = Text(data)
        by_code: dict[ScanCode, list[Shape]] = {}
        for shape in self._shapes:
            by_code.setdefault(shape.code, []).append(shape)
        for shapes in by_code.values():
            yield (one for shape in shapes for one in _shaped(shape, text))
        if self._is_on("AR002") and not binary:
            yield _hidden(data)
        if self._is_on("AR003"):
            yield _comments(text)
        if self._is_on("AR007"):
            yield (("AR007", *tool) for tool in broad_tools(path, data, self._settings.allowed_tools))
        if self._is_on("AR008") and self._settings.allowed_hosts is not None:
            yield (("AR008", *host) for host in foreign_hosts(text.haystack, self._settings.allowed_hosts))

    def _is_on(self, code: ScanCode) -> bool:
        return self._settings.levels[code] != "off"

    def _match(self, found: Found, data: bytes) -> Match:
        code, offset, message = found
        level = self._settings.levels[code]
        assert level != "off"
        return Match(code=code, severity=level, line=data.count(b"\n", 0, offset) + 1, message=message)


class Text:
    """A file's bytes as patterns look at them, and in lower case for a first look."""

    def __init__(self, data: bytes) -> None:
        self.data = data
        self.haystack = Haystack(data)
        self.lowered = data.lower()

    def may_hold(self, words: tuple[str, ...]) -> bool:
        return not words or any(word.encode() in self.lowered for word in words)

    def at(self, span: Span) -> str:
        return self.data[span[0] : span[1]].decode(errors="replace")


def _as_utf8(data: bytes) -> bytes:
    """UTF-16 with its mark is text that a model may read; our patterns read UTF-8."""
    return data.decode("utf-16", errors="replace").encode() if data.startswith(_UTF_16) else data


def _first_of_lines(found: Iterable[Found], data: bytes) -> list[Found]:
    """One finding for each line, and one more than is listed where there are as many."""
    kept: dict[int, Found] = {}
    for one in found:
        start = data.rfind(b"\n", 0, one[1]) + 1
        kept.setdefault(start, one)
        if len(kept) > LISTED:
            break
    return list(kept.values())


@cache
def _compiled(regex: str) -> Pattern:
    return compile_pattern(regex)


def _shaped(shape: Shape, text: Text) -> Iterator[Found]:
    if not text.may_hold(shape.words):
        return
    for span in _compiled(shape.regex).finditer(text.haystack):
        matched = text.at(span)
        if shape.accepts(matched):
            start = span[0] + len(matched.encode()) - len(matched.lstrip().encode())
            yield shape.code, start, f"{shape.what}: {MASK if shape.hides else quoted(matched)}"


def quoted(text: str) -> str:
    """What a finding shows of a match: one line, at most 100 characters, credentials masked."""
    line = " ".join(masked(text[:_LOOKED_AT]).split())
    return line if len(line) <= _QUOTED else f"{line[:_QUOTED]}..."


def _comments(text: Text) -> Iterator[Found]:
    if not text.may_hold(("<!--",)):
        return
    for span in _compiled(COMMENT).finditer(text.haystack):
        comment = text.data[span[0] : span[1]]
        if any(_compiled(order).search(comment) for order in IN_COMMENT):
            yield "AR003", span[0], f"an HTML comment with instructions: {quoted(text.at(span))}"


def _hidden(data: bytes) -> Iterator[Found]:
    """Every line with characters nobody sees, and which those are."""
    if data.isascii():
        return
    place = 0
    for line in data.split(b"\n"):
        text = line.decode(errors="surrogateescape")
        kinds = dict.fromkeys(found[0] for found in _HIDDEN.finditer(text) if _is_hidden(text, found, first=place == 0))
        if kinds:
            named = ", ".join(f"\\u{{{ord(char):X}}} ({_name(char)})" for char in list(kinds)[:3])
            yield "AR002", place, f"hidden characters: {named}{', ...' if len(kinds) > 3 else ''}"
        place += len(line) + 1


def _is_hidden(text: str, found: re.Match[str], *, first: bool) -> bool:
    """All but a mark at the very beginning, and a joiner between two visible characters of a script that has them."""
    start, end = found.span()
    if first and start == 0 and found[0] == "\ufeff":
        return False
    if found[0] not in _JOINERS or start == 0 or end == len(text):
        return True
    return not (_joins(text[start - 1]) and _joins(text[end]))


def _joins(char: str) -> bool:
    return not char.isascii() and _HIDDEN.match(char) is None


def _name(char: str) -> str:
    return unicodedata.name(char, "unassigned").lower()
