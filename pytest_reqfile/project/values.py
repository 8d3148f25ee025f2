"""What a project says, as values that know their file and line (spec/airulez-project.md 1 to 4)."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Final, Literal

from pytest_reqfile.errors import Problem
from pytest_reqfile.outcome import Location
from pytest_reqfile.project.frontmatter import Document
from pytest_reqfile.syntax.nodes import Node
from pytest_reqfile.workspace.walk import Walk

ContentKind = Literal["rule", "context", "skill", "agent", "command", "check"]
OriginKind = Literal["project", "include", "skill"]
MergeStrategy = Literal["local-override", "include-override", "error"]
SourceTable = Literal["includes", "installed_skills", "skill_sources"]
LockScope = Literal["all", "skills"]
AgeSource = Literal["auto", "forge", "first-seen", "commit"]

CONTENT_KINDS: Final[tuple[ContentKind, ...]] = ("rule", "context", "skill", "agent", "command", "check")
DEFAULT_PROFILE: Final = "default"


@dataclass(frozen=True, slots=True, kw_only=True)
class Declared:
    """One value of the configuration and the file its lines belong to.

    ``overrides`` is set for an entry of ``config.local.toml`` that changes one of ``config.toml``: the shared entry's
    place. What such an entry inherits carries the line of the local entry.
    """

    node: Node
    path: str
    overrides: Location | None = None

    @property
    def location(self) -> Location:
        return Location(path=self.path, line=self.node.line)


@dataclass(frozen=True, slots=True, kw_only=True)
class Origin:
    """Where content comes from: the project itself, an include, or an installed skill.

    ``tree`` reads its files; ``folder`` is the content folder in it (``.ai-rulez`` of the project). ``prefix`` goes
    before a path of ``tree`` to show it: empty inside the project, ``include:NAME/`` outside.
    """

    kind: OriginKind
    name: str
    tree: Walk
    folder: str
    prefix: str = ""

    def shown(self, path: str) -> str:
        """A path of ``tree`` as reports name it."""
        return f"{self.prefix}{path}"

    def label(self, path: str) -> str:
        """The source of a declaration file: ``include:NAME/verifiers/x.toml``, or the project path (seed 000)."""
        if self.kind == "project":
            return path
        return f"{self.kind}:{self.name}/{path.removeprefix(f'{self.folder}/' if self.folder else '')}"


@dataclass(frozen=True, slots=True, kw_only=True)
class Item:
    """One rule, context, skill, agent, command or check.

    ``id`` is the file's stem or the folder's name; ``domain`` is empty for root content. ``file`` is the Markdown file
    and ``folder`` the folder of a skill or a ``COMMAND.md`` (None for single files), both paths of ``origin.tree``;
    ``path`` is the file as reports show it. ``profiles`` limits an installed skill to profiles (empty: all).
    """

    kind: ContentKind
    id: str
    domain: str
    file: str
    folder: str | None
    origin: Origin
    document: Document
    profiles: tuple[str, ...] = ()

    @property
    def path(self) -> str:
        return self.origin.shown(self.file)

    @property
    def location(self) -> Location:
        return Location(path=self.path, line=1)

    @property
    def config_path(self) -> str:
        """The file relative to its content folder, such as ``rules/style.md`` or ``domains/web/skills/x/SKILL.md``."""
        folder = self.origin.folder
        return self.file.removeprefix(f"{folder}/") if folder else self.file

    @property
    def name(self) -> str:
        """``id`` or ``domain/id``: what a verifier may name it by."""
        return f"{self.domain}/{self.id}" if self.domain else self.id


@dataclass(frozen=True, slots=True, kw_only=True)
class Domain:
    """One folder of ``domains/``; ``always`` says that it comes from an include and belongs to every profile."""

    name: str
    always: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class Profile:
    """A named set of domains; a ``builtin:<pack>`` among them selects a pack that only ai-rulez holds."""

    name: str
    domains: tuple[str, ...]
    location: Location


@dataclass(frozen=True, slots=True, kw_only=True)
class Selector:
    """What a role keeps of one kind: ids or ``path.Match`` globs; one with ``/`` matches ``domain/id``."""

    include: tuple[str, ...] = ()
    exclude: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Role:
    """One ``[[roles]]`` entry as written; ``selection`` flattens ``extends`` (spec/airulez-project.md 3.3)."""

    name: str
    declared: Declared
    domains: tuple[str, ...] = ()
    selectors: Mapping[ContentKind, Selector]
    extends: str | None = None
    pin: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Source:
    """One entry of ``[[includes]]``, ``[[installed_skills]]`` or ``[[skill_sources]]``.

    ``source``, ``path``, ``ref``, ``version`` are as written. ``is_git`` says that it names a git repository, else
    ``source`` is a path relative to the project root. ``kinds`` is an include's ``include`` filter (None: everything).
    """

    table: SourceTable
    name: str
    source: str
    declared: Declared
    is_git: bool
    path: str = ""
    ref: str = ""
    version: str = ""
    tag_prefix: str = ""
    include_prerelease: bool = False
    min_release_age: str = ""
    format: str = ""
    local_override: str | None = None
    kinds: tuple[str, ...] | None = None
    merge_strategy: MergeStrategy = "local-override"
    profiles: tuple[str, ...] = ()

    @property
    def location(self) -> Location:
        return self.declared.location

    @property
    def is_local(self) -> bool:
        """Whether its own source is a path; a git source with a ``local_override`` is not (spec/lock.md 3.4)."""
        return not self.is_git


Fetched = Callable[[Source], Path | str]
"""Finds the content folder of a git source on this machine (what its lock entry digests), or says why there is none."""


@dataclass(frozen=True, slots=True, kw_only=True)
class HookGroup:
    """One ``[[hooks]]`` group; ``id`` is ``event:matcher:n`` (spec/lock.md 3.5), ``scripts`` those of its actions."""

    id: str
    event: str
    matcher: str
    scripts: tuple[str, ...]
    declared: Declared


@dataclass(frozen=True, slots=True, kw_only=True)
class LockSettings:
    """``[lock]``; ``enforce`` is None where it is not set: then it is on where a lock file exists."""

    enforce: bool | None = None
    include_outputs: bool = True
    scope: LockScope = "all"
    min_release_age: str = ""
    min_release_age_source: AgeSource = "auto"
    verify_tags: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Builtins:
    """Which packs of ai-rulez are in use. Their content is inside that program: a target there cannot be resolved.

    ``all`` for ``builtins = true``; else the named ``packs`` (others may be added by ai-rulez itself). ``excluded``
    are ``!pack`` entries, ``scoped`` the packs that profiles name by ``builtin:pack``.
    """

    all: bool = False
    packs: tuple[str, ...] = ()
    excluded: tuple[str, ...] = ()
    scoped: tuple[str, ...] = ()

    @property
    def in_use(self) -> bool:
        """Whether a target that is nowhere may be in a pack."""
        return self.all or bool(self.packs) or bool(self.scoped)


@dataclass(frozen=True, slots=True, kw_only=True)
class Config:
    """config.toml, valid, with typed parts; ``tables`` has every top-level key, for what others validate.

    ``path`` is the file's project path, ``local`` that of ``config.local.toml`` where one was merged in.
    ``verifiers`` are the ``[[verifiers]]`` entries in order, unchecked but for being tables.
    """

    path: str
    name: str
    tables: Mapping[str, Declared]
    default: str = DEFAULT_PROFILE
    profiles: tuple[Profile, ...] = ()
    roles: tuple[Role, ...] = ()
    includes: tuple[Source, ...] = ()
    installed_skills: tuple[Source, ...] = ()
    skill_sources: tuple[Source, ...] = ()
    hooks: tuple[HookGroup, ...] = ()
    verifiers: tuple[Declared, ...] = ()
    builtins: Builtins = Builtins()
    lock: LockSettings = LockSettings()
    bundle_exclude: tuple[str, ...] = ()
    local: str | None = None

    def profile(self, name: str) -> Profile | None:
        return next((profile for profile in self.profiles if profile.name == name), None)

    def role(self, name: str) -> Role | None:
        return next((role for role in self.roles if role.name == name), None)


@dataclass(frozen=True, slots=True, kw_only=True)
class DeclarationFile:
    """One ``verifiers/*.toml``: of the project, an include or an installed skill.

    ``source`` is its name in reports, ``path`` its path in ``origin.tree``. ``node`` is the whole document, or None
    where the file could not be read; ``problems`` then says why, in the words of AR9H2 (spec/verifiers.md 2.1). Its
    keys are unchecked.
    """

    source: str
    path: str
    origin: Origin
    node: Node | None
    problems: tuple[Problem, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Unavailable:
    """An include or installed skill whose content is not here, so nothing that depends on it may pass."""

    source: Source
    reason: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Rubric:
    """One folder of ``rubrics/``; ``files`` are its regular files, ``refused`` what is neither file nor folder."""

    id: str
    path: str
    files: tuple[str, ...]
    refused: tuple[str, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Place:
    """Where a project is. ``root`` is its canonical folder, ``folder`` the configuration folder (``.ai-rulez``).

    ``top`` is the canonical repository top that holds it (``root`` outside git): the border no symlink may cross.
    """

    root: Path
    folder: str
    top: Path

    @property
    def config(self) -> str:
        return f"{self.folder}/config.toml"


@dataclass(frozen=True, slots=True, kw_only=True)
class Project:
    """Everything of a project that verifiers and the lock ask for.

    ``items`` are all items (own, of includes, of installed skills), root first, then domains by name, each kind in
    byte order of ids. ``problems`` are files that are wrong or could not be looked at: the rest is still here, but
    nothing may pass as if they did not exist. ``notes`` are warnings. ``origins`` are the includes and installed skills
    whose content was read, ``unavailable`` those whose content is elsewhere.
    """

    place: Place
    config: Config
    own: Origin
    items: tuple[Item, ...]
    domains: tuple[Domain, ...]
    declarations: tuple[DeclarationFile, ...]
    origins: tuple[Origin, ...]
    rubrics: tuple[Rubric, ...]
    unavailable: tuple[Unavailable, ...]
    problems: tuple[Problem, ...]
    notes: tuple[Problem, ...]

    def find(self, kind: ContentKind, target: str) -> Item | None:
        """The item a verifier names: ``domain/id``, or an id of the root, then of the domains by name (spec 2.3)."""
        return find_item(self.items, kind, target)

    def of_kind(self, kind: ContentKind) -> tuple[Item, ...]:
        return tuple(item for item in self.items if item.kind == kind)

    @property
    def own_items(self) -> tuple[Item, ...]:
        """The project's own content: what the lock pins as items."""
        return tuple(item for item in self.items if item.origin.kind == "project")


def find_item(items: tuple[Item, ...], kind: ContentKind, target: str) -> Item | None:
    """The first of ``items`` (in the order of ``Project.items``) that ``target`` names."""
    domain, slash, identifier = target.partition("/")
    if slash and not domain:
        return None  # the root is no domain
    for item in items:
        if item.kind == kind and ((item.domain, item.id) == (domain, identifier) if slash else item.id == target):
            return item
    return None
