"""The items of a project's files: verifiers, each followed by its self-test examples (design 2.1)."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial
from typing import Final

from pytest_reqfile.errors import Problem
from pytest_reqfile.plugin import marks
from pytest_reqfile.plugin.plans import LOAD, ItemPlan, load_plan
from pytest_reqfile.plugin.projects import OpenedProject, invalid_outcome, is_fast
from pytest_reqfile.syntax.slugs import slugs
from pytest_reqfile.verifiers.predicates import has_checklist
from pytest_reqfile.verifiers.results import INVALID
from pytest_reqfile.verifiers.run import Declared, name_of
from pytest_reqfile.verifiers.values import InvalidDeclaration, SpecVerifier, Verifier

_NOT_READ: Final = (
    "not looked at: expected config.toml in the configuration folder, which must be the first one of its project"
)


def verifier_plans(project: OpenedProject, path: str) -> Iterator[ItemPlan]:
    """The items of one file of a project; ``path`` is relative to the project's folder."""
    if project.problems:
        yield load_plan(path, project.problems, project.base)
        return
    if not project.reads(path):
        yield load_plan(path, (Problem(path=path, line=1, message=_NOT_READ),), str(project.root))
        return
    declared = project.by_file.get(path, ())
    nameless = tuple(d for d in declared if isinstance(d, InvalidDeclaration) and d.id is None)
    if nameless:
        problems = tuple(
            Problem(path=d.declared.path, line=d.declared.line, message=f"{INVALID}: {_about(d)}{d.message}")
            for d in nameless
        )
        yield load_plan(path, problems, project.base)
    named = tuple(d for d in declared if d not in nameless)
    _, *names = slugs((LOAD, *map(_name, named)), empty="verifier")  # `load` is the file's, whatever is declared in it
    for each, name in zip(named, names, strict=True):
        if isinstance(each, InvalidDeclaration):
            yield _invalid_plan(project, each, name)
        else:
            yield from _plans_of(project, each, name)


def _about(nameless: InvalidDeclaration) -> str:
    """Which include or skill is meant, as reports of verifiers call it; a file is named by the problem itself."""
    return f"{nameless.source}: " if nameless.source.startswith(("include:", "skill:")) else ""


def _name(declared: Declared) -> str:
    return declared.name if isinstance(declared, InvalidDeclaration) else name_of(declared)


def _invalid_plan(project: OpenedProject, invalid: InvalidDeclaration, name: str) -> ItemPlan:
    return ItemPlan(
        name=name,
        line=invalid.declared.line,
        markers=(marks.BLOCKING, marks.FAST),
        evaluate=partial(invalid_outcome, invalid),
        base=project.base,
    )


def _plans_of(project: OpenedProject, verifier: Verifier, name: str) -> Iterator[ItemPlan]:
    spec = verifier if isinstance(verifier, SpecVerifier) else None
    judged = spec is not None and has_checklist(spec.require)
    markers = marks.of_verifier(
        name_of(verifier), verifier.severity, fast=is_fast(verifier), gates=project.gates(verifier), judged=judged
    )
    line = verifier.declared.line
    evaluate = partial(project.evaluate, verifier)
    yield ItemPlan(name=name, line=line, markers=markers, evaluate=evaluate, base=project.base, source=verifier)
    if spec is not None:
        yield from _example_plans(project, spec, name)


def _example_plans(project: OpenedProject, verifier: SpecVerifier, name: str) -> Iterator[ItemPlan]:
    assert project.run is not None
    markers = marks.of_verifier_example(verifier.id, verifier.severity, fast=is_fast(verifier))
    names = slugs((example.name for example in verifier.examples), empty="example")
    for example, slug in zip(verifier.examples, names, strict=True):
        check = f"examples/{slug}"
        yield ItemPlan(
            name=f"{name}/{check}",
            line=example.line,
            markers=markers,
            evaluate=partial(project.evaluate_example, verifier, example, check),
            base=project.base,
            label=example.expect,
        )
    if not verifier.examples and project.run.declarations.settings.require_examples:
        yield ItemPlan(
            name=f"{name}/examples",
            line=verifier.declared.line,
            markers=markers,
            evaluate=partial(project.evaluate_missing_examples, verifier),
            base=project.base,
        )
