"""What a model replies when it is asked for verifiers."""

from __future__ import annotations

import json
from typing import Final

from pytest_reqfile.verifiers.proposals import FIELDS

_EMPTY: Final[dict[str, object]] = {"string": "", "list": [], "boolean": True, "integer": -1}


def proposal(**fields: object) -> dict[str, object]:
    """A complete one: no HACK in Go files, with examples that behave; ``where`` stands for ``in``."""
    found: dict[str, object] = {key: _EMPTY[kind] for key, kind in FIELDS.items()}
    found |= {
        "id": "no-hack",
        "predicate": "forbid",
        "regex": r"\bHACK\b",
        "when_changed": ["**/*.go"],
        "severity": "error",
        "message": "No hacks.",
        "rationale": "The rule\nforbids them.",
        "pass_path": "a.go",
        "pass_content": "package a\n",
        "fail_path": "a.go",
        "fail_content": "// HACK\n",
    }
    return found | {"in" if key == "where" else key: value for key, value in fields.items()}


def reply(*proposals: dict[str, object], skipped_reason: str = "") -> str:
    """The text of a reply."""
    return json.dumps({"proposals": list(proposals), "skipped_reason": skipped_reason})
