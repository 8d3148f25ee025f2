"""Python tests linked to requirements, and items left out by ``--reqfile-only`` (design 2.2, 2.6)."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

import pytest

from pytest_reqfile.errors import GitError, UsageError
from pytest_reqfile.plugin import marks
from pytest_reqfile.plugin.items import ReqfileItem
from pytest_reqfile.plugin.options import LINKED_REQUIREMENTS, UNKNOWN_REQUIREMENTS
from pytest_reqfile.reqfile.values import Requirement

if TYPE_CHECKING:
    from pytest_reqfile.plugin.state import RunState


class Links:
    """Completes ``@pytest.mark.requirement`` marks and answers which items a list of ids leaves out."""

    def __init__(self, state: RunState) -> None:
        self._state = state

    def complete(self, item: pytest.Item) -> None:
        """Mark a linked Python test as our own items are; an id that nobody defines makes the test an error."""
        if isinstance(item, ReqfileItem):
            return
        ids = tuple(dict.fromkeys(_ids(item)))
        if not ids:
            return
        known = self._requirements(item)
        if not isinstance(known, str):
            item.stash[LINKED_REQUIREMENTS] = tuple(identifier for identifier in ids if identifier in known)
        for identifier in ids:
            if isinstance(known, str) or identifier not in known:
                why = known if isinstance(known, str) else "no Reqfile of the repository defines it"
                item.stash[UNKNOWN_REQUIREMENTS] = f"requirement {identifier}: {why}"
            else:
                item.add_marker(marks.of_requirement(known[identifier]))

    def left_out(self, items: Sequence[pytest.Item], only: frozenset[str] | None) -> frozenset[pytest.Item]:
        """The items of other requirements than those asked for. Raises UsageError for ids that nothing has."""
        if only is None:
            return frozenset()
        owners = {item: owner for item in items if (owner := _owner(item)) is not None}
        unknown = sorted(only - set(owners.values()) - self._all_ids())
        if unknown:
            raise UsageError(*(f"--reqfile-only: no requirement has the id {identifier}" for identifier in unknown))
        return frozenset(item for item, owner in owners.items() if owner not in only)

    def _all_ids(self) -> set[str]:
        try:
            return {requirement.id for requirement in self._state.repository.catalog.requirements}
        except GitError:
            return set()

    def _requirements(self, item: pytest.Item) -> dict[str, Requirement] | str:
        try:
            catalog = self._state.opened(item.path.parent).repository.catalog
        except GitError as error:
            return str(error)
        return {requirement.id: requirement for requirement in catalog.requirements}


def _ids(item: pytest.Item) -> Iterator[str]:
    for mark in item.iter_markers("requirement"):
        given = (*mark.args, mark.kwargs.get("id", ()))
        for value in given:
            yield from (value,) if isinstance(value, str) else value


def _owner(item: pytest.Item) -> str | None:
    if not isinstance(item, ReqfileItem):
        return None
    mark = item.get_closest_marker("requirement")
    return None if mark is None else mark.kwargs["id"]
