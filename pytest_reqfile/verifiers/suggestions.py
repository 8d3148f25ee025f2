"""Candidates checked without a model (seed 000 "Suggesting verifiers"; spec/verifiers.md 7)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Final, Literal

from pytest_reqfile.errors import FormatError, ReqfileError
from pytest_reqfile.project.values import Project
from pytest_reqfile.syntax.hidden import is_hidden
from pytest_reqfile.syntax.toml import read_toml
from pytest_reqfile.verifiers.breadth import too_broad
from pytest_reqfile.verifiers.changes import ChangeSet, Scope
from pytest_reqfile.verifiers.evidence import Evidence
from pytest_reqfile.verifiers.examples import evaluate_alone, run_example
from pytest_reqfile.verifiers.predicate_eval import MAX_FINDINGS, Evaluators, llm_is_off, text_search
from pytest_reqfile.verifiers.predicates import TextMatch
from pytest_reqfile.verifiers.proposals import PREDICATES, Proposal, Toml, declaration, new_id
from pytest_reqfile.verifiers.results import Result
from pytest_reqfile.verifiers.run import VerifierRun
from pytest_reqfile.verifiers.shape import Table, check_table
from pytest_reqfile.verifiers.spec_format import FILE_ENTRY, SpecError, SpecPlace, read_spec
from pytest_reqfile.verifiers.tree import Tree
from pytest_reqfile.verifiers.values import SpecVerifier, Target
from pytest_reqfile.verifiers.words import go_quoted

SHOWN_FILES: Final = 5
ExamplesState = Literal["none", "verified", "failed"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Replay:
    """What a candidate would have said of merged changes: ``flagged`` of ``diffs``, ``errors`` beside them."""

    diffs: int = 0
    flagged: int = 0
    flagged_commits: tuple[str, ...] = ()
    errors: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class Suggestion:
    """One candidate: usable, or ``rejected`` with the reason. ``hits`` are its findings in the repository today."""

    id: str
    rationale: str
    rejected: str = ""
    examples: ExamplesState = "none"
    hits: int = 0
    hit_files: tuple[str, ...] = ()
    replay: Replay | None = None
    toml: str = ""
    verifier: SpecVerifier | None = None

    @property
    def usable(self) -> bool:
        return not self.rejected


class _RejectedError(Exception):
    """The reason a candidate is of no use, and what its examples had come to by then."""

    def __init__(self, reason: str, examples: ExamplesState = "none") -> None:
        super().__init__(reason)
        self.examples: ExamplesState = examples


def check_proposals(
    proposals: Sequence[Proposal], run: VerifierRun, project: Project, target: Target
) -> tuple[Suggestion, ...]:
    """Every candidate, validated as a hand-written spec, tried on its own examples, then on the repository."""
    declared = run.declarations
    taken = {verifier.name for verifier in declared.flat} | {verifier.id for verifier in declared.specs}
    taken |= {invalid.id for invalid in declared.invalid if invalid.id is not None}
    found = []
    for proposal in proposals:
        identifier = new_id(proposal, target, taken)
        taken.add(identifier)
        found.append(_checked(proposal, identifier, run, project, target))
    return tuple(found)


def _checked(proposal: Proposal, identifier: str, run: VerifierRun, project: Project, target: Target) -> Suggestion:
    known = Suggestion(id=identifier, rationale=proposal.rationale)
    try:
        if proposal.predicate not in PREDICATES:
            raise _RejectedError(f"unknown predicate {go_quoted(proposal.predicate)}")
        toml = render_toml([declaration(proposal, identifier, target)])
        verifier = _validated(toml, project)
        state = _examples_state(verifier, run)
        result = _today(verifier, run, state)
        if reason := too_broad(verifier, lambda match: _failing_files(verifier, match, run, result)):
            raise _RejectedError(reason, state)
    except _RejectedError as error:
        return replace(known, rejected=str(error), examples=error.examples)
    files = dict.fromkeys(finding.file for finding in result.findings if finding.file)
    return replace(
        known,
        examples=state,
        hits=len(result.findings),
        hit_files=tuple(files)[:SHOWN_FILES],
        toml=toml,
        verifier=verifier,
    )


def render_toml(tables: Sequence[Toml]) -> str:
    """``[[verifiers]]`` tables as a verifier file holds them; nothing in it is hidden from who reviews it."""
    import tomlkit

    text = tomlkit.dumps({"verifiers": list(tables)}).rstrip("\n") + "\n"
    return "".join(map(_shown, text))


def _shown(char: str) -> str:
    """All strings are basic ones, in which an escape means the character."""
    if char == "\n" or (char.isprintable() and not is_hidden(char)):
        return char
    return f"\\u{ord(char):04x}" if ord(char) < 0x10000 else f"\\U{ord(char):08x}"


def _validated(toml: str, project: Project) -> SpecVerifier:
    """The verifier that the file would declare, by the very rules for files."""
    place = SpecPlace(path="the proposal", source="the proposal")
    try:
        (table,) = Table(read_toml(toml, place.path)).tables("verifiers")
        for problem in check_table(table.node, FILE_ENTRY, "[[verifiers]]", place.path):
            raise _RejectedError(f"invalid TOML: {problem.message}")
        return read_spec(table, place, project.find)
    except SpecError as error:
        raise _RejectedError(str(error)) from None
    except FormatError as error:
        raise _RejectedError(error.problems[0].message) from None


def _examples_state(verifier: SpecVerifier, run: VerifierRun) -> ExamplesState:
    for example in verifier.examples:
        tried = run_example(verifier, example, run)
        if tried.got != example.expect:
            reason = f"its own example {go_quoted(example.name)} expected {example.expect} but got {tried.got}"
            raise _RejectedError(reason, "failed")
    return "verified" if verifier.examples else "none"


def _today(verifier: SpecVerifier, run: VerifierRun, state: ExamplesState) -> Result:
    try:
        result = evaluate_offline(verifier, run, run.tree)
    except ReqfileError as error:
        raise _RejectedError(f"could not be evaluated on the repository: {error}", state) from None
    if result.status == "error":
        raise _RejectedError(f"could not be evaluated on the repository: {result.message}", state)
    return result


def _failing_files(verifier: SpecVerifier, match: TextMatch, run: VerifierRun, result: Result) -> int:
    """All of them; a ``result`` that may not have kept every finding is no answer, so the files are searched again."""
    if len(result.findings) < MAX_FINDINGS:
        return len({finding.file for finding in result.findings})
    search = replace(text_search(verifier, match), enough=None, per_file=1)
    evidence = Evidence(run.tree, run.declarations.settings, Scope(), (search,))
    return len(evidence.answers[search].hits)


def evaluate_offline(verifier: SpecVerifier, run: VerifierRun, tree: Tree, changes: ChangeSet | None = None) -> Result:
    """The verdict of a candidate on a tree: everything counts as changed unless ``changes`` says what did."""
    evaluators = Evaluators(command=replace(run.runner, allowed=False).evaluate, checklist=llm_is_off())
    return evaluate_alone(verifier, run, tree, evaluators, changes)
