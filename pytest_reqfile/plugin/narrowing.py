"""What the options narrow a run to, as a selection for each repository (seed 004 SELECTION, FAST_PATH; design 2.6)."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cached_property
from typing import Any

import pytest

from pytest_reqfile.errors import ReqfileError
from pytest_reqfile.plugin import options
from pytest_reqfile.reqfile.changes import ChangeSet, change_set, staged_set
from pytest_reqfile.reqfile.plan import Selection, parse_only
from pytest_reqfile.reqfile.repository import Repository
from pytest_reqfile.reqfile.values import Edition

Wire = dict[str, Any]
"""Change sets by repository root, in their wire form."""


class Narrowing:
    """Selections, computed once per repository; under xdist the controller computes and the workers read.

    ``given`` is what a controller handed over.
    """

    def __init__(self, config: pytest.Config, given: Mapping[str, Any] | None) -> None:
        self._config = config
        self._given = given or {}
        self._computed: dict[str, ChangeSet] = {}

    @cached_property
    def plain(self) -> Selection:
        """What the options choose apart from changes."""
        only = parse_only(options.values(self._config, "only"))
        return Selection(only=only, fast=options.is_on(self._config, "fast"))

    @property
    def is_changed_only(self) -> bool:
        """Whether the run looks at a change only."""
        return self._base is not None or self.is_staged

    @property
    def base(self) -> str | None:
        """The revision given for the whole run, if any."""
        return self._base or None

    def judge(self) -> None:
        """Raise pytest.UsageError for options that exclude each other."""
        if self.is_staged and self._base is not None:
            raise pytest.UsageError("--reqfile-staged does not go with --reqfile-changed: each says what a change is")

    def selection(self, repository: Repository, edition: Edition) -> Selection:
        """What to look at in a repository. Raises pytest.UsageError for a base that cannot be used."""
        if not self.is_changed_only:
            return self.plain
        return self._change_set(repository, edition).narrow(self.plain)

    def wire(self, repository: Repository, edition: Edition) -> Wire:
        """What the workers of this run need to know of a repository."""
        return {repository.root: self._change_set(repository, edition).to_wire()} if self.is_changed_only else {}

    def _change_set(self, repository: Repository, edition: Edition) -> ChangeSet:
        root = repository.root
        if root not in self._computed:
            given = self._given.get(root)
            self._computed[root] = self._compute(repository, edition) if given is None else ChangeSet.from_wire(given)
        return self._computed[root]

    def _compute(self, repository: Repository, edition: Edition) -> ChangeSet:
        try:
            if self.is_staged:
                return staged_set(repository, self.plain, edition)
            return change_set(repository, self.plain, self.base, edition)
        except ReqfileError as error:
            raise pytest.UsageError(*(f"--reqfile-changed: {message}" for message in error.messages)) from error

    @property
    def _base(self) -> str | None:
        return options.optional_value(self._config, "changed")

    @property
    def is_staged(self) -> bool:
        """Whether only what is staged is looked at."""
        return options.is_on(self._config, "staged")
