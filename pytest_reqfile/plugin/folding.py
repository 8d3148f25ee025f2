"""What the recorder kept, as the value that reports are made from: paths from the repository root, nothing missing."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any, Final, cast

import pytest

from pytest_reqfile import __version__
from pytest_reqfile.errors import GitError, ReqfileError
from pytest_reqfile.outcome import Location, Outcome, Subject, from_wire
from pytest_reqfile.plugin.plans import ItemPlan
from pytest_reqfile.plugin.recorder import Recorder
from pytest_reqfile.reports.run_report import (
    ItemResult,
    KnownRequirement,
    LinkedTest,
    RunReport,
    TestResult,
    moved,
    run_report,
)
from pytest_reqfile.workspace.git import is_inside_repository, nearest_repository
from pytest_reqfile.workspace.paths import canonical, relative_to_root

NOT_RUN: Final = "not run: the run ended before it"
_SUBJECTS: Final[dict[str, Subject]] = {".toml": "verifier", ".lock": "lock", ".json": "oracle"}


def fold(config: pytest.Config, recorder: Recorder, stopped: str | None = None) -> RunReport:
    """The run so far. An item that was to run and did not is an error; ``stopped`` says why the run ended early."""
    unreached = recorder.unreached
    if unreached and stopped is None:
        stopped = f"{len(unreached)} collected items were not run"
    began, ended = recorder.span or (0.0, 0.0)
    places = Places(config)
    lost = (_item(nodeid, {"lost": NOT_RUN}, recorder, places) for nodeid in unreached)
    requirements = tuple(known_requirements(config))
    return run_report(
        __version__,
        _placed((*reported_items(config, recorder), *lost), requirements),
        tests=linked_tests(recorder),
        requirements=requirements,
        stopped=stopped,
        started=began,
        seconds=max(0.0, ended - began),
    )


def _placed(items: Iterable[ItemResult], requirements: Iterable[KnownRequirement]) -> Iterator[ItemResult]:
    """The items, those whose outcome was lost at their requirement rather than at the top of its file."""
    known = {(requirement.declared.path, requirement.id): requirement for requirement in requirements}
    for item in items:
        requirement = known.get((item.file, item.outcome.owner))
        if requirement is None or item.outcome.title:
            yield item
        else:
            placed = replace(item.outcome, declared=requirement.declared, title=requirement.must)
            yield replace(item, outcome=placed)


def reported_items(config: pytest.Config, recorder: Recorder) -> Iterator[ItemResult]:
    """The items that came to something, in the order in which they did."""
    places = Places(config)
    return (_item(nodeid, wire, recorder, places) for nodeid, wire in recorder.wires.items())


class Places:
    """Where files lie, seen from the root of the repository that pytest runs in."""

    def __init__(self, config: pytest.Config) -> None:
        self._config = config
        self._plans: dict[str, dict[str, ItemPlan]] = {}
        self._rootdir = canonical(config.rootpath)
        starts = (self._rootdir, canonical(config.invocation_params.dir))  # --rootdir may lie above the repository
        self._root = canonical(nearest_repository(next(filter(is_inside_repository, starts), self._rootdir)))
        self._known: dict[str, str] = {}

    @property
    def root(self) -> str:
        """The absolute path of that root."""
        return str(self._root)

    def below_root(self, folder: str) -> str:
        """The repository path of an absolute folder; the folder itself where it lies outside."""
        if folder not in self._known:
            found = relative_to_root(self._root, Path(folder))
            self._known[folder] = folder if found is None else found
        return self._known[folder]

    def of_node(self, nodeid: str) -> str:
        """The repository path of the file that a node id names."""
        return self.below_root(os.path.normpath(self._rootdir / nodeid.partition("::")[0]))

    def plan_of_node(self, nodeid: str) -> ItemPlan | None:
        """The item as it was before it ran; None where its file says nothing of it any more."""
        file, _, name = nodeid.partition("::")
        if file not in self._plans:
            self._plans[file] = self._plans_in(Path(os.path.normpath(self._rootdir / file)))
        return self._plans[file].get(name)

    def _plans_in(self, path: Path) -> dict[str, ItemPlan]:
        from pytest_reqfile.plugin.state import state_of

        try:
            return {plan.name: plan for plan in state_of(self._config).plans(path)}
        except ReqfileError:
            return {}


def _item(nodeid: str, wire: Mapping[str, Any], recorder: Recorder, places: Places) -> ItemResult:
    if wire.get("before") is not None:
        found = _item(nodeid, wire["before"], recorder, places)
        return replace(found, outcome=broken_off(found.outcome, str(wire["lost"])))
    if "lost" in wire or "skipped" in wire:
        file = places.of_node(nodeid)
        lost = lost_outcome(nodeid, file, str(wire.get("lost", "")), places.plan_of_node(nodeid))
        if "skipped" in wire:
            lost = replace(lost, status="skipped", reason=str(wire["skipped"]) or "skipped")
        return ItemResult(nodeid=nodeid, file=file, outcome=lost)
    base, file = recorder.origins[nodeid]
    folder = places.below_root(base)
    outcome = moved(from_wire(wire), folder, places.root)
    return ItemResult(nodeid=nodeid, file=f"{folder}/{file}" if folder else file, outcome=outcome)


def lost_outcome(nodeid: str, file: str, reason: str, plan: ItemPlan | None = None) -> Outcome:
    """The error of an item whose outcome was lost, under the item's name, never a hole.

    What its ``plan`` says is known all the same: its line, and what a labeled example expects.
    """
    name = nodeid.partition("::")[2]
    owner, _, check = name.partition("/")
    return Outcome(
        subject=_subject(file, check, name),
        owner=owner or file,
        check=check,
        status="error",
        declared=Location(path=file, line=plan.line if plan is not None else 1),
        reason=reason or "the item ended without a result",
        details={"label": plan.label} if plan is not None and plan.label is not None else {},
    )


def broken_off(outcome: Outcome, reason: str) -> Outcome:
    """The error of an item that broke after it came to an outcome: what it had found stands beside the reason."""
    return replace(outcome, status="error", blocking=True, reason=reason or "the item broke after its verdict")


def _subject(file: str, check: str, name: str) -> Subject:
    if name == "load":
        return "load"
    return "example" if check.startswith("examples/") else _SUBJECTS.get(Path(file).suffix, "requirement")


def linked_tests(recorder: Recorder) -> Iterator[LinkedTest]:
    """The Python tests that are linked to requirements, with their results."""
    for nodeid, links in recorder.links.items():
        result = cast("TestResult", recorder.results.get(nodeid, "error"))
        yield LinkedTest(nodeid=nodeid, requirements=links, result=result)


def known_requirements(config: pytest.Config) -> Iterator[KnownRequirement]:
    """Every requirement of the repository that pytest runs in; none outside of one."""
    from pytest_reqfile.plugin.state import state_of

    try:
        catalog = state_of(config).repository.catalog
    except GitError:
        return
    for requirement in catalog.requirements:
        yield KnownRequirement(
            id=requirement.id, kind=requirement.kind, declared=requirement.location, must=requirement.must
        )
