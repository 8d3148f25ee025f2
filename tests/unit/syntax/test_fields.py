"""syntax/fields.py: the exact messages of spec/reqfile.md 1.0."""

from __future__ import annotations

import pytest

from pytest_reqfile.errors import FormatError, Problem
from pytest_reqfile.syntax.fields import Fields, Problems, Wording
from pytest_reqfile.syntax.yaml import read_yaml


def _fields(text: str, *keys: str, what: str = "a command check") -> tuple[Fields, Problems]:
    problems = Problems("f.yaml")
    return Fields(read_yaml(text, "f.yaml"), what, keys, problems), problems


def _told(problems: Problems) -> list[str]:
    return [str(problem) for problem in problems.found]


def test_problems_are_collected_in_line_order() -> None:
    """Those of one line stay in the order they came; a problem of the whole file is first."""
    problems = Problems("p")
    assert not problems
    problems.raise_if_any()
    problems.add(5, "b")
    problems.add(2, "a")
    problems.add(5, "a")
    problems.add(None, "z")
    assert problems.found == (
        Problem(path="p", message="z"),
        Problem(path="p", line=2, message="a"),
        Problem(path="p", line=5, message="b"),
        Problem(path="p", line=5, message="a"),
    )
    with pytest.raises(FormatError) as caught:
        problems.raise_if_any()
    assert caught.value.problems == problems.found


def test_what_is_no_mapping_is_told_once() -> None:
    """The label stands without backticks, and the getters stay silent."""
    fields, problems = _fields("text", "run", what="a requirement")
    assert (fields.string("run"), fields.integer("run"), fields.list("run")) == ("", 0, ())
    assert _told(problems) == ["f.yaml:1: a requirement must be a mapping, found a string"]
    assert fields.failed
    assert not fields.usable


@pytest.mark.case("reqfile:A7")
def test_every_unknown_key_is_told() -> None:
    """At the key, with the allowed keys in message order."""
    fields, problems = _fields("run: x\nretries: 3\nfoo: 1\n", "run", "fix_hint", "files")
    assert _told(problems) == [
        "f.yaml:2: unknown key `retries` in a command check (expected one of: run, fix_hint, files)",
        "f.yaml:3: unknown key `foo` in a command check (expected one of: run, fix_hint, files)",
    ]
    assert fields.failed


@pytest.mark.case("reqfile:A8")
def test_a_missing_field_is_told_at_the_mapping() -> None:
    """With the label of the moment."""
    fields, problems = _fields("\n\nid: X\n", "id", "must", "why", what="a requirement")
    assert fields.string("must") == ""
    fields.relabel("requirement X")
    assert fields.string("why") == ""
    assert _told(problems) == [
        "f.yaml:3: a requirement is missing the required field `must`",
        "f.yaml:3: requirement X is missing the required field `why`",
    ]


@pytest.mark.case("reqfile:A10")
@pytest.mark.parametrize("value", ["''", "'  '", "[a]", "1", "~", "true", "{}", '"\\n"'])
def test_a_string_is_not_empty(value: str) -> None:
    """Whitespace alone is empty, null is a wrong type."""
    fields, problems = _fields(f"a: 1\nmust: {value}\n", "a", "must")
    assert fields.string("must") == ""
    assert fields.optional_string("must") is None
    node = fields.node("must")
    assert node is not None
    assert _told(problems) == [f"f.yaml:2: `must` must be a non-empty string, found {node.describe()}"] * 2


def test_right_values_are_returned_as_written() -> None:
    """One getter after the other, and nothing to tell."""
    text = "s: ' x '\nb: true\ni: 3\nn: 2\nf: 0.5\nl: [1, 2]\nt: [a, b]\nm: {k: v}\nc: red\n"
    fields, problems = _fields(text, *"sbinfltmc")
    assert (fields.string("s"), fields.optional_string("s"), fields.boolean("b", False)) == (" x ", " x ", True)
    assert (fields.integer("i"), fields.optional_integer("i"), fields.integer("i", 9)) == (3, 3, 3)
    assert (fields.number("n"), fields.number("f"), fields.optional_number("f")) == (2.0, 0.5, 0.5)
    assert (fields.integers("l"), fields.strings("t"), fields.optional_strings("t")) == ((1, 2), ("a", "b"), ("a", "b"))
    assert [node.value for node in fields.list("l")] == [1, 2]
    assert (fields.string_or_strings("s"), fields.string_or_strings("t")) == ((" x ",), ("a", "b"))
    assert fields.mapping("m") == fields.optional_mapping("m") == fields.node("m")
    assert fields.choice("c", ("blue", "red"), "blue", "no {x}") == "red"
    assert not fields.failed
    assert not problems


def test_absent_optional_fields_give_their_defaults() -> None:
    """Without a problem."""
    fields, problems = _fields("{}", "x")
    assert (fields.optional_string("x"), fields.optional_integer("x"), fields.optional_number("x")) == (None,) * 3
    assert (fields.boolean("x", True), fields.integer("x", 60), fields.number("x", 0.8)) == (True, 60, 0.8)
    assert (fields.integers("x", (1,)), fields.optional_strings("x"), fields.optional_list("x")) == ((1,), (), ())
    assert (fields.optional_mapping("x"), fields.node("x"), fields.string_or_strings("x")) == (None, None, ())
    assert fields.choice("x", ("a", "b"), "b", "") == "b"
    assert (fields.kind_of("x"), "x" in fields, fields.line("x"), fields.mapping_line) == (None, False, 1, 1)
    assert not problems


def test_wrong_types_in_the_words_of_the_spec() -> None:
    """Each expected phrase, each found phrase."""
    text = "b: yes\ni: 1.5\nn: x\nl: {}\ns: [1, '']\nj: [true]\nm: []\n"
    fields, problems = _fields(text, *"binlsjm")
    assert (fields.boolean("b", True), fields.integer("i", 7), fields.number("n", 0.5)) == (True, 7, 0.5)
    assert (fields.list("l"), fields.strings("s"), fields.integers("j"), fields.mapping("m")) == (
        (),
        ("", ""),
        (0,),
        None,
    )
    assert _told(problems) == [
        "f.yaml:1: `b` must be true or false, found a string",
        "f.yaml:2: `i` must be an integer, found a number",
        "f.yaml:3: `n` must be a number, found a string",
        "f.yaml:4: `l` must be a list, found a mapping",
        "f.yaml:5: `s` must be a non-empty string, found an integer",
        "f.yaml:5: `s` must be a non-empty string, found a string",
        "f.yaml:6: `j` must be an integer, found a boolean",
        "f.yaml:7: m must be a mapping, found a list",
    ]


def test_a_choice_names_what_it_found() -> None:
    """The placeholder becomes the value; the stand-in is the default, or the first choice."""
    message = "unknown format `{x}`; expected `exit` or `sarif`"
    fields, problems = _fields("a: 1\nformat: json\n", "a", "format", "kind")
    assert fields.choice("format", ("exit", "sarif"), "sarif", message) == "sarif"
    assert fields.choice("kind", ("exit", "sarif"), None, message) == "exit"
    assert _told(problems) == [
        "f.yaml:1: a command check is missing the required field `kind`",
        "f.yaml:2: unknown format `json`; expected `exit` or `sarif`",
    ]


def test_a_choice_of_another_type_is_one_problem() -> None:
    """Not a wrong type and an unknown word."""
    fields, problems = _fields("format: [exit]\n", "format")
    assert fields.choice("format", ("exit",), "exit", "unknown {x}") == "exit"
    assert _told(problems) == ["f.yaml:1: `format` must be a non-empty string, found a list"]


def test_refuse_is_for_the_rules_of_the_subject() -> None:
    """At the value, or at the mapping."""
    fields, problems = _fields("\na: 1\ntimeout:\n  0\n", "a", "timeout")
    fields.refuse("timeout", "`timeout` must be a positive number of seconds")
    fields.refuse(None, "no good")
    assert fields.failed
    assert _told(problems) == ["f.yaml:2: no good", "f.yaml:4: `timeout` must be a positive number of seconds"]


def test_failed_tells_mappings_apart() -> None:
    """What was wrong before this mapping was begun is not its fault."""
    problems = Problems("f")
    problems.add(1, "before")
    fields = Fields(read_yaml("a: 1", "f"), "x", ("a",), problems)
    assert not fields.failed
    problems.add(1, "inside")
    assert fields.failed


def test_other_formats_have_their_own_wording() -> None:
    """The templates are a parameter; braces in the user's keys are not templates."""
    wording = Wording(
        unknown_key="{what}: {key}?", missing="{key} of {what}!", wrong_type="{key}: {kind}, not {expected}"
    )
    problems = Problems("f")
    fields = Fields(read_yaml("'{kind}': 1\nb: 1\n", "f"), "T", ("a", "b"), problems, wording=wording)
    fields.string("a")
    fields.string("b")
    assert [problem.message for problem in problems.found] == [
        "T: {kind}?",
        "a of T!",
        "b: an integer, not a non-empty string",
    ]
