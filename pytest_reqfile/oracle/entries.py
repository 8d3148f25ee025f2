"""One entry of an oracle, of ``mustNotRegress``, or one criterion, from its node (spec oracle.md 3)."""

from __future__ import annotations

from typing import Final, TypeVar

from pytest_reqfile.oracle.mission import Command, Criterion, Guard, GuardKind, OracleCommand
from pytest_reqfile.outcome import Location
from pytest_reqfile.syntax.fields import Fields, Problems
from pytest_reqfile.syntax.nodes import Node
from pytest_reqfile.workspace.paths import normalised

ORACLE_FORM_KEYS: Final = ("commands", "expectedExitCode", "mustNotRegress")
_COMMAND_KEYS: Final = (
    "command",
    "expectedExitCode",
    "checkId",
    "id",
    "cwd",
    "timeoutMs",
    "env",
    "mustNotRegress",
)
_GUARD_KEYS: Final = ("id", "checkId", "command", "expectedExitCode", "paths", "baseline")
_CRITERION_KEYS: Final = ("id", "text", "checkId", "evidence")
_LONGEST_ID: Final = 512
_LARGEST_EXIT: Final = 255
_LONGEST_TIMEOUT: Final = 3_600_000
_NOT_A_COMMAND: Final[Command] = ""

Value = TypeVar("Value")


class Entries:
    """Reads entries and collects what is wrong with them; a wrong one still becomes a value, reported as blocked."""

    def __init__(self, problems: Problems) -> None:
        self._problems = problems

    def command(self, node: Node, number: int, default: Node | None) -> OracleCommand:
        """The ``number``-th oracle command; ``default`` is the exit code given for all of them."""
        location = self._location(node)
        if node.kind == "string":
            expected, defaulted = self._exit_code(default)
            return OracleCommand(
                command=self._shell(node),
                expected=expected,
                check_id=f"oracle-{number}",
                location=location,
                named=False,
                defaulted=defaulted,
            )
        fields = Fields(node, f"oracle command {number}", _COMMAND_KEYS, self._problems)
        check_id = self._check_id(fields)
        expected, defaulted = self._exit_code(fields.node("expectedExitCode") or default)
        return OracleCommand(
            command=self._command(fields),
            expected=expected,
            check_id=check_id or f"oracle-{number}",
            location=location,
            named=check_id is not None,
            defaulted=defaulted,
            cwd=self._cwd(fields),
            timeout_ms=self._timeout(fields),
            environment=self._environment(fields),
        )

    def guard(self, node: Node, number: int) -> Guard:
        """The ``number``-th entry of ``mustNotRegress``; a string names a check or is prose, which is decided later."""
        location = self._location(node)
        if node.kind == "string":
            text = self._shell(node)
            return Guard(id=f"guard-{number}", kind="prose", check_id=text, location=location)
        fields = Fields(node, f"regression guard {number}", _GUARD_KEYS, self._problems)
        kind = self._guard_kind(fields)
        expected, defaulted = self._exit_code(fields.node("expectedExitCode"))
        return Guard(
            id=self._id(fields, "id") or f"guard-{number}",
            kind=kind,
            location=location,
            check_id=self._id(fields, "checkId") or "" if kind == "check" else "",
            command=self._command(fields) if kind == "command" else _NOT_A_COMMAND,
            expected=expected,
            defaulted=defaulted and kind == "command",
            paths=self._paths(fields) if kind == "paths" else (),
            baseline=fields.string("baseline") if kind == "paths" else fields.optional_string("baseline"),
        )

    def criterion(self, node: Node) -> Criterion | None:
        """An acceptance criterion; None if it has no id to report it by."""
        fields = Fields(node, "an acceptance criterion", _CRITERION_KEYS, self._problems)
        identifier = self._id(fields, "id")
        text = fields.string("text") if fields.usable else ""
        check_id = self._id(fields, "checkId") if "checkId" in fields else None
        evidence = fields.optional_strings("evidence")
        if not identifier:
            return None
        return Criterion(
            id=identifier, text=text or identifier, location=self._location(node), check_id=check_id, evidence=evidence
        )

    def _location(self, node: Node) -> Location:
        return Location(path=self._problems.path, line=node.line, column=node.column)

    def _guard_kind(self, fields: Fields) -> GuardKind:
        given = tuple(key for key in ("checkId", "command", "paths") if key in fields)
        if fields.usable and len(given) != 1:
            found = " and ".join(f"`{key}`" for key in given) or "none of them"
            fields.refuse(None, f"a regression guard needs one of `checkId`, `command` and `paths`, found {found}")
        kinds: dict[str, GuardKind] = {"checkId": "check", "command": "command", "paths": "paths"}
        return kinds[given[0]] if given else "prose"

    def _check_id(self, fields: Fields) -> str | None:
        """``checkId``, or ``id`` in its place."""
        given = [key for key in ("checkId", "id") if key in fields]
        found = [self._id(fields, key) for key in given]
        if len(found) > 1 and found[0] != found[1]:
            fields.refuse("id", "`id` contradicts `checkId`")
        return found[0] if found else None

    def _id(self, fields: Fields, key: str) -> str | None:
        identifier = fields.string(key)
        if len(identifier) > _LONGEST_ID:
            fields.refuse(key, f"`{key}` must have at most {_LONGEST_ID} characters, found {len(identifier)}")
            return identifier[:_LONGEST_ID]
        return identifier or None

    def _command(self, fields: Fields) -> Command:
        node = fields.required("command")
        if node is None:
            return _NOT_A_COMMAND
        if node.kind == "list":
            return self._arguments(node)
        return self._shell(node)

    def _shell(self, node: Node) -> str:
        if isinstance(node.value, str) and node.value.strip():
            return node.value
        self._problems.add(node.line, f"a command must be a non-empty string or a list of them, found {_found(node)}")
        return ""

    def _arguments(self, node: Node) -> Command:
        """Words of a program and its arguments; only the first must not be empty."""
        words = [item.value for item in node.items if isinstance(item.value, str)]
        if len(words) == len(node.items) and words and words[0]:
            return tuple(words)
        self._problems.add(node.line, f"a command's list must hold strings, the first not empty, found {_found(node)}")
        return _NOT_A_COMMAND

    def _exit_code(self, node: Node | None) -> tuple[int, bool]:
        """The expected code, and whether it is our default."""
        if node is None:
            return 0, True
        value = node.value
        if isinstance(value, int) and not isinstance(value, bool) and 0 <= value <= _LARGEST_EXIT:
            return value, False
        message = f"`expectedExitCode` must be an integer in 0..{_LARGEST_EXIT}, found {_found(node)}"
        self._problems.add(node.line, message)
        return 0, False

    def _cwd(self, fields: Fields) -> str:
        text = fields.optional_string("cwd")
        folder = normalised(text) if text is not None else ""
        if folder is None or ".." in (text or "").split("/"):
            fields.refuse("cwd", f"`cwd` must be a path inside the workspace without `..`, found {text!r}")
            return ""
        return folder

    def _timeout(self, fields: Fields) -> int | None:
        value = fields.optional_integer("timeoutMs")
        if value is not None and not 1 <= value <= _LONGEST_TIMEOUT:
            fields.refuse("timeoutMs", f"`timeoutMs` must be in 1..{_LONGEST_TIMEOUT}, found {value}")
            return None
        return value

    def _environment(self, fields: Fields) -> tuple[tuple[str, str], ...]:
        node = fields.optional_mapping("env")
        for entry in node.entries if node else ():
            usable = isinstance(entry.value.value, str) and "\0" not in entry.key + entry.value.value
            if not usable or "=" in entry.key or not entry.key:
                self._problems.add(entry.line, f"`env.{entry.key}` must be a string, found {_found(entry.value)}")
        entries = node.entries if node else ()
        return tuple((entry.key, entry.value.value) for entry in entries if isinstance(entry.value.value, str))

    def _paths(self, fields: Fields) -> tuple[str, ...]:
        paths = fields.strings("paths")
        if not paths and fields.kind_of("paths") == "list":
            fields.refuse("paths", "`paths` must name at least one path, found an empty list")
        for path in paths:
            if not normalised(path):
                fields.refuse("paths", f"`paths` must be inside the workspace, found {path!r}")
        return paths


def _found(node: Node) -> str:
    if node.kind == "integer":
        return str(node.value)
    if node.kind == "string":
        return f"the string {node.value!r}" if node.value else "an empty string"
    return node.describe()
