"""The state of a lock as a run sees it: computed once, one outcome a part, able to cross processes (issue 6.6)."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import Any, Final, Literal

from pytest_reqfile.errors import ReqfileError
from pytest_reqfile.lock.changes import (
    VOUCHING_HINT,
    Change,
    Report,
    Scope,
    are_of_vouching,
    report_from_wire,
    report_to_wire,
)
from pytest_reqfile.lock.file import LOCK_NAME, LockFile
from pytest_reqfile.lock.toptree import subject_of, tree_of
from pytest_reqfile.lock.values import Lock
from pytest_reqfile.outcome import Finding, Location, Outcome, from_wire, to_wire
from pytest_reqfile.workspace.paths import folder_of

Part = Literal["sources", "outputs", "remotes", "served", "lock"]
PARTS: Final[tuple[Part, ...]] = ("sources", "outputs", "remotes", "served", "lock")

_PART_OF: Final[dict[Scope, Part]] = {
    "source": "sources",
    "output": "outputs",
    "remote": "remotes",
    "served": "served",
    "lock": "lock",
    "approval": "lock",
}
_COUNTED: Final[dict[Part, str]] = {
    "sources": "source",
    "outputs": "output",
    "remotes": "remote",
    "served": "served",
    "lock": "lock",
}
_TITLES: Final[dict[Part, str]] = {
    "sources": "authored content is what the lock pins",
    "outputs": "generated files are what the lock pins",
    "remotes": "remote sources are what the lock pins",
    "served": "served skills are what the lock pins",
    "lock": "the lock is whole and written with the current settings",
}
_CODES: Final[dict[Scope, str]] = {
    # spec/lock.md 11: what ai-rulez calls them where the lock is enforced
    "source": "AR981",
    "lock": "AR981",
    "remote": "AR981",
    "output": "AR982",
    "served": "AR995",
}
PART_CODES: Final[dict[str, str]] = {part: _CODES[scope] for scope, part in _PART_OF.items() if scope in _CODES}
"""Under which code the differences of a part are tuned; approvals are no drift."""
_CONFIG: Final = "config.toml"
WIRE_VERSION: Final = 1


@dataclass(frozen=True, slots=True, kw_only=True)
class LockState:
    """What a session knows of one lock; the value of the fixture ``reqfile_lock``.

    ``tree`` is the recomputed tree digest of the pins, ``subject`` what a signature over the lock commits to; both are
    empty without a lock. ``changes`` and ``notes`` are those of ``reqfile lock --diff``. ``path`` and the paths of
    ``outcomes`` are relative to the project's folder. ``error`` says why the state could not be told; nothing else is
    meant then.
    """

    path: str
    exists: bool
    tree: str = ""
    subject: str = ""
    report: Report | None = None
    outcomes: tuple[Outcome, ...] = ()
    error: str = ""

    def __repr__(self) -> str:
        """What a failing ``assert reqfile_lock.in_sync`` shows."""
        if self.error or self.in_sync:
            return f"LockState({self.path}: {self.error or 'in sync'})"
        changes = "; ".join(map(str, self.changes)) or ("differs" if self.exists else "there is none")
        return f"LockState({self.path}: {changes})"

    @property
    def in_sync(self) -> bool:
        """Whether there is a lock and nothing differs from it."""
        return self.exists and not self.error and self.report is not None and self.report.in_sync

    @property
    def changes(self) -> tuple[Change, ...]:
        return self.report.changes if self.report is not None else ()

    @property
    def notes(self) -> tuple[str, ...]:
        return self.report.notes if self.report is not None else ()

    def outcome(self, part: str, *, blocking: bool = True) -> Outcome:
        """The outcome of one part; an error where the state could not be told. Not ``blocking``, it is advisory."""
        found = next((outcome for outcome in self.outcomes if outcome.check == part), None)
        if found is not None and (blocking or found.status != "fail"):
            return found
        if found is not None:
            findings = tuple(replace(finding, kind="advisory") for finding in found.findings)
            return replace(found, status="advisory", blocking=False, findings=findings)
        reason = self.error or f"{self.path} has no part {part} any more"
        return _outcome(self.path, part, status="error", reason=reason)


def take_state(file: LockFile, compare: Callable[[Lock | None], Report]) -> LockState:
    """Read the lock and ``compare`` it. Expected errors become the state's ``error``, so that every worker has them."""
    try:
        lock = file.read()
        report = compare(lock)
    except ReqfileError as error:
        return LockState(path=file.path, exists=True, error="\n".join(error.messages))
    parts = tuple(part_outcome(file.path, report, part) for part in PARTS)
    if lock is None:
        return LockState(path=file.path, exists=False, report=report, outcomes=parts)
    return LockState(
        path=file.path,
        exists=True,
        tree=tree_of(lock),
        subject=subject_of(lock).digest,
        report=report,
        outcomes=parts,
    )


def parts_of(lock: Lock, *, has_remotes: bool, generates: bool) -> tuple[Part, ...]:
    """The parts that apply to a lock, from its text alone (design 2.1).

    ``has_remotes`` says that remote sources are configured, ``generates`` that there is a list of generated files.
    """
    applies: dict[Part, bool] = {
        "sources": lock.has_content_pins,
        "outputs": lock.has_content_pins and (bool(lock.outputs) or (lock.outputs_pinned and generates)),
        "remotes": has_remotes or bool(lock.includes or lock.skills or lock.sources),
        "served": bool(lock.served),
        "lock": True,
    }
    return tuple(part for part in PARTS if applies[part])


def part_outcome(path: str, report: Report, part: Part) -> Outcome:
    """One part of a comparison: a finding for every difference, each naming its file; notes are with ``lock``."""
    outcome = _part_outcome(path, report, part)
    if part != "lock" or not report.notes:
        return outcome
    return replace(outcome, details={**outcome.details, "notes": "\n".join(report.notes)})


def _part_outcome(path: str, report: Report, part: Part) -> Outcome:
    changes = [change for change in report.changes if _PART_OF[change.scope] == part]
    compared = report.looked_at.get(_COUNTED[part], 0)
    if part == "lock" and report.errors:
        reasons = [*report.errors, *map(str, changes)]
        return _outcome(path, part, status="error", reason="\n".join(reasons), looked_at=compared)
    if changes:
        findings = tuple(_finding(path, change) for change in changes)
        found = _outcome(path, part, status="fail", findings=findings, looked_at=compared)
        return replace(found, fix_hint=VOUCHING_HINT) if are_of_vouching(changes) else found
    if compared:
        return _outcome(path, part, status="pass", looked_at=compared)
    notes = "; ".join(report.notes) if part != "sources" else ""
    return _outcome(path, part, status="nothing_to_check", reason=notes or "there is nothing to compare")


def _outcome(
    path: str,
    part: str,
    *,
    status: Literal["pass", "fail", "error", "nothing_to_check"],
    findings: tuple[Finding, ...] = (),
    reason: str | None = None,
    looked_at: int = 0,
) -> Outcome:
    return Outcome(
        subject="lock",
        owner=path.rpartition("/")[2],
        check=part,
        status=status,
        declared=Location(path=path, line=1),
        findings=findings,
        reason=reason,
        looked_at=looked_at,
        title=next((title for known, title in _TITLES.items() if known == part), ""),
        fix_hint="review the change with `reqfile lock --diff`, then run `reqfile lock` and commit the lock",
    )


def _finding(path: str, change: Change) -> Finding:
    codes = _CODES if path.endswith(LOCK_NAME) else {}
    rule = change.code or codes.get(change.scope, change.scope)
    return Finding(message=str(change), file=_file_of(path, change), rule=rule)


def _file_of(path: str, change: Change) -> str:
    """The file a difference is about; what config.toml declares is there, what the lock alone says is in the lock."""
    folder = folder_of(path)
    if change.scope == "output":
        return change.path or f"{folder}/{_CONFIG}"
    if change.scope != "source":
        return path
    if change.kind in {"local-include", "requirement", "config"}:
        return change.path
    return f"{folder}/{change.path or _CONFIG}"


def state_to_wire(state: LockState) -> dict[str, Any]:
    """The state in builtin types, for xdist."""
    return {
        "v": WIRE_VERSION,
        "path": state.path,
        "exists": state.exists,
        "tree": state.tree,
        "subject": state.subject,
        "report": report_to_wire(state.report) if state.report is not None else None,
        "outcomes": [to_wire(outcome) for outcome in state.outcomes],
        "error": state.error,
    }


def state_from_wire(wire: Mapping[str, Any]) -> LockState:
    """The inverse of ``state_to_wire``. Raises ValueError for a wire form of another version."""
    values = dict(wire)
    version = values.pop("v", None)
    if version != WIRE_VERSION:
        raise ValueError(f"expected a lock state of wire version {WIRE_VERSION}, found {version!r}")
    report = values["report"]
    values["report"] = report_from_wire(report) if report is not None else None
    values["outcomes"] = tuple(from_wire(outcome) for outcome in values["outcomes"])
    return LockState(**values)
