"""Verifier declaration files, as documents whose keys nobody has judged yet (spec/verifiers.md 2.1)."""

from __future__ import annotations

from typing import Final

from pytest_reqfile.errors import FileError, FormatError, Problem
from pytest_reqfile.project.links import refusal
from pytest_reqfile.project.values import DeclarationFile, Origin
from pytest_reqfile.syntax.toml import read_toml

MAX_FILE_BYTES: Final = 1024 * 1024
FOLDER: Final = "verifiers"

_INVALID: Final = "invalid TOML: "
_REFUSED: Final = "cannot read: "


def read_declarations(origin: Origin) -> tuple[DeclarationFile, ...]:
    """The ``verifiers/*.toml`` of an origin in byte order of names; () where it has no such folder.

    A folder that cannot be read is one entry with a problem, whose path is the folder.
    """
    folder = f"{origin.folder}/{FOLDER}" if origin.folder else FOLDER
    walk = origin.tree
    try:
        kind = walk.kind(folder)
        if kind is None:
            return ()
        if kind == "link" and (reason := refusal(walk, folder)) is not None:
            return (_bad(origin, folder, f"cannot read directory: {reason.removeprefix(_REFUSED)}"),)
        names = [
            entry.name for entry in walk.entries(folder) if entry.name.endswith(".toml") and entry.kind != "folder"
        ]
    except FileError as error:
        reason = str(error).removeprefix(f"{folder}: {_REFUSED}")
        return (_bad(origin, folder, f"cannot read directory: {reason}"),)
    return tuple(_read_file(origin, f"{folder}/{name}") for name in names)


def _read_file(origin: Origin, path: str) -> DeclarationFile:
    shown = origin.label(path)
    try:
        if origin.tree.kind(path) != "file":
            return _bad(origin, path, "not a regular file (symlinks are not followed)")
        if origin.tree.size(path) > MAX_FILE_BYTES:
            return _bad(origin, path, f"file is larger than {MAX_FILE_BYTES // 1024} KiB")
        data = origin.tree.read(path, MAX_FILE_BYTES)
    except FileError as error:
        return _bad(origin, path, str(error).removeprefix(f"{path}: "))
    try:
        node = read_toml(data.decode("utf-8"), shown)
    except UnicodeDecodeError as error:
        return _bad(origin, path, f"{_INVALID}not valid UTF-8", line=1 + data.count(b"\n", 0, error.start))
    except FormatError as error:
        problems = tuple(_as_invalid(problem) for problem in error.problems)
        return DeclarationFile(source=shown, path=path, origin=origin, node=None, problems=problems)
    return DeclarationFile(source=shown, path=path, origin=origin, node=node)


def _bad(origin: Origin, path: str, message: str, line: int | None = None) -> DeclarationFile:
    source = origin.label(path)
    problem = Problem(path=source, line=line, message=message)
    return DeclarationFile(source=source, path=path, origin=origin, node=None, problems=(problem,))


def _as_invalid(problem: Problem) -> Problem:
    message = problem.message if problem.message.startswith(_INVALID) else f"{_INVALID}{problem.message}"
    return Problem(path=problem.path, line=problem.line, message=message)
