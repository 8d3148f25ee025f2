"""Reqfiles for tests, with the line numbers of cases/reqfile.md: first id in line 3, its first check in line 8."""

from __future__ import annotations

import json
from collections.abc import Sequence

from tests.support.repo import Completed

GOOD = """reqfile: 1

product:
  - id: QUICK_PAGES
    ref: "https://example.invalid/1"
    must: Pages are quick.
    why: Nobody waits.
    who: Readers.
    checks:
      - command:
          run: "true"
          fix_hint: Make them quick.

code:
  - id: NO_FIXME
    must: Nothing is left to fix.
    why: It is never fixed later.
    who: Maintainers.
    checks:
      - command:
          run: "true"
          fix_hint: Fix it now.
"""


def req(kind: str = "code", /, **requirements: str | Sequence[str]) -> str:
    """A Reqfile with one requirement per keyword, each with its check or checks as YAML blocks."""
    blocks = [_block(identifier, checks) for identifier, checks in requirements.items()]
    return f"reqfile: 1\n{kind}:\n" + "".join(blocks)


def _block(identifier: str, checks: str | Sequence[str]) -> str:
    head = f"  - id: {identifier}\n    must: Be good.\n    why: Because.\n    who: Us.\n    checks:\n"
    entries = (checks,) if isinstance(checks, str) else checks
    return head + "".join(f"      {line}\n" for entry in entries for line in entry.split("\n"))


def command(run: str, /, *, hint: str = "h", **fields: object) -> str:
    """A command check; fields are written as JSON, which YAML reads."""
    lines = ["- command:", f"    run: {json.dumps(run)}", f"    fix_hint: {json.dumps(hint)}"]
    return "\n".join([*lines, *(f"    {key}: {json.dumps(value)}" for key, value in fields.items())])


def say(text: str, /, *, hint: str = "h", **fields: object) -> str:
    """A command that prints ``text`` and finds a violation."""
    return command(f"echo {text}; exit 1", hint=hint, **fields)


def seen(glob: str, /, label: str = "saw") -> str:
    """A command that names the files it was given in one violation: ``saw a b``."""
    run = f'f() {{ echo "{label} $*"; exit 1; }}; f'
    return command(run, files=glob, pass_files=True)


def expect(done: Completed, code: int, *texts: str, absent: Sequence[str] = (), stderr: bool = False) -> None:
    """The process ended with ``code`` and printed each of ``texts``, none of ``absent``; the other stream is empty."""
    printed, other = (done.err, done.out) if stderr else (done.out, done.err)
    assert done.code == code, done
    for text in texts:
        assert text in printed, printed
    for text in absent:
        assert text not in printed, printed
    assert other == ""


OK = command("true")
CRASH = command("exit 2")
