"""``.generated-manifest.json``: the outputs ai-rulez wrote last (spec/airulez-project.md 5.4)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

from pytest_reqfile.errors import FileError, FormatError, Problem
from pytest_reqfile.project.values import Project
from pytest_reqfile.syntax.fields import Fields, Problems
from pytest_reqfile.syntax.json import read_json
from pytest_reqfile.workspace.paths import normalised

NAME: Final = ".generated-manifest.json"
MAX_BYTES: Final = 16 * 1024 * 1024


@dataclass(frozen=True, slots=True, kw_only=True)
class Manifest:
    """``files`` are project paths, each once, in the order of the file, whose own path is ``path``."""

    path: str
    files: tuple[str, ...]


def read_manifest(project: Project) -> Manifest | None:
    """The manifest of ``project``; None where nothing was generated yet. Raises ``FormatError``."""
    path = f"{project.place.folder}/{NAME}"
    walk = project.own.tree
    if walk.kind(path) is None:
        return None
    try:
        text = walk.read(path, MAX_BYTES).decode("utf-8")
    except (FileError, UnicodeDecodeError) as error:
        message = str(error).removeprefix(f"{path}: ") if isinstance(error, FileError) else "not valid UTF-8"
        raise FormatError([Problem(path=path, message=message)]) from error
    problems = Problems(path)
    node = read_json(text, path)
    keys = [entry.key for entry in node.entries] if node.kind == "mapping" else []
    fields = Fields(node, "the manifest", keys, problems)
    files = fields.strings("files")
    listed = fields.node("files")
    for one in listed.items if listed is not None and listed.kind == "list" else ():
        if isinstance(one.value, str) and one.value and not normalised(one.value):
            problems.add(one.line, f"`{one.value}` is not a path inside of the project")
    problems.raise_if_any()
    return Manifest(path=path, files=tuple(dict.fromkeys(normalised(file) or file for file in files)))
