"""``reqfile example add``: files of the repository become a labeled example (spec reqfile.md 7.5)."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from pytest_reqfile.errors import FileError, UsageError
from pytest_reqfile.reqfile.examples import LABEL_NAME, examples_folder
from pytest_reqfile.reqfile.labels import FILES_FOLDER, Expected
from pytest_reqfile.reqfile.repository import Repository
from pytest_reqfile.reqfile.values import Requirement
from pytest_reqfile.workspace.case_repository import GIT_FOLDER, new_folder
from pytest_reqfile.workspace.paths import below, folder_of, relative_to_root, shown
from pytest_reqfile.workspace.walk import Walk


@dataclass(frozen=True, slots=True, kw_only=True)
class ExampleRequest:
    """What is asked for. ``files`` and ``findings`` are relative to ``cwd``, the absolute current folder."""

    identifier: str
    name: str
    expected: Expected
    files: tuple[str, ...]
    cwd: str
    findings: tuple[str, ...] = ()
    rationale: str | None = None
    held_out: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class AddedExample:
    """The example's folder as a repository path, and how many files its case has."""

    path: str
    files: int


def add_example(repository: Repository, request: ExampleRequest) -> AddedExample:
    """Copy the files into a new example of the nearest block with the id.

    Raises UsageError or FileError for what cannot be done, and leaves nothing behind then.
    """
    _refuse_bad_request(request)
    walk = Walk(repository.snapshot.root)
    named = [_repository_path(repository, request.cwd, file) for file in request.files]
    requirement = _block(repository, request, walk, named[0])
    paths = _expanded(walk, named)
    case = {_in_block(requirement, path): path for path in paths}
    findings = [_in_block(requirement, _repository_path(repository, request.cwd, f)) for f in request.findings]
    for given, finding in zip(request.findings, findings, strict=True):
        if finding not in case:
            raise UsageError(f"--finding {given} is not among the files of the example")
    folder = f"{examples_folder(requirement.folder, request.identifier)}/{request.name}"
    label = _label_text(request, findings, repository.git.head())
    with new_folder(walk, folder) as created:
        for relative, path in case.items():
            created.copy(path, f"{FILES_FOLDER}/{relative}")
        created.write(LABEL_NAME, label)
    return AddedExample(path=folder, files=len(case))


def _refuse_bad_request(request: ExampleRequest) -> None:
    name = request.name
    if not name or name.startswith(".") or any(character in name for character in "/\\\0"):
        raise UsageError(f"an example's name is that of one folder and does not start with a dot, found {name!r}")
    _refuse_unwritable(request)
    if request.expected == "ok" and request.findings:
        raise UsageError("--finding names where a violation is flagged; an `ok` example has none")


def _refuse_unwritable(request: ExampleRequest) -> None:
    """example.yaml is UTF-8 text, and what is written there must be readable again."""
    for option, text in (*(("--finding", f) for f in request.findings), ("--rationale", request.rationale or "")):
        if any("\ud800" <= character <= "\udfff" for character in text):
            raise UsageError(f"{option} {text}: not valid UTF-8, so {LABEL_NAME} cannot hold it")


def _repository_path(repository: Repository, cwd: str, file: str) -> str:
    path = relative_to_root(repository.snapshot.root, Path(cwd, file))
    if path is None:
        raise UsageError(f"{file} is outside the repository")
    return path


def _block(repository: Repository, request: ExampleRequest, walk: Walk, first: str) -> Requirement:
    folder = first if walk.kind(first) == "folder" else folder_of(first)
    nearest = repository.catalog.nearest_folder(request.identifier, folder)
    for requirement in repository.catalog.requirements:
        if requirement.id == request.identifier and requirement.folder == nearest:
            return requirement
    raise UsageError(f"no requirement {request.identifier} applies to {shown(first)}")


def _expanded(walk: Walk, named: Sequence[str]) -> tuple[str, ...]:
    """The files named and everything below the folders named, as it is on disk, ignored files included."""
    found: dict[str, None] = {}
    for path in named:
        kind = walk.kind(path)
        if kind is None:
            raise FileError(f"{path}: cannot read: No such file or directory")
        if GIT_FOLDER in path.lower().split("/"):
            raise UsageError(f"{path} belongs to a git repository; examples hold none")
        entries = walk.below(path) if kind == "folder" else ((path, kind),)
        for entry, entry_kind in entries:
            if kind == "folder" and GIT_FOLDER in entry.lower().split("/"):
                continue
            if entry_kind != "file":
                what = "a symlink" if entry_kind == "link" else "no regular file"
                raise FileError(f"{entry} is {what}; examples hold regular files only")
            found[entry] = None
    if not found:
        raise UsageError(f"{', '.join(map(shown, named))} holds no file")
    return tuple(found)


def _in_block(requirement: Requirement, path: str) -> str:
    relative = below(path, requirement.folder)
    if relative is None:
        raise UsageError(f"{path} is not under {shown(requirement.folder)}, the folder of {requirement.location}")
    return relative


def _label_text(request: ExampleRequest, findings: Sequence[str], head: str | None) -> str:
    """example.yaml in the order of its documentation; JSON strings are YAML strings."""
    lines = [f"expected: {request.expected}"]
    if findings:
        lines += ["findings:", *(f"  - {_quoted(finding)}" for finding in findings)]
    if request.rationale and request.rationale.strip():
        lines.append(f"rationale: {_quoted(request.rationale)}")
    if head is not None:
        lines.append(f"origin: {_quoted(f'real:{head}')}")
    if request.held_out:
        lines.append("split: holdout")
    return "\n".join(lines) + "\n"


def _quoted(text: str) -> str:
    return json.dumps(text, ensure_ascii=not text.isprintable())
