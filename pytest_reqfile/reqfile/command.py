"""Running a command check and reading its result (seed 004 COMMAND_CHECK, NO_FALSE_GREEN; spec reqfile.md 3)."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import Final

from pytest_reqfile.outcome import Finding, Outcome, Status
from pytest_reqfile.reqfile.junit_input import JUnitError, junit_findings, read_junit
from pytest_reqfile.reqfile.outcomes import check_outcome
from pytest_reqfile.reqfile.places import repository_path
from pytest_reqfile.reqfile.plan import PlannedCheck
from pytest_reqfile.reqfile.sarif_input import (
    ProbabilityError,
    SarifError,
    read_sarif,
    sarif_findings,
)
from pytest_reqfile.reqfile.values import CommandCheck, Edition
from pytest_reqfile.workspace.environment import Environment
from pytest_reqfile.workspace.processes import Cancellation, CommandResult, run_command

REPORT_LIMIT: Final = 64 * 1024 * 1024
"""Bytes of SARIF or JUnit output that are read; a longer report is a tool error, never cut."""
TAIL_LIMIT: Final = 256 * 1024
TAIL_LINES: Final = 50
_PARSE_SECONDS: Final = 10.0


class ToolError(Exception):
    """The command did not give an answer; the text is the error of its outcome."""


class UnreadableReportError(ToolError):
    """What the command printed is not the report it should be; what it said on stderr may tell why."""


@dataclass(frozen=True, slots=True, kw_only=True)
class CommandContext:
    """What running a command needs besides its plan: ``root`` is the repository's absolute path, ``program`` ours."""

    root: str
    environment: Environment
    edition: Edition
    program: str
    cancellation: Cancellation | None = None


def evaluate_command(planned: PlannedCheck, context: CommandContext) -> Outcome:
    """Run the planned command and judge its result; every failure of the tool is an ``error`` outcome."""
    check = planned.check
    assert isinstance(check, CommandCheck)
    try:
        result = _run(planned, check, context)
    except ToolError as error:
        return check_outcome(planned, "error", reason=str(error))
    try:
        findings = _read_result(result, check, _placer(planned, context), context.edition)
    except ToolError as error:
        unread = isinstance(error, UnreadableReportError) and result.stderr.strip()
        reason = f"{error}\n{tail(result.stderr)}" if unread else str(error)
        return check_outcome(planned, "error", reason=reason, seconds=result.seconds)
    if check.mode == "advisory":
        findings = tuple(replace(f, kind="advisory") if f.kind == "violation" else f for f in findings)
    return check_outcome(planned, _status(findings), findings=findings, seconds=result.seconds)


def _run(planned: PlannedCheck, check: CommandCheck, context: CommandContext) -> CommandResult:
    """``sh -c SCRIPT sh ARG…``, the arguments going to the end of the script's last line (spec 3.2)."""
    exits = check.format == "exit"
    arguments = planned.arguments
    script = check.run.rstrip("\n")
    if arguments:
        _refuse_swallowing(script, context)
        script += ' "$@"'
    variables = {"REQFILE_ASSETS": planned.requirement.assets, "REQFILE": context.program}
    return run_command(
        ("sh", "-c", script, "sh", *arguments),
        cwd=Path(context.root, planned.requirement.folder),
        env=context.environment.updated(variables),
        timeout=float(check.timeout),
        limit=TAIL_LIMIT if exits else REPORT_LIMIT,
        keep="tail" if exits else "head",
        merge=exits,
        cancel=context.cancellation,
    )


def _refuse_swallowing(script: str, context: CommandContext) -> None:
    """Raise ToolError where what follows the script is no part of it: the tool would see no file, and might pass.

    Only a shell can tell. A stray parenthesis is an error to it, unless a comment or here-document swallows that.
    """
    if "#" not in script.rpartition("\n")[2] and "<<" not in script:
        return
    parse = ("sh", "-n", "-c", f"{script} )")
    if run_command(parse, cwd=Path(context.root), env=context.environment, timeout=_PARSE_SECONDS).exit == 0:
        raise ToolError(
            f"`{script}` would not receive its files: they go to the end of its last line, expected the command there, "
            "found a comment or a here-document"
        )


def _placer(planned: PlannedCheck, context: CommandContext) -> Callable[[str], str]:
    return partial(repository_path, root=context.root, folder=planned.requirement.folder)


def _read_result(
    result: CommandResult, check: CommandCheck, place: Callable[[str], str], edition: Edition
) -> tuple[Finding, ...]:
    """The findings of a command that ran to its end (spec 3.3). Raises ToolError for one that gave no answer."""
    code = _exit_code(result, check)
    if check.format == "junit":
        return _read_junit(_report(result, check), code, check, place)
    if check.format == "sarif":
        return _read_sarif(result, code, check, place, edition)
    if code == 0:
        return ()
    return (Finding(message=tail(result.stdout), fix_hint=check.fix_hint),)


def _exit_code(result: CommandResult, check: CommandCheck) -> int:
    run = f"`{check.run}`"
    if result.launch_error is not None:
        raise ToolError(f"{run} could not be launched: {result.launch_error}")
    if result.timed_out:
        raise ToolError(f"{run} timed out after {check.timeout} seconds")
    if result.signal is not None:
        raise ToolError(f"{run} was killed by signal {result.signal}")
    if result.exit is None:
        raise ToolError(f"{run} was stopped before it ended")
    if result.exit != 0 and result.exit not in check.violation_codes:
        output = tail(result.stdout + result.stderr)
        raise ToolError(f"{run} failed with exit code {result.exit}\n{output}")
    return result.exit


def _report(result: CommandResult, check: CommandCheck) -> bytes:
    if result.dropped:
        raise UnreadableReportError(
            f"`{check.run}`: output is larger than {REPORT_LIMIT // 1024 // 1024} MiB, so it was not read"
        )
    return result.stdout


def _read_sarif(
    result: CommandResult, code: int, check: CommandCheck, place: Callable[[str], str], edition: Edition
) -> tuple[Finding, ...]:
    plain = edition == "0.1" and not check.thresholds.declared
    if plain and code == 0:
        return ()
    try:
        results = read_sarif(_report(result, check), plain=plain)
    except ProbabilityError as error:
        raise UnreadableReportError(f"`{check.run}`: {error}") from error
    except SarifError as error:
        raise UnreadableReportError(f"`{check.run}`: output is not valid SARIF: {error}") from error
    if code != 0 and not results:
        problem = "its SARIF output lists no results"
        raise UnreadableReportError(f"`{check.run}` exited with violation code {code} but {problem}")
    return sarif_findings(results, check.thresholds, check.fix_hint, place)


def _read_junit(output: bytes, code: int, check: CommandCheck, place: Callable[[str], str]) -> tuple[Finding, ...]:
    try:
        report = read_junit(output)
    except JUnitError as error:
        raise UnreadableReportError(f"`{check.run}`: {error}") from error
    if code != 0 and not report.failed:
        problem = "its JUnit report lists no failed test"
        raise UnreadableReportError(f"`{check.run}` exited with violation code {code} but {problem}")
    return junit_findings(report, check.fix_hint, place)


def tail(output: bytes) -> str:
    """The last lines of a command's output, for people; ``(no output)`` when there is none."""
    lines = output.decode("utf-8", "replace").rstrip().split("\n")
    text = "\n".join(line.removesuffix("\r") for line in lines[-TAIL_LINES:])
    return text if text.strip() else "(no output)"


def _status(findings: tuple[Finding, ...]) -> Status:
    if any(finding.kind == "violation" for finding in findings):
        return "fail"
    return "advisory" if findings else "pass"
