"""What blocks an item whatever the machine offers: the mission itself (seed 003; spec oracle.md 5.1)."""

from __future__ import annotations

from pytest_reqfile.oracle.classify import Ending, blocked
from pytest_reqfile.oracle.mission import Mission
from pytest_reqfile.oracle.plan import PlannedItem


def blocked_by_mission(item: PlannedItem, mission: Mission) -> Ending | None:
    """An invalid mission blocks everything; one without commands blocks the item that stands for them."""
    if mission.problems:
        return blocked("oracle-invalid", "; ".join(map(str, mission.problems)))
    if item.kind == "absent":
        return blocked("oracle-absent", "the mission has no verificationOracle command; supply one")
    return None
