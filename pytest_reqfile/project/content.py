"""The content tree below one folder: its items, root and domains (spec/airulez-project.md 2.1, 2.2)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

from pytest_reqfile.errors import FileError, Problem
from pytest_reqfile.project.frontmatter import Document, read_document
from pytest_reqfile.project.links import refusal
from pytest_reqfile.project.values import CONTENT_KINDS, ContentKind, Item, Origin
from pytest_reqfile.workspace.paths import byte_order
from pytest_reqfile.workspace.walk import EntryKind, FolderEntry

MAX_ITEM_BYTES: Final = 5 * 1024 * 1024
FOLDER_OF: Final[dict[ContentKind, str]] = {
    "rule": "rules",
    "context": "context",
    "skill": "skills",
    "agent": "agents",
    "command": "commands",
    "check": "checks",
}
DOMAINS: Final = "domains"

_MARKERS: Final[dict[ContentKind, str]] = {"skill": "SKILL.md", "command": "COMMAND.md"}
_SUFFIX: Final = ".md"


@dataclass(frozen=True, slots=True, kw_only=True)
class Content:
    """What one content folder holds, in the order of ``Project.items``; ``domains`` are its folders, empty ones too."""

    items: tuple[Item, ...]
    domains: tuple[str, ...]
    problems: tuple[Problem, ...]


def read_content(origin: Origin) -> Content:
    """Everything in the content folder of ``origin``; what cannot be looked at is a problem."""
    scan = _Scan(origin)
    root = origin.folder
    scan.folder(root, "")
    domains = scan.folders(_below(root, DOMAINS))
    for domain in domains:
        scan.folder(_below(_below(root, DOMAINS), domain), domain)
    return Content(items=ordered(scan.items), domains=domains, problems=tuple(scan.problems))


def ordered(items: list[Item]) -> tuple[Item, ...]:
    """Root first, then domains by name; kinds in their fixed order, ids in byte order. Equal ones keep their order."""
    return tuple(
        sorted(
            items,
            key=lambda item: (
                byte_order(item.domain),
                CONTENT_KINDS.index(item.kind),
                byte_order(item.id),
            ),
        )
    )


def read_item_document(origin: Origin, file: str) -> Document:
    """The document at ``file`` of the origin's tree; an unreadable one is empty, and says so in its problems."""
    shown = origin.shown(file)
    try:
        data = origin.tree.read(file, MAX_ITEM_BYTES)
    except FileError as error:
        problem = Problem(path=shown, message=str(error).removeprefix(f"{file}: "))
        return Document(text="", body="", body_line=1, problems=(problem,), unread=True)
    try:
        return read_document(data.decode("utf-8"), shown)
    except UnicodeDecodeError as error:
        line = 1 + data.count(b"\n", 0, error.start)
        problem = Problem(path=shown, line=line, message="not valid UTF-8")
        text = data.decode("utf-8", "surrogateescape")
        return Document(text=text, body=text, body_line=1, problems=(problem,))


class _Scan:
    def __init__(self, origin: Origin) -> None:
        self.origin = origin
        self.walk = origin.tree
        self.items: list[Item] = []
        self.problems: list[Problem] = []

    def folder(self, base: str, domain: str) -> None:
        """The items of the root or of one domain, whose folder is ``base``."""
        for kind in CONTENT_KINDS:
            folder = _below(base, FOLDER_OF[kind])
            for name, entry in self.names(folder):
                self._entry(kind, folder, name, entry, domain)

    def folders(self, folder: str) -> tuple[str, ...]:
        """The folders in ``folder``."""
        return tuple(name for name, kind in self.names(folder) if kind == "folder")

    def names(self, folder: str) -> tuple[tuple[str, EntryKind], ...]:
        """What is in ``folder``, links as what they lead to; a refused link is a problem."""
        if self._look(folder) is None:
            return ()
        try:
            entries = self.walk.entries(folder)
        except FileError as error:
            self._refused(folder, error)
            return ()
        covered = (entry for entry in entries if not self._is_uncovered(entry))
        found = ((entry.name, self._look(_below(folder, entry.name), entry.kind)) for entry in covered)
        return tuple((name, kind) for name, kind in found if kind is not None)

    def _is_uncovered(self, entry: FolderEntry) -> bool:
        """Whether the digest of content of others leaves it out (spec/lock.md 2.4): then nothing of it is content."""
        return self.origin.kind != "project" and entry.kind == "folder" and entry.name == ".git"

    def _look(self, path: str, known: EntryKind | None = None) -> EntryKind | None:
        """What is at ``path``, an allowed link followed; None where there is nothing to look at."""
        try:
            kind = known or self.walk.kind(path)
            if kind != "link":
                return kind
            reason = refusal(self.walk, path)
            if reason is None:
                return self.walk.followed(path)
            self._problem(path, reason)
        except FileError as error:
            self._refused(path, error)
        return None

    def _entry(self, kind: ContentKind, folder: str, name: str, entry: EntryKind, domain: str) -> None:
        path = _below(folder, name)
        if entry == "folder" and kind in _MARKERS:
            file = _below(path, _MARKERS[kind])
            found = self._look(file)
            identifier, inside = name, path
        elif entry != "folder" and kind != "skill" and name.endswith(_SUFFIX):
            file, found = path, entry
            identifier, inside = name.removesuffix(_SUFFIX), None
        else:
            return
        if found == "file":
            self._file(kind, domain, identifier, file, inside)
        elif found is not None:
            self._problem(file, "not a regular file")

    def _file(self, kind: ContentKind, domain: str, identifier: str, file: str, folder: str | None) -> None:
        document = read_item_document(self.origin, file)
        self.problems.extend(document.problems)
        origin = self.origin
        self.items.append(
            Item(kind=kind, id=identifier, domain=domain, file=file, folder=folder, origin=origin, document=document)
        )

    def _refused(self, path: str, error: FileError) -> None:
        self._problem(path, str(error).removeprefix(f"{path}: "))

    def _problem(self, path: str, message: str) -> None:
        self.problems.append(Problem(path=self.origin.shown(path), message=message))


def _below(folder: str, name: str) -> str:
    return f"{folder}/{name}" if folder else name
