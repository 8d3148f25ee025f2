"""The evidence in forms other tools read: an in-toto test-result statement and a CTRF report (spec oracle.md 8).

Statements are unsigned: signing is the conductor's, who alone accepts (seed 003 "does not authorize or certify").
"""

from __future__ import annotations

import json
from typing import Final

from pytest_reqfile import __version__
from pytest_reqfile.oracle.assembly import Assembled
from pytest_reqfile.oracle.digests import Artifact, canonical_json
from pytest_reqfile.oracle.mission import Mission
from pytest_reqfile.oracle.results import Result
from pytest_reqfile.oracle.sink import ENVIRONMENT, Sink
from pytest_reqfile.workspace.clock import Clock
from pytest_reqfile.workspace.paths import name_of

STATEMENT: Final = "attestation/test-result.intoto.json"
CTRF: Final = "ctrf.json"
_STATEMENT_TYPE: Final = "https://in-toto.io/Statement/v1"
_TEST_RESULT: Final = "https://in-toto.io/attestation/test-result/v0.1"
_CTRF_VERSION: Final = "0.0.0"
_CTRF_STATUS: Final = {"pass": "passed", "fail": "failed", "blocked": "other"}


def write_statement(mission: Mission, assembled: Assembled, sink: Sink) -> Artifact | None:
    """The in-toto statement about the verified source; None where nothing was verified, so that there is no subject.

    There is no "blocked" in its words: what is blocked counts as failed, never as a warning, which would mean passed.
    """
    subject = _subject(sink)
    if subject is None:
        return None
    passed = [result.check_id for result in assembled.results.values() if result.verdict == "pass"]
    others = [result.check_id for result in assembled.results.values() if result.verdict != "pass"]
    statement = {
        "_type": _STATEMENT_TYPE,
        "subject": [subject],
        "predicateType": _TEST_RESULT,
        "predicate": {
            "result": "PASSED" if assembled.overall in ("pass", "partial") else "FAILED",
            "configuration": [
                _descriptor(name_of(mission.path), mission.digest.removeprefix("sha256:")),
                _descriptor(assembled.review.ref, assembled.review.hex),
            ],
            "passedTests": passed,
            "failedTests": others,
        },
    }
    return sink.write(STATEMENT, canonical_json(statement))


def _subject(sink: Sink) -> dict[str, object] | None:
    """The commit if the workspace was exactly that, else git's id of the tree as it was, else our own hash of it."""
    try:
        source = json.loads(sink.read(ENVIRONMENT))["source"]
    except OSError:
        return None
    if source["clean"]:
        return {"name": "workspace", "digest": {"gitCommit": source["head"]}}
    if source["tree"] is not None:
        return {"name": "workspace", "digest": {"gitTree": source["tree"]}}
    return {"name": "workspace", "digest": {"sha256": source["snapshotHash"]}}


def _descriptor(name: str, digest: str) -> dict[str, object]:
    return {"name": name, "digest": {"sha256": digest}, "mediaType": "application/json"}


def write_ctrf(assembled: Assembled, sink: Sink, clock: Clock) -> Artifact:
    """The CTRF report, for dashboards: blocked is ``other``, with the raw status beside it."""
    results = tuple(assembled.results.values())
    stop = clock.now_ms()
    verdicts = [result.verdict for result in results]
    report = {
        "reportFormat": "CTRF",
        "specVersion": _CTRF_VERSION,
        "results": {
            "tool": {"name": "pytest-reqfile", "version": __version__},
            "summary": {
                "tests": len(results),
                "passed": verdicts.count("pass"),
                "failed": verdicts.count("fail"),
                "skipped": 0,
                "pending": 0,
                "other": verdicts.count("blocked"),
                "start": stop - sum(map(_milliseconds, results)),
                "stop": stop,
            },
            "tests": [_test(result) for result in results],
        },
    }
    return sink.write_json(CTRF, report)


def _test(result: Result) -> dict[str, object]:
    test: dict[str, object] = {
        "name": result.name,
        "status": _CTRF_STATUS[result.verdict],
        "duration": _milliseconds(result),
        "rawStatus": result.verdict,
        "message": result.explanation,
        "extra": {"reqfile.oracle/exitCode": result.exit_code, "reqfile.oracle/expectedExitCode": result.expected},
    }
    if result.receipt is not None:
        receipt = {"name": "receipt", "contentType": "application/json", "path": result.receipt.ref}
        test["attachments"] = [receipt]
    return test


def _milliseconds(result: Result) -> int:
    return round(result.seconds * 1000)
