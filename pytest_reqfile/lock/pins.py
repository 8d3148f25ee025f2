"""What a project's own sources are, as pins (seed 001 "What is pinned"; spec/lock.md 3)."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Final

from pytest_reqfile.errors import FileError, FormatError, Problem
from pytest_reqfile.lock.declared import hook_json, inline_verifier_json, role_json, settings_json, table_json
from pytest_reqfile.lock.digest import Leaf, TreeKind, encoded, file_leaf, open_file_leaf, tree_digest
from pytest_reqfile.lock.directories import Hasher
from pytest_reqfile.lock.includes import pin_local_includes
from pytest_reqfile.lock.scripts import frontmatter_scripts, hook_scripts
from pytest_reqfile.lock.values import ItemPin
from pytest_reqfile.project.resources import GitView, Resource, list_resources
from pytest_reqfile.project.values import DeclarationFile, Item, LockScope, Project
from pytest_reqfile.syntax.nodes import Node
from pytest_reqfile.workspace.hashing import OpenFile
from pytest_reqfile.workspace.paths import folder_of, name_of
from pytest_reqfile.workspace.walk import Walk

Pinned = tuple[ItemPin | None, Iterable[str]]
"""A pin, and what keeps it (or part of it) from being one."""

_INVALID_TOML: Final = "invalid TOML: "


@dataclass(frozen=True, slots=True, kw_only=True)
class Pins:
    """Items in the order of the lock, and problems: what cannot be pinned keeps every check red until it is fixed."""

    items: tuple[ItemPin, ...]
    problems: tuple[str, ...]


def pin_sources(project: Project, hasher: Hasher, view: GitView | None, scope: LockScope) -> Pins:
    """The pins of what the project itself holds; with scope ``skills`` its skills alone.

    Raises ``FormatError`` or ``FileError`` where a file of an item cannot be hashed.
    """
    items: list[ItemPin] = []
    problems: list[str] = []
    for item, more in _pinned(project, hasher, view, scope):
        problems.extend(more)
        if item is not None:
            items.append(item)
    for pin in items:
        _refuse_undecodable(pin)
    return Pins(items=unique(items), problems=tuple(problems))


def unique(items: Iterable[ItemPin]) -> tuple[ItemPin, ...]:
    """The items in order, a repeated key made one of its own: ``dup``, ``dup#2`` (spec/lock.md 3.2)."""
    taken: set[tuple[str, str, str]] = set()
    found: list[ItemPin] = []
    for item in sorted(items, key=lambda one: [encoded(text) for text in (one.kind, one.domain, one.id, one.path)]):
        number, pin = 2, item
        while pin.key in taken:
            pin = replace(item, id=f"{item.id}#{number}")
            number += 1
        taken.add(pin.key)
        found.append(pin)
    return tuple(found)


def _pinned(project: Project, hasher: Hasher, view: GitView | None, scope: LockScope) -> Iterator[Pinned]:
    items = [item for item in project.own_items if scope == "all" or item.kind == "skill"]
    resources = list_resources(project, items, view)
    root = Walk(project.place.root, border=project.place.top)
    yield from _content_pins(items, resources, hasher, root)
    if scope == "all":
        yield from _declared_pins(project, root)
        yield from _verifier_file_pins(project)
        yield from _rubric_pins(project, hasher)
        yield from pin_local_includes(project, hasher)
    yield None, (str(problem) for problem in content_problems(project))


def _content_pins(
    items: Iterable[Item], resources: Mapping[str, tuple[Resource, ...]], hasher: Hasher, root: Walk
) -> Iterator[Pinned]:
    """A pin for each item. Raises ``FormatError`` with everything of them that cannot be hashed."""
    problems: list[Problem] = []
    for item in items:
        try:
            yield _content_pin(item, resources.get(item.path, ()), hasher, root)
        except FormatError as error:
            problems.extend(error.problems)
        except FileError as error:
            problems.append(Problem(path=None, message=str(error)))
    if problems:
        raise FormatError(problems)


def _content_pin(item: Item, resources: tuple[Resource, ...], hasher: Hasher, root: Walk) -> Pinned:
    tree = item.origin.tree
    if item.document.unread:
        raise FormatError(item.document.problems)
    scripts, problems = frontmatter_scripts(item, root)
    leaves = [_primary_leaf(item, tree), *scripts]
    if resources and item.folder is not None:
        names = [resource.name for resource in resources]
        leaves += _file_leaves(hasher, tree.real(item.folder), names, folder_of(item.path))
    folder = item.config_path.rpartition("/")[0]
    pin = ItemPin(
        kind=item.kind,
        id=item.id,
        domain=item.domain,
        path=folder if resources or item.kind == "skill" else item.config_path,
        digest=tree_digest(item.kind, leaves),
        owner=item.document.owner,
        version=item.document.version,
    )
    return pin, problems


def _file_leaves(hasher: Hasher, folder: Path, names: Iterable[str], shown: str) -> list[Leaf]:
    """The leaves of files below ``folder``; errors call the folder as it is ``shown``."""
    try:
        return hasher.leaves(folder, names)
    except FileError as error:
        raise FileError(f"{shown}/{error}") from error
    except FormatError as error:
        raise FormatError(
            Problem(path=f"{shown}/{problem.path}", message=f"{problem.message}; rename it")
            for problem in error.problems
        ) from error


def _primary_leaf(item: Item, tree: Walk) -> Leaf:
    """The item's own file as it is on disk; gone since it was loaded, as it was then."""
    name = name_of(item.file)
    try:
        place = tree.real(item.file)
    except FileError:
        if tree.kind(item.file) is not None:
            raise
        return file_leaf(name, item.document.text.encode("utf-8", "surrogateescape"))
    with OpenFile(str(place), item.path) as file:
        return open_file_leaf(name, file)


def _declared_pins(project: Project, root: Walk) -> Iterator[Pinned]:
    config = project.config
    for group in config.hooks:
        scripts, problems = hook_scripts(group, root)
        yield _declared_pin("hook", group.id, hook_json(group.declared.node), scripts), problems
    for role in config.roles:
        yield _declared_pin("role", role.name, role_json(role.declared.node)), ()
    for verifier in config.verifiers:
        name = verifier.node.get("name")
        identifier = str(name.value) if name is not None else ""
        yield _declared_pin("verifier", identifier, inline_verifier_json(verifier.node)), ()
    for identifier, text in settings_json(config):
        yield _declared_pin("settings", identifier, text, leaf=f"{identifier}.json"), ()


def _declared_pin(
    kind: TreeKind, identifier: str, text: str, more: Iterable[Leaf] = (), *, path: str = "", leaf: str = ""
) -> ItemPin:
    own = file_leaf(leaf or f"{kind}.json", text.encode("utf-8"))
    return ItemPin(kind=kind, id=identifier, path=path, digest=tree_digest(kind, [own, *more]))


def _verifier_file_pins(project: Project) -> Iterator[Pinned]:
    for file in project.declarations:
        if file.origin.kind != "project":
            continue
        path = file.path.removeprefix(f"{project.place.folder}/")
        if file.node is None:
            yield None, (_unpinnable(file, path),)
            continue
        tables = file.node.get("verifiers")
        nodes = tables.items if tables is not None and tables.kind == "list" else ()
        for number, node in enumerate(nodes, start=1):
            if node.kind == "mapping":
                yield _declared_pin("verifier", _table_id(node, path, number), table_json(node), path=path), ()


def _table_id(node: Node, path: str, number: int) -> str:
    identifier = node.get("id")
    if identifier is not None and isinstance(identifier.value, str) and identifier.value:
        return identifier.value
    return f"{path}#{number}"


def _unpinnable(file: DeclarationFile, path: str) -> str:
    message = file.problems[0].message
    if message.startswith(_INVALID_TOML):
        return f"verifier file {path} is not valid TOML, so it cannot be pinned"
    if message.startswith("not a regular file"):
        return f"verifier file {path} is not a regular file, so it cannot be pinned"
    return f"verifier file {path} cannot be pinned: {message}"


def _rubric_pins(project: Project, hasher: Hasher) -> Iterator[Pinned]:
    for rubric in project.rubrics:
        folder = project.own.tree.real(rubric.path)
        path = rubric.path.removeprefix(f"{project.place.folder}/")
        names = [file.removeprefix(f"{rubric.path}/") for file in rubric.files]
        problems = [
            f"rubric file {refused.removeprefix(f'{project.place.folder}/')} is not a regular file, so it cannot be "
            "pinned"
            for refused in rubric.refused
        ]
        pin = None
        if names:
            digest = tree_digest("rubric", _file_leaves(hasher, folder, names, rubric.path))
            pin = ItemPin(kind="rubric", id=rubric.id, path=path, digest=digest)
        yield pin, problems


def content_problems(project: Project) -> Iterator[Problem]:
    """What is wrong with own content, such as a link that is not followed: no pin covers what it may hold."""
    folder = f"{project.place.folder}/"
    for problem in project.problems:
        if problem.path is not None and problem.path.startswith(folder) and problem.path != project.config.path:
            yield problem


def _refuse_undecodable(pin: ItemPin) -> None:
    """A lock file is UTF-8, so a name that is not cannot be written into it."""
    try:
        f"{pin.id}{pin.domain}{pin.path}".encode()
    except UnicodeEncodeError:
        shown = pin.path.encode("utf-8", "surrogateescape").decode("utf-8", "backslashreplace")
        message = "the name is not valid UTF-8, so it cannot be written into the lock: rename it"
        raise FormatError([Problem(path=shown, message=message)]) from None
