"""What includes and installed skills bring into a project (spec/airulez-project.md 4)."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from pytest_reqfile.errors import FileError, Problem
from pytest_reqfile.project.content import DOMAINS, FOLDER_OF, Content, ordered, read_content, read_item_document
from pytest_reqfile.project.declarations import FOLDER as VERIFIERS
from pytest_reqfile.project.declarations import read_declarations
from pytest_reqfile.project.include_folder import CONFIG_FOLDER, include_folder
from pytest_reqfile.project.values import (
    Config,
    DeclarationFile,
    Domain,
    Fetched,
    Item,
    Origin,
    OriginKind,
    Place,
    Source,
    SourceTable,
    Unavailable,
)
from pytest_reqfile.workspace.paths import byte_order, normalised
from pytest_reqfile.workspace.walk import EntryKind, Walk

CONTENT_FOLDERS: Final = (*FOLDER_OF.values(), DOMAINS, VERIFIERS)
_SKILL_FILE: Final = "SKILL.md"
_WORDS: Final[dict[SourceTable, str]] = {
    "includes": "include",
    "installed_skills": "installed skill",
    "skill_sources": "skill source",
}
_NOT_FETCHED: Final = "its content is not on this machine"


@dataclass(frozen=True, slots=True, kw_only=True)
class Imported:
    """A project's items with what is imported folded in, imported declarations, and what is missing.

    ``origins`` are the includes and installed skills whose content was read, in the order they are declared.
    """

    items: tuple[Item, ...]
    domains: tuple[Domain, ...]
    declarations: tuple[DeclarationFile, ...]
    origins: tuple[Origin, ...]
    unavailable: tuple[Unavailable, ...]
    problems: tuple[Problem, ...]
    notes: tuple[Problem, ...]


def pinned_folder(place: Place, source: Source) -> Path:
    """The folder of a local include that the lock digests (spec/lock.md 3.4); ``path`` and filters do not matter there.

    Raises ``FileError`` ``path "vendor" not found`` or ``… is not a directory``.
    """
    folder = _folder_at(place, source.source)
    if folder.name == CONFIG_FOLDER:
        return folder
    inner = Walk(folder / CONFIG_FOLDER).root
    return inner if Walk(inner).kind("") == "folder" else folder


def import_all(place: Place, config: Config, own: Content, fetched: Fetched | None) -> Imported:
    """``own`` content, then the includes, then the installed skills, each in the order they are declared."""
    importer = _Importer(place, config, own, fetched)
    for source in config.includes:
        importer.include(source)
    for source in config.installed_skills:
        importer.installed_skill(source)
    return importer.result()


class _Importer:
    def __init__(self, place: Place, config: Config, own: Content, fetched: Fetched | None) -> None:
        self._place = place
        self._config = config
        self._fetched = fetched
        self._items: dict[tuple[str, str, str], Item] = {}
        # A command may exist twice, as file and as folder; both stay (cases lock:E10).
        self._repeated = [item for item in own.items if self._items.setdefault(_key(item), item) is not item]
        self._domains = dict.fromkeys(own.domains, False)
        self._declarations: list[DeclarationFile] = []
        self._origins: list[Origin] = []
        self._unavailable: list[Unavailable] = []
        self._problems: list[Problem] = []
        self._notes: list[Problem] = []

    def result(self) -> Imported:
        domains = (Domain(name=name, always=always) for name, always in self._domains.items())
        return Imported(
            items=ordered([*self._items.values(), *self._repeated]),
            domains=tuple(sorted(domains, key=lambda domain: byte_order(domain.name))),
            declarations=tuple(self._declarations),
            origins=tuple(self._origins),
            unavailable=tuple(self._unavailable),
            problems=tuple(self._problems),
            notes=tuple(self._notes),
        )

    def include(self, source: Source) -> None:
        if source.format == "okf":
            self._missing(source, "an OKF bundle is not read")
            return
        folder = self._folder_of(source)
        if folder is None:
            return
        content = folder if _is_fetched(source) else _content_folder(folder, source.path)
        if content is None:
            expected = ", ".join((CONFIG_FOLDER, *CONTENT_FOLDERS))
            self._refuse(source, f"it holds no content (expected one of the folders {expected})")
            return
        origin = self._origin(source, content)
        self._origins.append(origin)
        found = read_content(origin)
        self._problems.extend(found.problems)
        for item in found.items:
            if item.domain or source.kinds is None or FOLDER_OF[item.kind] in source.kinds:
                self._fold(source, item)
        for domain in found.domains:
            self._domains.setdefault(domain, True)
        if source.kinds is None:
            self._declarations.extend(read_declarations(origin))

    def installed_skill(self, source: Source) -> None:
        folder = self._folder_of(source)
        if folder is None:
            return
        found = next(_skill_folders(folder, source), None)
        if found is None:
            self._refuse(source, f"there is no {_SKILL_FILE} in it")
            return
        origin = self._origin(source, found)
        file = f"{origin.folder}/{_SKILL_FILE}" if origin.folder else _SKILL_FILE
        document = read_item_document(origin, file)
        self._problems.extend(document.problems)
        item = Item(
            kind="skill",
            id=source.name,
            domain="",
            file=file,
            folder=origin.folder,
            origin=origin,
            document=document,
            profiles=source.profiles,
        )
        before = self._items.get(_key(item))
        if before is not None:
            self._note(source, f'the skill "{source.name}" is not installed: {before.path} has that name')
            return
        self._items[_key(item)] = item
        self._origins.append(origin)
        self._declarations.extend(read_declarations(origin))

    def _fold(self, source: Source, item: Item) -> None:
        key = _key(item)
        before = self._items.get(key)
        if before is None or source.merge_strategy == "include-override":
            self._items[key] = item
        elif source.merge_strategy == "error":
            message = f'{item.kind} "{item.name}" is already declared in {before.path} (merge_strategy = "error")'
            self._problem(source, message)

    def _folder_of(self, source: Source) -> Path | None:
        """The real folder a source names, of a fetched one its content; None (and a report) where there is none."""
        if source.local_override is not None:
            return self._override(source, source.local_override)
        if not source.is_git:
            return self._local(source, source.source)
        found = self._fetched(source) if self._fetched else _NOT_FETCHED
        if isinstance(found, str):
            self._missing(source, found)
            return None
        return Walk(found).root

    def _override(self, source: Source, text: str) -> Path | None:
        """The folder at a ``local_override``, which only some machines have: that it is missing is no problem."""
        if "\0" not in text and Walk(Walk(self._place.root / text).root).kind("") is None:
            message = f'its local_override "{text}" is not on this machine'
            self._note(source, message)
            self._missing(source, message)
            return None
        return self._local(source, text)

    def _local(self, source: Source, text: str) -> Path | None:
        try:
            return self._local_folder(source, text)
        except (FileError, ValueError) as error:  # ValueError: a NUL in the path
            self._refuse(source, str(error))
            return None

    def _local_folder(self, source: Source, text: str) -> Path:
        """The folder at ``text``; only the machine's own file may leave the project."""
        folder = Walk(self._place.root / text).root
        committed = source.declared.path == self._config.path
        if committed and not folder.is_relative_to(self._place.root):
            raise FileError(f'path "{text}" leads out of the project; only config.local.toml may name such a folder')
        return _folder_at(self._place, text)

    def _origin(self, source: Source, folder: Path) -> Origin:
        kind: OriginKind = "include" if source.table == "includes" else "skill"
        if folder.is_relative_to(self._place.root) and folder != self._place.root:
            below = folder.relative_to(self._place.root).as_posix()
            return Origin(kind=kind, name=source.name, tree=Walk(self._place.root), folder=below)
        return Origin(kind=kind, name=source.name, tree=Walk(folder), folder="", prefix=f"{kind}:{source.name}/")

    def _refuse(self, source: Source, message: str) -> None:
        """A source that is wrong: a problem, and its content is missing."""
        self._problem(source, message)
        self._missing(source, message)

    def _missing(self, source: Source, reason: str) -> None:
        self._unavailable.append(Unavailable(source=source, reason=reason))

    def _problem(self, source: Source, message: str) -> None:
        self._problems.append(_at(source, message))

    def _note(self, source: Source, message: str) -> None:
        self._notes.append(_at(source, message))


def _is_fetched(source: Source) -> bool:
    """Whether its content comes from elsewhere: then the lock knows which folder that is, and what is in it."""
    return source.is_git and source.local_override is None


def _folder_at(place: Place, text: str) -> Path:
    """The folder at ``text``, seen from the project's root; symlinks on the way are resolved."""
    folder = Walk(place.root / text).root
    kind = Walk(folder).kind("")
    if kind is None:
        raise FileError(f'path "{text}" not found')
    if kind != "folder":
        raise FileError(f'path "{text}" is not a directory')
    return folder


def _at(source: Source, message: str) -> Problem:
    place = source.location
    return Problem(path=place.path, line=place.line, message=f'{_WORDS[source.table]} "{source.name}": {message}')


def _key(item: Item) -> tuple[str, str, str]:
    return item.kind, item.domain, item.id


def _content_folder(folder: Path, path: str) -> Path | None:
    """Where in ``folder`` an include's content is; no symlink is followed."""
    below = normalised(path)
    if below is None:
        return None
    walk = Walk(folder)
    found = include_folder(below, lambda inner: _is("folder", walk, inner), CONTENT_FOLDERS)
    return folder / found if found is not None else None


def _is(kind: EntryKind, walk: Walk, path: str) -> bool:
    try:
        return walk.kind(path) == kind
    except FileError:  # below a link, or in a folder that is closed to us
        return False


def _skill_folders(folder: Path, source: Source) -> Iterator[Path]:
    """Where in ``folder`` an installed skill is: at its path, or if none is written, in the folder itself."""
    walk = Walk(folder)
    fetched = _is_fetched(source)
    below = normalised(source.path or f"skills/{source.name}")
    if not fetched and below and _is("file", walk, f"{below}/{_SKILL_FILE}"):
        yield folder / below
    if (fetched or not source.path) and _is("file", walk, _SKILL_FILE):
        yield folder
