"""Outcomes as pytest failures: located, without frames of ours, and the same after crossing xdist (design 5).

The only module that needs pytest's private representation classes: a failure survives the wire only as an
``ExceptionChainRepr`` with a crash location (anchors.md L2).
"""

from __future__ import annotations

from _pytest._code.code import ExceptionChainRepr, ReprEntryNative, ReprFileLocation, ReprTraceback


class EvaluationError(Exception):
    """Raised in an item's setup when its outcome is an error, so that pytest counts it as one."""


class RequirementNotMetError(Exception):
    """Raised in an item's call when its outcome is a failure."""


def located_failure(lines: list[str], path: str, line: int, message: str) -> ExceptionChainRepr:
    """A failure that shows ``lines`` and crashes at ``path:line`` with ``message`` (its summary line)."""
    traceback = ReprTraceback(
        reprentries=[ReprEntryNative([text + "\n" for text in lines])], extraline=None, style="native"
    )
    return ExceptionChainRepr([(traceback, ReprFileLocation(path, line, message), None)])
