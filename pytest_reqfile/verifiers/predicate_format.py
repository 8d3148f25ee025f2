"""The predicate tree of a declaration, validated (seed 000 "Predicates"; spec/verifiers.md 2.4)."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import Final

from pytest_reqfile.errors import Problem
from pytest_reqfile.syntax.globs import Glob, GlobError, verifier_glob
from pytest_reqfile.syntax.nodes import Node
from pytest_reqfile.syntax.patterns import PatternError, compile_pattern
from pytest_reqfile.verifiers.predicates import (
    DEFAULT_DIFF_BYTES,
    DEFAULT_TIMEOUT,
    KINDS,
    WHERE,
    AllOf,
    AnyOf,
    Checklist,
    Command,
    FileCount,
    FileExists,
    Not,
    Paired,
    PassFiles,
    Predicate,
    TextMatch,
    Where,
)
from pytest_reqfile.verifiers.shape import Check, Shape, Table, boolean, check_table, integer, string, strings
from pytest_reqfile.verifiers.templates import TemplateError, check_template, has_template
from pytest_reqfile.workspace.paths import normalised

MAX_DEPTH: Final = 4
MAX_CHECKLIST: Final = 20
MAX_STATEMENT_BYTES: Final = 500
_DIFF_BYTES: Final = (1024, 200_000)
_MAX_TIMEOUT: Final = 900
_MAX_EXIT: Final = 255
_TEXT_MATCH: Final[Shape] = {"regex": string, "in": string, "files": string}


def _table(shape: Shape, label: str) -> Check:
    def check(node: Node, key: str, path: str) -> Iterator[Problem]:
        del key
        yield from check_table(node, shape, f"[{label}]", path)

    return check


def _nested(node: Node, key: str, path: str) -> Iterator[Problem]:
    """Members of a combinator. What nests deeper than ``MAX_DEPTH`` is refused before its shape matters."""
    members = node.items if node.kind == "list" else (node,)
    if node.kind == "list" and key == "not":
        yield Problem(message="`not` must be a table, found a list", path=path, line=node.line)
    for member in members:
        yield from check_table(member, PREDICATE_SHAPE, f"a member of `{key}`", path)


PREDICATE_SHAPE: Final[Shape] = {
    "regex": _table(_TEXT_MATCH, "require.regex"),
    "forbid": _table(_TEXT_MATCH, "require.forbid"),
    "file_exists": _table({"path": string, "exists": boolean}, "require.file_exists"),
    "paired": _table({"for_each": string, "requires_changed": string, "requires_exists": string}, "require.paired"),
    "glob_count": _table({"files": string, "exclude": strings, "min": integer, "max": integer}, "require.glob_count"),
    "command": _table(
        {"argv": strings, "pass_files": string, "timeout_s": integer, "expect_exit": integer}, "require.command"
    ),
    "llm": _table({"checklist": strings, "model": string, "max_diff_bytes": integer}, "require.llm"),
    "all": _nested,
    "any": _nested,
    "not": _nested,
}


class PredicateError(ValueError):
    """What is wrong with a predicate; the text is the message of AR9H2, ``line`` the predicate's line."""

    def __init__(self, message: str, line: int) -> None:
        super().__init__(message)
        self.line = line


def read_predicate(table: Table, depth: int = 1) -> Predicate:
    """The predicate in ``table``, whose shape was checked. Raises PredicateError for the first thing wrong."""
    if depth > MAX_DEPTH:
        raise PredicateError(f"all/any/not nest deeper than {MAX_DEPTH} levels", table.line())
    kinds = [kind for kind in KINDS if kind in table and not (kind in ("all", "any") and not table.is_set(kind))]
    if len(kinds) != 1:
        raise PredicateError(f"a predicate table must set exactly one of {', '.join(KINDS)}", table.line())
    kind = kinds[0]
    if kind in ("all", "any"):
        members = tuple(_member(member, depth, f"{kind}[{number}]") for number, member in enumerate(table.tables(kind)))
        return AllOf(members=members) if kind == "all" else AnyOf(members=members)
    inner = table.table(kind)
    assert inner is not None
    if kind == "not":
        return Not(member=read_predicate(inner, depth + 1))
    try:
        return _READERS[kind](inner)
    except (_WrongError, TemplateError) as error:
        raise PredicateError(str(error), inner.line()) from None


def refuse_checklists(predicate: Predicate, line: int, *, allowed: bool = True) -> None:
    """Raise PredicateError for a checklist whose advisory verdict would decide the result (spec/verifiers.md 2.3)."""
    if isinstance(predicate, Checklist) and not allowed:
        message = "the llm predicate may only be the root predicate or a direct member of `all`"
        raise PredicateError(message, line)
    if isinstance(predicate, AllOf | AnyOf):
        for member in predicate.members:
            refuse_checklists(member, line, allowed=allowed and isinstance(predicate, AllOf))
    elif isinstance(predicate, Not):
        refuse_checklists(predicate.member, line, allowed=False)


class _WrongError(ValueError):
    """The message of the first thing wrong with a leaf."""


def _member(table: Table, depth: int, place: str) -> Predicate:
    try:
        return read_predicate(table, depth + 1)
    except PredicateError as error:
        raise PredicateError(f"{place}: {error}", error.line) from None


def _text_match(table: Table, kind: str) -> TextMatch:
    pattern = table.text("regex")
    if not pattern:
        raise _WrongError(f"{kind} needs a regex")
    try:
        compile_pattern(pattern)
    except PatternError as error:
        raise _WrongError(f"{kind}: invalid regex: {error}") from None
    where = _where(table.text("in"), kind)
    files = table.text("files")
    if files and where != "any-file":
        raise _WrongError(f'{kind}: files applies to in = "any-file" only')
    glob = _glob(files, f"{kind}: invalid files glob: ") if files else None
    return TextMatch(forbidden=kind == "forbid", pattern=pattern, where=where, files=glob)


def _where(text: str, kind: str) -> Where:
    for known in WHERE:
        if text == known:
            return known
    if text:
        raise _WrongError(f'{kind}: invalid in "{text}": use same-file, diff-added or any-file')
    return "same-file"


def _file_exists(table: Table) -> FileExists:
    path = table.text("path")
    if not path:
        raise _WrongError("file_exists needs a path")
    if normalised(path.replace("\\", "/")) is None:
        raise _WrongError("file_exists.path must stay inside the project")
    check_template(path, "file_exists.path")
    return FileExists(path=path, exists=table.flag("exists", True), templated=has_template(path))


def _paired(table: Table) -> Paired:
    for_each = table.text("for_each")
    changed, existing = table.text("requires_changed"), table.text("requires_exists")
    if not for_each:
        raise _WrongError("paired needs for_each")
    if bool(changed) == bool(existing):
        raise _WrongError("paired needs exactly one of requires_changed or requires_exists")
    literal = "{rel}" in for_each
    if literal and any(char in for_each.replace("{rel}", "") for char in "*?[]{}"):
        raise _WrongError("paired.for_each with {rel} must otherwise be a literal path")
    glob = None if literal else _glob(for_each, "paired.for_each: ")
    check_template(changed or existing, "paired.requires")
    return Paired(for_each=for_each, glob=glob, derived=changed or existing, must_change=bool(changed))


def _glob_count(table: Table) -> FileCount:
    files = table.text("files")
    minimum, maximum = table.number("min"), table.number("max")
    if not files:
        raise _WrongError("glob_count needs files")
    if minimum is None and maximum is None:
        raise _WrongError("glob_count needs min or max")
    low, high = minimum or 0, maximum if maximum is not None else minimum or 0
    if not 0 <= low <= high:
        raise _WrongError("glob_count min and max must be non-negative with min <= max")
    globs = [_glob(text, f'glob_count: invalid glob "{text}": ') for text in (files, *table.texts("exclude"))]
    return FileCount(files=globs[0], exclude=tuple(globs[1:]), minimum=minimum, maximum=maximum)


def _command(table: Table) -> Command:
    argv = table.texts("argv")
    if not argv or not argv[0].strip():
        raise _WrongError("command needs a non-empty argv (the program and its arguments; there is no shell)")
    if any("\0" in argument for argument in argv):
        raise _WrongError("command.argv must not contain a NUL byte")
    timeout = table.number("timeout_s") or 0
    if not 0 <= timeout <= _MAX_TIMEOUT or (timeout == 0 and "timeout_s" in table):
        raise _WrongError(f"command.timeout_s must be between 1 and {_MAX_TIMEOUT}")
    expect = table.number("expect_exit") or 0
    if not 0 <= expect <= _MAX_EXIT:
        raise _WrongError(f"command.expect_exit must be between 0 and {_MAX_EXIT}")
    return Command(
        argv=argv,
        pass_files=_pass_files(table.text("pass_files")),
        timeout_s=timeout or DEFAULT_TIMEOUT,
        expect_exit=expect,
    )


def _pass_files(text: str) -> PassFiles:
    if text in ("", "args", "stdin0"):
        return text  # type: ignore[return-value]  # narrowed by the line above
    raise _WrongError(f'command.pass_files "{text}" must be args or stdin0')


def _llm(table: Table) -> Checklist:
    checklist = table.texts("checklist")
    if not 1 <= len(checklist) <= MAX_CHECKLIST:
        raise _WrongError(f"llm.checklist needs 1 to {MAX_CHECKLIST} items")
    for number, item in enumerate(checklist):
        if not item.strip() or len(item.encode("utf-8", "surrogatepass")) > MAX_STATEMENT_BYTES:
            raise _WrongError(f"llm.checklist[{number}] must be a statement of at most {MAX_STATEMENT_BYTES} bytes")
    size = table.number("max_diff_bytes")
    if size is not None and not _DIFF_BYTES[0] <= size <= _DIFF_BYTES[1]:
        raise _WrongError(f"llm.max_diff_bytes must be between {_DIFF_BYTES[0]} and {_DIFF_BYTES[1]}")
    model = table.text("model")
    if any(ord(char) < 0x20 or 0x7F <= ord(char) < 0xA0 for char in model):
        raise _WrongError("llm.model must not contain control characters")
    return Checklist(checklist=checklist, model=model, max_diff_bytes=size or DEFAULT_DIFF_BYTES)


def _glob(text: str, prefix: str) -> Glob:
    try:
        return verifier_glob(text)
    except GlobError as error:
        raise _WrongError(f"{prefix}{error}") from None


_READERS: Final[Mapping[str, Callable[[Table], Predicate]]] = {
    "regex": lambda table: _text_match(table, "regex"),
    "forbid": lambda table: _text_match(table, "forbid"),
    "file_exists": _file_exists,
    "paired": _paired,
    "glob_count": _glob_count,
    "command": _command,
    "llm": _llm,
}
