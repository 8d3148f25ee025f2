"""What a mission comes to: an item per oracle command and regression guard, in order (design 2.1; spec 5.2)."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Final, Literal

from pytest_reqfile.oracle.mission import Command, Guard, Mission, OracleCommand
from pytest_reqfile.outcome import Location

ItemKind = Literal["command", "guard", "absent"]

_NOT_IN_NAMES: Final = re.compile(r"[^A-Za-z0-9_.-]+")
_LONGEST_NAME: Final = 80


@dataclass(frozen=True, slots=True, kw_only=True)
class PlannedItem:
    """One thing to verify. ``name`` is stable, unique, and made of ``A-Z a-z 0-9 _ - . /``, such as ``oracle/AC-1``.

    ``number`` counts from 1 in declared order. A mission without oracle commands has the one item ``oracle/absent``,
    which is blocked: a run that looked at nothing must not look like success.
    """

    name: str
    number: int
    kind: ItemKind
    location: Location
    command: OracleCommand | None = None
    guard: Guard | None = None

    @property
    def check_id(self) -> str:
        """What ``checks[].checkId`` says."""
        if self.command is not None:
            return self.command.check_id
        return self.guard.id if self.guard is not None else "absent"

    @property
    def given(self) -> Command:
        """The command as the brief gives it; of a guard without one, what it names."""
        if self.command is not None:
            return self.command.command
        if self.guard is None:
            return ""
        return self.guard.command or self.guard.check_id or self.guard.paths

    @property
    def expected(self) -> int:
        """The exit code expected."""
        entry = self.command or self.guard
        return entry.expected if entry is not None else 0


def plan_mission(mission: Mission) -> tuple[PlannedItem, ...]:
    """Every item of the mission, commands first; guards that name a check are resolved here."""
    return tuple(replace(item, number=number) for number, item in enumerate(_items(mission), 1))


def _items(mission: Mission) -> Iterator[PlannedItem]:
    names = _Names()
    if not mission.commands:
        yield PlannedItem(name=names.take("oracle", "absent"), number=0, kind="absent", location=mission.start)
    for command in mission.commands:
        name = names.take("oracle", command.check_id)
        yield PlannedItem(name=name, number=0, kind="command", location=command.location, command=command)
    for guard in mission.guards:
        name = names.take("guard", guard.id)
        resolved = _resolved(guard, mission)
        yield PlannedItem(name=name, number=0, kind="guard", location=guard.location, guard=resolved)


def _resolved(guard: Guard, mission: Mission) -> Guard:
    """A string that equals a check's id or command stands for that check; anything else stays prose (spec 5.6)."""
    if guard.kind != "prose":
        return guard
    for command in mission.commands:
        if guard.check_id in (command.check_id, command.command):
            return replace(guard, kind="check", check_id=command.check_id)
    return guard


class _Names:
    def __init__(self) -> None:
        self._taken: set[str] = set()

    def take(self, folder: str, text: str) -> str:
        """``folder/slug``, with a number appended where it is taken (design 2.6)."""
        slug = safe_name(text)
        name, number = f"{folder}/{slug}", 1
        while name in self._taken:
            number += 1
            name = f"{folder}/{slug}-{number}"
        self._taken.add(name)
        return name


def safe_name(text: str) -> str:
    """``text`` fit for an item name and a file name: never empty, never a path, at most 80 characters."""
    slug = _NOT_IN_NAMES.sub("-", text).strip("-.")[:_LONGEST_NAME].strip("-.")
    return slug or "item"
