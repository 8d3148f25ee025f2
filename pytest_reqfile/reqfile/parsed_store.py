"""Parsed Reqfiles and configs kept in the git folder, so that an edit hook parses only what was edited (issue 3.5).

An entry is found by the whole text, and only for the source code that wrote it, so it can only ever be what parsing
would give now. Files with problems are never kept, and whatever is wrong with the store, the files are parsed.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any, Final, TypeVar

from pytest_reqfile.reqfile.parsed_wire import (
    Wire,
    config_from_wire,
    config_to_wire,
    reqfile_from_wire,
    reqfile_to_wire,
)
from pytest_reqfile.reqfile.parsing import DirectParser
from pytest_reqfile.reqfile.settings import Config
from pytest_reqfile.reqfile.values import Reqfile
from pytest_reqfile.workspace.kept_file import KeptFile
from pytest_reqfile.workspace.paths import folder_of

_Value = TypeVar("_Value")

STORE_NAME: Final = "parsed"
# What parsing depends on; another text of one of these is another store.
_SOURCES: Final = (
    *("syntax/events.py", "syntax/fields.py", "syntax/globs.py", "syntax/globset.py", "syntax/nodes.py"),
    *("syntax/re2_library.py", "syntax/scalars.py", "syntax/yaml.py"),
    *("reqfile/checks.py", "reqfile/format.py", "reqfile/settings.py", "reqfile/uses.py", "reqfile/values.py"),
    *("reqfile/parsed_store.py", "reqfile/parsed_wire.py"),
)


class ParsedStore:
    """A ``Parser`` that remembers. ``save`` keeps what this run used, and nothing else."""

    def __init__(self, file: KeptFile) -> None:
        self._file = file
        self._parser = DirectParser()
        self._source = file.source_state(_SOURCES, ("yaml",))
        self._known = self._read()
        self._used: dict[str, Wire] = {}
        self._missed = False

    def reqfile(self, text: str, path: str) -> Reqfile:
        """The Reqfile in ``text``, remembered or parsed."""
        key = _key("r", text)
        found = self._remembered(key, lambda wire: reqfile_from_wire(wire, path))
        if found is None:
            found = self._parser.reqfile(text, path)
            self._keep(key, reqfile_to_wire(found))
        return found

    def config(self, text: str, path: str) -> Config:
        """The config in ``text``, remembered or parsed."""
        key = _key("c", text)
        found = self._remembered(key, lambda wire: config_from_wire(wire, path, folder_of(folder_of(path))))
        if found is None:
            found = self._parser.config(text, path)
            self._keep(key, config_to_wire(found))
        return found

    def save(self) -> None:
        """Write the entries of this run, if they are not those that were read."""
        if self._source is not None and (self._missed or self._used.keys() != self._known.keys()):
            text = json.dumps({"source": self._source, "files": self._used}, separators=(",", ":"))
            self._file.write(text.encode())

    def _remembered(self, key: str, build: Callable[[Wire], _Value]) -> _Value | None:
        wire = self._known.get(key)
        if wire is None:
            return None
        try:
            value = build(wire)
        except (LookupError, TypeError, ValueError):  # not what we wrote: parse it
            return None
        self._used[key] = wire
        return value

    def _keep(self, key: str, wire: Wire) -> None:
        self._used[key] = wire
        self._missed = True

    def _read(self) -> dict[str, Wire]:
        data = self._file.read()
        if data is None or self._source is None:
            return {}
        try:
            stored: Any = json.loads(data)
        except (RecursionError, ValueError):
            return {}
        if not isinstance(stored, dict) or stored.get("source") != self._source:
            return {}
        files = stored.get("files")
        return files if isinstance(files, dict) else {}


def _key(kind: str, text: str) -> str:
    return f"{kind}:{text}"
