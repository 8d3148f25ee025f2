"""What a lock file says, as values: entries, pins and records (spec/lock.md 1.3)."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Final, Literal

EntryTable = Literal["include", "skill", "source", "served"]
ENTRY_TABLES: Final[tuple[EntryTable, ...]] = ("include", "skill", "source", "served")


@dataclass(frozen=True, slots=True, kw_only=True)
class Entry:
    """A remote source by commit and tree digest, or a served skill.

    ``source`` and ``ref`` are as configured, credentials removed; ``tag`` and ``tag_object`` are set for a version
    constraint. ``released`` and ``released_from`` inform only. ``view`` belongs to served skills: empty is the default.
    """

    name: str
    source: str
    commit: str
    digest: str
    path: str = ""
    ref: str = ""
    tag: str = ""
    tag_object: str = ""
    released: str = ""
    released_from: str = ""
    view: str = ""

    @property
    def label(self) -> str:
        """The name, with the view of a served skill where it has one."""
        return f"{self.name} (view {self.view})" if self.view else self.name


@dataclass(frozen=True, slots=True, kw_only=True)
class ItemPin:
    """Something of the project itself. ``path`` is relative to the configuration folder, empty for what is declared
    in config.toml; ``owner`` and ``version`` are from the frontmatter and inform only."""

    kind: str
    id: str
    digest: str
    domain: str = ""
    path: str = ""
    owner: str = ""
    version: str = ""

    @property
    def key(self) -> tuple[str, str, str]:
        return self.kind, self.domain, self.id

    @property
    def label(self) -> str:
        """``kind domain/id`` or ``kind id``, as reports name it."""
        return f"{self.kind} {self.domain}/{self.id}" if self.domain else f"{self.kind} {self.id}"


@dataclass(frozen=True, slots=True, kw_only=True)
class OutputPin:
    """A generated file by project path, or all files of a ``role`` as one digest; a role pin has no path.

    ``requested`` says that the role pin was asked for on the command line, not by ``pin = true``.
    """

    digest: str
    path: str = ""
    role: str = ""
    requested: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Approval:
    """Somebody's consent to exactly one digest (spec/lock.md 9)."""

    kind: str
    id: str
    digest: str
    reviewer: str
    assurance: str
    approved_at: str
    domain: str = ""
    expires: str = ""
    note: str = ""
    accepted_findings: tuple[str, ...] = ()
    ref: str = ""
    attestation: str = ""

    @property
    def target(self) -> str:
        """``kind:domain/id``, as messages name it."""
        return f"{self.kind}:{self.domain}/{self.id}" if self.domain else f"{self.kind}:{self.id}"


@dataclass(frozen=True, slots=True, kw_only=True)
class Deny:
    """A digest that may never be pinned."""

    digest: str
    reason: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Scan:
    """What an external scanner found in the content at lock time; in no digest, never compared."""

    scanner: str
    tree: str
    findings: int
    result: str
    version: str = ""
    max_severity: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Lock:
    """A lock file. ``version`` is what the file said; a file is always written in the lowest one that can hold it."""

    version: int = 1
    ai_rulez_version: str = ""
    profile: str = ""
    scope: str = ""
    outputs_pinned: bool = False
    tree: str = ""
    includes: tuple[Entry, ...] = ()
    skills: tuple[Entry, ...] = ()
    sources: tuple[Entry, ...] = ()
    served: tuple[Entry, ...] = ()
    items: tuple[ItemPin, ...] = ()
    outputs: tuple[OutputPin, ...] = ()
    approvals: tuple[Approval, ...] = ()
    denied: tuple[Deny, ...] = ()
    scans: tuple[Scan, ...] = ()

    @property
    def has_content_pins(self) -> bool:
        """Whether it pins authored content or outputs; entries and records alone do not (spec/lock.md 1.3)."""
        return bool(self.tree or self.items or self.outputs)

    @property
    def needed_version(self) -> int:
        """The format version that can hold it: 2 with role pins, else 1."""
        return 2 if any(output.role for output in self.outputs) else 1

    def entries(self, table: EntryTable) -> tuple[Entry, ...]:
        return {"include": self.includes, "skill": self.skills, "source": self.sources, "served": self.served}[table]

    def entry(self, table: EntryTable, name: str, view: str = "") -> Entry | None:
        """The entry of a name (and view, for served skills)."""
        return next((one for one in self.entries(table) if (one.name, one.view) == (name, view)), None)

    def role_pin(self, role: str) -> OutputPin | None:
        return next((output for output in self.outputs if output.role == role), None)

    @property
    def default_outputs(self) -> tuple[OutputPin, ...]:
        """The pins of single files, which a role pin never is."""
        return tuple(output for output in self.outputs if not output.role)

    @property
    def role_pins(self) -> tuple[OutputPin, ...]:
        return tuple(output for output in self.outputs if output.role)


def ordered(lock: Lock) -> Lock:
    """The same lock with everything in the order of the file (spec/lock.md 1.3)."""
    return replace(
        lock,
        version=lock.needed_version,
        includes=_entries(lock.includes),
        skills=_entries(lock.skills),
        sources=_entries(lock.sources),
        served=_entries(lock.served),
        items=tuple(sorted(lock.items, key=lambda one: _bytes(one.kind, one.domain, one.id, one.path))),
        outputs=tuple(sorted(lock.outputs, key=lambda one: _bytes(one.role, one.path))),
        approvals=tuple(
            sorted(lock.approvals, key=lambda one: _bytes(one.kind, one.domain, one.id, one.digest, one.reviewer))
        ),
        denied=tuple(sorted(lock.denied, key=lambda one: _bytes(one.digest))),
        scans=tuple(sorted(lock.scans, key=lambda one: _bytes(one.scanner))),
    )


def _entries(entries: tuple[Entry, ...]) -> tuple[Entry, ...]:
    return tuple(sorted(entries, key=lambda one: _bytes(one.name, one.view)))


def _bytes(*texts: str) -> tuple[bytes, ...]:
    """Go compares strings by their bytes."""
    return tuple(text.encode("utf-8", "surrogateescape") for text in texts)
