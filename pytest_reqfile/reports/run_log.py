"""The run log: one JSON line for each check that ran and each finding (seed 004 RUN_LOG; spec reqfile.md 8.6)."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from pytest_reqfile.errors import UsageError
from pytest_reqfile.outcome import NOT_LOOKED_AT, Finding, Outcome
from pytest_reqfile.reports.json_values import encodable

LOG_VERSION: Final = 1


@dataclass(frozen=True, slots=True, kw_only=True)
class RunFacts:
    """What every line of a run carries. ``time_ms`` counts from 1970, ``git_head`` is None before the first commit.

    ``base`` is the one given for the whole run; None where each folder has its own.
    """

    run_id: str
    time_ms: int
    git_head: str | None
    version: str
    fast: bool = False
    changed: bool = False
    base: str | None = None
    tags: Mapping[str, str]


def run_id(time_ms: int, process: int) -> str:
    """A name for one run: when it began, in milliseconds, and in which process."""
    return f"{time_ms:x}-{process:x}"


def parse_tags(given: Sequence[str], option: str = "--log-tag") -> dict[str, str]:
    """The tags ``KEY=VALUE``; a value may hold ``=`` or be empty, and the last of a key wins. Raises UsageError."""
    tags: dict[str, str] = {}
    for text in given:
        key, equals, value = text.partition("=")
        if not equals or not key:
            raise UsageError(f"{option} must be KEY=VALUE, got `{text}`")
        tags[key] = value
    return tags


def render_run_log(outcomes: Iterable[Outcome], facts: RunFacts, judged: Iterable[Mapping[str, object]] = ()) -> bytes:
    """The lines, each complete JSON in ASCII: of commands in plan order, each followed by its findings.

    ``judged`` are further lines, such as those of decision units: a ``kind`` and its keys each. Checks that did not
    run have none.
    """
    common = _common(facts)
    bodies = (*(line for outcome in outcomes for line in _command_lines(outcome)), *judged)
    lines = ({"v": LOG_VERSION, "kind": body["kind"], **common, **body} for body in bodies)
    return b"".join(json.dumps(encodable(line), separators=(",", ":")).encode() + b"\n" for line in lines)


def _common(facts: RunFacts) -> dict[str, object]:
    return {
        "run_id": facts.run_id,
        "time_ms": facts.time_ms,
        "git_head": facts.git_head,
        "reqfile_version": facts.version,
        "fast": facts.fast,
        "changed": facts.changed,
        "base": facts.base,
        "tags": dict(facts.tags),
    }


def _command_lines(outcome: Outcome) -> Iterator[dict[str, object]]:
    command = outcome.details.get("command")
    if outcome.subject != "requirement" or command is None or outcome.status in NOT_LOOKED_AT:
        return
    line: dict[str, object] = {
        "kind": "command_check",
        "requirement": outcome.owner,
        "command": command,
        "files": outcome.details["arguments"],
    }
    if outcome.status == "error":
        yield line | {"status": "error", "error": outcome.reason}
        return
    status = "violations" if outcome.findings else "pass"
    yield line | {"status": status, "findings": len(outcome.findings)}
    yield from (_finding_line(outcome, finding) for finding in outcome.findings)


def _finding_line(outcome: Outcome, finding: Finding) -> dict[str, object]:
    return {
        "kind": "command_finding",
        "requirement": outcome.owner,
        "file": finding.file,
        "line": finding.line,
        "message": finding.message,
        "probability": finding.probability,
        "uncertain": finding.kind == "uncertain",
    }
