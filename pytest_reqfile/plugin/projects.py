"""One ``.ai-rulez`` project in a pytest run: loaded once, its verifiers planned together, evaluated item by item."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, replace
from functools import cached_property, partial
from pathlib import Path

from pytest_reqfile.errors import FileError, FormatError, GitError, Problem, UsageError
from pytest_reqfile.lock.imported import fetched_content
from pytest_reqfile.outcome import Location, Outcome
from pytest_reqfile.plugin.checklists import Checklists
from pytest_reqfile.plugin.verifier_results import BatchedResults, Results, SharedResults
from pytest_reqfile.project.load import load_project
from pytest_reqfile.project.places import project_at
from pytest_reqfile.project.values import Place, Project
from pytest_reqfile.reqfile.outcomes import DEFERRED
from pytest_reqfile.verifiers.changes import Scope
from pytest_reqfile.verifiers.examples import run_example
from pytest_reqfile.verifiers.outcomes import FailOn, example_outcome, gates, outcome_of, telling
from pytest_reqfile.verifiers.predicates import has_checklist, has_command
from pytest_reqfile.verifiers.results import invalid_result
from pytest_reqfile.verifiers.run import Declared, RunOptions, VerifierRun, asks_model, name_of, open_run
from pytest_reqfile.verifiers.values import Example, FlatVerifier, InvalidDeclaration, SpecVerifier, Verifier
from pytest_reqfile.workspace.environment import Environment
from pytest_reqfile.workspace.paths import leads_to_file


@dataclass(frozen=True, slots=True, kw_only=True)
class VerifierOptions:
    """What the options of pytest say about verifiers; ``scope`` is asked for once everything is collected."""

    run: RunOptions
    scope: Callable[[Place], Scope]
    fail_on: FailOn
    fast: bool
    checklists: Checklists


class OpenedProject:
    """Asks the layers below and keeps what they say for the run. ``problems`` is why there is no project.

    ``folder`` is where the workers of a run share what only one of them works out, None in a run without workers.
    """

    def __init__(
        self,
        root: Path,
        top: Path | None,
        environment: Environment,
        options: VerifierOptions,
        folder: Path | None = None,
    ) -> None:
        self._environment = environment
        self._options = options
        self.root = root
        self.problems: tuple[Problem, ...] = ()
        self.usage: UsageError | None = None
        self.place: Place | None = None
        self.run: VerifierRun | None = None
        self._project: Project | None = None
        self._is_alone = folder is None
        self._results: Results = (
            SharedResults(folder, root, self._evaluate) if folder is not None else BatchedResults(self._evaluate)
        )
        try:
            self.place = project_at(root, top=top)
            self.run = self._open(self.place) if self.place is not None else None
        except FormatError as error:
            self.problems = error.problems
        except UsageError as error:
            self.usage = error

    def _open(self, place: Place) -> VerifierRun:
        project = self._project = load_project(place, local=True, fetched=fetched_content(place, self._environment))
        options = self._options.run
        if options.generator == ("lock",):
            from pytest_reqfile.lock.drift import lock_drift

            options = replace(options, drift=lock_drift(place, self._environment))
        return open_run(project, self._environment, options)

    def reads(self, path: str) -> bool:
        """Whether a file that looks like one of the project is; where options are wrong nothing was looked at yet."""
        return self.usage is not None or (self.place is not None and path.startswith(f"{self.place.folder}/"))

    @property
    def sign(self) -> str:
        """The file that shows there is something here: the configuration, or what speaks against it."""
        if self.place is not None:
            return self.place.config
        return next((problem.path for problem in self.problems if problem.path is not None), "")

    @property
    def base(self) -> str:
        """The absolute folder that the project's paths are relative to."""
        return str(self.run.root) if self.run is not None else ""

    @cached_property
    def by_file(self) -> Mapping[str, tuple[Declared, ...]]:
        """Every declaration by the file it is an item of, in the order of that file.

        What is declared elsewhere (an include, a skill, config.local.toml) is an item of config.toml, and so is what is
        wrong with something there that is no file.
        """
        if self.run is None or self.place is None:
            return {}
        declarations = self.run.declarations
        own = f"{self.place.folder}/verifiers/"
        found: dict[str, list[Declared]] = {}
        everything: tuple[Declared, ...] = (*declarations.flat, *declarations.specs, *declarations.invalid)
        for declared in everything:
            path = declared.declared.path
            is_met = path.startswith(own) and leads_to_file(self.root / path)  # pytest's walk passes over the rest
            found.setdefault(path if is_met else self.place.config, []).append(declared)
        return {path: tuple(sorted(all_, key=_order)) for path, all_ in found.items()}

    def prepare(self, chosen: Iterable[Verifier]) -> None:
        """Plan what is left after every selection together, so that each file is read once.

        Raises UsageError or GitError for a change that cannot be known.
        """
        if self.run is not None and self.place is not None:
            everything = tuple(chosen)
            self.run = replace(self.run, options=replace(self.run.options, scope=self._options.scope(self.place)))
            self._prepare_models([verifier for verifier in everything if asks_model(verifier)])
            alike = tuple(verifier for verifier in everything if is_fast(verifier))
            self._results.expect(alike)
            if self._is_alone:
                self.run.prepare(everything)
                return
            self.run.prepare(alike)
            # A command takes its time: it runs in whichever worker has its item, beside those of the others.
            self.run.prepare(verifier for verifier in everything if not is_fast(verifier))

    def _prepare_models(self, judged: list[Verifier]) -> None:
        """Settle who judges checklists; what is wrong with the user's settings is told before anything runs."""
        if not judged or self._options.fast:
            return
        assert self.run is not None
        assert self._project is not None
        checklists = self._options.checklists
        evaluate, gate = checklists.evaluator(self._project), checklists.gate(self._project)
        self.run = replace(self.run, options=replace(self.run.options, checklist=evaluate, gate=gate))
        for verifier in judged:
            checklists.expect(self.root, name_of(verifier), partial(self._evaluate, verifier))

    def gates(self, verifier: Verifier) -> bool:
        """Whether a failure of the verifier fails the run; one that a model judges counts as a warning at most."""
        capped = asks_model(verifier) and verifier.severity == "error" and not self._may_gate(verifier)
        return gates("warning" if capped else verifier.severity, self._options.fail_on)

    def _may_gate(self, verifier: Verifier) -> bool:
        """Whether a model's verdict counts: under ``--reqfile-gate-llm``, of a calibrated verifier."""
        checklists = self._options.checklists
        assert self._project is not None
        if not checklists.gates:
            return False
        try:
            gate = checklists.gate(self._project)
        except UsageError:
            return False  # told when the run is prepared
        return gate is not None and isinstance(verifier, SpecVerifier) and gate(verifier)[0]

    def evaluate(self, verifier: Verifier) -> Outcome:
        """The outcome of one verifier."""
        found = self._results.outcome(verifier)
        if found is not None:
            return found
        if self._options.fast and not is_fast(verifier):
            return _deferred(verifier, "")
        if asks_model(verifier):
            return self._options.checklists.outcome(self.root, name_of(verifier), partial(self._evaluate, verifier))
        return self._evaluate(verifier)

    def _evaluate(self, verifier: Verifier) -> Outcome:
        assert self.run is not None
        try:
            return telling(outcome_of(self.run.results(verifier)[0], self._options.fail_on))
        except (FileError, GitError) as error:
            return _could_not_look(verifier, str(error))

    def evaluate_missing_examples(self, verifier: SpecVerifier) -> Outcome:
        """The outcome of AR9H6: the settings ask for examples and the verifier has none."""
        assert self.run is not None
        return replace(outcome_of(self.run.without_examples(verifier), self._options.fail_on), check="examples")

    def evaluate_example(self, verifier: SpecVerifier, example: Example, check: str) -> Outcome:
        """The outcome of one self-test example."""
        assert self.run is not None
        if self._options.fast and not is_fast(verifier):
            return _deferred(verifier, check)
        return example_outcome(run_example(verifier, example, self.run), check)


def is_fast(verifier: Verifier) -> bool:
    """Whether the verifier runs no command and asks no model (design 2.2)."""
    if isinstance(verifier, FlatVerifier):
        return verifier.check.type != "generated_in_sync"
    return not has_command(verifier.require) and not has_checklist(verifier.require)


def invalid_outcome(invalid: InvalidDeclaration) -> Outcome:
    """The error of a declaration that cannot be used (AR9H2)."""
    return outcome_of(invalid_result(invalid))


def _deferred(verifier: Verifier, check: str) -> Outcome:
    return Outcome(
        subject="example" if check else "verifier",
        owner=name_of(verifier),
        check=check,
        status="deferred",
        declared=verifier.declared,
        reason=DEFERRED,
        severity=verifier.severity,
    )


def _could_not_look(verifier: Verifier, reason: str) -> Outcome:
    return Outcome(
        subject="verifier",
        owner=name_of(verifier),
        check="",
        status="error",
        declared=verifier.declared,
        reason=reason,
        severity=verifier.severity,
    )


def _order(declared: Declared) -> tuple[str, int]:
    place: Location = declared.declared
    return place.path, place.line
