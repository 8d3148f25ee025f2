"""What a run says of decisions: keys that are not set, and requirements that cannot both hold (spec reqfile.md 8.2)."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from pytest_reqfile.outcome import Finding, Location
from pytest_reqfile.reports.words import counted
from pytest_reqfile.syntax.printable import visible


@dataclass(frozen=True, slots=True, kw_only=True)
class Setup:
    """A variable without which the decision checks of these requirements judge nothing."""

    variable: str
    requirements: tuple[str, ...]
    blocking: bool

    def __str__(self) -> str:
        """What is missing and how to set it, in one line."""
        requirements = ", ".join(self.requirements)
        return (
            f"{visible(self.variable)} is not set: the decision checks of {requirements} will not judge "
            "any code, nor will conflicts between requirements be looked for. Set it, or name another variable in "
            "decision.api_key_env of .reqfile/config.yaml."
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class Conflict:
    """Fixing one finding of ``requirement``'s check at ``declared`` would probably break the requirement ``breaks``."""

    requirement: str
    declared: Location
    finding: Finding
    breaks: str
    probability: float


@dataclass(frozen=True, slots=True, kw_only=True)
class ToDecide:
    """Two requirements that meet in ``files``; ``probability`` is the highest of any finding."""

    requirement: str
    breaks: str
    probability: float
    files: tuple[str, ...]

    def lines(self) -> Iterator[str]:
        """What people have to decide, for both texts of the report."""
        files = counted(len(self.files), "file")
        yield (
            f"{self.requirement} vs {self.breaks}  p={self.probability:.2f}  "
            f"fixing {self.requirement} in {files} would break {self.breaks}"
        )
        yield f"    {', '.join(visible(file, kept=frozenset()) for file in self.files)}"
        yield "    Reword one of the two requirements, or say which one wins where they meet."


def to_decide(conflicts: Iterable[Conflict]) -> tuple[ToDecide, ...]:
    """The conflicts of each pair as one decision, in the order they were found."""
    pairs: dict[tuple[str, str], list[Conflict]] = {}
    for conflict in conflicts:
        pairs.setdefault((conflict.requirement, conflict.breaks), []).append(conflict)
    return tuple(
        ToDecide(
            requirement=requirement,
            breaks=breaks,
            probability=max(conflict.probability for conflict in found),
            files=tuple(sorted({str(conflict.finding.file) for conflict in found})),
        )
        for (requirement, breaks), found in pairs.items()
    )
