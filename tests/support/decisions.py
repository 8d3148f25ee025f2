"""Repositories with decision checks, as the cases build them (cases/reqfile.md, "Fixtures")."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from tests.support.jev import KEY, Jev
from tests.support.repo import Completed, Repo
from tests.support.requirements import OK, command, req, say

PYFUNC = """
units:
  - {language: python, rule: {kind: function_definition}}
question: Several things?
violation_when: It does several things.
ok_when: It does one.
fix_hint: Break it up.
thresholds: { violation_above: 0.8, pass_below: 0.2 }
"""
PASSTHRU = """
units:
  - {language: python, rule: {kind: function_definition}}
question: Only passes through?
violation_when: It only passes its arguments on.
ok_when: It does something of its own.
fix_hint: Inline it.
thresholds: { violation_above: 0.8, pass_below: 0.2 }
"""
DECISION = "- decision"
BLOCKING = "- decision:\n    mode: blocking"


def drepo(repo: Repo, jev: Jev, spec: str = PYFUNC, *, check: str = DECISION, config: str | None = None) -> Repo:
    """One requirement ONE_JOB with a decision check, its config leading to ``jev``."""
    repo.write("Reqfile.yaml", req(ONE_JOB=check))
    repo.write(".reqfile/ONE_JOB/decision.yaml", spec)
    repo.write(".reqfile/config.yaml", jev.config if config is None else config)
    return repo


def asked_key(**variables: str) -> dict[str, str]:
    """The variables of a run that has a key."""
    return {"OPENROUTER_API_KEY": KEY, **variables}


def decide(repo: Repo, *arguments: str, env: Mapping[str, str] | None = None, cwd: str = "") -> Completed:
    """``reqfile check`` with a key; ``env`` replaces the variables with which it runs."""
    return repo.run("check", *arguments, env=asked_key() if env is None else env, cwd=cwd)


def functions(*names: str, mark: str = "") -> str:
    """Python functions of three lines each, the first at line 1."""
    return "\n\n".join(f"def {name}():\n    pass  # {mark}\n" for name in names)


def mixed(repo: Repo, jev: Jev) -> Repo:
    """The fixture of cases N."""
    result = {"message": {"text": "Too loud"}, "ruleId": "E1"}
    place = {"physicalLocation": {"artifactLocation": {"uri": "api/h.py"}, "region": {"startLine": 42}}}
    repo.write("result.sarif", json.dumps({"runs": [{"results": [{**result, "locations": [place]}]}]}))
    loud = command("cat result.sarif; exit 1", hint="H1", format="sarif")
    quiet = command("exit 1", files="**/*.go")
    checks = {"LOUD": [loud, DECISION], "NO_FIXME": say("a.txt:1", hint="Fix."), "BROKEN": command("exit 7")}
    repo.write("Reqfile.yaml", req(**checks, QUIET=quiet))
    repo.write(".reqfile/LOUD/decision.yaml", PYFUNC)
    repo.write(".reqfile/config.yaml", jev.config)
    repo.write("api/w.py", "def f():\n    pass  # HOT\n\n\ndef g():\n    pass  # WARM\n")
    return repo


MARK = "Core stays pure."


def conflicting(repo: Repo, jev: Jev, *files: str) -> Repo:
    """The fixture of N10: a tool finds something in files, whose fix would break CORE and not DOCS."""
    places = [{"physicalLocation": {"artifactLocation": {"uri": f}, "region": {"startLine": 1}}} for f in files]
    results = [{"message": {"text": "Misplaced"}, "ruleId": "C", "locations": [place]} for place in places]
    repo.write("result.sarif", json.dumps({"runs": [{"results": results}]}))
    place = command("cat result.sarif; exit 1", format="sarif")
    text = req(PLACE=place, CORE=OK, DOCS=OK)
    head, core = text.split("id: CORE\n    must: Be good.")
    repo.write("Reqfile.yaml", f"{head}id: CORE\n    must: {MARK}{core}")
    repo.write(".reqfile/config.yaml", jev.config)
    for file in files:
        repo.write(file, f"// {file}\n")
    jev.probability = lambda heard, identifier: 0.9 if identifier == "CORE" else 0.1
    return repo


def log_of(repo: Repo, path: str, kind: str) -> list[dict[str, Any]]:
    """The lines of one kind."""
    lines = [json.loads(line) for line in repo.path(path).read_text("utf-8").splitlines()]
    return [line for line in lines if line["kind"] == kind]
