"""``reqfile update``: pins moved to the latest release of their repository (spec reqfile.md 7.4)."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Final

from pytest_reqfile.errors import FormatError, Problem, WorkspaceError
from pytest_reqfile.reqfile.discovery import Discovery
from pytest_reqfile.reqfile.pins import Move, Pin, find_pins, move_pins
from pytest_reqfile.reqfile.tags import latest_release
from pytest_reqfile.reqfile.values import RepositoryUse, Reqfile

_SHORT: Final = 12


@dataclass(frozen=True, slots=True, kw_only=True)
class Updates:
    """What an update changes. ``moves`` and ``kept`` are lines for people, ``texts`` the new text of each Reqfile.

    ``problems`` are pins that could not be looked at; they stay as they are and never hide the others.
    """

    moves: tuple[str, ...]
    kept: tuple[str, ...]
    unreleased: tuple[str, ...]
    texts: Mapping[str, str]
    problems: tuple[Problem, ...]


def plan_updates(discovery: Discovery, tags_of: Callable[[str], Mapping[str, str]]) -> Updates:
    """Compare every pin with its repository's tags. ``tags_of(repo)`` raises WorkspaceError if it is unreachable."""
    planner = _Planner(tags_of)
    for reqfile in discovery.reqfiles:
        planner.plan(reqfile, discovery.tree.read_text(reqfile.path))
    return planner.updates()


def updates_text(updates: Updates, *, dry_run: bool) -> str:
    """The moved pins, then those left as they are."""
    parts: list[str] = []
    if updates.moves:
        parts.append("\n".join(("Would move:" if dry_run else "Moved:", *updates.moves)))
    elif not updates.problems:
        parts.append(_nothing_moved(updates))
    if updates.kept or updates.unreleased:
        parts.append("\n".join(("Up to date:", *updates.kept, *updates.unreleased)))
    return "\n\n".join(parts) + "\n" if parts else ""


def _nothing_moved(updates: Updates) -> str:
    if updates.unreleased:
        return "No pinned repository has a newer release."
    return "Every pinned repository is at its latest release." if updates.kept else "No Reqfile pins a repository."


class _Planner:
    """Collects over all Reqfiles; a repository's tags are asked for once."""

    def __init__(self, tags_of: Callable[[str], Mapping[str, str]]) -> None:
        self._tags_of = tags_of
        self._tags: dict[str, Mapping[str, str] | None] = {}
        self._moves: list[str] = []
        self._kept: list[str] = []
        self._unreleased: list[str] = []
        self._texts: dict[str, str] = {}
        self._problems: list[Problem] = []

    def updates(self) -> Updates:
        return Updates(
            moves=tuple(self._moves),
            kept=tuple(self._kept),
            unreleased=tuple(self._unreleased),
            texts=self._texts,
            problems=tuple(self._problems),
        )

    def plan(self, reqfile: Reqfile, text: str) -> None:
        moves = [move for pin in self._pins(reqfile, text) if (move := self._move(reqfile.path, pin)) is not None]
        if not moves:
            return
        try:
            self._texts[reqfile.path] = move_pins(text, reqfile.path, moves)
        except FormatError as error:
            places = ", ".join(f"line {move.pin.line} to {move.pin.repo}@{move.commit}" for move in moves)
            message = f"the pins could not be moved ({error}); set them by hand: {places}"
            self._problems.append(Problem(path=reqfile.path, line=moves[0].pin.line, message=message))
            return
        self._moves.extend(
            f"  {reqfile.path}:{move.pin.line}  {move.pin.repo}  {_before(move)} -> {move.tag}" for move in moves
        )

    def _pins(self, reqfile: Reqfile, text: str) -> tuple[Pin, ...]:
        """The pins of the Reqfile's use blocks, and not what only looks like one in a comment or a text."""
        on_line: defaultdict[int, list[Pin]] = defaultdict(list)
        for pin in find_pins(text):
            on_line[pin.line].append(pin)
        found: list[Pin] = []
        for block in reqfile.blocks:
            if not isinstance(block.use, RepositoryUse) or block.use_line is None:
                continue
            same = [p for p in on_line[block.use_line] if (p.repo, p.commit) == (block.use.repo, block.use.ref)]
            if not same:
                message = f"the pin of {block.id} is not on one line with its `use`; move it by hand"
                self._problems.append(Problem(path=reqfile.path, line=block.use_line, message=message))
            found.extend(same[:1])
        return tuple(dict.fromkeys(found))

    def _move(self, path: str, pin: Pin) -> Move | None:
        """Where the pin goes; None when it stays, which is then said."""
        tags = self._tags_of_repo(pin, path)
        if tags is None:
            return None
        place = f"  {path}:{pin.line}  {pin.repo}"
        latest = latest_release(tags)
        if latest is None:
            self._unreleased.append(f"{place}  no release tag; left as pinned")
        elif tags[latest] == pin.commit:
            self._kept.append(f"{place}  {latest}, the latest release")
        else:
            return Move(pin=pin, commit=tags[latest], tag=latest)
        return None

    def _tags_of_repo(self, pin: Pin, path: str) -> Mapping[str, str] | None:
        if pin.repo not in self._tags:
            try:
                self._tags[pin.repo] = self._tags_of(pin.repo)
            except WorkspaceError as error:
                self._tags[pin.repo] = None
                self._problems.append(Problem(path=path, line=pin.line, message=str(error)))
        return self._tags[pin.repo]


def _before(move: Move) -> str:
    """The tag a pin had; the start of its commit where there was none, or where the tag itself has moved."""
    tag = move.pin.tag
    return tag if tag is not None and tag != move.tag else move.pin.commit[:_SHORT]
