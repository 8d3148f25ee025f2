"""One pass over the files of a run: each is read once and searched once for all that applies to it (issue 4 item 7).

Verifiers ask ``Search`` questions; ``scan`` answers all of them. An answer depends on the files and its own question
only: neither on the order of files nor on what else is asked.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from heapq import merge
from typing import Final, Literal, TypeVar

from pytest_reqfile.errors import FileError
from pytest_reqfile.syntax.patterns import Haystack
from pytest_reqfile.verifiers.diffs import Lines, covers
from pytest_reqfile.verifiers.masking import excerpt
from pytest_reqfile.verifiers.pattern_sets import Patterns, PatternSet
from pytest_reqfile.verifiers.selection import FileClass, FileClasses, Selection
from pytest_reqfile.workspace.paths import byte_order

SkipReason = Literal["binary", "large"]
Read = Callable[[str], tuple[bytes, bool]]
AddedLines = Callable[[str], Lines | None]

Text = TypeVar("Text", bound=str)

MISSING_KEPT: Final = 64
"""How many files without a match are kept by name; all are counted."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Search:
    """A question about the text of selected files.

    ``locate`` asks where the pattern matches, else which files lack it. ``raw`` texts are bytes as they are, of a file
    beyond the limit its beginning; other texts have LF line ends, and larger files are skipped. ``added_only`` counts
    only matches that start on an added line. ``enough`` matches (or files that lack one) end the search after the
    file that reaches them; of one file at most ``per_file`` matches are taken. ``until_match`` ends it at the first
    file with a match.
    """

    selection: Selection
    pattern: str
    locate: bool
    raw: bool = False
    added_only: bool = False
    enough: int | None = None
    per_file: int = 50
    until_match: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Hit:
    """Where a pattern matched: the line of the match's first byte, and an excerpt fit to be shown."""

    file: str
    line: int
    match: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Answer:
    """What a search found, files in byte order.

    ``examined`` counts the selected files, ``checked`` those searched to their end or found to match. ``missing`` names
    the first files without a match, ``missing_count`` counts all. ``skipped`` and ``unreadable`` (messages by file)
    hold what could not be searched before the search had enough.
    """

    examined: int
    checked: int
    matched: bool
    hits: tuple[Hit, ...]
    missing: tuple[str, ...]
    missing_count: int
    skipped: tuple[tuple[str, SkipReason], ...]
    unreadable: tuple[tuple[str, str], ...]


def scan(
    searches: Iterable[Search], classes: FileClasses, read: Read, patterns: Patterns, added: AddedLines
) -> dict[Search, Answer]:
    """The answer of every search. ``read`` gives the beginning of a file and whether there is more of it."""
    tallies = {search: _Tally(search, patterns) for search in searches}
    plans = _plans(tallies.values(), classes, patterns)
    for path, plan in _in_order(plans):
        if plan.is_decided():
            continue
        try:
            data, more = read(path)
        except FileError as error:
            plan.unreadable.append((path, str(error)))
            continue
        plan.look_at(path, data, more, added)
    unsearched = _Unsearched(classes, plans)
    return {search: tally.answer(unsearched) for search, tally in tallies.items()}


def _plans(tallies: Iterable[_Tally], classes: FileClasses, patterns: Patterns) -> list[_ClassPlan]:
    by_selection: dict[int, list[_Tally]] = {}
    for tally in tallies:
        by_selection.setdefault(classes.index(tally.search.selection), []).append(tally)
    plans = []
    for found in classes.classes:
        asked = [tally for number in sorted(found.selections) for tally in by_selection.get(number, ())]
        if asked:
            plans.append(_ClassPlan(found, asked, patterns))
    return plans


def _in_order(plans: Sequence[_ClassPlan]) -> Iterator[tuple[str, _ClassPlan]]:
    if len(plans) == 1:
        return ((path, plans[0]) for path in plans[0].files.paths)
    return _merged(plans)


def _merged(plans: Sequence[_ClassPlan]) -> Iterator[tuple[str, _ClassPlan]]:
    listed = [(byte_order(path), number, path) for number, plan in enumerate(plans) for path in plan.files.paths]
    listed.sort()
    return ((path, plans[number]) for _, number, path in listed)


class _Tally:
    """The answer of one search as it grows."""

    __slots__ = (
        "_patterns",
        "done",
        "hits",
        "large_matched",
        "matched",
        "missing",
        "missing_count",
        "search",
        "stopped_at",
    )

    def __init__(self, search: Search, patterns: Patterns) -> None:
        self.search = search
        self._patterns = patterns
        patterns.want(search.pattern)
        self.hits: list[Hit] = []
        self.missing: list[str] = []
        self.missing_count = 0
        self.matched = False
        self.large_matched: set[str] = set()
        self.done = False
        self.stopped_at: str | None = None

    def found_in(self, path: str, haystack: Haystack, lines: Lines | None, *, more: bool) -> None:
        """The pattern is somewhere in the file; ``lines`` are the lines that count."""
        search = self.search
        if lines == ():
            return
        if not search.locate and lines is None:
            self._note_match(path, more)
            return
        room = 1 if not search.locate else search.per_file
        if search.raw and search.enough is not None:
            room = min(room, search.enough - len(self.hits))
        hits = list(_hits(search.pattern, path, haystack, self._patterns, lines, room))
        if search.locate:
            self.hits.extend(hits)
            self.matched |= bool(hits)
            self._stop_if_enough(path, len(self.hits))
        elif hits:
            self._note_match(path, more)
        elif not more:
            self.lacks(path, lines)

    def lacks(self, path: str, lines: Lines | None) -> None:
        """The pattern is nowhere on the lines that count."""
        if lines == ():
            return
        self.missing_count += 1
        if len(self.missing) < MISSING_KEPT:
            self.missing.append(path)
        self._stop_if_enough(path, self.missing_count)

    def _note_match(self, path: str, more: bool) -> None:
        self.matched = True
        if more:
            self.large_matched.add(path)
        if self.search.until_match:
            self._stop(path)

    def _stop_if_enough(self, path: str, count: int) -> None:
        if self.search.enough is not None and count >= self.search.enough:
            self._stop(path)

    def _stop(self, path: str) -> None:
        self.done, self.stopped_at = True, path
        self._patterns.release(self.search.pattern)

    def answer(self, unsearched: _Unsearched) -> Answer:
        selection = self.search.selection
        skipped, unreadable = unsearched.skipped(selection), unsearched.unreadable(selection)
        if self.stopped_at is not None or self.large_matched:
            skipped = tuple(
                entry for entry in skipped if self._reached(entry[0]) and entry[0] not in self.large_matched
            )
            unreadable = tuple(entry for entry in unreadable if self._reached(entry[0]))
        return Answer(
            examined=unsearched.examined(selection),
            checked=unsearched.checked(selection) + len(self.large_matched),
            matched=self.matched,
            hits=tuple(self.hits),
            missing=tuple(self.missing),
            missing_count=self.missing_count,
            skipped=skipped,
            unreadable=unreadable,
        )

    def _reached(self, path: str) -> bool:
        return self.stopped_at is None or byte_order(path) <= byte_order(self.stopped_at)


class _Unsearched:
    """What was searched of each selection and what could not be: the same for all searches of a selection."""

    def __init__(self, classes: FileClasses, plans: Sequence[_ClassPlan]) -> None:
        self._classes = classes
        self._plans = plans
        self._skipped: dict[Selection, tuple[tuple[str, SkipReason], ...]] = {}
        self._unreadable: dict[Selection, tuple[tuple[str, str], ...]] = {}

    def examined(self, selection: Selection) -> int:
        return self._classes.count(selection)

    def checked(self, selection: Selection) -> int:
        return sum(plan.checked for plan in self._of(selection))

    def skipped(self, selection: Selection) -> tuple[tuple[str, SkipReason], ...]:
        if selection not in self._skipped:
            self._skipped[selection] = tuple(_by_path(plan.skipped for plan in self._of(selection)))
        return self._skipped[selection]

    def unreadable(self, selection: Selection) -> tuple[tuple[str, str], ...]:
        if selection not in self._unreadable:
            self._unreadable[selection] = tuple(_by_path(plan.unreadable for plan in self._of(selection)))
        return self._unreadable[selection]

    def _of(self, selection: Selection) -> list[_ClassPlan]:
        number = self._classes.index(selection)
        return [plan for plan in self._plans if number in plan.files.selections]


def _by_path(parts: Iterable[list[tuple[str, Text]]]) -> Iterator[tuple[str, Text]]:
    return merge(*parts, key=lambda entry: byte_order(entry[0]))


def _hits(
    pattern: str, path: str, haystack: Haystack, patterns: Patterns, lines: Lines | None, room: int
) -> Iterator[Hit]:
    """The first ``room`` matches that start on a line that counts."""
    data = haystack.data
    line, at = 1, 0
    for start, end in patterns.compiled(pattern).finditer(haystack):
        if room <= 0:
            return
        line += data.count(b"\n", at, start)
        at = start
        if covers(lines, line):
            room -= 1
            yield Hit(file=path, line=line, match=excerpt(data[start:end].decode("utf-8", "replace")))


class _TextPlan:
    """The searches of a class that look at the same form of a text."""

    __slots__ = ("by_number", "lacking", "set")

    def __init__(self, tallies: Sequence[_Tally], patterns: Patterns) -> None:
        texts = tuple(dict.fromkeys(tally.search.pattern for tally in tallies))
        numbers = {text: number for number, text in enumerate(texts)}
        self.set: PatternSet = patterns.set_of(texts)
        self.by_number: list[list[_Tally]] = [[] for _ in texts]
        for tally in tallies:
            self.by_number[numbers[tally.search.pattern]].append(tally)
        # Only a search that does not locate has to be told of files without a match.
        self.lacking = [(tally, numbers[tally.search.pattern]) for tally in tallies if not tally.search.locate]


class _ClassPlan:
    """What is searched in the files of one class, and what could not be searched there."""

    def __init__(self, files: FileClass, tallies: list[_Tally], patterns: Patterns) -> None:
        self.files = files
        self.checked = 0
        self.skipped: list[tuple[str, SkipReason]] = []
        self.unreadable: list[tuple[str, str]] = []
        self._tallies = tallies
        self._patterns = patterns
        self._decided = 0
        self._plans: dict[str, _TextPlan] = {}
        self._raw = [tally for tally in tallies if tally.search.raw]
        self._normal = [tally for tally in tallies if not tally.search.raw]

    def is_decided(self) -> bool:
        """Whether no search wants to know more."""
        while self._decided < len(self._tallies) and self._tallies[self._decided].done:
            self._decided += 1
        return self._decided == len(self._tallies)

    def look_at(self, path: str, data: bytes, more: bool, added: AddedLines) -> None:
        if b"\0" in data:
            self.skipped.append((path, "binary"))
            return
        if more:
            self.skipped.append((path, "large"))
            self._search("raw", self._raw, path, data, added, more=True)
            return
        self.checked += 1
        if self._normal and b"\r" in data and b"\r\n" in data:
            self._search("raw", self._raw, path, data, added, more=False)
            self._search("normal", self._normal, path, data.replace(b"\r\n", b"\n"), added, more=False)
        else:
            self._search("all", self._tallies, path, data, added, more=False)

    def _search(
        self, form: str, tallies: list[_Tally], path: str, data: bytes, added: AddedLines, *, more: bool
    ) -> None:
        if not tallies:
            return
        plan = self._plans.get(form)
        if plan is None:
            plan = self._plans[form] = _TextPlan(tallies, self._patterns)
        haystack = Haystack(data)
        found = plan.set.matching(haystack)
        for number in found:
            for tally in plan.by_number[number]:
                if not tally.done:
                    lines = added(path) if tally.search.added_only else None
                    tally.found_in(path, haystack, lines, more=more)
        if plan.lacking and not more:
            without = set(range(len(plan.by_number))).difference(found)
            for tally, number in plan.lacking:
                if number in without and not tally.done:
                    tally.lacks(path, added(path) if tally.search.added_only else None)
