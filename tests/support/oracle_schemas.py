"""The schemas of spec oracle.md 4: what the sink's files must look like."""

from __future__ import annotations

from typing import Any, Final

WORKER_OUTPUT: Final[dict[str, Any]] = {
    "$schema": "https://json-schema.org/draft/2020-12/schema",
    "$id": "urn:oracle-plugin:worker-output:seed:1",
    "title": "Seed profile: WorkerClaims and WorkerReviewEvidence.oracleResults",
    "$ref": "#/$defs/workerClaims",
    "$defs": {
        "workerClaims": {
            "type": "object",
            "additionalProperties": False,
            "required": ["claims", "observations", "checks", "limitations"],
            "properties": {
                "claims": {"type": "array", "items": {"$ref": "#/$defs/claim"}},
                "observations": {"type": "array", "items": {"type": "string", "minLength": 1}},
                "checks": {"type": "array", "items": {"$ref": "#/$defs/check"}},
                "limitations": {"type": "array", "items": {"type": "string", "minLength": 1}},
            },
        },
        "claim": {
            "type": "object",
            "additionalProperties": False,
            "required": ["id", "text", "evidence"],
            "properties": {
                "id": {"type": "string", "minLength": 1, "maxLength": 512},
                "text": {
                    "type": "string",
                    "pattern": "^\\[(pass|fail|blocked)\\] \\(confidence: (high|medium|low)\\) .+",
                },
                "evidence": {"type": "array", "items": {"$ref": "#/$defs/workerArtifact"}},
            },
        },
        "check": {
            "type": "object",
            "additionalProperties": False,
            "required": ["checkId", "exitCode", "evidence", "environment"],
            "properties": {
                "checkId": {"type": "string", "minLength": 1, "maxLength": 512},
                "exitCode": {"type": ["integer", "null"], "minimum": 0, "maximum": 255},
                "evidence": {"type": "array", "items": {"$ref": "#/$defs/workerArtifact"}},
                "environment": {"type": "string", "minLength": 1, "maxLength": 200},
            },
        },
        "workerArtifact": {
            "type": "object",
            "additionalProperties": False,
            "required": ["ref", "digest"],
            "properties": {
                "ref": {"type": "string", "minLength": 1, "description": "sink-relative path, repo file:line, or URL"},
                "digest": {"type": "string", "pattern": "^sha256:[a-f0-9]{64}$"},
            },
        },
        "workerOracleResult": {
            "type": "object",
            "additionalProperties": False,
            "required": ["command", "exitCode", "evidence"],
            "properties": {
                "command": {"oneOf": [{"type": "string"}, {"type": "array", "items": {"type": "string"}}]},
                "exitCode": {"type": ["integer", "null"], "minimum": 0, "maximum": 255},
                "evidence": {"type": "array", "minItems": 1, "items": {"$ref": "#/$defs/workerArtifact"}},
            },
        },
        "workerReviewEvidence": {
            "type": "object",
            "required": ["oracleResults"],
            "description": "only oracleResults is ours; rounds, findings, head and lineage are passed through as given",
            "properties": {"oracleResults": {"type": "array", "items": {"$ref": "#/$defs/workerOracleResult"}}},
        },
    },
}

RECEIPT: Final[dict[str, Any]] = {
    "$schema": "https://json-schema.org/draft/2020-12/schema",
    "$id": "urn:oracle-plugin:oracle-receipt:1",
    "type": "object",
    "additionalProperties": False,
    "required": [
        "schemaVersion",
        "checkId",
        "command",
        "commandDigest",
        "expectedExitCode",
        "verdict",
        "process",
        "stdout",
        "stderr",
        "source",
        "isolation",
    ],
    "properties": {
        "schemaVersion": {"const": "oracle-receipt.v1"},
        "checkId": {"type": "string"},
        "command": {"oneOf": [{"type": "string"}, {"type": "array", "items": {"type": "string"}}]},
        "commandDigest": {"$ref": "#/$defs/digest"},
        "briefDigest": {"$ref": "#/$defs/digest"},
        "expectedExitCode": {"type": "integer"},
        "verdict": {"enum": ["pass", "fail", "blocked"]},
        "blockedReason": {
            "enum": [
                "oracle-absent",
                "oracle-invalid",
                "oracle-unsafe",
                "isolation-missing",
                "needs-writes",
                "prerequisite-missing",
                "spawn-error",
                "timeout",
                "output-limit",
                "interrupted",
                "not-run",
                "source-drift",
                "workspace-written",
            ]
        },
        "prerequisite": {"type": "string"},
        "process": {
            "type": "object",
            "additionalProperties": False,
            "required": [
                "argv",
                "cwd",
                "environment",
                "startedAt",
                "endedAt",
                "durationMs",
                "exitCode",
                "signal",
                "reason",
                "observedOutputBytes",
            ],
            "properties": {
                "argv": {"type": "array", "items": {"type": "string"}},
                "cwd": {"type": "string"},
                "environment": {
                    "type": "object",
                    "additionalProperties": False,
                    "required": ["explicitKeys", "explicitValuesHash", "platform", "arch", "python"],
                    "properties": {
                        "explicitKeys": {"type": "array", "items": {"type": "string"}},
                        "explicitValuesHash": {"$ref": "#/$defs/hex"},
                        "platform": {"type": "string"},
                        "arch": {"type": "string"},
                        "python": {"type": "string"},
                        "shell": {"type": "string"},
                        "tools": {"type": "object", "additionalProperties": {"type": "string"}},
                    },
                },
                "startedAt": {"type": "string"},
                "endedAt": {"type": "string"},
                "durationMs": {"type": "number", "minimum": 0},
                "exitCode": {"type": ["integer", "null"]},
                "signal": {"type": ["string", "null"]},
                "reason": {"enum": ["exit", "signal", "timeout", "output-limit", "spawn-error", "not-started"]},
                "error": {"type": "string"},
                "observedOutputBytes": {"type": "integer", "minimum": 0},
            },
        },
        "stdout": {"$ref": "#/$defs/stream"},
        "stderr": {"$ref": "#/$defs/stream"},
        "source": {
            "type": "object",
            "additionalProperties": False,
            "required": ["snapshotHash", "afterSnapshotHash", "sourceStable"],
            "properties": {
                "head": {"type": ["string", "null"]},
                "tree": {"type": ["string", "null"]},
                "snapshotHash": {"$ref": "#/$defs/hex"},
                "afterSnapshotHash": {"$ref": "#/$defs/hex"},
                "sourceStable": {"type": "boolean"},
            },
        },
        "isolation": {
            "type": "object",
            "additionalProperties": False,
            "required": ["mode", "enforced", "network"],
            "properties": {
                "mode": {"enum": ["overlay", "readonly-namespace", "copy", "external", "none"]},
                "enforced": {"enum": ["kernel", "detect-only", "asserted"]},
                "network": {"enum": ["off", "on"]},
                "writes": {"type": "array", "items": {"type": "string"}},
            },
        },
    },
    "$defs": {
        "hex": {"type": "string", "pattern": "^[a-f0-9]{64}$"},
        "digest": {"type": "string", "pattern": "^sha256:[a-f0-9]{64}$"},
        "stream": {
            "type": "object",
            "additionalProperties": False,
            "required": ["path", "hash"],
            "properties": {
                "path": {"type": "string"},
                "hash": {"$ref": "#/$defs/hex"},
                "truncated": {"type": "boolean"},
            },
        },
    },
}
