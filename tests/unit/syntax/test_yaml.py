"""syntax/yaml.py: the YAML dialect of spec/reqfile.md 1.0, with libyaml and with PyYAML's own parser."""

from __future__ import annotations

import math

import pytest

from pytest_reqfile.errors import FormatError
from pytest_reqfile.syntax.nodes import Node, plain
from pytest_reqfile.syntax.yaml import read_yaml

both = pytest.mark.parametrize("pure", [False, True], ids=["libyaml", "pure"])


def _problems(text: str, *, pure: bool) -> list[str]:
    with pytest.raises(FormatError) as caught:
        read_yaml(text, "f.yaml", pure=pure)
    return [str(problem) for problem in caught.value.problems]


@both
@pytest.mark.parametrize(
    ("text", "value"),
    [
        *[(word, None) for word in ("~", "null", "Null", "NULL", "")],
        *[(word, True) for word in ("true", "True", "TRUE")],
        *[(word, False) for word in ("false", "False", "FALSE")],
        *[(word, word) for word in ("yes", "no", "on", "off", "Yes", "tRUE", "nULL", "y", "n", "inf", "nan", "+", ".")],
        ("0", 0),
        ("0777", 777),
        ("-12", -12),
        ("+12", 12),
        ("-0", 0),
        ("0x1F", 31),
        ("0o17", 15),
        ("9223372036854775807", 2**63 - 1),
        ("-9223372036854775808", -(2**63)),
        ("9223372036854775808", float(2**63)),
        ("0x8000000000000000", "0x8000000000000000"),
        ("0x", "0x"),
        ("-0x1", "-0x1"),
        ("0o8", "0o8"),
        ("0b1", "0b1"),
        ("1_000", "1_000"),
        ("2024-01-01", "2024-01-01"),
        ("1:30", "1:30"),
        ("1.5", 1.5),
        (".5", 0.5),
        ("1.", 1.0),
        ("-1.e3", -1000.0),
        ("1e3", 1000.0),
        ("1E-3", 0.001),
        ("1e", "1e"),
        ("1e400", math.inf),
        (".inf", math.inf),
        ("-.INF", -math.inf),
        ("+.Inf", math.inf),
        ("+.nan", "+.nan"),
        ("٣", "٣"),
    ],
)
def test_plain_scalars(text: str, value: object, pure: bool) -> None:
    """YAML 1.2 core schema: spelling by spelling."""
    found = read_yaml(f"key: {text}\n", "f", pure=pure).entries[0].value
    assert (type(found.value), found.value) == (type(value), value)


@both
@pytest.mark.parametrize("text", [".nan", ".NaN", ".NAN"])
def test_not_a_number(text: str, pure: bool) -> None:
    """Three casings."""
    node = read_yaml(text, "f", pure=pure)
    assert isinstance(node.value, float)
    assert math.isnan(node.value)


@both
@pytest.mark.parametrize("text", ["'1'", '"1"', "!!int '1'", "|-\n 1", ">-\n 1", '!!null "1"'])
def test_quoted_and_block_scalars_are_strings(text: str, pure: bool) -> None:
    """Even with a tag."""
    assert read_yaml(text, "f", pure=pure).value == "1"


@both
@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("!!str 1", "1"),
        ("!!str", ""),
        ("!!int 0x10", 16),
        ("!!float 1", 1.0),
        ("!!float .inf", math.inf),
        ("!!bool true", True),
        ("!!null ~", None),
        ("!<tag:yaml.org,2002:int> 3", 3),
        ("!mine 1", 1),
        ("! 1", 1),
    ],
)
def test_tags_on_plain_scalars(text: str, value: object, pure: bool) -> None:
    """Core tags force a type; tags of others are ignored."""
    found = read_yaml(text, "f", pure=pure)
    assert (type(found.value), found.value) == (type(value), value)


@both
@pytest.mark.parametrize(
    "text", ["!!int x", "!!int 1.5", "!!float x", "!!bool yes", "!!null x", "!!binary YQ", "!!timestamp 2024-01-01"]
)
def test_a_value_that_does_not_fit_its_tag(text: str, pure: bool) -> None:
    """Another core tag as well."""
    assert _problems(f"a: 1\nb: {text}\n", pure=pure) == ["f.yaml:2: invalid scalar for its tag"]


@both
def test_tags_on_collections_are_ignored(pure: bool) -> None:
    """Of whatever kind."""
    assert plain(read_yaml("!!map {a: !!set [1]}", "f", pure=pure)) == {"a": [1]}


@both
def test_every_duplicate_key_is_reported(pure: bool) -> None:
    """Keys are compared as text; all of the file, not only the first."""
    text = "a: 1\nb:\n  1: x\n  '1': y\na: 2\ntrue: 1\nTrue: 2\n0x1: a\n1: b\n"
    assert _problems(text, pure=pure) == [
        "f.yaml:4: duplicate key `1` (first defined at line 3)",
        "f.yaml:5: duplicate key `a` (first defined at line 1)",
        "f.yaml:7: duplicate key `true` (first defined at line 6)",
        "f.yaml:9: duplicate key `1` (first defined at line 8)",
    ]


@both
def test_what_was_found_before_a_syntax_error_is_kept(pure: bool) -> None:
    """A syntax error ends the file, not the report."""
    problems = _problems("a: 1\na: 2\nb: *x\nc: [1\n", pure=pure)
    assert problems[:2] == [
        "f.yaml:2: duplicate key `a` (first defined at line 1)",
        "f.yaml:3: YAML aliases are not supported",
    ]
    assert len(problems) == 3
    assert problems[2].startswith("f.yaml:4: invalid YAML: while parsing a flow sequence")


@both
@pytest.mark.parametrize("text", ["*x", "a: *x", "- &x 1\n- 2\n", "*x : 1"])
def test_aliases_are_refused_and_anchors_are_not(text: str, pure: bool) -> None:
    """An anchor alone does nothing."""
    if "*" in text:
        assert _problems(text, pure=pure) == ["f.yaml:1: YAML aliases are not supported"]
    else:
        assert plain(read_yaml(text, "f", pure=pure)) == [1, 2]


@both
def test_the_merge_key_is_an_ordinary_key(pure: bool) -> None:
    """No merging."""
    assert plain(read_yaml("<<: {a: 1}\n", "f", pure=pure)) == {"<<": {"a": 1}}


@both
@pytest.mark.parametrize("key", ["~", "1.5", "[a]", "{a: b}", "? - a\n", "? {a: [b]}\n", ".inf"])
def test_keys_that_are_no_strings(key: str, pure: bool) -> None:
    """Null, float, list, mapping."""
    assert _problems(f"{key}: 1\n", pure=pure) == ["f.yaml:1: mapping keys must be plain strings"]


@both
@pytest.mark.parametrize("key", ["? a\n: 1\n", "&x a: 1\n", "!!str a: 1\n", "'a': 1\n"])
def test_other_spellings_of_a_key(key: str, pure: bool) -> None:
    """Explicit, anchored, tagged, quoted."""
    assert plain(read_yaml(key, "f", pure=pure)) == {"a": 1}


@both
def test_a_second_document_is_refused(pure: bool) -> None:
    """At the line where it starts."""
    assert _problems("a: 1\n---\nb: 1\n", pure=pure) == ["f.yaml:2: expected a single YAML document"]


@both
@pytest.mark.parametrize("text", ["---\na: 1\n", "---\na: 1\n...\n", "%YAML 1.2\n---\na: 1\n", "\ufeffa: 1\n"])
def test_one_document_with_its_marks(text: str, pure: bool) -> None:
    """Start, end, version directive, byte order mark."""
    assert plain(read_yaml(text, "f", pure=pure)) == {"a": 1}


@both
@pytest.mark.parametrize("text", ["", "\n\n", "# only a comment\n", " \n# x\n\n"])
def test_an_empty_text_is_null_at_line_1(text: str, pure: bool) -> None:
    """spec/reqfile.md 1.0."""
    assert read_yaml(text, "f", pure=pure) == Node(kind="null", value=None, line=1, column=1)


PLACES = """\

# comment
first:
  key: v
second: &anchor
  # comment
  key: v
third: !tag

  - item
fourth:
- item
fifth: &x [ a ]
sixth: !!str
  text
seventh:
eighth: {
  k: v }
"""


@both
def test_lines_of_nodes(pure: bool) -> None:
    """A mapping is where its first key is, a list where its first ``-`` is, a scalar where it starts."""
    root = read_yaml(PLACES, "f", pure=pure)
    assert root.line == 3
    assert {entry.key: (entry.line, entry.value.line, entry.value.column) for entry in root.entries} == {
        "first": (3, 4, 3),
        "second": (5, 7, 3),
        "third": (8, 10, 3),
        "fourth": (11, 12, 1),
        "fifth": (13, 13, 11),
        "sixth": (14, 15, 3),
        "seventh": (16, 16, 9),
        "eighth": (17, 17, 9),
    }


@both
@pytest.mark.parametrize("end", ["\n", "\r\n", "\r"])
def test_columns_count_characters_and_lines_any_break(end: str, pure: bool) -> None:
    """Characters beyond ASCII are one column each."""
    root = read_yaml(f"é: 1{end}'日本': &x  v{end}", "f", pure=pure)
    second = root.entries[1]
    assert (second.line, second.column, second.value.line, second.value.column) == (2, 1, 2, 11)


@both
def test_breaks_of_yaml_1_1_are_characters(pure: bool) -> None:
    """U+0085, U+2028 and U+2029 neither end a line nor are they lost; private-use characters stay too."""
    root = read_yaml("a: x\u2028y\u2029\ue000\x85z\nb: '\x85'\nc: [\n  d]\n", "f", pure=pure)
    assert plain(root) == {"a": "x\u2028y\u2029\ue000\x85z", "b": "\x85", "c": ["d"]}
    assert root.entries[2].line == 3


@both
@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("a: 1\nb: \x07\n", "f.yaml:2: invalid YAML: character U+0007 is not allowed"),
        ("a: 1\r\n\x00", "f.yaml:2: invalid YAML: character U+0000 is not allowed"),
        ("a: \ud800", "f.yaml:1: invalid YAML: character U+D800 is not allowed"),
    ],
)
def test_characters_yaml_does_not_allow(text: str, message: str, pure: bool) -> None:
    """Located, whichever parser reads."""
    assert _problems(text, pure=pure) == [message]


@both
@pytest.mark.parametrize(
    ("text", "line"),
    [
        ("a: 'x", 1),
        ("a:\n\tb: c\n", 2),
        ("a: b: c\n", 1),
        ("a: 1\n b: 2\n", 2),
        ("a: [1,\n\n\n", 1),
        ("a: {b\n", 1),
        ("- !e!x y\n", 1),
        ('a: "\\ud83d"\n', 1),
        ("a: 1\n@b: 1\n", 2),
    ],
)
def test_syntax_errors_are_located(text: str, line: int, pure: bool) -> None:
    """Never behind the last line of the text; the words are the parser's."""
    (problem,) = _problems(text, pure=pure)
    assert problem.startswith(f"f.yaml:{line}: invalid YAML: ")
