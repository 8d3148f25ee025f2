"""``[lint.severity]`` of what differs from a lock (seed 001 "Configuration"; spec/airulez-project.md 1)."""

from __future__ import annotations

from typing import Final

from pytest_reqfile.project.tables import loose_fields
from pytest_reqfile.project.values import Config
from pytest_reqfile.syntax.fields import Problems

DRIFT_CODES: Final = ("AR981", "AR982", "AR995")
_LENIENT: Final = frozenset({"warning", "info", "off"})


def lenient_codes(config: Config) -> frozenset[str]:
    """The codes of drift that are reported and fail nothing; all are errors by default, also for a word nobody knows.

    Raises ``FormatError`` for a table that cannot be read.
    """
    declared = config.tables.get("lint")
    if declared is None:
        return frozenset()
    problems = Problems(declared.path)
    severities = loose_fields(declared.node, "[lint]", problems).optional_mapping("severity")
    problems.raise_if_any()
    found = {code: severities.get(code) if severities is not None else None for code in DRIFT_CODES}
    return frozenset(code for code, node in found.items() if node is not None and node.value in _LENIENT)
