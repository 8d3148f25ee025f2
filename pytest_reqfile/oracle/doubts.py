"""How sure a verdict is, by rules anyone can check; reported uncertainty, not proof (seed 003; spec oracle.md 5.8)."""

from __future__ import annotations

from pytest_reqfile.oracle.claims import one_line
from pytest_reqfile.oracle.classify import Ending
from pytest_reqfile.oracle.gate import masks
from pytest_reqfile.oracle.receipts import Circumstances, Execution
from pytest_reqfile.oracle.results import Confidence, lowest
from pytest_reqfile.oracle.runner import Runnable


def confidence_of(
    ending: Ending, execution: Execution, runnable: Runnable | None, around: Circumstances, inside_reviewed: bool
) -> tuple[Confidence, tuple[str, ...]]:
    """The confidence and each doubt behind it; a blocked verdict is as sure as its reason."""
    if ending.verdict == "blocked":
        return "high", ()
    found = [*_low(runnable, around, inside_reviewed), *_medium(ending, execution, runnable, around)]
    return lowest(tuple(level for level, _ in found)), tuple(one_line(text) for _, text in found)


def _low(runnable: Runnable | None, around: Circumstances, inside_reviewed: bool) -> list[tuple[Confidence, str]]:
    found: list[tuple[Confidence, str]] = [("low", text) for text in masks(runnable.command)] if runnable else []
    if inside_reviewed:
        found.append(
            ("low", "the verifier was loaded under the reviewed project's own configuration, or imports from it")
        )
    if runnable is not None:
        found += (("low", f"{path} imports the reviewed tree, not its copy") for path in around.bypasses)
    return found


def _overwritten(tracked: frozenset[str], writes: tuple[str, ...]) -> list[str]:
    """Tracked files that were written to or went with their folder, of which only the folder is named."""
    gone = tuple(f"{path}/" for path in writes if path not in tracked)
    return sorted(path for path in tracked if path in writes or path.startswith(gone))


def _medium(
    ending: Ending, execution: Execution, runnable: Runnable | None, around: Circumstances
) -> list[tuple[Confidence, str]]:
    found = [] if ending.doubt is None else [ending.doubt]
    if runnable is None:  # nothing was run in the disposable workspace
        return [("medium", text) for text in found]
    if around.isolation is not None and around.isolation.enforced != "kernel":
        found.append(f"isolation is {around.isolation.enforced}")
    overwritten = _overwritten(around.tracked, execution.run.writes) if execution.run else []
    if overwritten:
        found.append(f"it wrote to tracked files of the disposable workspace: {', '.join(overwritten[:3])}")
    if runnable.defaulted:
        found.append("expectedExitCode defaulted to 0")
    if runnable.allowed is not None:
        found.append(f"allowed by the conductor although {runnable.allowed}")
    if isinstance(runnable.command, str) and "bash" not in around.shell:
        found.append("run by sh, since there is no bash")
    return [("medium", text) for text in found]
