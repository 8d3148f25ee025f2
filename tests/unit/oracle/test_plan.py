"""Items of a mission and their names (design 2.1; spec oracle.md 5.2, 9.2)."""

from __future__ import annotations

import re

import pytest

from pytest_reqfile.oracle.plan import plan_mission, safe_name
from tests.support.missions import entry, mission


def test_items_are_commands_then_guards_in_order() -> None:
    """Declared order, numbered."""
    guards = ["prose", {"id": "G-1", "command": "true"}]
    items = plan_mission(mission(entry("a", check_id="AC-1"), "b", mustNotRegress=guards))
    assert [(item.number, item.name) for item in items] == [
        (1, "oracle/AC-1"),
        (2, "oracle/oracle-2"),
        (3, "guard/guard-1"),
        (4, "guard/G-1"),
    ]


@pytest.mark.case("oracle:9.1")
def test_a_mission_without_oracle_has_one_item() -> None:
    """pytest exits with 5 for no items, which some CI takes for success."""
    (item,) = plan_mission(mission())
    assert (item.name, item.kind) == ("oracle/absent", "absent")


def test_guards_alone_still_lack_an_oracle() -> None:
    """mustNotRegress is no substitute for the oracle."""
    items = plan_mission(mission(mustNotRegress=["x"]))
    assert [item.name for item in items] == ["oracle/absent", "guard/guard-1"]


@pytest.mark.parametrize(
    ("identifier", "name"),
    [
        ("AC-1", "AC-1"),
        ("a/b", "a-b"),
        ("../../etc/passwd", "etc-passwd"),
        ("with space", "with-space"),
        ("..", "item"),
        ("é", "item"),
        ("x[1]", "x-1"),
        ("a" * 512, "a" * 80),
    ],
)
@pytest.mark.case("oracle:9.2")
def test_names_are_safe(identifier: str, name: str) -> None:
    """spec 9.2: file and item names never hold the raw id."""
    assert safe_name(identifier) == name
    (item,) = plan_mission(mission(entry("true", check_id=identifier)))
    assert item.name == f"oracle/{name}"
    assert item.check_id == identifier


def test_taken_names_get_a_number() -> None:
    """Two commands of one check, and ids that become the same slug."""
    names = [item.name for item in plan_mission(mission(*(entry("x", check_id=i) for i in ("A", "A", "a b", "a/b"))))]
    assert names == ["oracle/A", "oracle/A-2", "oracle/a-b", "oracle/a-b-2"]
    assert all(re.fullmatch(r"[A-Za-z0-9_./-]+", name) for name in names)


@pytest.mark.parametrize("text", ["C", "pytest -q"])
def test_a_string_guard_that_names_a_check_is_that_check(text: str) -> None:
    """By id or by the command's own text; anything else is prose (spec 5.6)."""
    *_, item = plan_mission(mission(entry("pytest -q"), mustNotRegress=[text]))
    assert item.guard is not None
    assert (item.guard.kind, item.guard.check_id) == ("check", "C")


def test_prose_stays_prose() -> None:
    """A guard is never guessed from words."""
    *_, item = plan_mission(mission(entry("pytest -q"), mustNotRegress=["pytest"]))
    assert item.guard is not None
    assert item.guard.kind == "prose"
