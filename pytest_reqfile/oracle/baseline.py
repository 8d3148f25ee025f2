"""What held before the change: a guard's command at the revision it names (spec oracle.md 5.6)."""

from __future__ import annotations

from dataclasses import replace
from typing import Final

from pytest_reqfile.errors import ReqfileError
from pytest_reqfile.oracle.classify import Ending, blocked
from pytest_reqfile.oracle.receipts import Execution
from pytest_reqfile.oracle.runner import Runnable, Runner
from pytest_reqfile.workspace.isolation import IsolatedWorkspace, isolated_workspace

_GIT: Final = (
    *("git", "--no-replace-objects", "-c", "core.fsmonitor=false", "-c", "core.hooksPath=/dev/null"),
    *("-c", "core.sparseCheckout=false"),
)
_CLEAR_MARKS: Final = 'git ls-files -z | git update-index -z "$1" --stdin'
"""Of files the index says not to look at, a checkout would leave the content as it is."""


def run_at_baseline(
    runner: Runner, runnable: Runnable, ending: Ending
) -> tuple[tuple[Execution, Ending] | None, Ending]:
    """How a guard that fails now ends at its baseline, in a workspace of its own, and the verdict that makes."""
    if runner.workspace.isolation.mode not in ("overlay", "copy"):
        text = "needs a disposable workspace that can be switched to the baseline"
        return None, blocked("isolation-missing", text, ending.exit_code)
    try:
        with isolated_workspace(runner.workspace.root, runner.env, runner.workspace.isolation.mode) as workspace:
            problem = _switch(runner, workspace, runnable.baseline or "")
            if problem is not None:
                return None, replace(problem, exit_code=ending.exit_code)
            execution, before = runner.run(replace(runnable, baseline=None), workspace)
    except ReqfileError as error:
        return None, blocked("isolation-missing", f"the baseline could not be prepared: {error}", ending.exit_code)
    return (execution, before), _compared(before, ending)


def _switch(runner: Runner, workspace: IsolatedWorkspace, commit: str) -> Ending | None:
    """Ignored files stay: they hold what was built or installed. None if the workspace is at the commit now."""
    commands = (
        *(("sh", "-c", _CLEAR_MARKS, "sh", mark) for mark in ("--no-assume-unchanged", "--no-skip-worktree")),
        (*_GIT, "checkout", "-q", "-f", "--detach", commit),
        (*_GIT, "clean", "-fdq"),
    )
    for words in commands:
        _, ending = runner.run(Runnable(command=words, expected=0), workspace)
        if ending.verdict != "pass":
            return blocked("prerequisite-missing", f"the baseline could not be checked out: {ending.explanation}")
    return None


def _compared(before: Ending, now: Ending) -> Ending:
    if before.verdict == "pass":
        return replace(now, explanation=f"{now.explanation}; it passed at the baseline")
    if before.verdict == "fail":
        text = f"already failing at the baseline ({before.explanation}; now: {now.explanation})"
        return replace(now, verdict="pass", explanation=text, doubt=text)
    return blocked("prerequisite-missing", f"the baseline could not be run: {before.explanation}", now.exit_code)
