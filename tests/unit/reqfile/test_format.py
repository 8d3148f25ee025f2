"""Reqfile text → blocks, and every message about text that is wrong."""

from __future__ import annotations

import pytest

from pytest_reqfile.errors import FormatError
from pytest_reqfile.reqfile.format import declares_requirements, parse_reqfile
from pytest_reqfile.reqfile.values import CommandCheck, DecisionCheck, FolderUse, RepositoryUse, Thresholds
from tests.support.requirements import GOOD, OK, command, req

SHA = "0123456789abcdef0123456789abcdef01234567"


def problems(text: str) -> list[str]:
    with pytest.raises(FormatError) as caught:
        parse_reqfile(text, "a/Reqfile.yaml")
    return [message.removeprefix("a/Reqfile.yaml:") for message in caught.value.messages]


def use_block(*lines: str, kind: str = "code") -> str:
    return f"reqfile: 1\n{kind}:\n  - id: X\n" + "".join(f"    {line}\n" for line in lines)


def test_blocks_remember_what_they_say_and_where() -> None:
    """Product first whatever the order of the file."""
    product, code = parse_reqfile(GOOD, "a/Reqfile.yaml").blocks
    assert (product.id, product.kind, product.ref, str(product.location)) == (
        "QUICK_PAGES",
        "product",
        "https://example.invalid/1",
        "a/Reqfile.yaml:4",
    )
    assert (code.id, code.must, code.why, code.who) == (
        "NO_FIXME",
        "Nothing is left to fix.",
        "It is never fixed later.",
        "Maintainers.",
    )
    assert code.checks == (CommandCheck(line=20, run="true", fix_hint="Fix it now."),)


def test_sections_are_read_in_a_fixed_order() -> None:
    """Product, code, process (spec 1.1 step 5)."""
    sections = [req(kind, **{kind.upper(): OK}).removeprefix("reqfile: 1\n") for kind in ("process", "code", "product")]
    parsed = parse_reqfile("reqfile: 1\n" + "".join(sections), "Reqfile.yaml")
    assert [block.id for block in parsed.blocks] == ["PRODUCT", "CODE", "PROCESS"]


def test_every_field_of_a_command_is_read() -> None:
    """Nothing is left at its default."""
    text = command(
        "run me",
        hint="hint",
        files="**/*.py",
        pass_files=True,
        format="sarif",
        violation_codes=[1, 255],
        timeout=5,
        fast=True,
        thresholds={"violation_above": 1, "pass_below": 0.5},
        mode="advisory",
    )
    (check,) = parse_reqfile(req(R1=text), "Reqfile.yaml").blocks[0].checks or ()
    assert isinstance(check, CommandCheck)
    assert check.files is not None
    assert check.files.text == "**/*.py"
    assert check.thresholds == Thresholds(violation_above=1, pass_below=0.5, declared=True)
    facts = (check.run, check.fix_hint, check.pass_files, check.format, check.violation_codes, check.timeout)
    assert facts == ("run me", "hint", True, "sarif", (1, 255), 5)
    assert (check.fast, check.mode, check.line) == (True, "advisory", 8)


@pytest.mark.parametrize(
    ("text", "mode"),
    [("- decision", "advisory"), ("- decision:", "advisory"), ("- decision: {mode: blocking}", "blocking")],
)
def test_a_decision_is_advisory_unless_it_says_otherwise(text: str, mode: str) -> None:
    """All spellings of a decision check."""
    (check,) = parse_reqfile(req(R1=text), "Reqfile.yaml").blocks[0].checks or ()
    assert isinstance(check, DecisionCheck)
    assert check.mode == mode


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("", ["1: a Reqfile needs a `reqfile: 1` version key"]),
        ("# only a comment\n", ["1: a Reqfile needs a `reqfile: 1` version key"]),
        ("- a\n", ["1: the Reqfile must be a mapping, found a list"]),
        ("text\n", ["1: the Reqfile must be a mapping, found a string"]),
        ("reqfile: true\n", ["1: `reqfile` must be an integer, found a boolean"]),
        ("reqfile: 1.0\n", ["1: `reqfile` must be an integer, found a number"]),
        ("reqfile:\n", ["1: `reqfile` must be an integer, found null"]),
        ("reqfile: 1\ncode:\n", ["2: `code` must be a list, found null"]),
        ("reqfile: 1\ncode: []\n", []),
        ("reqfile: 1\ncode: [x]\n", ["2: a requirement must be a mapping, found a string"]),
        ("reqfile: 1\ncode:\n  - id: ''\n", ["3: `id` must be a non-empty string, found a string"]),
    ],
)
def test_the_top_of_a_reqfile(text: str, expected: list[str]) -> None:
    """Types, the version, and sections."""
    if not expected:
        assert parse_reqfile(text, "Reqfile.yaml").blocks == ()
    else:
        assert problems(text)[:1] == expected


def test_a_block_with_a_bad_id_is_read_to_its_end() -> None:
    """All problems at once, under the label of a block without a name."""
    text = req(bad="- lint").replace("    who: Us.\n", "    who: 3\n").replace("    must: Be good.\n", "")
    assert problems(text) == [
        "3: requirement id `bad` must be SCREAMING_SNAKE_CASE",
        "3: a requirement is missing the required field `must`",
        "5: `who` must be a non-empty string, found an integer",
        "7: unknown check `lint`; a check is either `decision` or a `command` mapping",
    ]


def test_more_than_one_decision_is_one_too_many() -> None:
    """At the second one; any number of commands is fine."""
    assert problems(req(R1=["- decision", OK, OK, "- decision: {mode: blocking}"])) == [
        "15: requirement R1 declares more than one decision check"
    ]


@pytest.mark.parametrize(
    ("check", "problem"),
    [
        ("- decision: {mode: loud}", "8: unknown decision mode `loud`; expected `advisory` or `blocking`"),
        ("- decision: {x: 1}", "8: unknown key `x` in a decision check (expected one of: mode)"),
        ("- decision: []", "8: a decision check must be a mapping, found a list"),
        ("- command:", "8: a command check must be a mapping, found null"),
        ("- {}", "8: a check is either `decision` or a `command` mapping"),
        ("- [decision]", "8: a check is either `decision` or a `command` mapping"),
        (command(" "), "9: `run` must be a non-empty string, found a string"),
        (command("true", fast="yes"), "11: `fast` must be true or false, found a string"),
        (command("true", files=["*.py"]), "11: `files` must be a non-empty string, found a list"),
        (command("true", violation_codes=[256]), "11: `violation_codes` must list exit codes between 1 and 255"),
        (command("true", violation_codes=[True]), "11: `violation_codes` must be an integer, found a boolean"),
        (command("true", violation_codes=1), "11: `violation_codes` must be a list, found an integer"),
        (command("true", timeout=1.5), "11: `timeout` must be an integer, found a number"),
        (command("true", timeout=-1), "11: `timeout` must be a positive number of seconds"),
        (command("true", thresholds=[]), "11: thresholds must be a mapping, found a list"),
        (
            command("true", thresholds={"x": 1}),
            "11: unknown key `x` in thresholds (expected one of: violation_above, pass_below)",
        ),
        (command("true", thresholds={"pass_below": "a"}), "11: `pass_below` must be a number, found a string"),
        (
            command("true", thresholds={"violation_above": 1.1}),
            "11: thresholds must satisfy 0 <= pass_below <= violation_above <= 1",
        ),
        (
            command("true").replace('hint: "h"', "hint: h\n    thresholds: {violation_above: .nan}"),
            "11: thresholds must satisfy 0 <= pass_below <= violation_above <= 1",
        ),
    ],
)
def test_a_check_that_is_wrong(check: str, problem: str) -> None:
    """One message, at the line it is about."""
    assert problems(req(R1=check)) == [problem]


def test_use_blocks_leave_open_what_they_do_not_say() -> None:
    """A folder of this repository, or another one pinned to a commit, lower-cased."""
    (folder,) = parse_reqfile(use_block("use: ../std"), "Reqfile.yaml").blocks
    assert (folder.use, folder.use_line, folder.must, folder.why, folder.checks) == (
        FolderUse(path="../std"),
        4,
        None,
        None,
        None,
    )
    (other,) = parse_reqfile(use_block(f"use: o/r.s@{SHA.upper()}", "why: Here.", "who: We."), "Reqfile.yaml").blocks
    assert (other.use, other.why, other.who) == (RepositoryUse(repo="o/r.s", ref=SHA, commit=True), "Here.", "We.")


@pytest.mark.parametrize(
    ("lines", "kind", "problem"),
    [
        (
            ["use: std"],
            "code",
            "4: `use: std` must be a folder relative to this Reqfile (./std) or a repository pinned",
        ),
        (["use: .../x"], "code", "4: `use: .../x` must be a folder"),
        (["use: a/b/c@v1"], "code", "4: `use: a/b/c@v1` must be a folder"),
        (["use: a/..@v1"], "code", "4: `use: a/..@v1` must be a folder"),
        (
            ["use: a/b@v1"],
            "code",
            "4: `use: a/b@v1` is pinned to a tag, which can move; a Reqfile pins a repository to a full commit id.",
        ),
        (["use: a/b@HEAD"], "code", "4: `HEAD` is not a tag or a full commit id; pin requirements to a tag (v1.0.0)"),
        (["use: a/b@"], "code", "4: `` is not a tag or a full commit id"),
        (["use: a/b@refs/tags/v1"], "code", "4: `refs/tags/v1` is not a tag"),
        (["use: a/b@--upload-pack=x"], "code", "4: `--upload-pack=x` is not a tag"),
        (["use: a/b@3f2a9c1"], "code", "4: `3f2a9c1` looks like a short commit id; use the full 40-character id"),
        (
            ["use: ./std"],
            "product",
            "4: requirement X is a product requirement, which describes this repository's own product;",
        ),
        (
            ["use: ./std", "ref: there"],
            "code",
            "5: requirement X is a use block, which takes `ref` from its definition; remove `ref`,",
        ),
        (["use: ./std", "checks: []"], "code", "5: requirement X declares no checks;"),
        (["use: []"], "code", "4: `use` must be a non-empty string, found a list"),
    ],
)
def test_a_use_block_that_is_wrong(lines: list[str], kind: str, problem: str) -> None:
    """One message, which says what to write instead."""
    (found,) = problems(use_block(*lines, kind=kind))
    assert found.startswith(problem)


def test_an_id_twice_in_one_file_names_both_lines() -> None:
    """Also across sections and for use blocks (spec 1.1 step 6)."""
    text = req(X=OK) + "process:\n  - { id: X, use: ./std }\n"
    assert problems(text) == ["12: requirement id X appears twice in this Reqfile (first at line 3)"]


@pytest.mark.parametrize(
    ("text", "meant"),
    [
        ("reqfile: 9\n", True),
        ("product: x\n", True),
        ("code: []\n", True),
        ("process:\n", True),
        ("name: ci\n", False),
        ("- code\n", False),
        ("code\n", False),
        ("", False),
        ("code: [\n", False),
        ("code: 1\ncode: 2\n", True),
        ("x: &a 1\ncode: *a\n", True),
        ("code: []\n---\nx: 1\n", True),
        ("? [a]\n: code\nreqfile: 1\n", True),
        ("x: [code: 1, code: 2]\ny: code\ny: code\n", False),
        ("- code: 1\n  code: 2\n", False),
        ("--- 1\n---\ncode: 1\n", False),
        ("\ufeffreqfile: 1\ncode: [\n", True),
        ("reqfile: 1\n\tcode: []\n", True),
        ("x: " + "[" * 10_000, False),
    ],
)
def test_a_near_miss_is_meant_as_a_reqfile_if_it_has_one_of_its_keys(text: str, meant: bool) -> None:
    """What is no YAML without our version key, or something else, is another tool's file (spec 1.5)."""
    assert declares_requirements(text, "reqfile.yml") == meant
