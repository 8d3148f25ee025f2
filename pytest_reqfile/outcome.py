"""The result of one item, as every front and report sees it: ``Location``, ``Finding``, ``Outcome``, their wire form.

The wire form holds builtin types only, so that it survives pytest-xdist (design 4 and 5); ``from_wire`` is the exact
inverse of ``to_wire``.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, fields
from typing import Any, Final, Literal, get_args

Status = Literal[
    "pass",
    "fail",
    "advisory",
    "error",
    "not_applicable",
    "nothing_to_check",
    "skipped",
    "inactive",
    "deferred",
]
"""The closed set of results (design 2.3).

``fail`` gates, ``advisory`` is a finding that does not; ``error`` could not be evaluated; the last five looked at
nothing and say why in ``Outcome.reason``.
"""

FindingKind = Literal["violation", "advisory", "uncertain"]
Subject = Literal["requirement", "verifier", "example", "lock", "oracle", "load"]
Severity = Literal["error", "warning", "info"]

STATUSES: Final = get_args(Status)
NOT_LOOKED_AT: Final = frozenset({"not_applicable", "nothing_to_check", "skipped", "inactive", "deferred"})
WIRE_VERSION: Final = 1


@dataclass(frozen=True, slots=True, kw_only=True)
class Location:
    """A place in a file: repository path (``/``-separated, relative where possible), 1-based line and column."""

    path: str
    line: int
    column: int | None = None

    def __post_init__(self) -> None:
        if not self.path:
            raise ValueError("a location needs a path")
        if self.line < 1 or (self.column is not None and self.column < 1):
            raise ValueError(f"lines and columns start at 1, found {self.path}:{self.line}:{self.column}")

    def __str__(self) -> str:
        return f"{self.path}:{self.line}"


@dataclass(frozen=True, slots=True, kw_only=True)
class Finding:
    """One thing a check found (seed 004 OUTPUT).

    ``file`` without ``line`` is a finding about a whole file; neither is a finding about the repository.
    ``probability`` (0..1) and ``model`` are set for judged findings, ``match`` is a masked excerpt of the text found.
    """

    message: str
    kind: FindingKind = "violation"
    file: str | None = None
    line: int | None = None
    column: int | None = None
    fix_hint: str | None = None
    rule: str | None = None
    match: str | None = None
    probability: float | None = None
    model: str | None = None

    def __post_init__(self) -> None:
        if self.line is not None and (self.line < 1 or self.file is None):
            raise ValueError(f"a line must be at least 1 and belong to a file, found {self.file}:{self.line}")
        if self.probability is not None and not 0 <= self.probability <= 1:
            raise ValueError(f"a probability lies in 0..1, found {self.probability}")


@dataclass(frozen=True, slots=True, kw_only=True)
class Outcome:
    """What one item came to.

    ``owner`` is the requirement id, verifier id or file name the item belongs to, ``check`` the rest of the item's name
    (``command-1``, ``decision``, ``examples/…``, empty where the owner is the whole name). ``declared`` is where it
    is written. ``looked_at`` counts what was evaluated (files, units, commands); a pass that looked at nothing cannot
    be built. ``reason`` is the error text of an ``error``, and why nothing was looked at otherwise. ``blocking`` says
    whether a failure of this item would gate the run. ``title`` says in a sentence what is required, ``why`` why.
    ``details`` holds what only one kind of item knows, as flat builtin values.
    """

    subject: Subject
    owner: str
    check: str
    status: Status
    declared: Location
    findings: tuple[Finding, ...] = ()
    reason: str | None = None
    blocking: bool = True
    severity: Severity = "error"
    looked_at: int = 0
    seconds: float = 0.0
    title: str = ""
    why: str = ""
    fix_hint: str | None = None
    details: Mapping[str, str | int | float | bool | None] = field(default_factory=dict)

    def __post_init__(self) -> None:
        if self.status == "pass" and self.looked_at < 1:
            raise ValueError(f"{self.name}: a pass must have looked at something")
        if self.status in {"fail", "advisory"} and not self.findings:
            raise ValueError(f"{self.name}: status {self.status} needs a finding")
        if (self.status == "error" or self.status in NOT_LOOKED_AT) and not self.reason:
            raise ValueError(f"{self.name}: status {self.status} needs a reason")

    @property
    def name(self) -> str:
        """The item's name below its file, such as ``FAIL_FAST/command-1``."""
        return f"{self.owner}/{self.check}" if self.check else self.owner


def to_wire(outcome: Outcome) -> dict[str, Any]:
    """The outcome as a plain dict of builtin types, for a pytest report that may cross processes.

    Text that UTF-8 cannot hold (undecodable bytes of a file name) is ``bytes``: execnet would end the run over it.
    """
    wire = _plain(outcome)
    wire["v"] = WIRE_VERSION
    return wire


def from_wire(wire: Mapping[str, Any]) -> Outcome:
    """The inverse of ``to_wire``. Raises ValueError for a wire form of another version."""
    values = dict(wire)
    version = values.pop("v", None)
    if version != WIRE_VERSION:
        raise ValueError(f"expected an outcome of wire version {WIRE_VERSION}, found {version!r}")
    values["declared"] = Location(**_texts(values["declared"]))
    values["findings"] = tuple(Finding(**_texts(finding)) for finding in values.get("findings", ()))
    values["details"] = _texts(values.get("details", {}))
    return Outcome(**_texts(values))


def _plain(value: Location | Finding | Outcome) -> dict[str, Any]:
    """What differs from a field's default: a run keeps one of these for each of its items."""
    plain: dict[str, Any] = {}
    for name, default in _DEFAULTS[type(value)]:
        part = getattr(value, name)
        if part is default or part == default:
            continue
        if name == "declared":
            part = _plain(part)
        elif name == "findings":
            part = [_plain(finding) for finding in part]
        elif name == "details":
            part = {key: _portable(each) for key, each in part.items()}
        plain[name] = _portable(part)
    return plain


def _portable(value: Any) -> Any:
    if isinstance(value, str) and not value.isascii():
        try:
            value.encode()
        except UnicodeEncodeError:
            return value.encode("utf-8", "surrogatepass")
    return value


def _texts(values: Mapping[str, Any]) -> dict[str, Any]:
    return {key: _text(value) for key, value in values.items()}


def _text(value: Any) -> Any:
    return value.decode("utf-8", "surrogatepass") if isinstance(value, bytes) else value


_DEFAULTS: Final = {
    kind: tuple((item.name, {} if item.name == "details" else item.default) for item in fields(kind))
    for kind in (Location, Finding, Outcome)
}
