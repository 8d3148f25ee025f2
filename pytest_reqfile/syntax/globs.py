"""Globs of the two dialects, as RE2 patterns over repository paths.

Paths are text with undecodable bytes as lone surrogates (``os.fsdecode``). One such byte is one character: ``?``,
``*`` and ``[!x]`` match it. A newline in a file name is a character like any other.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import pairwise
from typing import TYPE_CHECKING, Final

from pytest_reqfile.errors import ReqfileError
from pytest_reqfile.syntax.globset import GlobSyntaxError, globset_regex
from pytest_reqfile.syntax.re2_library import load_re2, quote, re2_options

if TYPE_CHECKING:
    import re2

# Bounds what RE2 has to compile: with it no glob outgrows RE2's memory, so a glob that was accepted always matches.
MAX_LENGTH: Final = 4096
MAX_ALTERNATIVES: Final = 64
# More globs in one automaton than this multiply its states (performance.md 3).
SET_SIZE: Final = 100

# Undecodable bytes come from the file system as U+DC80..U+DCFF, which UTF-8 cannot hold; these can be held.
_CARRIERS: Final = {code: 0x100000 + code for code in range(0xDC80, 0xDD00)}
# What Go's strings.TrimSpace trims, which is less than str.strip.
_GO_SPACE: Final = "\t\n\v\f\r \x85\xa0\u1680\u2028\u2029\u202f\u205f\u3000" + "".join(map(chr, range(0x2000, 0x200B)))


class GlobError(ReqfileError):
    """A glob that cannot be read; the text is the reason."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Glob:
    """A glob as written and the RE2 pattern that a whole path must match."""

    text: str
    regex: str

    def matches(self, path: str) -> bool:
        """Whether ``path`` (``/``-separated, relative to where the glob stands) matches."""
        return _compiled(self.regex).fullmatch(_subject(path)) is not None


@lru_cache(maxsize=1024)
def reqfile_glob(text: str) -> Glob:
    """Rust's globset with ``literal_separator``, as Reqfile.yaml and config.yaml use it (spec/reqfile.md 2.4)."""
    if len(text) > MAX_LENGTH:
        raise GlobError(f"a glob of more than {MAX_LENGTH} characters is not read")
    try:
        return Glob(text=text, regex=f"(?s){globset_regex(_carried(text))}")
    except GlobSyntaxError as error:
        raise GlobError(f"error parsing glob '{text}': {error}") from None


def verifier_glob(text: str) -> Glob:
    """The globs of ``.ai-rulez`` verifiers (spec/verifiers.md 1.4): no classes, no escapes, braces expand."""
    if len(text) > MAX_LENGTH:
        raise GlobError(f"a glob of more than {MAX_LENGTH} characters is not read")
    pattern = _carried(text).strip(_GO_SPACE).removeprefix("./").removeprefix("/")
    if pattern.endswith("/"):
        pattern += "**"
    regexes = [_alternative_regex(alternative) for alternative in expand_braces(pattern)]
    return Glob(text=text, regex=f"(?s)(?:{'|'.join(regexes)})")


class GlobSet:
    """Many globs asked at once; equal ones cost once."""

    __slots__ = ("_places", "_sets")

    def __init__(self, globs: Iterable[Glob]) -> None:
        places: dict[str, list[int]] = {}
        for index, glob in enumerate(globs):
            places.setdefault(glob.regex, []).append(index)
        self._places = tuple(map(tuple, places.values()))
        self._sets = _sets(tuple(places), 0)

    def matches(self, path: str) -> tuple[int, ...]:
        """The indices of the globs that ``path`` matches, ascending."""
        subject = _subject(path)
        found: list[int] = []
        for first, patterns in self._sets:
            for index in patterns.Match(subject) or ():
                found.extend(self._places[first + index])
        return tuple(sorted(found))


def _sets(regexes: Sequence[str], first: int) -> list[tuple[int, re2.Set]]:
    """Automata over ``regexes``, each with the index of its first pattern; halved where one would not fit."""
    if len(regexes) > SET_SIZE:
        parts = [regexes[start : start + SET_SIZE] for start in range(0, len(regexes), SET_SIZE)]
        return [one for number, part in enumerate(parts) for one in _sets(part, first + number * SET_SIZE)]
    if not regexes:
        return []
    library = load_re2()
    patterns = library.Set.FullMatchSet(re2_options())
    try:
        for regex in regexes:
            patterns.Add(regex)
        patterns.Compile()
    except library.error:
        if len(regexes) == 1:
            raise
        middle = len(regexes) // 2
        return _sets(regexes[:middle], first) + _sets(regexes[middle:], first + middle)
    return [(first, patterns)]


@lru_cache(maxsize=512)
def _compiled(regex: str) -> re2._Regexp:
    library = load_re2()
    return library.compile(regex, re2_options())


def _carried(text: str) -> str:
    """``text`` with undecodable bytes in a form UTF-8 can hold."""
    return text if text.isascii() else text.translate(_CARRIERS)


def _subject(path: str) -> bytes:
    return _carried(path).encode()


def expand_braces(text: str) -> tuple[str, ...]:
    """All alternatives of ``{a,b}`` groups, nested ones too; an unclosed ``{`` stands for itself."""
    found: list[str] = []
    pending = [("", text)]
    while pending:
        done, rest = pending.pop()
        group = _first_group(rest)
        if group is None:
            found.append(done + rest)
        else:
            before, options, after = group
            pending.extend((done + before, option + after) for option in reversed(options))
        if len(found) + len(pending) > MAX_ALTERNATIVES:
            raise GlobError(f"brace groups expand to more than {MAX_ALTERNATIVES} alternatives")
    return tuple(found)


def _first_group(text: str) -> tuple[str, list[str], str] | None:
    """What is before, in and behind the first closed brace group; None if there is none."""
    opened: list[tuple[int, list[int]]] = []
    closed: tuple[int, list[int], int] | None = None
    for place, character in enumerate(text):
        if character == "{":
            opened.append((place, []))
        elif character == "," and opened:
            opened[-1][1].append(place)
        elif character == "}" and opened:
            start, commas = opened.pop()
            if closed is None or start < closed[0]:
                closed = (start, commas, place)
            if not opened:
                break
    if closed is None:
        return None
    start, commas, end = closed
    cuts = [start, *commas, end]
    options = [text[left + 1 : right] for left, right in pairwise(cuts)]
    return text[:start], options, text[end + 1 :]


def _alternative_regex(text: str) -> str:
    parts = [] if "/" in text else ["(?:.*/)?"]
    place = 0
    while place < len(text):
        for token, regex in (("**/", "(?:.*/)?"), ("**", ".*"), ("*", "[^/]*"), ("?", "[^/]")):
            if text.startswith(token, place):
                parts.append(regex)
                place += len(token)
                break
        else:
            parts.append(quote(text[place]))
            place += 1
    return "".join(parts)
