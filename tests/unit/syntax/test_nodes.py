"""syntax/nodes.py."""

from __future__ import annotations

import pytest

from pytest_reqfile.syntax.nodes import Node, plain
from pytest_reqfile.syntax.toml import read_toml
from pytest_reqfile.syntax.yaml import read_yaml


def test_get_finds_the_value_of_a_key() -> None:
    """An absent key is None, an explicit null is a node."""
    root = read_yaml("a: 1\nb:\n", "f")
    found = root.get("b")
    assert found is not None
    assert found.kind == "null"
    assert root.get("c") is None


def test_items_of_a_list_and_entries_of_a_mapping() -> None:
    """Each keeps its place."""
    root = read_yaml("a:\n  - x\n  - {k: v}\n", "f")
    (entry,) = root.entries
    assert (entry.key, entry.line, entry.column) == ("a", 1, 1)
    assert [(item.kind, item.line, item.column) for item in entry.value.items] == [("string", 2, 5), ("mapping", 3, 5)]


def test_asking_the_wrong_kind_is_a_bug() -> None:
    """A scalar has neither items nor entries."""
    node = Node(kind="string", value="x", line=1, column=1)
    with pytest.raises(AssertionError, match="not a list: a string"):
        _ = node.items
    with pytest.raises(AssertionError, match="not a mapping: a string"):
        _ = node.entries


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("~", "null"),
        ("true", "a boolean"),
        ("1", "an integer"),
        ("1.5", "a number"),
        ("x", "a string"),
        ("[]", "a list"),
        ("{}", "a mapping"),
    ],
)
def test_kinds_in_words(text: str, words: str) -> None:
    """spec/reqfile.md 1.0."""
    assert read_yaml(text, "f").describe() == words


@pytest.mark.parametrize("value", ["1979-05-27", "07:32:00", "1979-05-27T07:32:00Z"])
def test_a_date_or_time(value: str) -> None:
    """Only TOML has them."""
    assert read_toml(f"a = {value}", "f").entries[0].value.describe() == "a date or time"


def test_plain_values() -> None:
    """Builtins all the way down."""
    assert plain(read_yaml("a: [1, {b: ~}]\nc: 1.5\n", "f")) == {"a": [1, {"b": None}], "c": 1.5}
