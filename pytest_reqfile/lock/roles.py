"""The files of a role's rendering as one digest, pinned on request (spec/lock.md 2.8, 4.4)."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import Final

from pytest_reqfile.errors import UsageError
from pytest_reqfile.lock.changes import Change, Verb
from pytest_reqfile.lock.digest import Leaf, tree_digest
from pytest_reqfile.lock.values import Lock, OutputPin
from pytest_reqfile.project.values import Config

RoleFiles = Mapping[str, tuple[Leaf, str]]
"""The files of a rendering by path: the leaf of each, and its digest as an output."""

RenderRole = Callable[[str], RoleFiles | None]
"""What ``generate --role NAME`` would write; None where nobody here can render."""

_NOT_RENDERED: Final = "the outputs of role {role} were not compared: only ai-rulez renders them"


def role_digest(files: RoleFiles) -> str:
    """The one digest over a role's files; a role that renders nothing has one, too."""
    return tree_digest("role-output", [leaf for leaf, _ in files.values()])


def wanted_roles(
    config: Config, lock: Lock | None, asked: Iterable[str] = (), *, every: bool = False
) -> tuple[str, ...]:
    """The roles a write pins: declared ``pin = true``, all of them, asked for by name, or asked for once before.

    Raises ``UsageError`` for a role that nobody declares.
    """
    names = {role.name for role in config.roles}
    for name in asked:
        if name not in names:
            raise UsageError(f'unknown role "{name}"')
    requested = {pin.role for pin in lock.role_pins if pin.requested} if lock is not None else set()
    chosen = names if every else {role.name for role in config.roles if role.pin} | set(asked) | (requested & names)
    return tuple(role.name for role in config.roles if role.name in chosen)


def pin_roles(config: Config, roles: Iterable[str], render: RenderRole) -> tuple[OutputPin, ...]:
    """The pins of ``roles``. Raises ``UsageError`` for one that cannot be rendered here."""
    pins: list[OutputPin] = []
    for name in roles:
        files = render(name)
        if files is None:
            raise UsageError(
                f"the outputs of role {name} cannot be pinned: only ai-rulez renders them; "
                "name a program that can with --generator"
            )
        role = config.role(name)
        declared = role is not None and role.pin
        pins.append(OutputPin(role=name, digest=role_digest(files), requested=not declared))
    return tuple(pins)


def compare_roles(
    config: Config, lock: Lock, render: RenderRole, only: Iterable[str] = (), *, with_files: bool = False
) -> tuple[tuple[Change, ...], tuple[str, ...], int]:
    """Changes, notes, and how many roles were compared. ``only`` narrows to some roles, which the lock must pin.

    Raises ``UsageError`` for one that it does not.
    """
    for name in only:
        if lock.role_pin(name) is None:
            raise UsageError(f'role "{name}" is not pinned in the lock')
    declared = {role.name for role in config.roles if role.pin}
    known = {role.name for role in config.roles}
    changes: list[Change] = []
    notes: list[str] = []
    names = set(only) or declared | {pin.role for pin in lock.role_pins}
    for name in sorted(names):
        pin = lock.role_pin(name)
        if pin is None:
            detail = f'role "{name}" is not pinned in the lock yet; run `reqfile lock`'
            changes.append(_change("added", name, detail=detail))
        elif name not in known or (name not in declared and not pin.requested):
            detail = "the role is no longer pinned or no longer exists"
            changes.append(_change("removed", name, old=pin.digest, detail=detail))
        elif (files := render(name)) is None:
            notes.append(_NOT_RENDERED.format(role=name))
        elif (digest := role_digest(files)) != pin.digest:
            listed = tuple((path, one) for path, (_, one) in files.items()) if with_files else ()
            changes.append(_change("changed", name, old=pin.digest, new=digest, files=listed))
    return tuple(changes), tuple(notes), len(names) - len(notes)


def _change(
    verb: Verb, role: str, *, old: str = "", new: str = "", detail: str = "", files: tuple[tuple[str, str], ...] = ()
) -> Change:
    return Change(scope="output", change=verb, kind="role", id=role, old=old, new=new, detail=detail, files=files)
