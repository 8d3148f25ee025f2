"""The lock file on disk: read whole or refused with the way out, written atomically (spec/lock.md 1.1)."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Final, TypeVar

from pytest_reqfile.errors import FileError, FormatError, Problem
from pytest_reqfile.lock.toml_text import AI_RULEZ_HEADER, lock_text
from pytest_reqfile.lock.values import Approval, Deny, Entry, ItemPin, Lock, OutputPin, Scan
from pytest_reqfile.project.tables import loose_fields
from pytest_reqfile.syntax.fields import Fields, Problems
from pytest_reqfile.syntax.toml import read_toml
from pytest_reqfile.workspace.files import write_atomic
from pytest_reqfile.workspace.paths import ancestors, canonical, folder_of, name_of
from pytest_reqfile.workspace.walk import EntryKind, Walk

LOCK_NAME: Final = "ai-rulez.lock"
VERSIONS: Final = (1, 2)
MAX_BYTES: Final = 64 * 1024 * 1024
_AGAIN: Final = "restore it from version control, or delete it and run `reqfile lock`"

_ENTRY_KEYS: Final = (
    *("name", "source", "path", "ref", "tag", "tag_object"),
    *("released", "released_from", "commit", "digest", "view"),
)
_APPROVAL_KEYS: Final = (
    *("kind", "id", "domain", "digest", "reviewer", "assurance"),
    *("approved_at", "expires", "note", "ref", "attestation"),
)

Record = TypeVar("Record")


class LockFormatError(FormatError):
    """A lock that cannot be read; ``is_link`` for a symlink, which a write replaces."""

    def __init__(self, problem: Problem, *, is_link: bool = False) -> None:
        super().__init__([problem])
        self.is_link = is_link


@dataclass(frozen=True, slots=True, kw_only=True)
class LockFile:
    """The place of a lock: ``path`` is relative to the folder of ``walk``, whose symlinks are not followed.

    ``command`` is how its messages call the command that writes it.
    """

    walk: Walk
    path: str
    header: str = AI_RULEZ_HEADER
    command: str = "reqfile lock"

    @property
    def name(self) -> str:
        return name_of(self.path)

    @property
    def place(self) -> Path:
        """Where it is, absolute."""
        return self.walk.root / self.path

    def is_at(self, path: Path) -> bool:
        """Whether ``path`` names this very file."""
        return canonical(path.parent) / path.name == self.place

    def read(self) -> Lock | None:
        """The lock; None where there is no such file. Raises ``LockFormatError``."""
        kind = self._kind()
        if kind is None:
            return None
        if kind != "file":
            what = "a symbolic link" if kind == "link" else "not a regular file"
            message = (
                f"read lock file: it is {what}; if the lock is a symlink, delete it and run `{self.command}`, "
                "which writes a regular file"
            )
            raise LockFormatError(Problem(path=self.path, message=message), is_link=kind == "link")
        try:
            data = self.walk.read(self.path, MAX_BYTES)
        except FileError as error:
            reason = str(error).removeprefix(f"{self.path}: ")
            raise self._unread(reason) from error
        return parse_lock(data, self.path, command=self.command)

    def _kind(self) -> EntryKind | None:
        try:
            return self.walk.kind(self.path)
        except FileError as error:  # a folder above it is a symlink, or closed
            raise self._unread(str(error)) from error

    def _unread(self, reason: str) -> LockFormatError:
        return LockFormatError(Problem(path=self.path, message=f"read lock file: {reason}"))

    def write(self, lock: Lock) -> None:
        """Put the lock there, complete or not at all; a symlink at its place is replaced, its target left alone.

        Raises ``FileError``, also for a folder above it that is a symlink.
        """
        for folder in ancestors(folder_of(self.path))[:-1]:
            if self.walk.kind(folder) == "link":
                raise FileError(f"cannot write {self.path}: {folder} is a symbolic link")
        data = lock_text(lock, self.header).encode("utf-8")
        write_atomic(self.place, data, parents=True)


def parse_lock(data: bytes, path: str, *, any_version: bool = False, command: str = "reqfile lock") -> Lock:
    """The lock in ``data``; unknown keys and tables are ignored. ``any_version`` is for bytes of other revisions.

    Raises ``LockFormatError``, with the place of the first problem.
    """
    problems = Problems(path)
    try:
        root = read_toml(data.decode("utf-8"), path)
    except UnicodeDecodeError as error:
        line = 1 + data.count(b"\n", 0, error.start)
        raise _unreadable(Problem(path=path, line=line, message="not valid UTF-8")) from None
    except FormatError as error:
        raise _unreadable(error.problems[0]) from error
    top = loose_fields(root, "the lock", problems)
    version = top.integer("version", 0)
    if not problems and version not in VERSIONS and not any_version:
        message = (
            f"unsupported lock version {version} (this reqfile reads versions 1 and 2): delete it and run `{command}` "
            f"to regenerate {name_of(path)}"
        )
        raise LockFormatError(Problem(path=path, line=top.line("version"), message=message))
    lock = _lock(top, version, problems)
    if problems:
        raise _unreadable(problems.found[0])
    return lock


def _unreadable(problem: Problem) -> LockFormatError:
    return LockFormatError(
        Problem(path=problem.path, line=problem.line, message=f"parse lock file: {problem.message}; {_AGAIN}")
    )


def _lock(top: Fields, version: int, problems: Problems) -> Lock:
    def records(table: str, read: Callable[[Fields], Record]) -> tuple[Record, ...]:
        nodes = top.optional_list(table)
        return tuple(read(loose_fields(node, f"an entry of [[{table}]]", problems)) for node in nodes)

    return Lock(
        version=version,
        ai_rulez_version=_text(top, "ai_rulez_version"),
        profile=_text(top, "profile"),
        scope=_text(top, "scope"),
        outputs_pinned=top.boolean("outputs_pinned", False),
        tree=_text(top, "tree"),
        includes=records("include", _entry),
        skills=records("skill", _entry),
        sources=records("source", _entry),
        served=records("served", _entry),
        items=records("item", _item),
        outputs=records("output", _output),
        approvals=records("approval", _approval),
        denied=records("deny", _deny),
        scans=records("scan", _scan),
    )


def _text(fields: Fields, key: str) -> str:
    """A string, empty where it is absent: Go has no other absence."""
    node = fields.node(key)
    if node is not None and node.value == "":
        return ""
    return fields.optional_string(key) or ""


def _texts(fields: Fields, *keys: str) -> dict[str, str]:
    return {key: _text(fields, key) for key in keys}


def _entry(fields: Fields) -> Entry:
    return Entry(**_texts(fields, *_ENTRY_KEYS))


def _item(fields: Fields) -> ItemPin:
    return ItemPin(**_texts(fields, "kind", "id", "domain", "path", "digest", "owner", "version"))


def _output(fields: Fields) -> OutputPin:
    requested = fields.boolean("requested", False)
    return OutputPin(**_texts(fields, "role", "path", "digest"), requested=requested)


def _approval(fields: Fields) -> Approval:
    findings = fields.optional_strings("accepted_findings")
    return Approval(**_texts(fields, *_APPROVAL_KEYS), accepted_findings=findings)


def _deny(fields: Fields) -> Deny:
    return Deny(**_texts(fields, "digest", "reason"))


def _scan(fields: Fields) -> Scan:
    findings = fields.integer("findings", 0)
    return Scan(**_texts(fields, "scanner", "version", "tree", "max_severity", "result"), findings=findings)
