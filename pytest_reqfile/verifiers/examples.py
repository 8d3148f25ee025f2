"""Self-tests: each ``[[verifiers.examples]]`` in a folder of its own (seed 000 "Self-tests"; spec/verifiers.md 8)."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace

from pytest_reqfile.errors import FileError, UsageError
from pytest_reqfile.outcome import Finding, Location
from pytest_reqfile.verifiers.changes import ChangeSet, Scope
from pytest_reqfile.verifiers.costs import LlmUsage
from pytest_reqfile.verifiers.diffs import Change
from pytest_reqfile.verifiers.evidence import Evidence
from pytest_reqfile.verifiers.predicate_eval import (
    EvaluateChecklist,
    Evaluators,
    llm_is_off,
    searches_of,
    selections_of,
)
from pytest_reqfile.verifiers.predicates import has_checklist
from pytest_reqfile.verifiers.results import Result, VerifierStatus
from pytest_reqfile.verifiers.run import VerifierRun
from pytest_reqfile.verifiers.spec import evaluate_spec
from pytest_reqfile.verifiers.tree import Tree
from pytest_reqfile.verifiers.values import Example, SpecVerifier
from pytest_reqfile.workspace.copies import written_files
from pytest_reqfile.workspace.paths import normalised

NOT_OFFLINE = "the llm predicate needs a model: not run offline"


@dataclass(frozen=True, slots=True, kw_only=True)
class ExampleResult:
    """What one example came to. ``message``, ``findings`` and ``notes`` are those of the verifier at the fixture.

    ``usage`` is what was used of a model, None where none was reached.
    """

    verifier: SpecVerifier
    example: Example
    got: VerifierStatus
    message: str = ""
    findings: tuple[Finding, ...] = ()
    notes: tuple[str, ...] = ()
    usage: LlmUsage | None = None
    seconds: float = 0.0

    @property
    def ok(self) -> bool:
        """Whether the label was met; what only a model can tell is not held against it."""
        return self.got in (self.example.expect, "skipped")

    @property
    def declared(self) -> Location:
        return Location(path=self.verifier.declared.path, line=self.example.line)


def select_tested(run: VerifierRun, names: Iterable[str] = ()) -> tuple[SpecVerifier, ...]:
    """The specs to test, all or the named ones. Raises UsageError for names that are no usable spec."""
    wanted = frozenset(names)
    unknown = sorted(wanted - {spec.id for spec in run.declarations.specs})
    if unknown:
        raise UsageError(f"unknown verifier(s): [{' '.join(unknown)}]")
    return tuple(spec for spec in run.declarations.specs if not wanted or spec.id in wanted)


def run_example(
    verifier: SpecVerifier, example: Example, run: VerifierRun, checklist: EvaluateChecklist | None = None
) -> ExampleResult:
    """Evaluate ``verifier`` on the example's files, its changed ones being entirely new; no git is involved.

    ``checklist`` asks a model; without it an llm verifier is skipped, since nobody here knows what one answers.
    """
    if checklist is None and has_checklist(verifier.require):
        return ExampleResult(verifier=verifier, example=example, got="skipped", message=NOT_OFFLINE)
    started = run.clock.monotonic()
    files = tuple((clean, text) for path, text in example.files if (clean := _clean(path)))
    try:
        with written_files(files) as folder:
            evaluators = Evaluators(
                command=replace(run.runner, root=folder).evaluate, checklist=checklist or llm_is_off()
            )
            tree = Tree(folder, files=tuple(dict(files)))
            result = evaluate_alone(verifier, run, tree, evaluators, _changes(example))
    except FileError as error:
        return ExampleResult(verifier=verifier, example=example, got="error", message=str(error))
    return ExampleResult(
        verifier=verifier,
        example=example,
        got=result.status,
        message=result.message,
        findings=result.findings,
        notes=result.notes,
        usage=result.usage,
        seconds=max(0.0, run.clock.monotonic() - started),
    )


def evaluate_alone(
    verifier: SpecVerifier, run: VerifierRun, tree: Tree, evaluators: Evaluators, changes: ChangeSet | None = None
) -> Result:
    """The verdict of one verifier on a tree of its own; without ``changes`` everything counts as changed."""
    evidence = Evidence(
        tree,
        run.declarations.settings,
        Scope(),
        searches_of(verifier),
        selections_of(verifier, strict_applicability=False),
        changes=changes,
    )
    return evaluate_spec(verifier, evidence, evaluators, None)


def _changes(example: Example) -> ChangeSet:
    paths = sorted({clean for path in example.changed if (clean := _clean(path))})
    return ChangeSet(tuple(Change(path=path, status="A", added=None) for path in paths))


def _clean(path: str) -> str:
    """A fixture path; empty for one that leaves the fixture, which validation refuses for files."""
    return normalised(path.replace("\\", "/")) or ""
