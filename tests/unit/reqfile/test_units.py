"""Which code an ast-grep rule selects (spec reqfile.md 4.1)."""

from __future__ import annotations

import time

import pytest

from pytest_reqfile.errors import FormatError
from pytest_reqfile.reqfile.decision import Decision, parse_decision
from pytest_reqfile.reqfile.languages import canonical_language, language_of
from pytest_reqfile.reqfile.units import ParsedFile, Unit, rule_problems, rules_for
from tests.support.decisions import PYFUNC

PATH = ".reqfile/R1/decision.yaml"


def decision(units: str, context: str = "") -> Decision:
    """PYFUNC with other units, one flow mapping a line."""
    lines = "".join(f"  - {unit}\n" for unit in units.strip().split("\n"))
    text = PYFUNC.replace("  - {language: python, rule: {kind: function_definition}}\n", lines)
    return parse_decision(text.replace("question:", f"{context}question:", 1), PATH)


def units(found: Decision, text: str, path: str = "a.py") -> tuple[Unit, ...]:
    return ParsedFile(path, text).units(found, rules_for(found, path, language_of(path)))


FUNCTIONS = "{language: python, rule: {kind: function_definition}}"


def test_nested_matches_are_units_of_their_own_in_the_order_of_the_file() -> None:
    """Exact text: no decorator before, no line break after."""
    text = "@dec\ndef f():\n    def g():\n        pass\n\nclass A:\n    async def m(self): return 'é'  # x\n"
    found = units(decision(FUNCTIONS), text)
    assert [(unit.line, unit.source) for unit in found] == [
        (2, "def f():\n    def g():\n        pass"),
        (3, "def g():\n        pass"),
        (7, "async def m(self): return 'é'  # x"),
    ]
    assert [text[unit.start : unit.end] for unit in found] == [unit.source for unit in found]


def test_a_range_that_several_rules_match_is_one_unit() -> None:
    """Whatever the order of the rules."""
    both = decision(FUNCTIONS + '\n{language: PY, rule: {pattern: "def $F(): $$$BODY"}}')
    assert len(units(both, "def f():\n    pass\ndef g(x):\n    pass\n")) == 2


def test_constraints_and_utils_go_to_ast_grep_unchanged() -> None:
    """As its own rules have them."""
    constrained = '{language: python, rule: {pattern: "$F($A)"}, constraints: {F: {regex: "^log"}}}'
    assert [unit.source for unit in units(decision(constrained), "log(1)\nprint(2)\n")] == ["log(1)"]
    utils = "{language: python, rule: {matches: fn}, utils: {fn: {kind: function_definition}}}"
    assert len(units(decision(utils), "def f(): pass\n")) == 1


def test_a_rule_selects_from_files_of_exactly_its_language() -> None:
    """TypeScript is not TSX, and a rule for either never reads the other's files."""
    typescript = decision("{language: ts, rule: {kind: arrow_function}}")
    assert len(units(typescript, "const f = () => 1;\n", "a.ts")) == 1
    assert units(typescript, "const f = () => 1;\n", "a.tsx") == ()


@pytest.mark.parametrize(
    ("kind", "enclosing"),
    [("except_clause", "def f():"), ("function_definition", None), ("class_definition", None)],
)
def test_the_enclosing_function_is_an_ancestor_never_the_unit_itself(kind: str, enclosing: str | None) -> None:
    """The nearest one; without any there is none."""
    text = "class A:\n    pass\n\ndef f():\n    try:\n        g()\n    except E:\n        pass\n"
    (unit,) = units(decision(f"{{language: python, rule: {{kind: {kind}}}}}", "context: enclosing\n"), text)
    assert (unit.enclosing or "").partition("\n")[0] == (enclosing or "")
    assert unit.size == len(unit.source) + len(unit.enclosing or "")


def test_enclosing_functions_of_a_long_expression_are_found_in_no_time() -> None:
    """Generated code has expressions of thousands of terms, each inside of the one before (52 s once)."""
    found = decision("{language: python, rule: {kind: integer}}", "context: enclosing\n")
    start = time.process_time()
    terms = units(found, f"def f():\n    return {' + '.join(['1'] * 2000)}\n")
    assert time.process_time() - start < 5.0
    assert {(unit.enclosing or "")[:7] for unit in terms} == {"def f()"}
    assert len(terms) == 2000


@pytest.mark.parametrize(
    ("path", "language"),
    [
        ("a.py", "python"),
        ("BUILD.bzl", "python"),
        ("x.zsh", "bash"),
        ("x/.zsh", None),
        (".env", None),
        ("v1.0/sh", None),
        ("a.h", "c"),
        ("a.hpp", "cpp"),
        ("a.d.ts", "typescript"),
        ("a.jsx", "javascript"),
        ("a.PY", None),
        ("Makefile", None),
        ("a.toml", None),
        ("a.py/x", None),
    ],
)
def test_a_file_s_language_is_that_of_its_last_extension(path: str, language: str | None) -> None:
    """By ast-grep's own table."""
    assert language_of(path) == language


@pytest.mark.parametrize(
    ("name", "language"),
    [
        ("Python", "python"),
        ("RS", "rust"),
        ("golang", "go"),
        ("C++", "cpp"),
        ("cobol", None),
        ("toml", None),
        ("", None),
    ],
)
def test_language_names_have_aliases_and_no_case(name: str, language: str | None) -> None:
    """One that ast-grep lacks must not reach its binding."""
    assert canonical_language(name) == language


@pytest.mark.parametrize(
    ("unit", "message"),
    [
        ("{language: python, rule: {kind: nope}}", "`rule` is not configured correctly.: Rule contains invalid kind"),
        ("{language: python, rule: {}}", "`rule` is not configured correctly.: Rule must have one positive matcher."),
        (
            '{language: python, rule: {regex: "("}}',
            "Parsing text matcher fails.: regex parse error: ( ^ error: unclosed",
        ),
        ("{language: python, rule: 5}", "unexpected type: 'int' object is not an instance of 'Mapping'"),
        ("{language: python, rule: {kind: 5}}", ""),
        (
            "{language: python, rule: {range: {start: {line: -1, column: 0}, end: {line: 1, column: 0}}}}",
            "can't convert negative int to unsigned",
        ),
        ("{language: python, rule: {matches: x}}", "Rule `x` is not defined."),
        ("{language: python, rule: {matches: x}, utils: {x: {matches: x}}}", ""),
        ('{language: python, rule: {pattern: "$A"}, constraints: {A: {kind: zzz}}}', "`constraints` is not configured"),
        ("{language: python, rule: {pattern: {context: x, selector: y}}}", "Kind `y` is invalid."),
    ],
)
def test_a_rule_that_ast_grep_refuses_is_told_before_anything_is_searched(unit: str, message: str) -> None:
    """At the unit's line, as one line, without a stack."""
    (problem,) = rule_problems(decision(f"{FUNCTIONS}\n{unit}"), PATH)
    assert (problem.path, problem.line) == (PATH, 4)
    assert problem.message.startswith("invalid ast-grep rule: ")
    assert message in problem.message
    assert "\n" not in problem.message
    assert "acktrace" not in problem.message


@pytest.mark.parametrize(
    ("unit", "message"),
    [
        ("{rule: {kind: x}}", "invalid ast-grep rule: missing field `language`"),
        ("{language: python}", "invalid ast-grep rule: missing field `rule`"),
        ("{language: 5, rule: {kind: x}}", "invalid ast-grep rule: `an integer` is not a language that ast-grep knows"),
        ("{language: python, rule: {kind: x}, files: 'a/['}", "invalid `files` glob: error parsing glob 'a/['"),
        (
            "{language: python, rule: {kind: x}, ignores: [a, 5]}",
            "`ignores` must be a non-empty string, found an integer",
        ),
        ("{language: python, rule: {kind: x}, context: enclosing}", "unknown key `context` in a unit"),
        ("python", "a unit must be a mapping, found a string"),
    ],
)
def test_a_unit_that_says_too_little_or_too_much_is_a_format_error(unit: str, message: str) -> None:
    """With the line of the unit, or of the value."""
    with pytest.raises(FormatError) as caught:
        decision(unit)
    assert [str(problem).partition(": ")[0] for problem in caught.value.problems] == [f"{PATH}:3"]
    assert message in str(caught.value)


@pytest.mark.parametrize(
    ("old", "new", "messages"),
    [
        (PYFUNC, "", (":1: decision.yaml must be a mapping, found null",)),
        ("question: Several things?", "question: ''", (":4: `question` must be a non-empty string, found a string",)),
        ("fix_hint: Break it up.\n", "", (":2: decision.yaml is missing the required field `fix_hint`",)),
        (
            "{ violation_above: 0.8, pass_below: 0.2 }",
            "{ pass_below: 0.2 }",
            (":8: thresholds is missing the required",),
        ),
        ("{ violation_above: 0.8, pass_below: 0.2 }", "high", (":8: thresholds must be a mapping, found a string",)),
        ("question:", "context: file\nquestion:", (":4: unknown context `file`; expected `enclosing`",)),
        (
            "  - {language: python, rule: {kind: function_definition}}\n",
            "  []\n",
            ("must list at least one ast-grep rule",),
        ),
        ("units:", "unit:", (":2: unknown key `unit` in decision.yaml", "missing the required field `units`")),
    ],
)
def test_every_problem_of_a_decision_yaml_is_told(old: str, new: str, messages: tuple[str, ...]) -> None:
    """Not the first alone."""
    with pytest.raises(FormatError) as caught:
        parse_decision(PYFUNC.replace(old, new), PATH)
    assert len(caught.value.problems) == len(messages), caught.value
    for message in messages:
        assert message in str(caught.value)


def test_globs_of_units_may_be_one_or_several() -> None:
    """``ignores`` beats ``files``."""
    found = decision("{language: python, rule: {kind: x}, files: 'src/**', ignores: ['**/gen/**', '**/*_pb2.py']}")
    rule = found.units[0]
    assert [rule.takes(p) for p in ("src/a.py", "src/gen/a.py", "src/a_pb2.py", "a.py")] == [True, False, False, False]


def test_the_question_s_fingerprint_covers_what_decides_a_verdict() -> None:
    """Question, criteria and thresholds; neither units nor fix hint."""
    one = parse_decision(PYFUNC, PATH)
    same = parse_decision(
        PYFUNC.replace("Break it up.", "Cut.").replace("function_definition", "class_definition"), PATH
    )
    other = parse_decision(PYFUNC.replace("0.2", "0.1"), PATH)
    assert one.fingerprint == same.fingerprint != other.fingerprint
    assert one.fingerprint == "5219392774ccb133"
