"""Versions and ranges: the cases of section S, and what npm answers (seed 001 "Version constraints")."""

from __future__ import annotations

import json
from functools import cache
from itertools import combinations
from pathlib import Path
from typing import Any, Final, cast

import pytest

from pytest_reqfile.lock.tags import tag_version
from pytest_reqfile.lock.versions import Constraint, ConstraintError, Version

FILE: Final = Path(__file__).parents[2] / "formats/lock/npm_ranges.json"
ASCENDING: Final = [
    "1.9.9",
    "2.0.0-0",
    "2.0.0-alpha",
    "2.0.0-alpha.1",
    "2.0.0-beta",
    "2.0.0-beta.2",
    "2.0.0-beta.11",
    "2.0.0-rc.1",
    "2.0.0",
    "2.0.1",
    "2.1.0",
    "3.0.0",
]
VALID: Final = (
    *("3.4.5", "v3.4.5", "^3.4", "~5.1.0", ">=2.6.0 <4.0.0", "3.x", "3.X", "*", "^3.x || 7", "3.4.5 - 5.6.7", ">3"),
    *("<=3.4", "^3.4.5-beta.2", ">=2.0.0-0", "  ^3  ", "^*", ">=*", "==3.4.5", "^v3.4", "^=3.4", "* - 4", "3 - *"),
    *("^x.x", "*.*", "1 2", "4611686018427387904"),
)
INVALID: Final = (
    *("", "||", "|| 3.4.5", "^", "3.4.5.6", "a.b.c", "^^3", ">*", "3.4.5 - ", "3.4.5-", "^3.4.5-07", ">=3.4.5 foo"),
    *("x.3", "~>", "1 -2", "v", "^v", "3.", "3.4.5 | 5", ">= <3", "x.x.3", "3.4.5+", "v v3", "4611686018427387905"),
    "9223372036854775808",
)
SATISFIED: Final = (
    # constraint, satisfied by, not satisfied by
    ("3.4.5", "3.4.5 3.4.5+meta", "3.4.6 3.4.4 3.4.5-rc.2"),
    ("v3.4.5", "3.4.5", "3.4.6"),
    ("^3.4.5", "3.4.5 3.4.9 3.8.0 3.77.77", "3.4.4 4.0.0 2.9.9 4.0.0-alpha"),
    ("^3.4", "3.4.0 3.4.8 3.6.0", "3.3.9 4.0.0"),
    ("^3", "3.0.0 3.9.9", "2.9.9 4.0.0"),
    ("^0.5.2", "0.5.2 0.5.8", "0.5.1 0.6.0 1.0.0"),
    ("^0.0.7", "0.0.7", "0.0.8 0.0.6 0.1.0"),
    ("^0", "0.0.0 0.7.7", "1.0.0"),
    ("~3.4.5", "3.4.5 3.4.8", "3.5.0 3.4.4"),
    ("~3.4", "3.4.0 3.4.8", "3.5.0 3.3.9"),
    ("~0.5.2", "0.5.2 0.5.8", "0.6.0"),
    (">=2.6.0 <4.0.0", "2.6.0 3.9.9", "2.5.9 4.0.0"),
    (">3.4.5", "3.4.6 4.0.0", "3.4.5 3.4.4"),
    (">3.4", "3.5.0 4.0.0", "3.4.9 3.4.0"),
    (">=3.4", "3.4.0 6.0.0", "3.3.9"),
    ("<3.4.5", "3.4.4 0.2.0", "3.4.5 3.4.6"),
    ("<3.4", "3.3.9", "3.4.0 3.4.0-rc.1"),
    ("<=3.4", "3.4.9", "3.5.0"),
    ("<=3", "3.9.9", "4.0.0"),
    ("3.x", "3.0.0 3.8.8", "2.9.9 4.0.0"),
    ("3.4.x", "3.4.0 3.4.8", "3.5.0 3.3.9"),
    ("3.4", "3.4.6", "3.5.0"),
    ("*", "0.0.0 42.0.0", "2.0.0-rc.1"),
    ("x", "2.0.0", "2.0.0-rc.1"),
    ("3.x || 7.x", "3.6.0 7.2.0", "5.0.0 8.0.0"),
    ("3.4.5 - 5.6.7", "3.4.5 4.0.0 5.6.7", "3.4.4 5.6.8"),
    ("3.4 - 5.6", "3.4.0 5.6.9", "3.3.9 5.7.0"),
    ("^*", "4.0.0", "4.0.0-rc.1"),
    (">=*", "4.0.0", ""),
    ("<=*", "4.0.0", ""),
)
PRERELEASES: Final = (
    # constraint, version, include_prerelease, whether it is satisfied
    ("^3.4.0", "3.5.0-beta.1", False, False),
    ("^3.4.0", "3.5.0-beta.1", True, True),
    ("^3.4.0", "4.0.0-beta.1", True, False),
    ("^3.4.5-beta.2", "3.4.5-beta.4", False, True),
    ("^3.4.5-beta.2", "3.5.0-beta.1", False, False),
    ("^3.4.5-beta.2", "3.6.0", False, True),
    (">=3.0.0-rc.1", "3.0.0-rc.2", False, True),
    ("*", "3.0.0-rc.1", False, False),
    ("^3.4.5", "4.0.0-alpha", True, False),
    ("3.4.5", "3.4.5+build.9", False, True),
    (">=2.6.0 <4.0.0", "4.0.0-alpha", False, False),
    (">=2.6.0 <4.0.0", "4.0.0-alpha", True, True),
    ("<3.4.5", "3.4.5-rc.1", False, False),
    ("<3.4.5-rc.2", "3.4.5-rc.1", False, True),
    ("3.4.5 - 5.6.7", "5.6.7-rc.1", True, True),
    ("^3.4.5", "3.4.5-rc.1", True, False),
    ("3.4", "3.4.0-rc.1", True, False),
    ("~3.4.5-b.2", "3.4.5-b.3", False, True),
    ("=3.4.5-b.2", "3.4.5-b.2", False, True),
    ("^0.0.7-b.1", "0.0.7-b.2", False, True),
    ("==3.4.5", "3.4.5", False, True),
    ("=v3.4.5", "3.4.5", False, True),
    ("^=3.4", "3.5.0", False, True),
    ("^3.4+b", "3.5.0", False, True),
    ("* - 4", "4.9.9", False, True),
    ("* - *", "1.0.0", False, True),
    ("3.*.*", "3.9.9", False, True),
)
EMPTY_IS_REFUSED: Final = ("", "||", ">*")
"""npm reads an empty side as ``*``, and ``>*`` as nothing; neither can be meant (spec/lock.md 6.5)."""
BELOW_THE_FIRST: Final = {
    # With include_prerelease, npm's missing part admits the prereleases of the first version; the rules of 6.5 do not
    # ("3.4" does not mean "3.4.0-rc.1", case S6), and locks are read by both tools.
    "~1": "1.0.0-alpha 1.0.0-0",
    "1.x": "1.0.0-alpha 1.0.0-0",
    ">=1.x": "1.0.0-alpha 1.0.0-0",
    ">1": "2.0.0-rc.1 2.0.0-0",
    ">1.2": "1.3.0-0 1.3.0-rc",
    "^1.x || ^2.x": "1.0.0-alpha 1.0.0-0 2.0.0-rc.1 2.0.0-0",
    "^1.2.3 ^1.3": "1.3.0-0 1.3.0-rc",
    "1.2.3 - 2.3.4": "1.2.3-beta.2 1.2.3-beta.4 1.2.3-alpha.7 1.2.3-rc.1",
    "1.2.3 - 2.3": "1.2.3-beta.2 1.2.3-beta.4 1.2.3-alpha.7 1.2.3-rc.1",
    "1.2.3 - 2": "1.2.3-beta.2 1.2.3-beta.4 1.2.3-alpha.7 1.2.3-rc.1",
}


def version(text: str) -> Version:
    found = Version.parse(text)
    assert found is not None, text
    return found


@cache
def npm() -> dict[str, Any]:
    return cast("dict[str, Any]", json.loads(FILE.read_text("utf-8")))


@pytest.mark.case("lock:S1")
@pytest.mark.parametrize(
    "text", ["0.0.0", "3.4.5", "3.4.5-beta.7", "3.4.5-0.4.8", "3.4.5-m-n", "2.0.0-rc+exp.md5.77aa"]
)
def test_a_version_prints_back(text: str) -> None:
    """Read and written again, it is the same text."""
    assert str(version(text)) == text


@pytest.mark.case("lock:S1")
@pytest.mark.parametrize(
    "text",
    [
        *("3.4", "3.4.5.6", "03.4.5", "3.4.05", "v3.4.5", "3.4.5-", "3.4.5-a..b", "3.4.5+", "3.4.x", ""),
        *("99999999999999999999.0.0", "1.2.3\n", " 1.2.3", "1.2.٣", "1.2.3-é", "1.2.3-01", "9" * 5000 + ".0.0"),
    ],
)
def test_what_is_no_version(text: str) -> None:
    """Nothing is guessed; digits of other scripts, and more than Python would read, are none either."""
    assert Version.parse(text) is None


@pytest.mark.case("lock:S2")
def test_precedence() -> None:
    """Each pair of the ascending list, both ways."""
    for lower, higher in combinations(map(version, ASCENDING), 2):
        assert lower.precedence < higher.precedence, (str(lower), str(higher))
        assert not higher.precedence < lower.precedence


@pytest.mark.case("lock:S2")
def test_equal_precedence() -> None:
    """Build metadata does not count; numbers beyond 64 bits are one."""
    assert len({version(text).precedence for text in ("2.0.0", "2.0.0+a", "2.0.0+b")}) == 1
    huge = ("1.0.0-99999999999999999999", "1.0.0-99999999999999999998", "1.0.0-" + "9" * 6000)
    assert len({version(text).precedence for text in huge}) == 1


@pytest.mark.case("lock:S3")
@pytest.mark.parametrize(
    ("tag", "prefix", "expected"),
    [
        ("3.4.5", "", "3.4.5"),
        ("v3.4.5", "", "3.4.5"),
        *((tag, "", None) for tag in ("vv3.4.5", "V3.4.5", "release-3.4.5", "v3.4", "latest")),
        ("tool/v3.4.5", "tool/v", "3.4.5"),
        ("tool/v3.4.5", "tool/", None),
        ("v3.4.5", "v", "3.4.5"),
        ("other/v3.4.5", "tool/v", None),
    ],
)
def test_the_version_of_a_tag(tag: str, prefix: str, expected: str | None) -> None:
    """Exactly the prefix is taken off, or without one a single ``v``."""
    assert tag_version(tag, prefix) == (version(expected) if expected is not None else None)


@pytest.mark.case("lock:S4")
@pytest.mark.parametrize("text", VALID)
def test_valid_constraints(text: str) -> None:
    """They can be read, and allow something."""
    assert Constraint.parse(text).sets


@pytest.mark.case("lock:S4")
@pytest.mark.parametrize("text", INVALID)
def test_invalid_constraints(text: str) -> None:
    """They are refused, and quoted."""
    with pytest.raises(ConstraintError) as caught:
        Constraint.parse(text)
    assert str(caught.value).startswith(f'version constraint "{text}" is invalid: ')


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("", "a range is empty"),
        ("^", "a version is missing"),
        ("^^3", '"^3" is no version'),
        ("x.3", '"x.3" has a number after a wildcard'),
        (">*", '">*" allows nothing'),
        ("9" * 5000, f"{'9' * 24} is too large a number"),
    ],
)
def test_reasons(text: str, reason: str) -> None:
    """Each says what is wrong with which part."""
    with pytest.raises(ConstraintError) as caught:
        Constraint.parse(text)
    assert str(caught.value).endswith(f"is invalid: {reason}")


@pytest.mark.case("lock:S5")
@pytest.mark.parametrize(("text", "inside", "outside"), SATISFIED, ids=[row[0] for row in SATISFIED])
def test_satisfaction(text: str, inside: str, outside: str) -> None:
    """Without prereleases."""
    constraint = Constraint.parse(text)
    assert [one for one in inside.split() if not constraint.allows(version(one))] == []
    assert [one for one in outside.split() if constraint.allows(version(one))] == []


@pytest.mark.case("lock:S6")
@pytest.mark.parametrize(("text", "tried", "include", "expected"), PRERELEASES)
def test_prereleases(text: str, tried: str, include: bool, expected: bool) -> None:
    """A prerelease counts where it is asked for, or where the same set names one of its numbers."""
    assert Constraint.parse(text).allows(version(tried), include) is expected


@pytest.mark.parametrize(
    ("text", "bounds"),
    [
        ("3.4.5", "3.4.5"),
        ("^1.2.3", ">=1.2.3 <2.0.0-0"),
        ("^0.2", ">=0.2.0 <0.3.0-0"),
        ("^0.0", ">=0.0.0 <0.1.0-0"),
        ("^0.0.3", ">=0.0.3 <0.0.4-0"),
        ("~>1.2", ">=1.2.0 <1.3.0-0"),
        ("~ 1", ">=1.0.0 <2.0.0-0"),
        (">1.2", ">=1.3.0"),
        ("<1", "<1.0.0-0"),
        ("<1.2.3", "<1.2.3"),
        ("<=1.2", "<1.3.0-0"),
        ("1.2 - 2", ">=1.2.0 <3.0.0-0"),
        ("1 - 2.3.4-b", ">=1.0.0 <=2.3.4-b"),
        ("3 - *", ">=3.0.0"),
        ("*", ">=0.0.0"),
        ("1||>2.0", ">=1.0.0 <2.0.0-0 || >=2.1.0"),
    ],
)
def test_the_bounds_of_a_range(text: str, bounds: str) -> None:
    """The forms of the table in spec/lock.md 6.5."""
    assert str(Constraint.parse(text)) == bounds


def test_npm_has_108_answers() -> None:
    """54 ranges, each without and with prereleases."""
    rows = npm()["rows"]
    assert len(rows) == 108
    assert len({(row["range"], row["include_prerelease"]) for row in rows}) == 108


@pytest.mark.parametrize(
    "row", npm()["rows"], ids=lambda row: f"{row['range']}{' with prereleases' if row['include_prerelease'] else ''}"
)
def test_npms_answers(row: dict[str, Any]) -> None:
    """All 108, but for the two differences of the spec, which are listed here one by one."""
    text, include = row["range"], row["include_prerelease"]
    if row["matches"] is None or text in EMPTY_IS_REFUSED:
        with pytest.raises(ConstraintError):
            Constraint.parse(text)
        return
    constraint = Constraint.parse(text)
    found = {one for one in npm()["versions"] if constraint.allows(version(one), include)}
    left_out = set(BELOW_THE_FIRST.get(text, "").split()) if include else set()
    assert left_out <= set(row["matches"])
    assert found == set(row["matches"]) - left_out
