"""The units of several decision checks: each file read and parsed once for all of them (spec reqfile.md 4.1)."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from pytest_reqfile.errors import FileError
from pytest_reqfile.reqfile.asking import STOPPED
from pytest_reqfile.reqfile.decision import UnitRule
from pytest_reqfile.reqfile.decision_reading import DecidedCheck
from pytest_reqfile.reqfile.discovery import Tree
from pytest_reqfile.reqfile.languages import language_of
from pytest_reqfile.reqfile.units import NoSelectorError, ParsedFile, Unit, rules_for
from pytest_reqfile.workspace.paths import below


@dataclass(frozen=True, slots=True, kw_only=True)
class Selected:
    """What one check looks at; ``error`` says why its units are not known, and then there are none."""

    units: tuple[Unit, ...] = ()
    error: str | None = None


def select_units(checks: Sequence[DecidedCheck], tree: Tree, stopped: Callable[[], bool]) -> tuple[Selected, ...]:
    """The units of each check, by file in the order of its plan, then by place.

    A file that cannot be read is an error of every check that would look into it, and so is one that is not looked into
    once ``stopped``: units must not go missing unseen.
    """
    found: list[dict[str, tuple[Unit, ...]]] = [{} for _ in checks]
    errors: dict[int, str] = {}
    for path, wanted in _rules_by_file(checks).items():
        if stopped():
            errors |= dict.fromkeys(wanted, STOPPED)
            continue
        try:
            parsed = ParsedFile(path, tree.read_text(path))
            for index, rules in wanted.items():
                found[index][path] = parsed.units(checks[index].decision, rules)
        except (FileError, NoSelectorError) as error:
            for index in wanted:
                errors.setdefault(index, _reason(error, path))
    return tuple(
        Selected(error=errors[index])
        if index in errors
        else Selected(units=tuple(unit for path in check.planned.files for unit in found[index].get(path, ())))
        for index, check in enumerate(checks)
    )


def _rules_by_file(checks: Sequence[DecidedCheck]) -> dict[str, dict[int, tuple[UnitRule, ...]]]:
    """Which rules of which check apply to a file; files of other languages are never read."""
    wanted: defaultdict[str, dict[int, tuple[UnitRule, ...]]] = defaultdict(dict)
    for index, check in enumerate(checks):
        languages = {rule.language for rule in check.decision.units}
        for path in check.planned.files:
            language = language_of(path)
            if language in languages:
                relative = below(path, check.planned.requirement.folder) or path
                rules = rules_for(check.decision, relative, language)
                if rules:
                    wanted[path][index] = rules
    return wanted


def _reason(error: FileError | NoSelectorError, path: str) -> str:
    if isinstance(error, NoSelectorError):
        return str(error)
    return f"cannot read {path}: {str(error).removeprefix(f'{path}: ').removeprefix('cannot read: ')}"
