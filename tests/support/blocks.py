"""Requirements as YAML, written from Python values: JSON strings are YAML strings."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

Check = str | dict[str, Any]


def block(identifier: str, *checks: Check, **more: str) -> dict[str, Any]:
    """A requirement; ``more`` sets or adds keys."""
    fixed: dict[str, Any] = {"id": identifier, "must": "Be good.", "why": "Because."}
    return {**fixed, **more, **({"checks": list(checks)} if checks else {})}


def reqfile_text(*blocks: Mapping[str, Any], kind: str = "code", **sections: list[Mapping[str, Any]]) -> str:
    """A Reqfile with one block a line, so that each has a line number of its own (3 and up)."""
    lines = ["reqfile: 1"]
    for name, entries in {**({kind: list(blocks)} if blocks else {}), **sections}.items():
        lines += [f"{name}:", *(f"  - {json.dumps(entry, ensure_ascii=False)}" for entry in entries)]
    return "\n".join(lines) + "\n"


def run(script: str, **fields: Any) -> Check:
    """A command check; ``files``, ``fast`` and the like by name."""
    return {"command": {"run": script, "fix_hint": "Do it.", **fields}}


def seen(label: str = "saw", files: str = "**/*.txt", **fields: Any) -> Check:
    """A check that reports which files it was given: one violation ``saw a b c``."""
    script = f'f() {{ echo "{label} $*"; exit 1; }}; f'
    return run(script, files=files, pass_files=True, **fields)
