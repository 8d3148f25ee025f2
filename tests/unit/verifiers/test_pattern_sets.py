"""Many patterns at once: slow ones are set apart, decided ones dropped, and nothing is found otherwise."""

from __future__ import annotations

from pytest_reqfile.syntax.patterns import Haystack, compile_pattern
from pytest_reqfile.verifiers.pattern_sets import Patterns
from pytest_reqfile.workspace.clock import thread_seconds

POISON = "[a-e].{18}z"
ORDINARY = tuple(f"\\bname{number}_[a-z]+\\(" for number in range(40))
TEXT = ("def name7_handler(abc): return name31_x(abcde * 2)\nthe quick brown fox jumps over a lazy dog " * 800).encode()


def _matching(patterns: Patterns, texts: tuple[str, ...], data: bytes) -> set[str]:
    found = patterns.set_of(texts)
    return {texts[number] for number in found.matching(Haystack(data))}


def _singly(texts: tuple[str, ...], data: bytes) -> set[str]:
    return {text for text in texts if compile_pattern(text).search(Haystack(data))}


def test_poison_is_set_apart() -> None:
    """On real time the poisonous pattern ends up alone, and the answer stays the same."""
    patterns = Patterns(thread_seconds)
    texts = (*ORDINARY, POISON)
    for start in range(0, 60_000, 3_000):
        data = TEXT[start : start + 20_000]
        assert _matching(patterns, texts, data) == _singly(texts, data)
    assert patterns.poison <= {POISON}


def test_everything_slow() -> None:
    """Where the clock says that everything is slow, every pattern is searched alone, and found all the same."""
    ticks = iter(range(10**6))
    patterns = Patterns(lambda: float(next(ticks)))
    for _ in range(3):
        assert _matching(patterns, ORDINARY, TEXT) == _singly(ORDINARY, TEXT) == {ORDINARY[7], ORDINARY[31]}
    assert patterns.poison == set(ORDINARY)


def test_decided_patterns_are_dropped() -> None:
    """Nobody waits for a pattern: it is looked for no more, one by one and in automata."""
    patterns = Patterns(lambda: 0.0)
    texts = ORDINARY[:8]
    for text in texts:
        patterns.want(text)
    patterns.want(texts[7])
    assert _matching(patterns, texts, TEXT) == {texts[7]}
    patterns.release(texts[7])
    assert _matching(patterns, texts, TEXT) == {texts[7]}
    patterns.release(texts[7])
    for text in texts[:2]:
        patterns.release(text)
    assert _matching(patterns, texts, TEXT) == set()


def test_pattern_that_does_not_fit_beside_others() -> None:
    """Patterns too large for one automaton are split, not lost."""
    huge = tuple(f"(?:\\pL{{400}}){number}" for number in range(6))
    texts = (*ORDINARY, *huge)
    data = TEXT[:5000] + ("é" * 400 + "3").encode()
    assert _matching(Patterns(lambda: 0.0), texts, data) == {ORDINARY[7], ORDINARY[31], huge[3]}


def test_borders_inside_characters() -> None:
    """``\\B`` is between characters, as in Go, not between their bytes."""
    texts = ("\\Bx", "\\B", "y", "z")
    data = "é".encode()
    assert _matching(Patterns(lambda: 0.0), texts, data) == _singly(texts, data)
