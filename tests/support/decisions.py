"""Repositories with decision checks, as the cases build them (cases/reqfile.md, "Fixtures")."""

from __future__ import annotations

from collections.abc import Mapping

from tests.support.jev import KEY, Jev
from tests.support.repo import Completed, Repo
from tests.support.requirements import req

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
