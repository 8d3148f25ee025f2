"""The receipt of one command: everything a conductor needs to judge it again (spec oracle.md 4).

Key names follow AIWG's ``TestRunReceipt.process``; the file is ours, so it may say more than the claims.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Final, Literal

from pytest_reqfile.oracle.classify import Ending
from pytest_reqfile.oracle.digests import Artifact, canonical_json, sha256_digest, sha256_hex
from pytest_reqfile.oracle.mission import Command
from pytest_reqfile.oracle.plan import PlannedItem, safe_name
from pytest_reqfile.oracle.results import TAINTS
from pytest_reqfile.oracle.sink import Sink
from pytest_reqfile.oracle.source import SourceState
from pytest_reqfile.workspace.isolation import IsolatedRun, Isolation
from pytest_reqfile.workspace.machine import Machine

SCHEMA_VERSION: Final = "oracle-receipt.v1"
_VERSION: Final = re.compile(r"\d+(?:\.\d+)+")
MOST_WRITES: Final = 200
"""Paths of written files a receipt lists; more are counted."""

Ended = Literal["exit", "signal", "timeout", "output-limit", "spawn-error", "not-started"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Circumstances:
    """What is the same for every receipt of a run. ``isolation`` is None where there was none.

    ``tracked`` are the paths git tracks; ``bypasses`` are files of installed packages that lead from a copy of the
    workspace back into the original.
    """

    mission_digest: str
    machine: Machine
    shell: str
    isolation: Isolation | None
    source: SourceState
    tracked: frozenset[str] = frozenset()
    bypasses: tuple[str, ...] = ()

    @property
    def summary(self) -> str:
        """A few words for ``checks[].environment``, repeated for every check: the receipts say it in full."""
        isolation = self.isolation
        kept = (
            "no isolation" if isolation is None else f"{isolation.mode}/{isolation.enforced}, net {isolation.network}"
        )
        system = self.machine.platform.partition("-")[0]
        version = _VERSION.search(self.shell)
        return f"{kept}; {system} {self.machine.arch}{f'; bash {version.group()}' if version else ''}"[:200]


@dataclass(frozen=True, slots=True, kw_only=True)
class Execution:
    """What was run and how. ``run`` is None for what was not run; times are milliseconds since 1970.

    ``found`` is what we saw ourselves where the item asks for no command; it is kept in place of an output.
    """

    command: Command
    expected: int
    argv: tuple[str, ...] = ()
    cwd: str = ""
    variables: Mapping[str, str] | None = None
    started_ms: int = 0
    ended_ms: int = 0
    run: IsolatedRun | None = None
    after: SourceState | None = None
    found: bytes = b""


def write_receipt(
    sink: Sink, item: PlannedItem, execution: Execution, ending: Ending, around: Circumstances, suffix: str = ""
) -> Artifact:
    """Write the streams and the receipt that holds their digests; the receipt's reference is the evidence."""
    stem = f"oracle/{item.number:02d}-{safe_name(item.check_id)}{suffix}"
    run = execution.run
    out, err = (run.result.stdout, run.result.stderr) if run else (execution.found, b"")
    dropped = (run.result.dropped, run.result.dropped_stderr) if run else (0, 0)
    streams = {
        "stdout": _stream(sink.write(f"{stem}.stdout", out), dropped[0]),
        "stderr": _stream(sink.write(f"{stem}.stderr", err), dropped[1]),
    }
    return sink.write_json(f"{stem}.json", {**_head(item, execution, ending, around), **streams})


def _head(item: PlannedItem, execution: Execution, ending: Ending, around: Circumstances) -> dict[str, object]:
    command = execution.command if isinstance(execution.command, str) else list(execution.command)
    receipt: dict[str, object] = {
        "schemaVersion": SCHEMA_VERSION,
        "checkId": item.check_id,
        "command": command,
        "commandDigest": sha256_digest(canonical_json(command)),
        "briefDigest": around.mission_digest,
        "expectedExitCode": execution.expected,
        "verdict": ending.verdict,
    }
    if ending.blocked is not None:
        receipt |= {"blockedReason": ending.blocked, "prerequisite": ending.explanation}
    return {
        **receipt,
        "process": _process(execution, ending, around),
        "source": _source(around.source, execution.after or around.source, ending),
        "isolation": _isolation(execution, around.isolation),
    }


def _stream(artifact: Artifact, dropped: int) -> dict[str, object]:
    stream: dict[str, object] = {"path": artifact.ref, "hash": artifact.hex}
    return {**stream, "truncated": True} if dropped else stream


def _process(execution: Execution, ending: Ending, around: Circumstances) -> dict[str, object]:
    run, variables = execution.run, dict(execution.variables or {})
    process: dict[str, object] = {
        "argv": list(execution.argv),
        "cwd": execution.cwd,
        "environment": {
            "explicitKeys": sorted(variables),
            "explicitValuesHash": sha256_hex(canonical_json(variables)),
            "platform": around.machine.platform,
            "arch": around.machine.arch,
            "python": around.machine.python,
            "shell": around.shell,
        },
        "startedAt": _time(execution.started_ms),
        "endedAt": _time(execution.ended_ms),
        "durationMs": round(run.result.seconds * 1000) if run else 0,
        "exitCode": ending.exit_code,
        "signal": ending.signal,
        "reason": _ended(run, ending),
        "observedOutputBytes": _observed(run),
    }
    problem = run and (run.prevented or run.not_started or run.no_folder or run.result.launch_error)
    return {**process, "error": problem} if problem else process


def _ended(run: IsolatedRun | None, ending: Ending) -> Ended:
    if run is None or run.prevented is not None or run.result.cancelled:
        return "not-started" if ending.blocked != "interrupted" else "signal"
    if (run.not_started or run.no_folder or run.result.launch_error) is not None:
        return "spawn-error"
    if run.result.timed_out:
        return "timeout"
    return "signal" if ending.signal is not None else "exit"


def _observed(run: IsolatedRun | None) -> int:
    if run is None:
        return 0
    result = run.result
    return len(result.stdout) + len(result.stderr) + result.dropped + result.dropped_stderr


def _source(before: SourceState, after: SourceState, ending: Ending) -> dict[str, object]:
    return {
        "head": before.head,
        "tree": before.tree,
        "snapshotHash": before.snapshot_hash,
        "afterSnapshotHash": after.snapshot_hash,
        "sourceStable": before == after and ending.blocked not in TAINTS,
    }


def _isolation(execution: Execution, isolation: Isolation | None) -> dict[str, object]:
    if isolation is None:
        return {"mode": "none", "enforced": "detect-only", "network": "on"}
    writes = execution.run.writes if execution.run else ()
    listed = list(writes[:MOST_WRITES])
    if len(writes) > MOST_WRITES:
        listed.append(f"… and {len(writes) - MOST_WRITES} more")
    return {"mode": isolation.mode, "enforced": isolation.enforced, "network": isolation.network, "writes": listed}


def _time(milliseconds: int) -> str:
    return datetime.fromtimestamp(milliseconds / 1000, UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z")


def recorded_streams(sink: Sink, receipt: Artifact) -> tuple[Artifact, ...] | None:
    """The outputs a receipt refers to, empty ones left out; None if it or one of them is no longer what was written."""
    if not sink.holds(receipt):
        return None
    recorded = json.loads(sink.read(receipt.ref))
    streams = []
    for name in ("stdout", "stderr"):
        try:
            data = sink.read(recorded[name]["path"])
        except OSError:
            return None
        if sha256_hex(data) != recorded[name]["hash"]:
            return None
        if data:
            streams.append(Artifact(ref=recorded[name]["path"], digest=sha256_digest(data), size=len(data)))
    return tuple(streams)
