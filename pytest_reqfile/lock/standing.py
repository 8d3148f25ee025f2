"""Where a pinned source stands against its remote's tags (seed 001 "lock --outdated"; spec/lock.md 6.9)."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Final, Literal

from pytest_reqfile.errors import ReqfileError, UsageError
from pytest_reqfile.lock.ages import Gate, Held
from pytest_reqfile.lock.remotes import is_range, redacted, remote_sources, table_of
from pytest_reqfile.lock.selection import Selection, SelectionCode, SelectionError, constraint_of, select
from pytest_reqfile.lock.tags import Tag, pin_state, tag_version
from pytest_reqfile.lock.values import Entry, EntryTable, Lock
from pytest_reqfile.lock.versions import Version
from pytest_reqfile.project.values import Config, Source

Status = Literal[
    "up-to-date",
    "updatable",
    "not-locked",
    "tag-moved",
    "tag-missing",
    "unsatisfiable",
    "invalid",
    "downgrade-only",
    "locked-non-version",
]
Code = Literal["AR730", "AR731", "AR732", "AR734", "AR735", ""]

TagsOf = Callable[[Source], tuple[Tag, ...]]
GateOf = Callable[[Source], Gate | None]
_STATUS_OF: Final[dict[SelectionCode, Status]] = {"AR730": "unsatisfiable", "AR731": "invalid"}
_COMMIT_SHOWN: Final = 12


class UnansweredError(ReqfileError):
    """Remotes that could not be asked; ``messages`` has one for each source."""

    def __init__(self, messages: Sequence[str]) -> None:
        self._messages = tuple(messages)
        super().__init__("\n".join(messages))

    @property
    def messages(self) -> tuple[str, ...]:
        """Each source that could not be asked about, and why."""
        return self._messages


@dataclass(frozen=True, slots=True, kw_only=True)
class Standing:
    """A source with a version constraint, its pin (of this repository) and what its remote offers.

    ``current`` is where the pinned tag leads now, empty where it is gone or nothing is pinned. ``selection`` is None
    where no tag can be taken; ``error`` then says why.
    """

    source: Source
    pin: Entry | None
    status: Status
    code: Code = ""
    selection: Selection | None = None
    error: SelectionError | None = None
    current: str = ""

    @property
    def table(self) -> EntryTable:
        return table_of(self.source)

    @property
    def label(self) -> str:
        """``include shared``."""
        return f"{self.table} {self.source.name}"

    @property
    def locked(self) -> str:
        """The pinned tag; empty where none is."""
        return self.pin.tag if self.pin is not None else ""

    @property
    def held(self) -> tuple[Held, ...]:
        """The tags that are held back for their age."""
        if self.selection is not None:
            return self.selection.held
        return self.error.held if self.error is not None else ()

    @property
    def is_downgrade(self) -> bool:
        """Whether what may be taken is lower than what is pinned."""
        pinned = tag_version(self.locked, self.source.tag_prefix)
        return (
            self.selection is not None and pinned is not None and self.selection.version.precedence < pinned.precedence
        )

    @property
    def newer_major(self) -> Version | None:
        """The latest version where it has a higher major number than what may be taken."""
        if self.selection is None or self.selection.latest.version.major <= self.selection.version.major:
            return None
        return self.selection.latest.version

    @property
    def note(self) -> str:
        """What is to be said about it, on one line; empty where nothing is."""
        own = self._own_note()
        notes = self.selection.notes if self.selection is not None else ()
        return "; ".join(" ".join(part.split()) for part in (own, *notes) if part)

    def _own_note(self) -> str:
        match self.status:
            case "unsatisfiable" | "invalid":
                return self.error.message if self.error is not None else ""
            case "tag-moved":
                pinned = self.pin.commit if self.pin is not None else ""
                return f"{self.locked} now points to {self.current[:_COMMIT_SHOWN]}, pinned at {pinned[:_COMMIT_SHOWN]}"
            case "tag-missing":
                return f"{self.locked} no longer exists on the remote{self._lower('; ')}"
            case "locked-non-version":
                return "the pinned tag is no version"
            case "downgrade-only":
                return self._lower("")
            case _:
                return ""

    def _lower(self, before: str) -> str:
        if self.selection is None or not self.is_downgrade:
            return ""
        return f"{before}the allowed {self.selection.tag.name} is lower than the pinned {self.locked}"


def range_sources(config: Config, names: Sequence[str] = (), kind: EntryTable | None = None) -> tuple[Source, ...]:
    """The remote sources with a version constraint, by kind and name; with ``names`` or ``kind`` only those.

    Raises ``UsageError`` for names that no such source has.
    """
    found = [source for source in remote_sources(config) if is_range(source) and kind in {None, table_of(source)}]
    unknown = [name for name in names if name not in {source.name for source in found}]
    if unknown:
        what = "not a remote include, installed skill or skill source with a version constraint"
        raise UsageError(f"[{' '.join(unknown)}]: {what}")
    chosen = [source for source in found if not names or source.name in names]
    return tuple(sorted(chosen, key=lambda source: (table_of(source), source.name.encode())))


def look_up(sources: Sequence[Source], lock: Lock | None, tags_of: TagsOf, gate_of: GateOf) -> tuple[Standing, ...]:
    """Where each source stands. Raises ``UnansweredError`` with all remotes that could not be asked."""
    found: list[Standing] = []
    problems: list[str] = []
    for source in sources:
        entry = lock.entry(table_of(source), source.name) if lock is not None else None
        try:
            found.append(_look_up(source, entry, tags_of, gate_of))
        except ReqfileError as error:
            problems += (f'{table_of(source)} "{source.name}": {message}' for message in error.messages)
    if problems:
        raise UnansweredError(problems)
    return tuple(found)


def _look_up(source: Source, entry: Entry | None, tags_of: TagsOf, gate_of: GateOf) -> Standing:
    pin = entry if entry is not None and entry.source == redacted(source.source) else None
    try:
        constraint_of(source)
        tags = tags_of(source)
        current = pin_state(tags, pin.tag, pin.commit)[1] if pin is not None else ""
        # A tag that was moved is told as such, whatever its age.
        exempt = replace(pin, commit=current) if pin is not None and current else pin
        selection = select(source, tags, pinned=exempt, gate=gate_of(source))
    except SelectionError as error:
        return Standing(source=source, pin=pin, status=_STATUS_OF[error.code], code=error.code, error=error)
    standing = Standing(source=source, pin=pin, status="up-to-date", selection=selection, current=current)
    status, code = _status(standing, selection)
    return replace(standing, status=status, code=code)


def _status(standing: Standing, selection: Selection) -> tuple[Status, Code]:
    pin = standing.pin
    if pin is None or not pin.tag:
        return "not-locked", ""
    if not standing.current:
        return "tag-missing", "AR735"
    if standing.current != pin.commit:
        return "tag-moved", "AR732"
    pinned = tag_version(pin.tag, standing.source.tag_prefix)
    if pinned is None:
        return "locked-non-version", ""
    if selection.version.precedence == pinned.precedence:
        return "up-to-date", ""
    return ("downgrade-only" if standing.is_downgrade else "updatable"), ""
