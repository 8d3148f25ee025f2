"""What a Reqfile says, as values: blocks as written, requirements as they apply (seed 004 REQFILE_FORMAT, CASCADE)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Final, Literal

from pytest_reqfile.outcome import Location

if TYPE_CHECKING:
    from pytest_reqfile.syntax.globs import Glob

Kind = Literal["product", "code", "process"]
Mode = Literal["blocking", "advisory"]
OutputFormat = Literal["exit", "sarif", "junit"]
Edition = Literal["0.1", "0.4"]

KINDS: Final[tuple[Kind, ...]] = ("product", "code", "process")


@dataclass(frozen=True, slots=True, kw_only=True)
class Thresholds:
    """Where a probability of violation becomes a verdict: above is a violation, below passes, between is uncertain.

    ``declared`` says that the check states them itself (edition 0.1 reads SARIF on exit 0 only then).
    """

    violation_above: float = 0.8
    pass_below: float = 0.2
    declared: bool = False

    def __post_init__(self) -> None:
        if not 0 <= self.pass_below <= self.violation_above <= 1:
            raise ValueError("thresholds must satisfy 0 <= pass_below <= violation_above <= 1")

    def verdict(self, probability: float) -> Literal["violation", "uncertain", "pass"]:
        """The verdict on a probability of violation in 0..1; equality with a threshold is uncertain."""
        if probability > self.violation_above:
            return "violation"
        return "pass" if probability < self.pass_below else "uncertain"


@dataclass(frozen=True, slots=True, kw_only=True)
class CommandCheck:
    """A shell command and how to read its result (seed 004 COMMAND_CHECK). ``timeout`` is in seconds."""

    line: int
    run: str
    fix_hint: str
    files: Glob | None = None
    pass_files: bool = False
    format: OutputFormat = "exit"
    violation_codes: tuple[int, ...] = (1,)
    timeout: int = 60
    fast: bool = False
    thresholds: Thresholds = Thresholds()
    mode: Mode = "blocking"

    @property
    def label(self) -> str:
        """The check's type as ``reqfile list`` names it."""
        return "command"


@dataclass(frozen=True, slots=True, kw_only=True)
class DecisionCheck:
    """A model's yes/no question about code units (seed 004 DECISION_CHECK); advisory unless it says otherwise."""

    line: int
    mode: Mode = "advisory"

    @property
    def fast(self) -> bool:
        """Decision checks are always on the fast path (seed 004 FAST_PATH)."""
        return True

    @property
    def label(self) -> str:
        """The check's type as ``reqfile list`` names it."""
        return "decision (blocking)" if self.mode == "blocking" else "decision"


Check = CommandCheck | DecisionCheck


@dataclass(frozen=True, slots=True, kw_only=True)
class FolderUse:
    """``use: ./std``: a definition in a folder of this repository; ``path`` is as written."""

    path: str

    def __str__(self) -> str:
        return self.path


@dataclass(frozen=True, slots=True, kw_only=True)
class RepositoryUse:
    """``use: owner/repo@ref``: a definition in another repository; ``commit`` tells whether ref is a commit id."""

    repo: str
    ref: str
    commit: bool

    def __str__(self) -> str:
        return f"{self.repo}@{self.ref}"


Use = FolderUse | RepositoryUse


@dataclass(frozen=True, slots=True, kw_only=True)
class Block:
    """One entry of a Reqfile as written: a definition, or a use block when ``use`` is set.

    A definition has ``must``, ``why`` and ``checks``; a use block may leave ``why``, ``who`` and ``checks`` open.
    """

    id: str
    kind: Kind
    location: Location
    use: Use | None = None
    use_line: int | None = None
    must: str | None = None
    why: str | None = None
    who: str | None = None
    ref: str | None = None
    checks: tuple[Check, ...] | None = None

    def __post_init__(self) -> None:
        if self.use is None and (self.must is None or self.why is None or not self.checks):
            raise ValueError(f"definition {self.id} needs must, why and checks")


@dataclass(frozen=True, slots=True, kw_only=True)
class Reqfile:
    """One Reqfile.yaml: its repository path and its blocks in the order product, code, process."""

    path: str
    blocks: tuple[Block, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Import:
    """Where a use block's definition was found; ``commit`` is set for another repository's."""

    use: Use
    definition: Location
    commit: str | None
    checks_inherited: bool

    def __str__(self) -> str:
        """The form of explain and of the ``from:`` line: ``./std (std/Reqfile.yaml:3)``."""
        at = f" at commit {self.commit}" if self.commit else ""
        return f"{self.use} ({self.definition}{at})"


@dataclass(frozen=True, slots=True, kw_only=True)
class Requirement:
    """A requirement as it applies: a definition, or a use block completed by its definition.

    ``location`` is its block, ``folder`` the repository path of the Reqfile's folder (empty for the root), ``assets``
    the absolute folder that holds decision.yaml and what commands find through $REQFILE_ASSETS.
    """

    id: str
    kind: Kind
    must: str
    why: str
    who: str | None
    ref: str | None
    checks: tuple[Check, ...]
    location: Location
    folder: str
    assets: str
    imported: Import | None = None

    def __post_init__(self) -> None:
        if not self.checks:
            raise ValueError(f"requirement {self.id} needs a check")

    def declaration(self, check: Check) -> Location:
        """Where the check is written: its own line, or the block's where it is inherited from another file."""
        inherited = self.imported is not None and self.imported.checks_inherited
        return self.location if inherited else Location(path=self.location.path, line=check.line)

    def named_checks(self) -> tuple[tuple[str, Check], ...]:
        """Each check with its item name: ``command-1``, ``command-2``, …, ``decision`` (design 2.1)."""
        named: list[tuple[str, Check]] = []
        commands = 0
        for check in self.checks:
            commands += isinstance(check, CommandCheck)
            named.append((f"command-{commands}" if isinstance(check, CommandCheck) else "decision", check))
        return tuple(named)
