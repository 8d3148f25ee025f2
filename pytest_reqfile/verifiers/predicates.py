"""The predicate tree of a spec verifier (seed 000 "Predicates")."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final, Literal

from pytest_reqfile.syntax.globs import Glob

Where = Literal["same-file", "diff-added", "any-file"]
PassFiles = Literal["", "args", "stdin0"]

WHERE: Final[tuple[Where, ...]] = ("same-file", "diff-added", "any-file")
KINDS: Final = (
    *("regex", "forbid", "file_exists", "paired", "glob_count", "command", "llm"),
    *("all", "any", "not"),
)
DEFAULT_TIMEOUT: Final = 120
DEFAULT_DIFF_BYTES: Final = 24000


@dataclass(frozen=True, slots=True, kw_only=True)
class TextMatch:
    """``regex`` and ``forbid``. ``files`` belongs to ``any-file`` only."""

    forbidden: bool
    pattern: str
    where: Where = "same-file"
    files: Glob | None = None

    @property
    def kind(self) -> str:
        return "forbid" if self.forbidden else "regex"

    @property
    def needs_scope(self) -> bool:
        return self.where != "any-file" or self.files is None


@dataclass(frozen=True, slots=True, kw_only=True)
class FileExists:
    """``path`` may be a template over the scoped files."""

    path: str
    exists: bool = True
    templated: bool = False

    @property
    def kind(self) -> str:
        return "file_exists"

    @property
    def needs_scope(self) -> bool:
        return self.templated


@dataclass(frozen=True, slots=True, kw_only=True)
class Paired:
    """For every scoped file that ``for_each`` accepts, the path ``derived`` was changed too, or exists.

    ``for_each`` is a literal path with ``{rel}``, or a glob, in which case ``glob`` is set.
    """

    for_each: str
    glob: Glob | None
    derived: str
    must_change: bool

    @property
    def kind(self) -> str:
        return "paired"

    @property
    def needs_scope(self) -> bool:
        return True


@dataclass(frozen=True, slots=True, kw_only=True)
class FileCount:
    """``glob_count`` over the repository; the bounds are inclusive."""

    files: Glob
    exclude: tuple[Glob, ...] = ()
    minimum: int | None = None
    maximum: int | None = None

    @property
    def kind(self) -> str:
        return "glob_count"

    @property
    def needs_scope(self) -> bool:
        return False


@dataclass(frozen=True, slots=True, kw_only=True)
class Command:
    """A program that must exit with ``expect_exit``; ``timeout_s`` in seconds (seed 000 "Command predicate")."""

    argv: tuple[str, ...]
    pass_files: PassFiles = ""
    timeout_s: int = DEFAULT_TIMEOUT
    expect_exit: int = 0

    @property
    def kind(self) -> str:
        return "command"

    @property
    def needs_scope(self) -> bool:
        return self.pass_files != ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Checklist:
    """``llm``: statements a model judges (seed 000 "LLM checklist verifiers")."""

    checklist: tuple[str, ...]
    model: str = ""
    max_diff_bytes: int = DEFAULT_DIFF_BYTES

    @property
    def kind(self) -> str:
        return "llm"

    @property
    def needs_scope(self) -> bool:
        return True


@dataclass(frozen=True, slots=True, kw_only=True)
class AllOf:
    """Every member holds."""

    members: tuple[Predicate, ...]

    @property
    def kind(self) -> str:
        return "all"

    @property
    def needs_scope(self) -> bool:
        return any(member.needs_scope for member in self.members)


@dataclass(frozen=True, slots=True, kw_only=True)
class AnyOf:
    """At least one member holds."""

    members: tuple[Predicate, ...]

    @property
    def kind(self) -> str:
        return "any"

    @property
    def needs_scope(self) -> bool:
        return any(member.needs_scope for member in self.members)


@dataclass(frozen=True, slots=True, kw_only=True)
class Not:
    """The member does not hold."""

    member: Predicate

    @property
    def kind(self) -> str:
        return "not"

    @property
    def needs_scope(self) -> bool:
        return self.member.needs_scope


_COMBINED: Final = (AllOf, AnyOf, Not)
Leaf = TextMatch | FileExists | Paired | FileCount | Command | Checklist
Predicate = Leaf | AllOf | AnyOf | Not


def leaves(predicate: Predicate) -> Iterator[Leaf]:
    """Every leaf of the tree, in declaration order."""
    if isinstance(predicate, AllOf | AnyOf):
        for member in predicate.members:
            yield from leaves(member)
    elif isinstance(predicate, Not):
        yield from leaves(predicate.member)
    else:
        yield predicate


def has_command(predicate: Predicate) -> bool:
    """Whether a command stands anywhere in the tree."""
    return any(isinstance(leaf, Command) for leaf in leaves(predicate))


def has_checklist(predicate: Predicate) -> bool:
    """Whether an llm checklist stands anywhere in the tree."""
    if not isinstance(predicate, _COMBINED):  # what most are, and every evaluation asks
        return isinstance(predicate, Checklist)
    return any(isinstance(leaf, Checklist) for leaf in leaves(predicate))
