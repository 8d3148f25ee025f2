"""``rubrics/<id>/``: folders that only the lock knows (spec/lock.md 3.5)."""

from __future__ import annotations

from typing import Final

from pytest_reqfile.errors import FileError, Problem
from pytest_reqfile.project.values import Origin, Rubric
from pytest_reqfile.workspace.walk import EntryKind

FOLDER: Final = "rubrics"
_LOOSE: Final = {"link": "a symbolic link", "file": "a file", "other": "a special file"}


def read_rubrics(own: Origin) -> tuple[tuple[Rubric, ...], tuple[Problem, ...]]:
    """The rubrics of a project in byte order of names, and folders of them that cannot be read.

    Only real folders count; one without a regular file or anything to refuse is no rubric.
    """
    folder = f"{own.folder}/{FOLDER}"
    rubrics: list[Rubric] = []
    problems: list[Problem] = []
    try:
        names = [e.name for e in own.tree.entries(folder) if e.kind == "folder"] if own.tree.kind(folder) else []
    except FileError as error:
        return (), (Problem(path=folder, message=str(error).removeprefix(f"{folder}: ")),)
    for name in names:
        path = f"{folder}/{name}"
        try:
            found = own.tree.below(path)
        except FileError as error:
            problems.append(Problem(path=path, message=str(error).removeprefix(f"{path}: ")))
            continue
        if found:
            rubrics.append(_rubric(name, path, found))
    return tuple(rubrics), tuple(problems)


def loose_rubrics(own: Origin) -> tuple[Problem, ...]:
    """Warnings: what lies in the folder of rubrics and is none, so that no pin covers it."""
    folder = f"{own.folder}/{FOLDER}"
    if own.tree.kind(folder) is None:
        return ()
    return tuple(
        Problem(path=f"{folder}/{entry.name}", message=f"{_LOOSE[entry.kind]}: it is no rubric, and not pinned")
        for entry in own.tree.entries(folder)
        if entry.kind in _LOOSE
    )


def _rubric(name: str, path: str, found: tuple[tuple[str, EntryKind], ...]) -> Rubric:
    return Rubric(
        id=name,
        path=path,
        files=tuple(file for file, kind in found if kind == "file"),
        refused=tuple(file for file, kind in found if kind != "file"),
    )
