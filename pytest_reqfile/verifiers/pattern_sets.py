"""Which of many patterns a text contains, in few passes over it (performance.md 2; issue 4 item 7).

Patterns are searched in automata of many. A pattern whose states multiply those of the others ("poison": a wide class
with a counted repetition) makes its automaton slow, not wrong; what turns out slow is taken apart on the text it was
slow on. Clocks decide how patterns are grouped, never what is found.
"""

from __future__ import annotations

from collections import Counter, deque
from collections.abc import Callable, Iterable, Sequence
from typing import Final

from pytest_reqfile.syntax.patterns import Haystack, Pattern, compile_pattern
from pytest_reqfile.syntax.re2_library import load_re2, re2_options
from pytest_reqfile.verifiers.literals import required_literal

SET_SIZE: Final = 1000
FEW: Final = 3
"""So few patterns are searched one by one: RE2 leaps to literals then, which it cannot do for many."""
_SET_MEMORY: Final = 16 << 20
_SLOW: Final = 1 / 20e6
"""Seconds per byte that no group of ordinary patterns needs, not even before its automaton is warm."""
_PATIENCE: Final = 0.005
_WINDOW: Final = 256 * 1024
_SAMPLE_FILES: Final = 8
_SAMPLE_BYTES: Final = 8192
_SLICE: Final = 4096
_ENOUGH: Final = 0.003

Now = Callable[[], float]
Match = Callable[[bytes], "list[int] | None"]


class Patterns:
    """All patterns of a run, compiled where first needed, and what was learnt about their speed."""

    def __init__(self, now: Now) -> None:
        self.now = now
        self.poison: set[str] = set()
        self.parts: dict[str, int] = {}
        self.decided: set[str] = set()
        self._compiled: dict[str, Pattern] = {}
        self._literals: dict[str, bytes] = {}
        self._sets: dict[tuple[str, ...], PatternSet] = {}
        self._wanted: Counter[str] = Counter()

    def want(self, text: str) -> None:
        """One more search waits for matches of ``text``."""
        self._wanted[text] += 1

    def release(self, text: str) -> None:
        """One search has seen enough; when all have, ``text`` need not be looked for any more."""
        self._wanted[text] -= 1
        if self._wanted[text] == 0:
            self.decided.add(text)

    def compiled(self, text: str) -> Pattern:
        found = self._compiled.get(text)
        if found is None:
            found = self._compiled[text] = compile_pattern(text)
        return found

    def literal(self, text: str) -> bytes:
        """What every match of ``text`` contains, as far as that is known."""
        found = self._literals.get(text)
        if found is None:
            found = self._literals[text] = required_literal(text)
        return found

    def set_of(self, texts: tuple[str, ...]) -> PatternSet:
        """The set that searches ``texts``; the same patterns are always one set."""
        found = self._sets.get(texts)
        if found is None:
            found = self._sets[texts] = PatternSet(texts, self)
        return found


class _Group:
    """Patterns that are searched together: ``numbers`` are their places in the set."""

    __slots__ = ("looked", "match", "numbers", "seconds")

    def __init__(self, numbers: Sequence[int], match: Match) -> None:
        self.numbers = tuple(numbers)
        self.match = match
        self.looked = 0
        self.seconds = 0.0

    def is_slow(self, size: int, seconds: float) -> bool:
        """Take note of one search, and say whether the group has become too slow."""
        if self.looked > _WINDOW:
            self.looked, self.seconds = 0, 0.0
        self.looked += size
        self.seconds += seconds
        return self.seconds > _PATIENCE + self.looked * _SLOW


class PatternSet:
    """Answers which of its patterns a text contains."""

    def __init__(self, texts: tuple[str, ...], patterns: Patterns) -> None:
        self.texts = texts
        self._patterns = patterns
        # RE2 finds `\B` inside a character of several bytes, Go does not: such a hit has to be looked at again.
        self._doubtful = frozenset(number for number, text in enumerate(texts) if r"\B" in text)
        self._recent: deque[bytes] = deque(maxlen=_SAMPLE_FILES)
        self._singles: list[int] = []
        self._groups: list[_Group] = []
        self._decided = 0
        self._arrange()

    def matching(self, haystack: Haystack) -> list[int]:
        """The numbers of the patterns that ``haystack`` contains, in no order; decided ones may be missing."""
        if self._decided != len(self._patterns.decided):
            self._drop_decided()
        text = haystack.readable
        found = [number for number in self._singles if self._contains(number, haystack)]
        if not self._groups:
            return found
        now = self._patterns.now
        slow = False
        for group in self._groups:
            started = now()
            hits = group.match(text)
            slow |= group.is_slow(len(text), now() - started)
            if hits:
                found.extend(map(group.numbers.__getitem__, hits))
        self._recent.append(text[:_SAMPLE_BYTES])
        if slow:
            self._take_apart()
        if self._doubtful and not text.isascii():
            return [number for number in found if number not in self._doubtful or self._contains(number, haystack)]
        return found

    def _contains(self, number: int, haystack: Haystack) -> bool:
        text = self.texts[number]
        if self._patterns.literal(text) not in haystack.readable:
            return False
        return self._patterns.compiled(text).search(haystack) is not None

    def _drop_decided(self) -> None:
        """Stop looking for single patterns at once; rebuild automata when a good part of one has become useless."""
        decided = self._patterns.decided
        self._decided = len(decided)
        self._singles = [number for number in self._singles if self.texts[number] not in decided]
        for group in self._groups:
            useless = sum(self.texts[number] in decided for number in group.numbers)
            if useless * 4 >= len(group.numbers):
                self._arrange()
                return

    def _arrange(self) -> None:
        """Group the patterns by what is known of them."""
        poison, parts, decided = self._patterns.poison, self._patterns.parts, self._patterns.decided
        by_part: dict[int, list[int]] = {}
        singles: list[int] = []
        for number, text in enumerate(self.texts):
            if text in decided:
                continue
            if text in poison:
                singles.append(number)
            else:
                by_part.setdefault(parts.get(text, 0), []).append(number)
        groups: list[_Group] = []
        for numbers in by_part.values():
            for start in range(0, len(numbers), SET_SIZE):
                self._add(numbers[start : start + SET_SIZE], groups, singles)
        self._groups, self._singles = groups, singles

    def _add(self, numbers: list[int], groups: list[_Group], singles: list[int]) -> None:
        if len(numbers) <= FEW:
            singles.extend(numbers)
            return
        match = _automaton([self.texts[number] for number in numbers])
        if match is not None:
            groups.append(_Group(numbers, match))
            return
        middle = len(numbers) // 2
        self._add(numbers[:middle], groups, singles)
        self._add(numbers[middle:], groups, singles)

    def _take_apart(self) -> None:
        """Find what made a group slow, on the text it was slow on, and arrange the patterns anew."""
        sample = b"\n".join(self._recent)
        slow = [group for group in self._groups if group.seconds > _PATIENCE + group.looked * _SLOW]
        if not sample.strip() or (len(sample) < 2 * _SLICE and all(g.seconds < _PATIENCE * 50 for g in slow)):
            return  # too little text to judge by yet
        separator = _Separator(sample, self._patterns.now)
        for group in slow:
            parts, poison = separator.separate([self.texts[number] for number in group.numbers])
            self._patterns.poison.update(poison)
            for part in parts[1:]:
                number = len(self._patterns.parts) + 1
                self._patterns.parts.update((text, number) for text in part)
            group.looked, group.seconds = 0, 0.0
        self._arrange()


class _Separator:
    """Splits patterns into groups that are fast on a sample, and patterns that are slow even alone."""

    def __init__(self, sample: bytes, now: Now) -> None:
        self._slices = [sample[start : start + _SLICE] for start in range(0, len(sample), _SLICE)]
        self._now = now

    def separate(self, texts: list[str]) -> tuple[list[list[str]], list[str]]:
        """Groups to search together, and single patterns."""
        if not self._is_slow(texts):
            return [texts], []
        if len(texts) == 1:
            return [], texts
        middle = len(texts) // 2
        groups, poison = self.separate(texts[:middle])
        others, more = self.separate(texts[middle:])
        for other in others:
            self._merge(groups, other)
        return groups, poison + more

    def _merge(self, groups: list[list[str]], other: list[str]) -> None:
        """Into the last group if the two are fast together, else beside it."""
        if groups and len(groups[-1]) + len(other) <= SET_SIZE and not self._is_slow(groups[-1] + other):
            groups[-1] = groups[-1] + other
        else:
            groups.append(other)

    def _is_slow(self, texts: Iterable[str]) -> bool:
        match = _automaton(texts)
        if match is None:
            return True
        match(self._slices[0])  # the first states are made here
        seconds, looked = 0.0, 0
        for part in self._slices[1:] or self._slices:
            started = self._now()
            match(part)
            seconds += self._now() - started
            looked += len(part)
            if seconds > _ENOUGH:
                break
        return seconds > looked * _SLOW + _ENOUGH / 10


def _automaton(texts: Iterable[str]) -> Match | None:
    """One automaton for ``texts``; None where they do not fit into one."""
    library = load_re2()
    patterns = library.Set.SearchSet(re2_options(_SET_MEMORY))
    try:
        for text in texts:
            patterns.Add(text)
        patterns.Compile()
    except library.error:
        return None
    match: Match = patterns.Match
    return match
