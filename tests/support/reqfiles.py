"""Text of Reqfiles, as the conformance cases write them (cases/reqfile.md, "Fixtures")."""

from __future__ import annotations

from collections.abc import Mapping


def command(run: str, **fields: object) -> str:
    """A command check with the hint ``h``; fields are written as given, in order."""
    given = {"run": _quoted(run), "fix_hint": "h"} | {key: _value(value) for key, value in fields.items()}
    return "\n".join(["      - command:", *(f"          {key}: {value}" for key, value in given.items())])


def reqfile(requirements: Mapping[str, list[str]], kind: str = "code") -> str:
    """A Reqfile whose first id is on line 3 and each first check two lines after ``who`` (cases: ``req``)."""
    lines = ["reqfile: 1", f"{kind}:"]
    for identifier, checks in requirements.items():
        lines += [
            f"  - id: {identifier}",
            "    must: Be good.",
            "    why: Because.",
            "    who: Us.",
            "    checks:",
            *checks,
        ]
    return "\n".join(lines) + "\n"


def say(text: str, **fields: object) -> str:
    """A command that prints ``text`` and exits 1: one violation."""
    return command(f"echo {text}; exit 1", **fields)


def _quoted(text: str) -> str:
    return '"' + text.replace("\\", "\\\\").replace('"', '\\"').replace("\n", "\\n") + '"'


def _value(value: object) -> str:
    if isinstance(value, bool):
        return "true" if value else "false"
    return _quoted(value) if isinstance(value, str) and not value.isalnum() else str(value)


OK = command("true")
