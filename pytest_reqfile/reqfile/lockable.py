"""Requirements and configs as plain values for whoever pins them (issue 6.4).

What is pinned is what a file says, not how it is laid out: the YAML values of a block or config, whatever keys later
versions add.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Literal

from pytest_reqfile.errors import FileError, FormatError
from pytest_reqfile.reqfile.catalog import Catalog
from pytest_reqfile.reqfile.discovery import Tree
from pytest_reqfile.reqfile.values import KINDS, Requirement
from pytest_reqfile.syntax.nodes import Node, plain
from pytest_reqfile.syntax.yaml import read_yaml
from pytest_reqfile.workspace.paths import is_below


@dataclass(frozen=True, slots=True, kw_only=True)
class Lockable:
    """One requirement or config. ``documents`` are JSON values by name; ``files`` lie below ``folder``.

    ``path`` is the Reqfile or config, ``domain`` the folder it governs; all are repository paths.
    """

    kind: Literal["requirement", "config"]
    id: str
    domain: str
    path: str
    documents: Mapping[str, object]
    folder: str = ""
    files: tuple[str, ...] = ()


def lockables(catalog: Catalog) -> tuple[Lockable, ...]:
    """Everything of ``catalog`` that decides what is required; trials of ``--use`` are none of the repository's."""
    tree = catalog.discovery.tree
    blocks: dict[tuple[str, str], object] = {}
    for path in dict.fromkeys(requirement.location.path for requirement in catalog.requirements):
        blocks.update(_blocks(tree, path))
    found = [
        _requirement(requirement, blocks[key], tree)
        for requirement in catalog.requirements
        if (key := (requirement.location.path, requirement.id)) in blocks
    ]
    return (*found, *_configs(catalog, tree))


def _requirement(requirement: Requirement, block: object, tree: Tree) -> Lockable:
    documents: dict[str, object] = {"requirement.json": {requirement.kind: block}}
    imported = requirement.imported
    if imported is not None and imported.commit is not None:
        # A tag may move; what its commit holds cannot change.
        documents["import.json"] = {"use": str(imported.use), "commit": imported.commit}
    folder = "/".join(part for part in (requirement.folder, ".reqfile", requirement.id) if part)
    return Lockable(
        kind="requirement",
        id=requirement.id,
        domain=requirement.folder,
        path=requirement.location.path,
        documents=documents,
        folder=folder,
        files=tuple(path[len(folder) + 1 :] for path in tree.listed if is_below(path, folder)),
    )


def _configs(catalog: Catalog, tree: Tree) -> Iterator[Lockable]:
    for config in catalog.settings.configs:
        root = _read(tree, config.path)
        if root is not None:
            documents = {"config.json": plain(root)}
            yield Lockable(kind="config", id="config", domain=config.folder, path=config.path, documents=documents)


def _blocks(tree: Tree, path: str) -> dict[tuple[str, str], object]:
    """Each block of a Reqfile as plain values, by path and id."""
    root = _read(tree, path)
    found: dict[tuple[str, str], object] = {}
    for kind in KINDS if root is not None and root.kind == "mapping" else ():
        section = root.get(kind) if root is not None else None
        for node in section.items if section is not None and section.kind == "list" else ():
            identifier = node.get("id") if node.kind == "mapping" else None
            if identifier is not None:
                found[path, str(identifier.value)] = plain(node)
    return found


def _read(tree: Tree, path: str) -> Node | None:
    """A file the catalog has read already; one that has changed for the worse meanwhile is left out, as it is there."""
    try:
        return read_yaml(tree.read_text(path), path)
    except (FormatError, FileError):
        return None
