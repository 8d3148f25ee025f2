"""Reading missions: where keys may sit, what they may say (spec oracle.md 3; 9.1, 9.2, 9.4, 9.13)."""

from __future__ import annotations

import json

import pytest

from pytest_reqfile.oracle.mission import Mission
from pytest_reqfile.oracle.reading import read_mission
from tests.support.missions import PATH, criterion, entry, mission, mission_text

ENTRY = {"command": "true", "expectedExitCode": 0, "checkId": "C"}
CRITERIA = [{"id": "AC-1", "text": "It works.", "checkId": "C"}]


def read(value: object) -> Mission:
    """The mission of a JSON value."""
    return read_mission(json.dumps(value).encode(), PATH)


def problems(value: object) -> list[str]:
    """What is wrong with the mission of a JSON value."""
    return [str(problem) for problem in read(value).problems]


@pytest.mark.parametrize(
    "value",
    [
        {"verificationOracle": [ENTRY]},
        {"delegation": {"verificationOracle": [ENTRY]}},
        {"intent": {"verificationOracle": [ENTRY]}},
        {"spec": {"verificationOracle": [ENTRY]}},
        {"verificationOracle": {"commands": [ENTRY]}},
        {"verificationOracle": ENTRY},
        {"verificationOracle": [ENTRY], "spec": {"verificationOracle": [ENTRY]}},
    ],
)
def test_the_oracle_is_found_wherever_it_sits(value: object) -> None:
    """The pointer table: four places and three forms, the same value twice is no contradiction."""
    read_one = read(value)
    assert read_one.problems == ()
    assert [(c.command, c.expected, c.check_id) for c in read_one.commands] == [("true", 0, "C")]


@pytest.mark.parametrize(
    "value",
    [
        {"acceptanceCriteria": CRITERIA},
        {"acceptance": {"criteria": CRITERIA}},
        {"intent": {"acceptanceCriteria": CRITERIA}},
        {"delegation": {"acceptanceCriteria": CRITERIA}},
    ],
)
def test_criteria_are_found_wherever_they_sit(value: object) -> None:
    """The pointer table for acceptance criteria."""
    (found,) = read(value).criteria
    assert (found.id, found.text, found.check_id) == ("AC-1", "It works.", "C")


@pytest.mark.parametrize(
    "value",
    [
        {"mustNotRegress": ["a b"]},
        {"verificationOracle": {"commands": [ENTRY], "mustNotRegress": ["a b"]}},
        {"delegation": {"mustNotRegress": ["a b"]}},
        {"intent": {"mustNotRegress": ["a b"]}},
        {"mustNotRegress": "a b"},
    ],
)
def test_guards_are_found_wherever_they_sit(value: object) -> None:
    """The pointer table for mustNotRegress; a single guard needs no list."""
    (found,) = read(value).guards
    assert (found.kind, found.check_id) == ("prose", "a b")


def test_two_different_values_for_one_key_are_a_contradiction() -> None:
    """Nobody can say which of the two was meant."""
    text = '{"verificationOracle": ["true"],\n "spec": {"verificationOracle": ["false"]}}'
    (problem,) = read_mission(text.encode(), PATH).problems
    assert str(problem) == "mission.json:2: /spec/verificationOracle contradicts /verificationOracle at line 1"


def test_an_entry_may_be_a_bare_command() -> None:
    """A string is a shell command with nothing else said about it."""
    (found,) = mission("true").commands
    assert (found.command, found.expected, found.defaulted, found.check_id, found.named) == (
        *("true", 0, True),
        *("oracle-1", False),
    )


def test_a_command_is_kept_exactly() -> None:
    """No trimming, no splitting, no substitution (seed 003 "exactly as specified")."""
    example = " a  'b'\n$C *.py "
    found = mission(entry(example), entry(["x", "", " y "], check_id="D")).commands
    assert [command.command for command in found] == [example, ("x", "", " y ")]


def test_one_expected_code_for_all() -> None:
    """The object form gives a default; an entry's own beats it."""
    value = {"verificationOracle": {"commands": ["a", {"command": "b", "expectedExitCode": 2}], "expectedExitCode": 1}}
    assert [(c.expected, c.defaulted) for c in read(value).commands] == [(1, False), (2, False)]


@pytest.mark.parametrize(
    ("code", "found"),
    [
        (True, "a boolean"),
        ("0", "the string '0'"),
        (0.0, "a number"),
        (256, "256"),
        (-1, "-1"),
        (None, "null"),
        ([0], "a list"),
    ],
)
@pytest.mark.case("oracle:9.4")
def test_an_exit_code_is_an_integer_of_a_byte(code: object, found: str) -> None:
    """spec 9.4: nothing is taken for an exit code that is none."""
    assert problems({"verificationOracle": [{"command": "true", "expectedExitCode": code}]}) == [
        f"mission.json:1: `expectedExitCode` must be an integer in 0..255, found {found}"
    ]


@pytest.mark.case("oracle:9.4")
def test_a_missing_exit_code_is_zero_and_marked() -> None:
    """spec 9.4: the default is a limitation later."""
    (found,) = read({"verificationOracle": [{"command": "true"}]}).commands
    assert (found.expected, found.defaulted) == (0, True)


@pytest.mark.parametrize("value", [{}, {"verificationOracle": []}, {"verificationOracle": None}, {"commands": []}])
@pytest.mark.case("oracle:9.1")
def test_no_oracle_is_no_problem_of_the_file(value: object) -> None:
    """spec 9.1: absent, empty or null alike; that makes it blocked, not invalid."""
    found = read(value)
    assert (found.commands, found.problems) == ((), ())


@pytest.mark.parametrize(
    ("oracle", "message"),
    [
        ([""], "a command must be a non-empty string or a list of them, found an empty string"),
        ([{"command": []}], "a command's list must hold strings, the first not empty, found a list"),
        ([{"command": ["", "a"]}], "a command's list must hold strings, the first not empty, found a list"),
        ([{"command": ["a", 1]}], "a command's list must hold strings, the first not empty, found a list"),
        ([{"command": 7}], "a command must be a non-empty string or a list of them, found 7"),
        ([{"checkId": "C"}], "oracle command 1 is missing the required field `command`"),
        ([7], "oracle command 1 must be a mapping, found an integer"),
        ([{"command": "a", "cwd": "../b"}], "`cwd` must be a path inside the workspace without `..`, found '../b'"),
        ([{"command": "a", "cwd": "/b"}], "`cwd` must be a path inside the workspace without `..`, found '/b'"),
        ([{"command": "a", "cwd": "b/../c"}], "`cwd` must be a path inside the workspace without `..`, found 'b/../c'"),
        ([{"command": "a", "timeoutMs": 0}], "`timeoutMs` must be in 1..3600000, found 0"),
        ([{"command": "a", "timeoutMs": 3600001}], "`timeoutMs` must be in 1..3600000, found 3600001"),
        ([{"command": "a", "env": {"A": 1}}], "`env.A` must be a string, found 1"),
        ([{"command": "a", "env": {"A=B": "x"}}], "`env.A=B` must be a string, found the string 'x'"),
        ([{"command": "a", "checkId": "C", "id": "D"}], "`id` contradicts `checkId`"),
        ([{"command": "a", "checkId": "x" * 513}], "`checkId` must have at most 512 characters, found 513"),
        (
            [{"command": "a", "retries": 3}],
            "unknown key `retries` in oracle command 1 (expected one of: command, expectedExitCode, checkId, id, cwd,"
            " timeoutMs, env, mustNotRegress)",
        ),
    ],
)
def test_unknown_shapes_are_problems(oracle: object, message: str) -> None:
    """What the schema does not know makes the mission invalid, never a guess."""
    assert message in [text.partition(": ")[2] for text in problems({"verificationOracle": oracle})]


@pytest.mark.parametrize(
    ("guard", "message"),
    [
        ({"id": "G"}, "a regression guard needs one of `checkId`, `command` and `paths`, found none of them"),
        (
            {"id": "G", "checkId": "C", "command": "x"},
            "a regression guard needs one of `checkId`, `command` and `paths`, found `checkId` and `command`",
        ),
        ({"command": "x"}, "regression guard 1 is missing the required field `id`"),
        ({"id": "G", "paths": [], "baseline": "HEAD"}, "`paths` must name at least one path, found an empty list"),
        ({"id": "G", "paths": ["a"]}, "regression guard 1 is missing the required field `baseline`"),
        ({"id": "G", "paths": ["../a"], "baseline": "x"}, "`paths` must be inside the workspace, found '../a'"),
    ],
)
def test_guards_of_unknown_shape_are_problems(guard: object, message: str) -> None:
    """mustNotRegress is as strict as the oracle."""
    assert message in [text.partition(": ")[2] for text in problems({"mustNotRegress": [guard]})]


@pytest.mark.case("oracle:9.2")
def test_duplicate_criterion_ids_are_a_problem() -> None:
    """spec 9.2: two claims of one id could not be told apart."""
    text = '{"acceptanceCriteria": [\n{"id": "A", "text": "x"},\n{"id": "A", "text": "y"}]}'
    (problem,) = read_mission(text.encode(), PATH).problems
    assert str(problem) == "mission.json:3: duplicate criterion id `A` (first used at line 2)"


def test_duplicate_guard_ids_are_a_problem() -> None:
    """As for criteria."""
    text = '{"mustNotRegress": [\n{"id": "G", "checkId": "C"},\n{"id": "G", "checkId": "D"}]}'
    (problem,) = read_mission(text.encode(), PATH).problems
    assert str(problem) == "mission.json:3: duplicate guard id `G` (first used at line 2)"


@pytest.mark.parametrize(
    ("value", "message"),
    [
        (0, "`delegation.return_budget_tokens` must be an integer of at least 1, found 0"),
        (-5, "`delegation.return_budget_tokens` must be an integer of at least 1, found -5"),
        (True, "`delegation.return_budget_tokens` must be an integer of at least 1, found a boolean"),
        (1.5, "`delegation.return_budget_tokens` must be an integer of at least 1, found a number"),
    ],
)
@pytest.mark.case("oracle:9.13")
def test_a_budget_is_a_positive_integer(value: object, message: str) -> None:
    """spec 9.13: a limit of nothing is no limit, and nobody's wish."""
    assert problems({"delegation": {"return_budget_tokens": value}}) == [f"mission.json:1: {message}"]


@pytest.mark.parametrize(
    ("value", "budget"),
    [
        ({}, 1000),
        ({"delegation": {"return_budget_tokens": 300}}, 300),
        ({"intent": {"limits": {"tokens": 200}}}, 200),
        ({"intent": {"limits": {"tokens": 2000}}}, 1000),
        ({"delegation": {"return_budget_tokens": 300}, "intent": {"limits": {"tokens": 200}}}, 200),
        ({"delegation": {"return_budget_tokens": 100}, "intent": {"limits": {"tokens": 200}}}, 100),
    ],
)
@pytest.mark.case("oracle:9.13")
def test_the_smaller_limit_holds(value: object, budget: int) -> None:
    """seed 003: return_budget_tokens, or 1000; also honor intent.limits.tokens."""
    assert read(value).budget == budget


def test_all_problems_are_told() -> None:
    """One load reports everything, in line order, and still knows the criteria to block."""
    text = mission_text(
        {"command": 1}, {"command": "a", "expectedExitCode": 300}, criteria=[criterion(), {"text": "x"}]
    )
    found = read_mission(text.encode(), PATH)
    assert len(found.problems) == 3
    assert [one.id for one in found.criteria] == ["AC-1"]


@pytest.mark.parametrize(
    ("data", "message"),
    [
        (b"", "mission.json:1: invalid JSON: expected a value, found the end of the file"),
        (b"[1]", "mission.json:1: a mission must be an object, found a list"),
        (b'{"a": 1,\n "a": 2}', "mission.json:2: duplicate key `a` (first defined at line 1)"),
        (b"\xff", "mission.json:1: not valid UTF-8"),
    ],
)
def test_a_text_that_is_no_mission(data: bytes, message: str) -> None:
    """Read as invalid, with the place; duplicate keys are never silently merged."""
    assert [str(problem) for problem in read_mission(data, PATH).problems] == [message]


def test_the_binding_goes_through_unchanged() -> None:
    """seed 003: head, lineage and review rounds are the conductor's."""
    binding = {"head": "abc", "base": "def", "lineage": ["x", {"y": 1.5}], "review": {"rounds": 2, "findings": []}}
    assert read(binding).binding == binding
    assert read({"metadata": {"lineage": "z"}}).binding == {"lineage": "z"}


def test_the_digest_is_of_the_bytes() -> None:
    """The conductor compares it with what it sent."""
    empty = "sha256:44136fa355b3678a1146ad16f7e8649e94fb4fc21fe77e8310c060f61caaff8a"
    assert read_mission(b"{}", PATH).digest == empty
