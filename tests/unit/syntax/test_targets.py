"""syntax/targets.py: files of the user as Go reads them (spec/verifiers.md 1.9)."""

from __future__ import annotations

import datetime
import math

import pytest

from pytest_reqfile.errors import FormatError
from pytest_reqfile.syntax.targets import PlainDate, Spelling, load_plain_json, load_plain_toml, load_plain_yaml

UTC = datetime.UTC


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("yes", "yes"),
        ("off", "off"),
        ("True", True),
        ("~", None),
        ("0x10", 16),
        ("0777", 511),
        ("0o17", 15),
        ("08", 8.0),
        ("-0b11", -3),
        ("1_000", 1000),
        ("18446744073709551615", 2**64 - 1),
        ("18446744073709551616", float(2**64)),
        ("12:30:45", "12:30:45"),
        ("1.50", 1.5),
        ("-.inf", -math.inf),
        ("2023-05-06T07:08:09Z", datetime.datetime(2023, 5, 6, 7, 8, 9, tzinfo=UTC)),
        ("2023-05-06 7:08:09.5", datetime.datetime(2023, 5, 6, 7, 8, 9, 500000, tzinfo=UTC)),
        ("2024-01-02", PlainDate(2024, 1, 2)),
        ("2024-02-30", "2024-02-30"),
        ("2001-12-14 21:59:43.10 -5", "2001-12-14 21:59:43.10 -5"),
        ("'1'", "1"),
        ("!!int '1'", 1),
        ("!!str 1", "1"),
        ("!!float 1", 1.0),
        ("!Ref name", "name"),
        ("<<", "<<"),
    ],
)
@pytest.mark.case("verifiers:D-26")
def test_yaml_scalars(text: str, value: object) -> None:
    """yaml.v3's resolution, not PyYAML's."""
    found = load_plain_yaml(f"k: {text}", "f")
    assert found == {"k": value}
    assert isinstance(found, dict)
    assert type(found["k"]) is type(value)


def test_yaml_offsets_are_kept() -> None:
    """Of a time with a zone."""
    found = load_plain_yaml("2001-12-14t21:59:43-05:30", "f")
    assert isinstance(found, datetime.datetime)
    assert found.isoformat() == "2001-12-14T21:59:43-05:30"


@pytest.mark.case("verifiers:A2.33")
def test_yaml_keys_are_text() -> None:
    """Numbers and booleans by their text; a string that looks like a number stays as it is."""
    assert load_plain_yaml("2: two\ntrue: t\n1.5: f\n'v1.0': v\n~: n\n1.0: g\n", "f") == {
        "2": "two",
        "true": "t",
        "1.5": "f",
        "v1.0": "v",
        "null": "n",
        "1": "g",
    }


def test_yaml_anchors_and_merge_keys() -> None:
    """Own keys win, then earlier sources; a quoted ``<<`` is a key."""
    text = (
        "base: &b {k: 1, l: 2}\nmore: &m {l: 3, n: 4}\none:\n  k: own\n  <<: *b\ntwo:\n  <<: [*b, *m]\n"
        "three: *b\nfour: {'<<': 1}\nfive: {<<: {z: 1}}\n"
    )
    found = load_plain_yaml(text, "f")
    assert isinstance(found, dict)
    assert found["one"] == {"k": "own", "l": 2}
    assert found["two"] == {"k": 1, "l": 2, "n": 4}
    assert found["three"] == {"k": 1, "l": 2}
    assert found["four"] == {"<<": 1}
    assert found["five"] == {"z": 1}


def test_yaml_only_the_first_document() -> None:
    """What is behind is not read."""
    assert load_plain_yaml("a: 1\n---\n[\n", "f") == {"a": 1}
    assert load_plain_yaml("", "f") is None


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("a: 1\na: 2", "f:2: duplicate key `a` (first defined at line 1)"),
        ("a: *b", "f:1: unknown anchor 'b' referenced"),
        ("a: &a [*a]", "f:1: unknown anchor 'a' referenced"),
        ("<<: 3", "f:1: map merge requires map or sequence of maps as the value"),
        ("<<: [{}, 3]", "f:1: map merge requires map or sequence of maps as the value"),
        ("\n? [a]\n: b", "f:2: mapping keys must be plain strings"),
        ("a: !!int x", "f:1: invalid scalar for its tag"),
    ],
)
def test_yaml_that_does_not_parse(text: str, message: str) -> None:
    """Located."""
    with pytest.raises(FormatError) as caught:
        load_plain_yaml(text, "f")
    assert str(caught.value) == message


def test_json_numbers_keep_their_spelling() -> None:
    """As ``Spelling``, which no string of the file is."""
    found = load_plain_json('{"a": 98765432109876543210, "b": 2.0, "c": 1e3, "d": "2.0"}', "f")
    assert found == {"a": "98765432109876543210", "b": "2.0", "c": "1e3", "d": "2.0"}
    assert isinstance(found, dict)
    assert [type(value) for value in found.values()] == [Spelling, Spelling, Spelling, str]


@pytest.mark.case("verifiers:D-27")
def test_json_what_follows_the_value_is_ignored() -> None:
    """And of a repeated key the last counts."""
    assert load_plain_json(' \n{"a":"1","a":"2"} trailing', "f") == {"a": "2"}


def test_json_unpaired_surrogates_are_replaced() -> None:
    """As Go does; pairs are characters."""
    assert load_plain_json('{"\\ud800": ["\\udc00x", "\\ud83d\\ude00", 1]}', "f") == {
        "\ufffd": ["\ufffdx", "\U0001f600", "1"]
    }


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "f:1: invalid JSON: Expecting value"),
        ('{"a":\n}', "f:2: invalid JSON: Expecting value"),
        ('{"a": [1,\nNaN]}', "f:2: invalid JSON: NaN is not a number of JSON"),
        ("[" * 100_000, "f:1: JSON nested too deeply is not read"),
    ],
)
def test_json_that_does_not_parse(text: str, message: str) -> None:
    """Located."""
    with pytest.raises(FormatError) as caught:
        load_plain_json(text, "f")
    assert str(caught.value) == message


def test_toml_has_dates() -> None:
    """As Python's own types; a syntax error is located."""
    found = load_plain_toml("at = 2023-05-06T07:08:09Z\nday = 2023-05-06\nn = 4\n", "f")
    assert found == {"at": datetime.datetime(2023, 5, 6, 7, 8, 9, tzinfo=UTC), "day": datetime.date(2023, 5, 6), "n": 4}
    with pytest.raises(FormatError, match=r"^f:1: invalid TOML: "):
        load_plain_toml("a", "f")
