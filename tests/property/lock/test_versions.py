"""Laws of versions, ranges and patches (issue 7 "Proof"; spec/lock.md 6.5 and 6.10)."""

from __future__ import annotations

import json
import random
import shutil
import subprocess
from collections.abc import Iterator
from functools import cache
from pathlib import Path

import pytest
import tomli
from hypothesis import given, settings
from hypothesis import strategies as st

from pytest_reqfile.lock.config_patch import PatchError, with_constraint
from pytest_reqfile.lock.tags import Tag, read_tags
from pytest_reqfile.lock.versions import Constraint, ConstraintError, Version

NUMBERS = st.integers(0, 4)
IDENTIFIERS = st.one_of(st.integers(0, 12).map(str), st.sampled_from(["0", "a", "b", "rc", "-", "a1", "1a", "beta"]))
PRERELEASES = st.lists(IDENTIFIERS, max_size=3).map(tuple)
VERSIONS = st.builds(
    Version,
    major=NUMBERS,
    minor=NUMBERS,
    patch=NUMBERS,
    prerelease=PRERELEASES,
    build=st.sampled_from(["", "b", "7.x"]),
)
FORMS = st.sampled_from(["", "=", "^", "~", "~>", ">", ">=", "<", "<="])
WORDS = st.sampled_from(["1", "2", "0", ".", "x", "*", "-", " ", "^", "~", ">", "<", "=", "v", "||", "a", "+", " - "])
TEXTS = st.lists(WORDS, max_size=10).map("".join)


@given(VERSIONS, VERSIONS, VERSIONS)
def test_precedence_is_a_total_preorder(one: Version, two: Version, three: Version) -> None:
    """Any two can be compared, one way or both; and what is between is between."""
    assert (one.precedence <= two.precedence) or (two.precedence <= one.precedence)
    if one.precedence <= two.precedence <= three.precedence:
        assert one.precedence <= three.precedence
    assert (one.precedence == two.precedence) == ((one.triple, one.prerelease) == (two.triple, two.prerelease))
    if one.triple == two.triple and one.prerelease and not two.prerelease:
        assert one.precedence < two.precedence


@given(VERSIONS)
def test_a_version_reads_back(version: Version) -> None:
    """Printed and read again, it is the same."""
    assert Version.parse(str(version)) == version


@given(FORMS, NUMBERS, NUMBERS, NUMBERS, st.sampled_from([1, 2, 3]), VERSIONS)
def test_ranges_mean_what_the_table_says(
    form: str, major: int, minor: int, patch: int, parts: int, version: Version
) -> None:
    """Against a reading of the table by plain comparison of numbers, for released versions."""
    given_numbers = (major, minor, patch)[:parts]
    found = Constraint.parse(form + ".".join(map(str, given_numbers)))
    released = Version(major=version.major, minor=version.minor, patch=version.patch)
    assert found.allows(released) is _plainly(form, given_numbers, released.triple)


def _plainly(form: str, wanted: tuple[int, ...], found: tuple[int, int, int]) -> bool:
    """A partial version stands for all that begin with it; ``^`` keeps the left-most number that is not zero."""
    head = found[: len(wanted)]
    match form:
        case "" | "=":
            return head == wanted
        case ">":
            return head > wanted
        case ">=":
            return head >= wanted
        case "<":
            return head < wanted
        case "<=":
            return head <= wanted
        case "~" | "~>":
            return head >= wanted and found[: min(2, len(wanted))] == wanted[:2]
        case _:
            kept = next((place for place, number in enumerate(wanted) if number), len(wanted) - 1) + 1
            return head >= wanted and found[:kept] == wanted[:kept]


@given(VERSIONS, VERSIONS, st.booleans())
def test_a_space_is_and_two_bars_are_or(low: Version, tried: Version, include: bool) -> None:
    """For the bounds themselves, whatever prereleases are."""
    one, two = f">={low}", f"<{low.major + 2}"
    both, either = Constraint.parse(f"{one} {two}"), Constraint.parse(f"{one}||{two}")
    parts = [Constraint.parse(text).allows(tried, include) for text in (one, two)]
    assert either.allows(tried, include) is any(parts)
    if not tried.prerelease or include:
        assert both.allows(tried, include) is all(parts)


@given(TEXTS)
def test_any_text_is_a_range_or_an_error(text: str) -> None:
    """Never anything else; spaces around it do not matter; a range's bounds are a range that means the same."""
    try:
        found = Constraint.parse(text)
    except ConstraintError:
        with pytest.raises(ConstraintError):
            Constraint.parse(f" {text} ")
        return
    assert Constraint.parse(f" {text} ").sets == found.sets
    assert Constraint.parse(str(found)).sets == found.sets


@given(st.lists(st.tuples(st.text(max_size=8), st.booleans()), max_size=6))
def test_listings_read_back(names: list[tuple[str, bool]]) -> None:
    """Whatever tags are called, each that is read is one that was listed."""
    lines = [f"{'a' * 40}\trefs/tags/{name}\n" for name, _ in names]
    lines += [f"{'b' * 40}\trefs/tags/{name}^{{}}\n" for name, peeled in names if peeled]
    found = read_tags("".join(lines))
    assert [tag.name for tag in found] == sorted({tag.name for tag in found}, key=str.encode)
    for tag in found:
        assert isinstance(tag, Tag)
        assert any(tag.name in name for name, _ in names)


KEYS = st.sampled_from(["source", "path", "note", "x"])
VALUES = st.one_of(st.integers(0, 9).map(str), st.sampled_from(['"a#b"', "'c'", '[1, "^1.2"]', "{v = '^1.2'}", "true"]))
ENDS = st.sampled_from(["", " ", "\t# version = '^1.2'", "#x"])


@st.composite
def configs(draw: st.DrawFn) -> tuple[str, str]:
    """A config.toml and the name of one of its includes."""
    newline = draw(st.sampled_from(["\n", "\r\n"]))
    names = draw(st.lists(st.sampled_from(["a", "b", "c", "d"]), min_size=1, max_size=3, unique=True))
    lines = ['version = "5.0"', f"top = {draw(VALUES)}{draw(ENDS)}"]
    for name in names:
        quote = draw(st.sampled_from(["'", '"']))
        own = [f"name = '{name}'", f"version{draw(st.sampled_from(['=', ' = ']))}{quote}^1.2{quote}{draw(ENDS)}"]
        own += [f"{key} = {draw(VALUES)}{draw(ENDS)}" for key in draw(st.lists(KEYS, max_size=3, unique=True))]
        indent = draw(st.sampled_from(["", "  ", "\t"]))
        lines += ["", f"[[includes]]{draw(ENDS)}", *(indent + line for line in draw(st.permutations(own)))]
    return newline.join(lines) + draw(st.sampled_from(["", newline])), draw(st.sampled_from(names))


@given(configs())
def test_a_patch_changes_exactly_one_value(drawn: tuple[str, str]) -> None:
    """As text it is one place, as values one value; done again with the old constraint, it is undone."""
    text, name = drawn
    patched = with_constraint(text, "includes", name, "^2.0")
    expected = tomli.loads(text)
    for entry in expected["includes"]:
        if entry["name"] == name:
            entry["version"] = "^2.0"
    assert tomli.loads(patched) == expected
    assert with_constraint(patched, "includes", name, "^1.2") == text
    assert sum(one != other for one, other in zip(text, patched, strict=True)) == 2


@given(st.text(max_size=30))
def test_a_patch_of_any_text_is_an_error_or_exact(text: str) -> None:
    """Text that is no config is refused in our words, and never rewritten."""
    try:
        with_constraint(text, "includes", "a", "^2.0")
    except PatchError:
        return
    raise AssertionError(text)


_NPM = Path("/usr/lib/node_modules/npm/node_modules/semver")
_ASK = """
const semver = require(process.argv[1]);
const asked = JSON.parse(require('fs').readFileSync(0, 'utf8'));
console.log(JSON.stringify(asked.map(([range, version]) =>
  semver.validRange(range) === null ? null : semver.satisfies(version, range))));
"""


@cache
def _node() -> str | None:
    return shutil.which("node") if _NPM.is_dir() else None


@pytest.mark.skipif(_node() is None, reason="npm's own semver is not on this machine: it is a development-time oracle")
@settings(max_examples=5)
@given(st.integers(0, 2**32))
def test_npm_says_the_same(seed: int) -> None:
    """Of every text that is a range to both, npm says the same of every version."""
    asked = list(_drawn(random.Random(seed)))
    done = subprocess.run(
        (str(_node()), "-e", _ASK, str(_NPM)), input=json.dumps(asked), capture_output=True, text=True, check=True
    )
    compared = 0
    for (text, tried), answer in zip(asked, json.loads(done.stdout), strict=True):
        version = Version.parse(tried)
        assert version is not None
        try:
            ours = Constraint.parse(text).allows(version)
        except ConstraintError:
            continue
        if answer is not None:  # npm allows build metadata after three parts only
            assert answer is ours, (text, tried)
            compared += 1
    assert compared > 500


def _drawn(chance: random.Random) -> Iterator[tuple[str, str]]:
    """Ranges that are mostly well formed, each with a version near it."""
    for _ in range(2000):
        words = [_word(chance) for _ in range(chance.choice((1, 1, 2, 3)))]
        between = chance.choice((" ", " ", " || ", " - ", "||"))
        pre = chance.choice(("", "", "-a", "-a.1", "-0", "-1.b"))
        yield between.join(words), f"{chance.randrange(4)}.{chance.randrange(4)}.{chance.randrange(4)}{pre}"


def _word(chance: random.Random) -> str:
    parts = [chance.choice(("0", "1", "2", "3", "3", "x", "*")) for _ in range(chance.choice((1, 2, 3, 3)))]
    pre = chance.choice(("", "", "", "-a", "-a.0", "-0", "+b"))
    return chance.choice(("", "", "^", "~", "~>", ">", ">=", "<", "<=", "=", "v", "^ ", ">= ")) + ".".join(parts) + pre
