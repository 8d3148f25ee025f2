"""The report for people at a terminal (spec reqfile.md 8.5)."""

from __future__ import annotations

import re

import pytest

from pytest_reqfile.outcome import Finding, Outcome
from pytest_reqfile.reports.check import CheckReport, ResolvedSource, RunError
from pytest_reqfile.reports.check_pretty import Style, render_pretty
from pytest_reqfile.reports.check_rows import rows_of, without_place
from pytest_reqfile.reports.words import columns
from tests.support.outcomes import outcome

RULE = "─" * 64


def finding(message: str = "bad", **fields: object) -> Finding:
    return Finding(message=message, fix_hint="Fix it.", **fields)  # type: ignore[arg-type]  # forwarded by name


def pretty(*outcomes: Outcome, style: Style | None = None, **fields: object) -> str:
    report = CheckReport(outcomes=outcomes, **fields)  # type: ignore[arg-type]  # forwarded by name
    return render_pretty(report, style or Style())


@pytest.mark.case("reqfile:Q11")
@pytest.mark.parametrize(
    ("message", "shown"),
    [
        ("a/b.py:3:7: E501 too long", "E501 too long"),
        ("a/b.py:3 too long", "too long"),
        ("./a/b.py: too long", "too long"),
        ("too long (RULE_ONE)", "too long"),
        ("a/b.py: too long (RULE_ONE)", "too long"),
        ("xa/b.py: too long", "xa/b.py: too long"),
        ("a/bxpy: too long", "a/bxpy: too long"),
        ("a/b.python is long", "a/b.python is long"),
        ("too long (E501)", "too long (E501)"),
        ("a/b.py", "a/b.py"),
        (" (RULE_ONE)", " (RULE_ONE)"),
    ],
)
def test_messages_drop_what_the_location_already_says(message: str, shown: str) -> None:
    """The file before them and the requirement's id after them."""
    assert without_place(message, finding(file="a/b.py", line=3), "RULE_ONE") == shown


@pytest.mark.case("reqfile:Q12")
def test_findings_of_a_requirement_are_grouped_with_their_fix_once() -> None:
    """Five are shown, the rest with ``-v``; what was taken from elsewhere says so."""
    findings = tuple(finding(f"number {n}", kind="advisory", file="a.py", line=n) for n in range(1, 8))
    details = {"block": "Reqfile.yaml:3", "source": "./std (std/Reqfile.yaml:9)"}
    text = pretty(outcome("RULE_ONE", findings=findings, seconds=0.4, details=details))
    assert text == (
        "reqfile check · 1 requirement · 1 check\n\n"
        "  ● RULE_ONE  7 advisory   0.4s\n\n"
        f"{RULE}\n\n"
        "● RULE_ONE  7 advisory · from ./std (std/Reqfile.yaml:9)\n"
        "  Be good.\n" + "".join(f"  ● a.py:{n}  number {n}\n" for n in range(1, 6)) + "  … 2 more (reqfile check -v)\n"
        "  fix  Fix it.\n\n"
        "● 7 advisory   1 check · 0.4s\n"
    )
    verbose = pretty(outcome("RULE_ONE", findings=findings), style=Style(verbose=True))
    assert "  ● a.py:7  number 7\n" in verbose
    assert "more (reqfile" not in verbose


def test_sections_are_ordered_by_severity_and_rows_by_plan() -> None:
    """Violations, errors, advisory, uncertain; what passes has a row only."""
    outcomes = (
        outcome("PASS"),
        outcome("UNSURE", findings=(finding("u", kind="uncertain", probability=0.5),)),
        outcome("ADVICE", findings=(finding("a", kind="advisory"),)),
        outcome("BROKEN", error="boom"),
        outcome("WRONG", findings=(finding("w"),)),
        outcome("EMPTY", left="nothing_to_check"),
        outcome("LATER", left="deferred"),
    )
    table, details = pretty(*outcomes).split(f"{RULE}\n\n")
    assert re.findall(r"^  (\S \S+)", table, re.MULTILINE) == [
        "✓ PASS",
        "? UNSURE",
        "● ADVICE",
        "! BROKEN",
        "✗ WRONG",
        "– EMPTY",
        "– LATER",
    ]
    assert "  – LATER   1 left for a full run\n" in table
    assert re.findall(r"^(\S \S+)  ", details, re.MULTILINE) == ["✗ WRONG", "! BROKEN", "● ADVICE", "? UNSURE"]
    assert details.endswith(
        "\n\n✗ 1 violation   ● 1 advisory   ? 1 uncertain   ! 1 error   "
        "5 checks · 1 with nothing to check · 1 left for a full run\n"
    )


def test_the_checks_of_a_requirement_share_a_row() -> None:
    """Its most severe thing gives the symbol; seconds add up. Blocks of one id in two folders are two rows."""
    rows = rows_of(
        (
            outcome("A", findings=(finding(),), seconds=1),
            outcome("A", "command-2", error="boom", seconds=2),
            outcome("A", folder="app"),
        )
    )
    assert [(row.folder, row.grade, row.seconds) for row in rows] == [("", "violation", 3), ("app", "pass", 0)]
    assert list(rows[0].parts()) == ["1 violation", "error · boom"]


def test_folders_head_their_rows_where_there_are_several() -> None:
    """The root is a dot, as in a shell."""
    text = pretty(outcome("A"), outcome("B", folder="app"), outcome("C", folder="app"))
    assert text.startswith(
        "reqfile check · 3 requirements · 3 checks\n\n.\n  ✓ A  pass\n\napp\n  ✓ B  pass\n  ✓ C  pass\n\n"
    )


def test_columns_line_up_by_what_a_terminal_shows() -> None:
    """Wide characters count twice; long cells are cut."""
    outcomes = (
        outcome("WIDE_ONE", error="日本語" * 50, seconds=0.1),
        outcome("B", error="short", seconds=100.0),
        outcome("C", seconds=2.25),
    )
    lines = pretty(*outcomes).splitlines()[2:5]
    assert {columns(line) for line in lines} == {120}
    assert {columns(line) for line in pretty(*outcomes, style=Style(width=60)).splitlines()[2:5]} == {60}
    narrow = pretty(*outcomes, style=Style(width=5)).splitlines()[2:5]
    assert 40 < max(map(columns, narrow)) <= 4 + 8 + 2 + 24 + 3 + 6
    assert [line.split()[-1] for line in lines] == ["0.1s", "40s", "2.2s"]
    assert "…" in lines[0]


def test_a_run_that_passes_says_so_and_one_that_ran_nothing_does_not() -> None:
    """Nothing passes by emptiness (seed 004 NO_FALSE_GREEN)."""
    assert pretty(outcome("A", seconds=0.3)).endswith("\n\n✓ every check passes   1 check · 0.3s\n")
    assert pretty(outcome("A", left="nothing_to_check")).endswith(
        "\n\n– no check ran   0 checks · 1 with nothing to check\n"
    )
    assert pretty() == "– no check ran   0 checks\n"


def test_errors_of_the_run_stand_alone() -> None:
    """No table without requirements; an advisory one says so."""
    errors = (RunError(message="Reqfile.yaml:1: wrong"), RunError(message="soft", blocking=False))
    assert pretty(run_errors=errors) == "! Reqfile.yaml:1: wrong\n! advisory  soft\n\n! 2 errors   0 checks\n"


def test_long_messages_show_how_they_begin_and_end() -> None:
    """A tool says what is wrong last; ``-v`` shows everything."""
    lines = "\n".join(f"line {n}" for n in range(50))
    text = pretty(outcome("A", findings=(finding(lines),)), outcome("B", error=lines))
    assert "  ✗ line 0\n    … 38 lines (reqfile check -v)\n    line 39\n" in text
    assert "  ! line 0\n    … 46 lines (reqfile check -v)\n    line 47\n    line 48\n    line 49\n" in text
    verbose = pretty(outcome("A", findings=(finding(lines),)), outcome("B", error=lines), style=Style(verbose=True))
    assert verbose.count("    line 20\n") == 2


def test_a_command_of_several_lines_is_named_by_the_first_that_does_something() -> None:
    """Where the plain report shows it as written."""
    run = "# why\nset -e\nmake\n"
    text = pretty(outcome("A", error=f"`{run}` failed with exit code 2\nboom", details={"command": run}))
    assert "  ! A  error · `set -e …` failed with exit code 2\n" in text
    assert "  ! `set -e …` failed with exit code 2\n    boom\n" in text
    run = "# nothing\n"
    assert "error · `# nothing` timed out" in pretty(outcome("A", error=f"`{run}` timed out", details={"command": run}))


def test_verbose_lists_every_check() -> None:
    """What it ran on and how long, or why not."""
    text = pretty(
        outcome("A", seconds=0.4, details={"command": "ruff check\nmore", "files": 2}),
        outcome("A", "decision", details={"units": 2, "cached": 1}),
        outcome("LONGER", left="deferred", details={"command": "slow"}),
        outcome("B", error="boom", details={"command": "x"}),
        style=Style(verbose=True),
    )
    assert (
        "\n\nChecks\n"
        "  A       command  ruff check … · 2 files · 0.4s\n"
        "  A       decision · 2 units (1 cached)\n"
        "  LONGER  command  slow · reason of deferred\n"
        "  B       command  x · error\n\n"
    ) in text


def test_quiet_keeps_what_fails() -> None:
    """Violations and errors, in whatever the program has to say, and the numbers."""
    text = pretty(
        outcome("WRONG", findings=(finding(),)),
        outcome("ADVICE", findings=(finding(kind="advisory"),)),
        outcome("PASS"),
        style=Style(quiet=True),
        sources=(ResolvedSource(location="o/r@v1", commit="c" * 40, offline=False),),
    )
    assert text.startswith("✗ WRONG  1 violation\n")
    assert "ADVICE" not in text
    assert "source" not in text
    assert text.endswith("\n\n✗ 1 violation   ● 1 advisory   3 checks\n")


def test_resolved_sources_are_named() -> None:
    """As in the plain report."""
    source = ResolvedSource(location="o/r@v1", commit="c" * 40, offline=False)
    assert f"source  o/r@v1 resolved to commit {'c' * 40}\n" in pretty(outcome("A"), sources=(source,))


def test_colours_are_the_only_control_characters() -> None:
    """And do not change the text."""
    nasty = finding("clear\x1b[2J\x07", file="x\x1by\n.py", line=1)
    outcomes = (outcome("A", findings=(nasty,), must="Be\x1b good.", seconds=1), outcome("B", error="e\x1b\r[K"))
    plain = pretty(*outcomes)
    assert not re.search(r"[\x00-\x09\x0b-\x1f\x7f-\x9f]", plain)
    assert "  ✗ x\\x1by\\x0a.py:1  clear\\x1b[2J\\x07\n" in plain
    colored = pretty(*outcomes, style=Style(color=True))
    assert re.sub(r"\x1b\[[0-9;]+m", "", colored) == plain
    assert "\x1b[31m✗\x1b[0m" in colored


@pytest.mark.parametrize(
    ("must", "first"),
    [
        ("One. Two.", "One."),
        ("Use e.g. this. Then that.", "Use e.g. this."),
        ("No end", "No end"),
        ("Ends! `code` follows.", "Ends!"),
        ("Spread\n  over lines. Next.", "Spread over lines."),
        ("Version 1.5 is used.", "Version 1.5 is used."),
    ],
)
def test_a_section_names_the_first_sentence_of_what_is_required(must: str, first: str) -> None:
    """The rest is what ``explain`` is for."""
    assert rows_of((outcome("A", must=must),))[0].must == first
