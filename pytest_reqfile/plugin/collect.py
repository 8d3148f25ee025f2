"""Files of ours as pytest files, and what is in them as items (design 2.1)."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from pytest_reqfile.errors import ReqfileError
from pytest_reqfile.plugin.items import ReqfileItem
from pytest_reqfile.syntax.printable import visible
from pytest_reqfile.workspace.paths import way_to


class ReqfileFile(pytest.File):
    """A file that declares requirements or verifiers, or one that looks like it and has something wrong in it."""

    def collect(self) -> Iterator[pytest.Item | pytest.Collector]:
        """An item of every declaration, in order; ``load`` where the file has a problem.

        A configuration that demands a lock which is not there brings that lock's collector besides.
        """
        from pytest_reqfile.plugin.state import state_of
        from pytest_reqfile.workspace.memory import collection_paused

        state = state_of(self.config)
        with collection_paused():
            plans = tuple(state.plans(self.path))
        for plan in plans:
            yield ReqfileItem.from_parent(self, name=plan.name, plan=plan)
        lock = state.locks.required(self.path) if self.path.name == "config.toml" and self.parent is not None else None
        if lock is not None and self.parent is not None:
            yield new_file(self.parent, lock)

    def repr_failure(  # type: ignore[override]  # as pytest's own Collector narrows it
        self, excinfo: pytest.ExceptionInfo[BaseException]
    ) -> Any:
        """An expected error is told without our frames."""
        error = excinfo.value
        return visible(str(error)) if isinstance(error, ReqfileError) else super().repr_failure(excinfo)


def new_file(parent: pytest.Collector, path: Path) -> ReqfileFile:
    """The collector of a file.

    pytest leaves files outside its root folder without a path in their ids, so two of one name would be one.
    """
    root = parent.config.rootpath
    named: dict[str, Any] = {} if path.is_relative_to(root) else {"nodeid": way_to(path, root)}
    collector: ReqfileFile = ReqfileFile.from_parent(parent, path=path, **named)
    return collector


def collect_file(session: pytest.Session, path: Path) -> Iterator[pytest.Item]:
    """The items of a file that pytest's walk did not meet, announced to every plugin as pytest announces its own."""
    collector = new_file(session, path)
    hooks = session.gethookproxy(path)
    hooks.pytest_collectstart(collector=collector)
    report = hooks.pytest_make_collect_report(collector=collector)
    for item in report.result if report.passed else ():
        if not isinstance(item, pytest.Item):
            continue  # a lock that is demanded: it is among the files that are added
        hooks.pytest_itemcollected(item=item)
        yield item
    hooks.pytest_collectreport(report=report)
