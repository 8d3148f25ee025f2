"""Metamorphic: a result depends on the files and its own verifier only (issue 4 "Proof")."""

from __future__ import annotations

import itertools
import random
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from pytest_reqfile.syntax.globs import verifier_glob
from pytest_reqfile.syntax.patterns import Haystack, compile_pattern
from pytest_reqfile.verifiers.pattern_sets import Patterns
from pytest_reqfile.verifiers.results import Result
from pytest_reqfile.verifiers.run import name_of
from pytest_reqfile.verifiers.scan import Answer, Search, SkipReason, scan
from pytest_reqfile.verifiers.selection import FileClasses, Selection, Source
from tests.support.verifiers import Workbench, flat, head, member, predicate

GLOBS = ("*", "*.py", "*.txt", "src/**", "src/*.py", "{a,b}*.txt", "docs/", "*.bin", "*.zig")
PATTERNS = (
    "XXX",
    "(?m)^import ",
    "(?m)^end$",
    "[a-e].{18}z",
    "x*",
    "\\bTODO\\b",
    "(?s)a.*b",
    "é",
    "\\B",
    "q{3}",
    "(?i)xxx|todo",
    "\\r\\n",
    "zzzz",
)
LINES = ("import os", "XXX", "end", "todo TODO", "a", "b", "é" * 3, "abcdefghijklmnopqrstuvwxyz", "", "qqq")


def _never() -> float:
    """A clock on which everything is instantaneous."""
    return 0.0


def _always_slow() -> Callable[[], float]:
    """A clock on which every search is slow, so that all patterns are taken apart."""
    return itertools.count(0.0).__next__


def _erratic(seed: int) -> Callable[[], float]:
    return random.Random(seed).random


@st.composite
def _trees(draw: st.DrawFn) -> dict[str, bytes]:
    names = draw(
        st.lists(
            st.sampled_from(
                [
                    f"{folder}{stem}{ext}"
                    for folder in ("", "src/", "src/x/", "docs/")
                    for stem in "abc"
                    for ext in (".py", ".txt", ".bin")
                ]
            ),
            min_size=1,
            max_size=14,
            unique=True,
        )
    )
    ends = st.sampled_from([b"\n", b"\r\n"])
    return {
        name: draw(ends).join(line.encode() for line in draw(st.lists(st.sampled_from(LINES), max_size=12)))
        + draw(st.sampled_from([b"", b"\n", b"\0", b"\xff"]))
        for name in names
    }


@st.composite
def _searches(draw: st.DrawFn) -> Search:
    sources: tuple[Source, ...] = ("walk", "repository", "changed")
    selection = Selection(
        source=draw(st.sampled_from(sources)),
        include=tuple(verifier_glob(glob) for glob in draw(st.lists(st.sampled_from(GLOBS), min_size=1, max_size=2))),
        exclude=tuple(verifier_glob(glob) for glob in draw(st.lists(st.sampled_from(GLOBS[1:]), max_size=1))),
    )
    return Search(
        selection=selection,
        pattern=draw(st.sampled_from(PATTERNS)),
        locate=draw(st.booleans()),
        raw=draw(st.booleans()),
        added_only=draw(st.booleans()),
        enough=draw(st.sampled_from([None, 1, 3])),
        per_file=draw(st.sampled_from([2, 50])),
        until_match=draw(st.booleans()),
    )


LIMIT = 60


def _scan(searches: list[Search], tree: dict[str, bytes], now: Callable[[], float]) -> dict[Search, Answer]:
    paths = tuple(sorted(tree))
    listings: dict[Source, tuple[str, ...]] = {"walk": paths, "repository": paths[::2], "changed": paths[1::3]}
    classes = FileClasses([search.selection for search in searches], listings)
    added = {path: (((2, 3),) if index % 2 else ()) for index, path in enumerate(paths)}
    return scan(
        searches, classes, lambda path: (tree[path][:LIMIT], len(tree[path]) > LIMIT), Patterns(now), added.__getitem__
    )


def _comparable(search: Search, answer: Answer) -> Answer:
    """How far others were searched after this search had enough is no part of its answer."""
    decided = (search.enough is not None and max(len(answer.hits), answer.missing_count) >= search.enough) or (
        search.until_match and answer.matched
    )
    return replace(answer, checked=0) if decided else answer


@settings(max_examples=150, deadline=None)
@given(searches=st.lists(_searches(), min_size=1, max_size=12, unique=True), tree=_trees(), seed=st.integers(0, 99))
def test_answers_do_not_depend_on_company(searches: list[Search], tree: dict[str, bytes], seed: int) -> None:
    """Asked alone, together, in another order, and on clocks that group patterns differently: the same answers."""
    together = _scan(searches, tree, _never)
    shuffled = random.Random(seed).sample(searches, len(searches))
    for other in (_scan(shuffled, tree, _always_slow()), _scan(searches, tree, _erratic(seed))):
        for search in searches:
            assert _comparable(search, other[search]) == _comparable(search, together[search])
    for search in searches:
        alone = _scan([search], tree, _never)[search]
        assert _comparable(search, alone) == _comparable(search, together[search])


@settings(max_examples=150, deadline=None)
@given(search=_searches(), tree=_trees())
def test_answers_against_the_plain_way(search: Search, tree: dict[str, bytes]) -> None:
    """Every file in order, every line looked at, one pattern: what the engine must agree with."""
    assert _comparable(search, _scan([search], tree, _never)[search]) == _comparable(search, _plainly(search, tree))


def _chosen(search: Search, paths: tuple[str, ...]) -> list[str]:
    selection = search.selection
    listed = {"walk": paths, "repository": paths[::2], "changed": paths[1::3]}[selection.source]
    included = [path for path in listed if any(glob.matches(path) for glob in selection.include)]
    return [path for path in included if not any(glob.matches(path) for glob in selection.exclude)]


class _Plain:
    """One search, the slow way."""

    def __init__(self, search: Search) -> None:
        self.search = search
        self.hits: list[tuple[str, int]] = []
        self.missing: list[str] = []
        self.skipped: list[tuple[str, SkipReason]] = []
        self.checked = 0
        self.matched = False

    def look(self, path: str, data: bytes, more: bool, wanted: tuple[tuple[int, int], ...]) -> None:
        if b"\0" in data:
            self.skipped.append((path, "binary"))
        elif more and not self.search.raw:
            self.skipped.append((path, "large"))
        else:
            self._judge(path, self._lines(data, wanted), more, self.search.added_only and not wanted)

    def _lines(self, data: bytes, wanted: tuple[tuple[int, int], ...]) -> list[int]:
        text = data if self.search.raw else data.replace(b"\r\n", b"\n")
        spans = compile_pattern(self.search.pattern).finditer(Haystack(text))
        lines = [text.count(b"\n", 0, start) + 1 for start, _ in spans]
        return [line for line in lines if not self.search.added_only or any(a <= line <= b for a, b in wanted)]

    def _judge(self, path: str, lines: list[int], more: bool, ignored: bool) -> None:
        if more and (self.search.locate or not lines):
            self.skipped.append((path, "large"))
        else:
            self.checked += 1
        self.matched |= bool(lines)
        if self.search.locate:
            self.hits += [(path, line) for line in lines[: self._room()]]
        elif not lines and not more and not ignored:
            self.missing.append(path)

    def _room(self) -> int:
        if self.search.raw and self.search.enough is not None:
            return min(self.search.per_file, self.search.enough - len(self.hits))
        return self.search.per_file

    @property
    def has_enough(self) -> bool:
        search = self.search
        if search.until_match and not search.locate and self.matched:
            return True
        return search.enough is not None and max(len(self.hits), len(self.missing)) >= search.enough


def _plainly(search: Search, tree: dict[str, bytes]) -> Answer:
    paths = tuple(sorted(tree))
    plain = _Plain(search)
    chosen = _chosen(search, paths)
    for path in chosen:
        plain.look(path, tree[path][:LIMIT], len(tree[path]) > LIMIT, ((2, 3),) if paths.index(path) % 2 else ())
        if plain.has_enough:
            break
    answer = _scan([search], tree, _never)[search]
    assert [(hit.file, hit.line) for hit in answer.hits] == plain.hits
    return Answer(
        examined=len(chosen),
        checked=plain.checked,
        matched=plain.matched,
        hits=answer.hits,
        missing=tuple(plain.missing),
        missing_count=len(plain.missing),
        skipped=tuple(plain.skipped),
        unreadable=(),
    )


CONFIG = (
    flat("f1", "forbid", glob="*.txt", pattern="XXX")
    + flat("f2", "regex", glob="*.py", pattern="(?m)^import ")
    + flat("f3", "glob_count", glob="src/", max=3)
    + flat("f4", "forbid", glob="*", pattern="(?i)todo", exclude=["docs/", ".ai-rulez/"])
    + flat("f5", "key_equals", path="p.json", key="a", equals="1")
    + flat("f6", "file_absent", path="gone")
    + flat("f7", "forbid", glob="*.bin", pattern="zzzz")
)
SPECS = (
    head("s1", when="*.py")
    + predicate("regex", regex="(?m)^import ")
    + head("s2", when=["src/**", "*.txt"], exclude=["src/x/"])
    + predicate("forbid", regex="XXX")
    + head("s3", when="*.py")
    + member("any", "regex", regex="zzzz")
    + member("any", "forbid", regex="todo")
    + head("s4")
    + '[verifiers.require.forbid]\nregex = "[a-e].{18}z"\nin = "any-file"\nfiles = "*.txt"\n'
    + head("s5", when="src/**/*.py")
    + predicate("paired", for_each="src/{rel}.py", requires_exists="docs/{stem}.txt")
    + head("s6", when="*", exclude=[".ai-rulez/"])
    + member("all", "forbid", regex="\\r")
    + member("all", "glob_count", files="*.bin", max=0)
)


def _strip(result: Result) -> Result:
    return replace(result, seconds=0.0)


@pytest.fixture
def project(tmp_path: Path) -> Workbench:
    bench = Workbench(tmp_path)
    chooser = random.Random(5)
    for folder in ("", "src/", "src/x/", "docs/"):
        for stem in "abcdef":
            for ext in (".py", ".txt", ".bin"):
                lines = [chooser.choice(LINES) for _ in range(chooser.randrange(30))]
                end = chooser.choice(["\n", "\r\n"])
                bench.write(f"{folder}{stem}{ext}", end.join(lines) + ("\0" if ext == ".bin" else end))
    bench.write("p.json", '{"a": 1}')
    bench.config(CONFIG)
    bench.spec(SPECS)
    return bench


def test_results_do_not_depend_on_company(project: Workbench) -> None:
    """Together, one at a time, backwards, and evaluated in another order than prepared."""
    together = {result.name: _strip(result) for result in project.results()}
    assert {result.status for result in together.values()} == {"pass", "fail", "error"}
    run = project.open()
    for declared in run.select():
        (alone,) = project.open().results(declared)
        assert _strip(alone) == together[alone.name]
    run.prepare(reversed(run.select()))
    for declared in sorted(run.select(), key=lambda d: name_of(d)[::-1]):  # type: ignore[arg-type]
        (result,) = run.results(declared)
        assert _strip(result) == together[result.name]


def test_results_do_not_depend_on_the_order_of_declarations(project: Workbench) -> None:
    """Entries written in another order give the same results, each at its line."""
    together = {result.name: _strip(result) for result in project.results()}
    entries = CONFIG.split("[[verifiers]]\n")[1:]
    project.config("".join(f"[[verifiers]]\n{entry}" for entry in reversed(entries)))
    tables = SPECS.split("[[verifiers]]\n")[1:]
    project.spec("".join(f"[[verifiers]]\n{table}" for table in reversed(tables)))
    for result in project.results():
        assert replace(_strip(result), declared=together[result.name].declared) == together[result.name]
