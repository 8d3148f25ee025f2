"""What ``[[verifiers]]`` declarations say, as values (seed 000 "Fields", "Rule-linked verifiers")."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final, Literal

from pytest_reqfile.outcome import Location, Severity
from pytest_reqfile.syntax.globs import Glob
from pytest_reqfile.verifiers.predicates import Predicate

TargetKind = Literal["rule", "skill", "agent", "command"]
Expectation = Literal["pass", "fail", "not_applicable"]

SEVERITIES: Final[tuple[Severity, ...]] = ("error", "warning", "info")
TARGET_KINDS: Final[tuple[TargetKind, ...]] = ("rule", "skill", "agent", "command")
EXPECTATIONS: Final[tuple[Expectation, ...]] = ("pass", "fail", "not_applicable")
CONFIG_SOURCE: Final = "config.toml"
"""The ``source`` of what config.toml declares, whatever the folder is called (spec/verifiers.md 2.1)."""


@dataclass(frozen=True, slots=True, kw_only=True)
class PathCheck:
    """``file_exists`` and ``file_absent``: ``present`` is what must hold of ``path``."""

    path: str
    present: bool

    @property
    def type(self) -> str:
        return "file_exists" if self.present else "file_absent"


@dataclass(frozen=True, slots=True, kw_only=True)
class CountCheck:
    """``glob_count``: the number of files must lie within the bounds, which are inclusive."""

    glob: Glob
    exclude: tuple[Glob, ...] = ()
    minimum: int | None = None
    maximum: int | None = None

    @property
    def type(self) -> str:
        return "glob_count"


@dataclass(frozen=True, slots=True, kw_only=True)
class ContentCheck:
    """``regex`` (every matching file contains the pattern) and ``forbid`` (none does)."""

    forbidden: bool
    glob: Glob
    pattern: str
    exclude: tuple[Glob, ...] = ()

    @property
    def type(self) -> str:
        return "forbid" if self.forbidden else "regex"


@dataclass(frozen=True, slots=True, kw_only=True)
class KeyCheck:
    """``key_equals``: ``key`` is as written, ``segments`` what it addresses."""

    path: str
    key: str
    segments: tuple[str, ...]
    equals: str

    @property
    def type(self) -> str:
        return "key_equals"


@dataclass(frozen=True, slots=True, kw_only=True)
class SyncCheck:
    """``generated_in_sync``: ``profile`` is empty where the entry names none."""

    profile: str = ""

    @property
    def type(self) -> str:
        return "generated_in_sync"


@dataclass(frozen=True, slots=True, kw_only=True)
class CustomCheck:
    """A type that only a program which embeds us knows, and evaluates itself; config.toml cannot name it."""

    type: str


FlatCheck = PathCheck | CountCheck | ContentCheck | KeyCheck | SyncCheck | CustomCheck


@dataclass(frozen=True, slots=True, kw_only=True)
class FlatVerifier:
    """An entry of config.toml with a ``type``; it checks the whole project folder."""

    name: str
    check: FlatCheck
    declared: Location
    severity: Severity = "error"
    description: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Target:
    """The rule, skill, agent or command a spec enforces.

    ``id`` is as written (``id`` or ``domain/id``), ``path`` its source file, ``line`` that of the anchor on disk.
    """

    kind: TargetKind
    id: str
    path: str | None = None
    line: int | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Example:
    """One ``[[verifiers.examples]]``: file contents by path, which of them count as changed, and what must come out."""

    name: str
    files: tuple[tuple[str, str], ...]
    changed: tuple[str, ...]
    expect: Expectation
    line: int


@dataclass(frozen=True, slots=True, kw_only=True)
class SpecVerifier:
    """A rule-linked verifier, valid on its own and with an existing target.

    ``source`` names where it is declared in the words of reports: ``config.toml``, a project path, or
    ``include:NAME/verifiers/FILE``. Without ``when_changed`` it looks at the whole repository.
    """

    id: str
    target: Target
    require: Predicate
    source: str
    declared: Location
    severity: Severity = "warning"
    description: str = ""
    message: str = ""
    fix: str = ""
    when_changed: tuple[Glob, ...] = ()
    exclude: tuple[Glob, ...] = ()
    examples: tuple[Example, ...] = ()


Verifier = FlatVerifier | SpecVerifier


@dataclass(frozen=True, slots=True, kw_only=True)
class InvalidDeclaration:
    """A declaration that cannot be used (AR9H2). ``id`` is None where the whole file is meant or it has none."""

    id: str | None
    message: str
    source: str
    declared: Location

    @property
    def name(self) -> str:
        """How reports call it."""
        return self.id or self.source


@dataclass(frozen=True, slots=True, kw_only=True)
class Settings:
    """``[verifiers_settings]`` (seed 000 "Settings"); sizes in bytes, times in seconds."""

    max_timeout_s: int = 300
    max_file_bytes: int = 5 * 1024 * 1024
    require_examples: bool = False
    warn_dead: bool = False
    trust_exec_from: tuple[str, ...] = ()
    command_env: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Declarations:
    """Everything a project declares: flat entries, usable specs, and what cannot be used, each in declaration order."""

    flat: tuple[FlatVerifier, ...] = ()
    specs: tuple[SpecVerifier, ...] = ()
    invalid: tuple[InvalidDeclaration, ...] = ()
    settings: Settings = Settings()
