"""One command check → its outcome (seed 004 COMMAND_CHECK; spec reqfile.md 3), with real shells."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import pytest

from pytest_reqfile.outcome import Outcome
from pytest_reqfile.reqfile.command import TAIL_LINES, CommandContext, evaluate_command, tail
from pytest_reqfile.reqfile.plan import PlannedCheck
from pytest_reqfile.reqfile.values import Edition
from pytest_reqfile.workspace.environment import Environment
from pytest_reqfile.workspace.processes import Cancellation
from tests.support.memory_tree import plan_of
from tests.support.requirements import command, req


@pytest.fixture
def context(tmp_path: Path) -> CommandContext:
    """Commands run in the test's own folder, with nothing but a PATH."""
    return CommandContext(
        root=str(tmp_path),
        environment=Environment(variables={"PATH": "/usr/local/bin:/usr/bin:/bin", "KEPT": "yes"}),
        edition="0.1",
        program="/bin/reqfile",
    )


def planned(check: str, *files: str) -> PlannedCheck:
    (only,) = plan_of({"Reqfile.yaml": req(R1=check), **dict.fromkeys(files, "")})
    return only


def outcome(context: CommandContext, run: str, *files: str, **fields: object) -> Outcome:
    return evaluate_command(planned(command(run, hint="hint", **fields), *files), context)


def test_an_outcome_says_what_was_required_and_what_ran(context: CommandContext) -> None:
    """Everything a report may want to show."""
    found = outcome(context, "echo out; exit 1")
    assert (found.subject, found.name, found.status, str(found.declared)) == (
        "requirement",
        "R1/command-1",
        "fail",
        "Reqfile.yaml:8",
    )
    assert (found.title, found.why, found.fix_hint, found.blocking) == ("Be good.", "Because.", "hint", True)
    assert found.details == {"kind": "code", "files": 0, "command": "echo out; exit 1", "arguments": 0}
    assert (found.looked_at, found.seconds > 0) == (1, True)
    (finding,) = found.findings
    assert (finding.message, finding.kind, finding.file, finding.fix_hint) == ("out", "violation", None, "hint")


@pytest.mark.parametrize(
    ("run", "fields", "reason"),
    [
        ("exit 2", {}, "`exit 2` failed with exit code 2\n(no output)"),
        ("kill -TERM $$", {}, "`kill -TERM $$` was killed by signal 15"),
        (
            "echo a; echo b >&2; exit 3",
            {"format": "sarif"},
            "`echo a; echo b >&2; exit 3` failed with exit code 3\na\nb",
        ),
        (
            "echo '<a'",
            {"format": "junit"},
            "`echo '<a'`: output is not valid JUnit XML: unclosed token: line 1, column 0",
        ),
        ("sleep 20", {"timeout": 1}, "`sleep 20` timed out after 1 seconds"),
        ("echo {; exit 1", {"format": "sarif"}, "`echo {; exit 1`: output is not valid SARIF: Expecting property name"),
        ("if", {}, "`if` failed with exit code 2\nsh: 1: Syntax error"),
    ],
    ids=["exit", "signal", "stderr", "junit", "timeout", "sarif", "syntax"],
)
def test_what_gave_no_answer_is_an_error(
    context: CommandContext, run: str, fields: dict[str, object], reason: str
) -> None:
    """Never a pass, never a violation (seed 004 NO_FALSE_GREEN)."""
    found = outcome(context, run, **fields)
    assert (found.status, found.findings) == ("error", ())
    if run != "if" or "Syntax error" in (found.reason or ""):  # other shells have other words
        assert (found.reason or "").startswith(reason)


def test_a_command_in_a_folder_that_is_gone_could_not_be_launched(context: CommandContext) -> None:
    """The words of spec 3.3."""
    found = outcome(replace(context, root=f"{context.root}/gone"), "true")
    assert found.status == "error"
    assert (found.reason or "").startswith("`true` could not be launched: No such file or directory")


def test_arguments_go_to_the_end_of_the_last_line(context: CommandContext) -> None:
    """Of a script of several lines, whatever newline ends it."""
    run = 'f() {\n  echo "$#: $*"; exit 1\n}\nf first\n'
    found = outcome(context, run, "a b.txt", "-c.txt", files="*.txt", pass_files=True)
    assert found.findings[0].message == "3: first ./-c.txt a b.txt"
    assert found.details["arguments"] == 2


def test_the_environment_is_what_is_given_and_two_names(context: CommandContext, tmp_path: Path) -> None:
    """stdin is empty."""
    found = outcome(context, 'cat; echo "$KEPT $REQFILE $REQFILE_ASSETS $PWD"; exit 1')
    assert found.findings[0].message == f"yes /bin/reqfile /repo/.reqfile/R1 {tmp_path}"


@pytest.mark.parametrize(
    ("fields", "code", "statuses"),
    [
        ({}, 0, {"0.1": "pass", "0.4": "fail"}),
        ({}, 1, {"0.1": "fail", "0.4": "fail"}),
        ({"thresholds": {}}, 0, {"0.1": "fail", "0.4": "fail"}),
        ({"mode": "advisory"}, 1, {"0.1": "advisory", "0.4": "advisory"}),
    ],
)
def test_the_editions_read_sarif_on_exit_0_or_not(
    context: CommandContext, tmp_path: Path, fields: dict[str, object], code: int, statuses: dict[Edition, str]
) -> None:
    """Declared thresholds make edition 0.1 read it (design 3)."""
    Path(tmp_path, "out").write_text(json.dumps({"runs": [{"results": [{"message": {"text": "x"}}]}]}))
    for edition, status in statuses.items():
        found = outcome(replace(context, edition=edition), f"cat out; exit {code}", format="sarif", **fields)
        assert found.status == status


def test_an_uncertain_finding_alone_does_not_fail_the_check(context: CommandContext, tmp_path: Path) -> None:
    """Its status is advisory; the check's mode stays what it is."""
    result = {"message": {"text": "x"}, "properties": {"probability": 0.5}}
    Path(tmp_path, "out").write_text(json.dumps({"runs": [{"results": [result]}]}))
    found = outcome(context, "cat out", format="sarif", thresholds={})
    assert (found.status, [finding.kind for finding in found.findings], found.blocking) == (
        "advisory",
        ["uncertain"],
        True,
    )


def test_an_error_of_an_advisory_command_does_not_gate(context: CommandContext) -> None:
    """``mode: advisory`` covers tool errors as well (spec 3.3)."""
    found = outcome(context, "exit 9", mode="advisory")
    assert (found.status, found.blocking) == ("error", False)


def test_a_cancelled_command_is_an_error(context: CommandContext) -> None:
    """It did not run to its end."""
    cancellation = Cancellation()
    cancellation.cancel()
    found = outcome(replace(context, cancellation=cancellation), "true")
    assert (found.status, found.reason) == ("error", "`true` was stopped before it ended")


@pytest.mark.parametrize(
    ("output", "text"),
    [
        (b"", "(no output)"),
        (b" \n\t\n", "(no output)"),
        (b"a\r\nb\r\n\n", "a\nb"),
        (b"\xff\n", "�"),
        (b"a\x0cb\xe2\x80\xa8c", "a\x0cb\u2028c"),
        ("".join(f"{n}\n" for n in range(60)).encode(), "\n".join(map(str, range(10, 60)))),
    ],
)
def test_the_tail_is_the_last_lines_of_the_output(output: bytes, text: str) -> None:
    """Lines end at newlines alone; trailing space is trimmed."""
    assert tail(output) == text
    assert text.count("\n") < TAIL_LINES
