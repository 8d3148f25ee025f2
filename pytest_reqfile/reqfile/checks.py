"""The entries of ``checks``: nodes → checks (seed 004 CHECKS_DECLARED, COMMAND_CHECK; spec 1.1)."""

from __future__ import annotations

from typing import Final

from pytest_reqfile.reqfile.values import Check, CommandCheck, DecisionCheck, Mode, OutputFormat, Thresholds
from pytest_reqfile.syntax.fields import Fields, Problems
from pytest_reqfile.syntax.globs import Glob, GlobError, reqfile_glob
from pytest_reqfile.syntax.nodes import Node

COMMAND_KEYS: Final = (
    "run",
    "fix_hint",
    "files",
    "pass_files",
    "format",
    "violation_codes",
    "timeout",
    "fast",
    "thresholds",
    "mode",
)
THRESHOLD_KEYS: Final = ("violation_above", "pass_below")
_EITHER: Final = "a check is either `decision` or a `command` mapping"


def read_check(node: Node, problems: Problems) -> Check | None:
    """One entry of ``checks``; None when a problem was added."""
    if node.kind == "string":
        if node.value == "decision":
            return DecisionCheck(line=node.line)
        problems.add(node.line, f"unknown check `{node.value}`; {_EITHER}")
        return None
    entries = node.entries if node.kind == "mapping" else ()
    if len(entries) != 1:
        problems.add(node.line, _EITHER)
        return None
    entry = entries[0]
    if entry.key == "command":
        return _read_command(entry.value, node.line, problems)
    if entry.key == "decision":
        return _read_decision(entry.value, node.line, problems)
    problems.add(entry.line, f"unknown check `{entry.key}`; {_EITHER}")
    return None


def read_thresholds(fields: Fields, problems: Problems, *, required: bool) -> Thresholds:
    """The ``thresholds`` mapping of a command (both optional) or of decision.yaml (``required``: both needed)."""
    node = fields.node("thresholds")
    if node is None:
        return Thresholds()
    inner = Fields(node, "thresholds", THRESHOLD_KEYS, problems)
    if required:
        above, below = inner.number("violation_above"), inner.number("pass_below")
    else:
        above = inner.number("violation_above", Thresholds().violation_above)
        below = inner.number("pass_below", Thresholds().pass_below)
    if inner.failed:
        return Thresholds()
    try:
        return Thresholds(violation_above=above, pass_below=below, declared=True)
    except ValueError as error:
        problems.add(node.line, str(error))
        return Thresholds()


def read_glob(text: str, key: str, line: int, problems: Problems) -> Glob | None:
    """A glob of the Reqfile dialect (spec 2.4); None when it is invalid and a problem was added."""
    try:
        return reqfile_glob(text)
    except GlobError as error:
        problems.add(line, f"invalid `{key}` glob: {error}")
        return None


def _read_decision(node: Node, line: int, problems: Problems) -> DecisionCheck | None:
    if node.kind == "null":
        return DecisionCheck(line=line)
    fields = Fields(node, "a decision check", ("mode",), problems)
    unknown = "unknown decision mode `{x}`; expected `advisory` or `blocking`"
    mode: Mode = fields.choice("mode", ("advisory", "blocking"), "advisory", unknown)
    return None if fields.failed else DecisionCheck(line=line, mode=mode)


def _read_command(node: Node, line: int, problems: Problems) -> CommandCheck | None:
    fields = Fields(node, "a command check", COMMAND_KEYS, problems)
    if node.kind != "mapping":
        return None
    run = fields.string("run")
    fix_hint = fields.string("fix_hint")
    files_text = fields.optional_string("files")
    files = read_glob(files_text, "files", fields.line("files"), problems) if files_text else None
    pass_files = fields.boolean("pass_files", False)
    if pass_files and files_text is None:
        fields.refuse("pass_files", "`pass_files` needs a `files` glob")
    unknown_format = "unknown format `{x}`; expected `exit`, `sarif` or `junit`"
    output: OutputFormat = fields.choice("format", ("exit", "sarif", "junit"), "exit", unknown_format)
    codes = _read_violation_codes(fields)
    timeout = _read_timeout(fields)
    fast = fields.boolean("fast", False)
    thresholds = read_thresholds(fields, problems, required=False)
    unknown_mode = "unknown mode `{x}`; expected `blocking` or `advisory`"
    mode: Mode = fields.choice("mode", ("blocking", "advisory"), "blocking", unknown_mode)
    if fields.failed:
        return None
    return CommandCheck(
        line=line,
        run=run,
        fix_hint=fix_hint,
        files=files,
        pass_files=pass_files,
        format=output,
        violation_codes=codes,
        timeout=timeout,
        fast=fast,
        thresholds=thresholds,
        mode=mode,
    )


def _read_violation_codes(fields: Fields) -> tuple[int, ...]:
    before = len(fields.problems)
    codes = fields.integers("violation_codes", (1,))
    if len(fields.problems) == before and not (codes and all(1 <= code <= 255 for code in codes)):
        fields.refuse("violation_codes", "`violation_codes` must list exit codes between 1 and 255")
    return codes


def _read_timeout(fields: Fields) -> int:
    before = len(fields.problems)
    timeout = fields.integer("timeout", 60)
    if timeout <= 0 and len(fields.problems) == before:
        fields.refuse("timeout", "`timeout` must be a positive number of seconds")
    return timeout
