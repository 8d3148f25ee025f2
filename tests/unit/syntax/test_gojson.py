"""JSON in Go's spelling, known answers and generic values (spec/lock.md 2.5)."""

from __future__ import annotations

import datetime
from pathlib import Path

import pytest

from pytest_reqfile.errors import FormatError
from pytest_reqfile.lock.declared import inline_verifier_json, settings_json, table_json
from pytest_reqfile.lock.digest import TreeKind, file_leaf, tree_digest
from pytest_reqfile.syntax.gojson import go_json, indented
from pytest_reqfile.syntax.nodes import Node
from pytest_reqfile.syntax.toml import read_toml
from tests.support.projects import ProjectFolder

UTC = datetime.UTC
PLUS_2 = datetime.timezone(datetime.timedelta(hours=2))


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (1.0, "1"),
        (0.5, "0.5"),
        (1e-7, "1e-7"),
        (1.5e-7, "1.5e-7"),
        (0.000001, "0.000001"),
        (1e20, "100000000000000000000"),
        (1e21, "1e+21"),
        (1.25e300, "1.25e+300"),
        (-0.0, "-0"),
        (0.0, "0"),
        (123456789.125, "123456789.125"),
        (9007199254740993, "9007199254740993"),
        (True, "true"),
        (None, "null"),
        ("a/b", '"a/b"'),
        ("\x7f\u00e9", '"\x7f\u00e9"'),
        ("\x00\x1f\b\f\n\r\t", '"\\u0000\\u001f\\b\\f\\n\\r\\t"'),
        ("<a&b>\u2028\u2029", '"\\u003ca\\u0026b\\u003e\\u2028\\u2029"'),
        ('"\\', '"\\"\\\\"'),
        ({"b": [1, []], "a": {}}, '{"a":{},"b":[1,[]]}'),
        ({"é": 1, "z": 2, "\U0001f600": 3, "\uffff": 4}, '{"z":2,"é":1,"\uffff":4,"\U0001f600":3}'),
        ({"<": 1}, '{"\\u003c":1}'),
        (datetime.datetime(2026, 10, 1, 10, 0, tzinfo=UTC), '"2026-10-01T10:00:00Z"'),
        (datetime.datetime(2026, 10, 1, 10, 0, 0, 250000, tzinfo=PLUS_2), '"2026-10-01T10:00:00.25+02:00"'),
        (datetime.datetime(2026, 10, 1, 10, 0), '"2026-10-01T10:00:00"'),
        (datetime.date(2026, 10, 1), '"2026-10-01"'),
        (datetime.time(10, 0, 0, 500000), '"10:00:00.5"'),
    ],
)
def test_spelling(value: object, text: str) -> None:
    """Numbers, strings, keys in byte order, TOML's dates as text."""
    assert go_json(value) == text


@pytest.mark.case("lock:F26")
@pytest.mark.parametrize("value", [float("nan"), float("inf"), [float("-inf")]])
def test_numbers_json_does_not_have(value: object) -> None:
    """Refused, as Go does."""
    with pytest.raises(FormatError, match="json: unsupported value"):
        go_json(value)


@pytest.mark.case("lock:I18")
def test_reports_are_indented_with_escapes() -> None:
    """Two spaces, an empty list on its line, ``->`` escaped, a newline at the end."""
    assert indented({"a": [], "b": "x -> y"}) == '{\n  "a": [],\n  "b": "x -\\u003e y"\n}\n'


def _verifier(text: str) -> Node:
    node = read_toml(text, "x.toml").get("verifiers")
    assert node is not None
    return node.items[0]


@pytest.mark.parametrize(
    ("toml", "text", "digest"),
    [
        (
            '[[verifiers]]\npath = "CHANGELOG.md"\ntype = "file_exists"\nname = "has-changelog"\n',
            '{"name":"has-changelog","type":"file_exists","path":"CHANGELOG.md"}',
            "sha256:a61d5344d7560daf09fa343160583a0227f9875854940a325a0632701309ace6",
        ),
        (
            '[[verifiers]]\nname = "node-pin"\ntype = "key_equals"\npath = "package.json"\nkey = "engines.node"\n'
            'equals = ">=22"\n',
            '{"name":"node-pin","type":"key_equals","path":"package.json","key":"engines.node","equals":"\\u003e=22"}',
            "sha256:298153b47f3171e74f91822e979bf687aebb84458b8cbe909d3b2e82ac923593",
        ),
    ],
)
def test_known_answers_of_inline_verifiers(toml: str, text: str, digest: str) -> None:
    """spec/verifiers.md 12: fields in the order of the struct, whatever the file's."""
    found = inline_verifier_json(_verifier(toml))
    assert found == text
    assert _digest("verifier", "verifier.json", found) == digest


def test_known_answer_of_a_file_table() -> None:
    """All keys, sorted, nothing left out."""
    found = table_json(
        _verifier(
            '[[verifiers]]\nid = "no-print"\nrule = "style"\nseverity = "error"\nwhen_changed = ["app/**/*.py"]\n'
            "exclude = [\"old/**\"]\n[verifiers.require.forbid]\nregex = 'print\\('\n"
        )
    )
    assert _digest("verifier", "verifier.json", found) == (
        "sha256:b13c43206759f1a9c4fda7956d0e66d2c18d36a3880954cb915adba2aa52d606"
    )


@pytest.mark.case("verifiers:D-36")
def test_known_answer_of_settings(tmp_path: Path) -> None:
    """spec/verifiers.md 12: keys in the order of the struct, what is zero left out."""
    project = ProjectFolder(
        tmp_path,
        '[verifiers_settings]\ntrust_exec_from = ["corp"]\nwarn_dead = false\nmax_timeout_s = 60\n'
        '[[includes]]\nname = "corp"\nsource = "vendor"\n',
    )
    project.write("vendor/rules/a.md")
    found = dict(settings_json(project.load().config))
    assert found == {"verifiers-settings": '{"max_timeout_s":60,"trust_exec_from":["corp"]}'}
    assert _digest("settings", "verifiers-settings.json", found["verifiers-settings"]) == (
        "sha256:0772a56407258e0c8b1d826fe82e03746c9982f9b76985d9872f29c8c7dc44be"
    )


def _digest(kind: TreeKind, leaf: str, text: str) -> str:
    return tree_digest(kind, [file_leaf(leaf, text.encode())])


def test_inline_verifier_with_everything() -> None:
    """Pointers keep empty values, predicates nest, examples keep their order."""
    found = inline_verifier_json(
        _verifier(
            """[[verifiers]]
name = "x"
severity = ""
min = 0
equals = ""
rule = "r"
when_changed = []
[verifiers.require]
all = [{ forbid = { regex = "a", files = [] } }, { not = { file_exists = { path = "p", exists = false } } }]
[[verifiers.examples]]
expect = "pass"
name = "e"
files = { "b" = "2", "a" = "1" }
"""
        )
    )
    assert found == (
        '{"name":"x","min":0,"equals":"","rule":"r","require":{"all":[{"forbid":{"regex":"a"}},'
        '{"not":{"file_exists":{"path":"p","exists":false}}}]},'
        '"examples":[{"name":"e","files":{"a":"1","b":"2"},"expect":"pass"}]}'
    )
