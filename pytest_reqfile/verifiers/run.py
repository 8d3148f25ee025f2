"""One run over a project's verifiers: what is declared, selected, planned, evaluated (seed 000; issue 4 items 3, 6, 7).

A front opens a run, selects, prepares once (so that all files are read and searched once), then asks for results, in
any order: a result does not depend on what else was prepared.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Final

from pytest_reqfile.errors import UsageError
from pytest_reqfile.project.selection import Selection as ActiveSelection
from pytest_reqfile.project.selection import select
from pytest_reqfile.project.values import Project
from pytest_reqfile.verifiers.changes import Scope
from pytest_reqfile.verifiers.command import CommandRunner
from pytest_reqfile.verifiers.declarations import load_declarations
from pytest_reqfile.verifiers.evidence import Evidence
from pytest_reqfile.verifiers.flat import CustomPredicate, Drift, evaluate_flat, flat_search, flat_selection
from pytest_reqfile.verifiers.predicate_eval import (
    EvaluateChecklist,
    Evaluators,
    llm_is_off,
    searches_of,
    selections_of,
)
from pytest_reqfile.verifiers.predicates import has_checklist
from pytest_reqfile.verifiers.results import Result, flat_result, invalid_result, spec_result
from pytest_reqfile.verifiers.scan import Search
from pytest_reqfile.verifiers.selection import Selection
from pytest_reqfile.verifiers.spec import Gate, evaluate_spec, inactive, missing_examples
from pytest_reqfile.verifiers.tree import Tree
from pytest_reqfile.verifiers.trust import pinned_includes
from pytest_reqfile.verifiers.values import (
    ContentCheck,
    CountCheck,
    Declarations,
    FlatVerifier,
    InvalidDeclaration,
    SpecVerifier,
    SyncCheck,
    Verifier,
)
from pytest_reqfile.workspace.clock import Clock, SystemClock
from pytest_reqfile.workspace.environment import Environment
from pytest_reqfile.workspace.git import Git
from pytest_reqfile.workspace.git_ahead import OFFLINE, Ahead
from pytest_reqfile.workspace.processes import Cancellation

Declared = Verifier | InvalidDeclaration
EVERYTHING: Final = Scope()
# No report shows less; of thousands of verifiers most take a hundredth of it once everything is decided.
_MEASURED: Final = 0.0005
CANCELED: Final = "not run: the run was canceled"


@dataclass(frozen=True, slots=True, kw_only=True)
class RunOptions:
    """What a front may ask of a run.

    ``allow_exec`` is the opt-in for commands, decided (``command.is_allowed``); ``exec_flag`` and ``test_command`` are
    how the user's front spells them. ``generator`` serves ``generated_in_sync`` (``sync.drift_of``), ``drift`` replaces
    it. ``checklist`` asks a model; ``gate`` decides whether an llm verdict may gate. ``custom`` evaluates flat types of
    an embedding program.
    """

    scope: Scope = EVERYTHING
    profile: str | None = None
    role: str | None = None
    allow_exec: bool = False
    strict_applicability: bool = False
    generator: tuple[str, ...] = ()
    drift: Drift | None = None
    checklist: EvaluateChecklist = field(default_factory=llm_is_off)
    gate: Gate | None = None
    custom: Mapping[str, CustomPredicate] = field(default_factory=dict)
    exec_flag: str = "--allow-exec"
    test_command: str = "reqfile verifiers test"


@dataclass(frozen=True, slots=True, kw_only=True)
class VerifierRun:
    """A run that is ready to evaluate; ``evidence`` is shared by everything that was prepared."""

    root: Path
    declarations: Declarations
    options: RunOptions
    active: ActiveSelection
    tree: Tree
    runner: CommandRunner
    clock: Clock
    _prepared: dict[str, Evidence] = field(default_factory=dict)
    _active: dict[tuple[str, str], bool] = field(default_factory=dict)

    def select(self, names: Iterable[str] = (), rule: str = "") -> tuple[Declared, ...]:
        """The verifiers to run: all and what is invalid, or those of ``--rule`` and ``--name``, valid ones only.

        Raises UsageError for names that are none of them.
        """
        wanted = tuple(dict.fromkeys(names))
        chosen: tuple[Verifier, ...] = (*self.declarations.flat, *self.declarations.specs)
        if rule:
            chosen = tuple(
                v for v in self.declarations.specs if v.target.id == rule or v.target.id.endswith(f"/{rule}")
            )
        if wanted:
            known = {name_of(verifier): verifier for verifier in chosen}
            unknown = [name for name in wanted if name not in known]
            if unknown:
                raise UsageError(
                    f"unknown verifier(s): {', '.join(unknown)} (an invalid declaration cannot be selected; "
                    "`reqfile verifiers list` shows what is declared)"
                )
            chosen = tuple(verifier for verifier in chosen if name_of(verifier) in wanted)
        return chosen if rule or wanted else (*chosen, *self.declarations.invalid)

    def prepare(self, chosen: Iterable[Declared]) -> None:
        """Plan the evaluation of ``chosen`` in one pass, and resolve the scope if they or the options need one.

        Raises UsageError or GitError for a base that cannot be used: nothing runs then. Reads no file yet.
        """
        verifiers = [verifier for verifier in chosen if not isinstance(verifier, InvalidDeclaration)]
        evidence = self._evidence(verifiers)
        self._prepared.update((name_of(verifier), evidence) for verifier in verifiers)
        if self.mode(verifiers) is not None:
            _ = evidence.changes

    def mode(self, chosen: Iterable[Declared]) -> str | None:
        """What the report says the run looked at; None where only flat verifiers ran over everything."""
        specs = any(isinstance(verifier, SpecVerifier) for verifier in chosen)
        return self.options.scope.mode if specs or self.options.scope.kind != "all" else None

    def results(self, declared: Declared) -> tuple[Result, ...]:
        """The result of one declaration; of a spec without examples AR9H6 as well, where settings ask for it."""
        if isinstance(declared, InvalidDeclaration):
            return (invalid_result(declared),)
        started = self.clock.monotonic()
        result = self._result(declared)
        seconds = self.clock.monotonic() - started
        if seconds >= _MEASURED:
            result = replace(result, seconds=seconds)
        if isinstance(declared, FlatVerifier) or result.status == "inactive":
            return (result,)
        if declared.examples or not self.declarations.settings.require_examples:
            return (result,)
        return result, self.without_examples(declared)

    def without_examples(self, verifier: SpecVerifier) -> Result:
        """AR9H6 of a spec without examples; of an inactive one that it is. The verifier is not evaluated."""
        if not self._is_active(verifier):
            return inactive(verifier, self.active.label)
        return missing_examples(verifier, self.options.test_command)

    def evaluate(self, chosen: Iterable[Declared]) -> Iterator[Result]:
        """All results in order. After an interrupt the verifiers that were not reached are errors, never gone."""
        cancellation = self.runner.cancellation
        canceled = cancellation is not None and cancellation.is_set()
        for declared in chosen:
            if not canceled:
                try:
                    yield from self.results(declared)
                    continue
                except KeyboardInterrupt:
                    canceled = True
                    if cancellation is not None:
                        cancellation.cancel()
            yield not_run(declared)

    def _result(self, verifier: Verifier) -> Result:
        evidence = self._prepared.get(name_of(verifier))
        if evidence is None:
            evidence = self._prepared[name_of(verifier)] = self._evidence([verifier])
        if isinstance(verifier, FlatVerifier):
            return evaluate_flat(self._with_profile(verifier), evidence, self._drift, self.options.custom)
        if not self._is_active(verifier):
            return inactive(verifier, self.active.label)
        evaluators = Evaluators(command=self.runner.evaluate, checklist=self.options.checklist)
        return evaluate_spec(verifier, evidence, evaluators, self.options.gate)

    def _drift(self, profile: str) -> tuple[str, ...]:
        """What differs from a fresh render of ``profile``."""
        from pytest_reqfile.verifiers.sync import drift_of

        return (self.options.drift or drift_of(self.options.generator, self.tree, self.runner))(profile)

    def _with_profile(self, verifier: FlatVerifier) -> FlatVerifier:
        """``--profile`` fills in for a ``generated_in_sync`` that names none."""
        check = verifier.check
        if not isinstance(check, SyncCheck) or not self.options.profile or check.profile:
            return verifier
        return replace(verifier, check=replace(check, profile=self.options.profile))

    def _evidence(self, verifiers: Iterable[Verifier]) -> Evidence:
        settings = self.declarations.settings
        strict = self.options.strict_applicability or settings.warn_dead
        needs = Needs.of(verifiers, strict_applicability=strict, is_active=self._is_active)
        return Evidence(
            self.tree,
            settings,
            self.options.scope,
            needs.searches,
            needs.selections,
            strict_applicability=strict,
            with_lines=needs.lines,
        )

    def _is_active(self, verifier: SpecVerifier) -> bool:
        target = verifier.target.kind, verifier.target.id
        if target not in self._active:
            self._active[target] = self.active.is_active(*target)
        return self._active[target]


@dataclass(frozen=True, slots=True, kw_only=True)
class Needs:
    """What verifiers will ask of the evidence."""

    searches: tuple[Search, ...]
    selections: tuple[Selection, ...]
    lines: bool

    @classmethod
    def of(
        cls,
        verifiers: Iterable[Verifier],
        *,
        strict_applicability: bool,
        is_active: Callable[[SpecVerifier], bool],
    ) -> Needs:
        """Everything that the active ones of ``verifiers`` may ask."""
        searches: list[Search] = []
        selections: list[Selection] = []
        lines = False
        for verifier in verifiers:
            if isinstance(verifier, SpecVerifier):
                if is_active(verifier):
                    lines = lines or has_checklist(verifier.require)
                    searches.extend(searches_of(verifier))
                    selections.extend(selections_of(verifier, strict_applicability=strict_applicability))
            elif isinstance(verifier.check, ContentCheck):
                searches.append(flat_search(verifier.check))
            elif isinstance(verifier.check, CountCheck):
                selections.append(flat_selection(verifier.check))
        return cls(searches=tuple(searches), selections=tuple(selections), lines=lines)


def open_run(
    project: Project,
    environment: Environment,
    options: RunOptions | None = None,
    *,
    cancellation: Cancellation | None = None,
    clock: Clock | None = None,
    ahead: Ahead | None = None,
) -> VerifierRun:
    """A run over ``project``. Looks at no file of it but the lock. ``ahead`` are git calls that have begun.

    Raises FormatError for what is wrong in config.toml, UsageError for an unknown profile or role.
    """
    options = options or RunOptions()
    root = project.place.root
    declarations = load_declarations(project, pinned_includes(project))
    return VerifierRun(
        root=root,
        declarations=declarations,
        options=options,
        active=select(project, profile=options.profile, role=options.role),
        tree=Tree(root, Git(root, environment.updated(OFFLINE), ahead)),
        runner=CommandRunner(
            root=root,
            environment=environment,
            settings=declarations.settings,
            allowed=options.allow_exec,
            flag=options.exec_flag,
            cancellation=cancellation,
        ),
        clock=clock or SystemClock(),
    )


def name_of(verifier: Verifier) -> str:
    """The name reports and ``--name`` use."""
    return verifier.name if isinstance(verifier, FlatVerifier) else verifier.id


def asks_model(declared: Declared) -> bool:
    """Whether the verifier has an llm checklist."""
    return isinstance(declared, SpecVerifier) and has_checklist(declared.require)


def not_run(declared: Declared) -> Result:
    """The result of a verifier that a canceled run did not reach."""
    if isinstance(declared, InvalidDeclaration):
        return invalid_result(declared)
    if isinstance(declared, FlatVerifier):
        return flat_result(declared, "error", CANCELED)
    return spec_result(declared, "error", CANCELED)
