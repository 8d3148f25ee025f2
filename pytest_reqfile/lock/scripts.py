"""Scripts that hooks run, as leaves of what declares them (spec/lock.md 2.6)."""

from __future__ import annotations

import posixpath
import re
from collections.abc import Iterator
from typing import Final

from pytest_reqfile.errors import FileError, FormatError
from pytest_reqfile.lock.digest import Leaf, encoded, file_leaf, mode_of
from pytest_reqfile.project.values import HookGroup, Item
from pytest_reqfile.syntax.nodes import Node
from pytest_reqfile.workspace.walk import Walk

_SEPARATORS: Final = re.compile(r"[ \t\r\n;&|()<>]+")
_PROJECT: Final = tuple(
    f"{variable}/" for name in ("CLAUDE_PROJECT_DIR", "CODEX_PROJECT_DIR") for variable in (f"${{{name}}}", f"${name}")
)
_RELATIVE: Final = ("./", "../")
_FLATTENED: Final = str.maketrans("/:\\", "___")
_WITH_HOOKS: Final = frozenset({"agent", "skill", "command"})
_NAMELESS: Final = "_"
_OUTSIDE: Final = "is outside the project, so its content cannot be pinned; move it into the project"


def hook_scripts(group: HookGroup, root: Walk) -> tuple[list[Leaf], list[str]]:
    """The leaves of the scripts of a ``[[hooks]]`` group, and a problem for each one that cannot be pinned.

    ``root`` is the project's folder. Of several leaves of one path the first stays.
    """
    leaves: dict[str, Leaf] = {}
    problems: list[str] = []
    for script in group.scripts:
        path = cleaned(script)
        if is_outside(path):
            name = f"outside/{_flat(path)}"
            leaves.setdefault(name, file_leaf(name, encoded(script)))
            problems.append(f'hook {group.id} script "{script}" {_OUTSIDE}')
            continue
        script_leaf, reason = _script_leaf(root, path, "script", "missing")
        leaves.setdefault(*script_leaf)
        if reason is not None:
            problems.append(f'hook {group.id} script "{script}" cannot be pinned: {reason}')
    return list(leaves.values()), problems


def frontmatter_scripts(item: Item, root: Walk) -> tuple[list[Leaf], list[str]]:
    """The same for the scripts that the ``hooks`` of an item's frontmatter run."""
    leaves: dict[str, Leaf] = {}
    problems: list[str] = []
    for path in _frontmatter_paths(item):
        if is_outside(path):
            name = f"hook-outside/{_flat(path)}"
            leaves.setdefault(name, file_leaf(name, encoded(path)))
            problems.append(f'{item.kind} {item.id} frontmatter hook script "{path}" {_OUTSIDE}')
            continue
        script_leaf, reason = _script_leaf(root, path, "hook-script", "hook-missing")
        leaves.setdefault(*script_leaf)
        if reason is not None:
            problems.append(f'{item.kind} {item.id} frontmatter hook script "{path}" cannot be pinned: {reason}')
    return list(leaves.values()), problems


def cleaned(path: str) -> str:
    """``path`` as Go's ``filepath.Clean`` makes it, lexically."""
    path = posixpath.normpath(path)
    return path[1:] if path.startswith("//") else path  # POSIX keeps two slashes, Go one


def is_outside(path: str) -> bool:
    return path.startswith(("/", "../")) or path == ".."


def command_scripts(command: str) -> list[str]:
    """The project scripts a shell command names: words with a project variable or a relative path in front."""
    found: list[str] = []
    for word in _SEPARATORS.split(command):
        text = word.strip("\"'")
        prefix = next((prefix for prefix in _PROJECT if text.startswith(prefix)), None)
        if prefix is not None:
            found.append(cleaned(text.removeprefix(prefix)))
        elif text.startswith(_RELATIVE):
            found.append(cleaned(text))
    return found


def _script_leaf(root: Walk, path: str, present: str, missing: str) -> tuple[tuple[str, Leaf], str | None]:
    """The leaf of a script by its name, and why its content is not in it.

    A script that is not there, or a folder, is no problem: one that appears later changes the digest. One that is
    there and cannot be looked at is: nobody would see it change.
    """
    name = f"{present}/{path}"
    try:
        if root.reached(path) not in {None, "folder"}:
            return (name, file_leaf(name, root.read(path), mode_of(root.is_executable(path)))), None
        reason = None
    except FileError as error:
        reason = str(error).removeprefix(f"{path}: ").removeprefix("cannot read: ")
    name = f"{missing}/{path}"
    try:
        return (name, file_leaf(name, b"")), reason
    except FormatError:  # no path that a tree may hold
        name = f"{missing}/{_flat(path) or _NAMELESS}"
        return (name, file_leaf(name, encoded(path))), "not the path of a file"


def _flat(path: str) -> str:
    return path.strip("./").translate(_FLATTENED)


def _frontmatter_paths(item: Item) -> list[str]:
    frontmatter = item.document.frontmatter
    if item.kind not in _WITH_HOOKS or frontmatter is None:
        return []
    hooks = frontmatter.node.get("hooks")
    if hooks is None:
        return []
    try:
        commands = list(_commands(hooks))
    except _OtherShapeError:
        return []
    paths = {path for command in commands for path in command_scripts(command)}
    return sorted(paths, key=encoded)


class _OtherShapeError(Exception):
    """The block does not decode as ``hooks: {event: [{hooks: [{type, command}]}]}``, so it names no scripts."""


def _commands(hooks: Node) -> Iterator[str]:
    for event in _entries(hooks):
        for group in _items(event):
            inner = _member(group, "hooks")
            for handler in _items(inner) if inner is not None else ():
                kind, command = (_string(_member(handler, key)) for key in ("type", "command"))
                if kind in {"", "command"}:
                    yield command


def _entries(node: Node) -> list[Node]:
    if node.kind == "null":
        return []
    if node.kind != "mapping":
        raise _OtherShapeError
    return [entry.value for entry in node.entries]


def _items(node: Node) -> tuple[Node, ...]:
    if node.kind == "null":
        return ()
    if node.kind != "list":
        raise _OtherShapeError
    return node.items


def _member(node: Node, key: str) -> Node | None:
    if node.kind == "null":
        return None
    if node.kind != "mapping":
        raise _OtherShapeError
    return node.get(key)


def _string(node: Node | None) -> str:
    if node is None or node.kind == "null":
        return ""
    if node.kind in {"list", "mapping"}:
        raise _OtherShapeError
    return str(node.value)
