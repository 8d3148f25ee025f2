"""Evaluating a predicate tree at the scoped files of a verifier (seed 000 "Predicates"; spec/verifiers.md 2.7)."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Final

from pytest_reqfile.errors import FileError
from pytest_reqfile.outcome import Finding
from pytest_reqfile.verifiers.costs import LlmUsage, total_usage
from pytest_reqfile.verifiers.evidence import Evidence
from pytest_reqfile.verifiers.predicates import (
    AllOf,
    AnyOf,
    Checklist,
    Command,
    FileCount,
    FileExists,
    Not,
    Paired,
    Predicate,
    TextMatch,
    has_checklist,
    leaves,
)
from pytest_reqfile.verifiers.results import LLM_SKIPPED
from pytest_reqfile.verifiers.scan import Answer, Search
from pytest_reqfile.verifiers.selection import Selection
from pytest_reqfile.verifiers.templates import TemplateError, capture_rel, expand
from pytest_reqfile.verifiers.values import SpecVerifier
from pytest_reqfile.verifiers.verdicts import Verdict, holds, judged, refused, unique
from pytest_reqfile.verifiers.words import LISTED, first_list, size_text

MAX_FINDINGS: Final = 50
MAX_NOTES: Final = 50
LLM_NOT_EVALUATED: Final = "the llm checklist was not evaluated: a deterministic predicate already failed"

EvaluateCommand = Callable[[SpecVerifier, Command, tuple[str, ...]], Verdict]
"""Runs a command for a verifier, given its scoped files."""
EvaluateChecklist = Callable[[SpecVerifier, Checklist, tuple[str, ...], Evidence], Verdict]
"""Asks a model about the added lines of the scoped files."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Evaluators:
    """The two predicates that reach beyond the repository's files."""

    command: EvaluateCommand
    checklist: EvaluateChecklist


def llm_is_off(reason: str = "pass --allow-llm to evaluate llm verifiers") -> EvaluateChecklist:
    """No model is asked: every checklist is skipped, visibly, never passed (seed 000 "Opt-in and gated")."""

    def skip(verifier: SpecVerifier, checklist: Checklist, files: tuple[str, ...], evidence: Evidence) -> Verdict:
        del verifier, checklist, files, evidence
        message = f"LLM use is off ({reason}); the checklist was not evaluated"
        return Verdict(state="skipped", message=message, code=LLM_SKIPPED)

    return skip


def scoped_selection(verifier: SpecVerifier) -> Selection | None:
    """The changed files the verifier looks at; None for a whole-repository verifier."""
    if not verifier.when_changed:
        return None
    return Selection(source="changed", include=verifier.when_changed, exclude=verifier.exclude)


def applicable_selection(verifier: SpecVerifier) -> Selection:
    """Every file ``when_changed`` could ever select: where there is none, the scope is dead (AR9H5)."""
    return Selection(source="repository", include=verifier.when_changed)


def text_search(verifier: SpecVerifier, match: TextMatch, scoped: Selection | None = None) -> Search:
    """The question a ``regex`` or ``forbid`` asks; ``scoped`` are the verifier's files where these are known."""
    if match.where == "any-file" and match.files is not None:
        selection = Selection(source="repository", include=(match.files,), exclude=verifier.exclude)
    else:
        found = scoped or scoped_selection(verifier)
        assert found is not None, "validation asks for when_changed"
        selection = found
    return Search(
        selection=selection,
        pattern=match.pattern,
        locate=match.forbidden,
        added_only=match.where == "diff-added",
        enough=None if match.where == "any-file" and not match.forbidden else MAX_FINDINGS,
        per_file=MAX_FINDINGS,
        until_match=match.where == "any-file" and not match.forbidden,
    )


def count_selection(count: FileCount) -> Selection:
    """The files a ``glob_count`` counts."""
    return Selection(source="repository", include=(count.files,), exclude=count.exclude)


def searches_of(verifier: SpecVerifier) -> Iterator[Search]:
    """Every question about text that the verifier may ask."""
    for leaf in leaves(verifier.require):
        if isinstance(leaf, TextMatch):
            yield text_search(verifier, leaf)


def selections_of(verifier: SpecVerifier, *, strict_applicability: bool) -> Iterator[Selection]:
    """Every selection the verifier may ask for, besides those of its searches."""
    scoped = scoped_selection(verifier)
    if scoped is not None:
        yield scoped
        if strict_applicability:
            yield applicable_selection(verifier)
    for leaf in leaves(verifier.require):
        if isinstance(leaf, FileCount):
            yield count_selection(leaf)


class PredicateEvaluation:
    """The evaluation of one verifier at its scoped files; ``scoped`` is None where it looks at the whole repository."""

    def __init__(
        self, verifier: SpecVerifier, scoped: Selection | None, evidence: Evidence, evaluators: Evaluators
    ) -> None:
        self._verifier = verifier
        self._scoped = scoped
        self._evidence = evidence
        self._evaluators = evaluators

    @cached_property
    def _files(self) -> tuple[str, ...]:
        """Listed for those predicates alone that look at each of them: a search of their text has done so."""
        return self._evidence.files(self._scoped) if self._scoped is not None else ()

    def verdict(self, predicate: Predicate) -> Verdict:  # noqa: PLR0911 - one line per predicate
        """Whether ``predicate`` holds."""
        match predicate:
            case AllOf():
                return self._all(predicate)
            case AnyOf():
                return self._any(predicate)
            case Not():
                return self._not(predicate)
            case TextMatch():
                return self._text(predicate)
            case FileCount():
                return self._count(predicate)
            case Command():
                return self._evaluators.command(self._verifier, predicate, self._files)
            case Checklist():
                return self._evaluators.checklist(self._verifier, predicate, self._files, self._evidence)
            case FileExists() | Paired():
                try:
                    return self._exists(predicate) if isinstance(predicate, FileExists) else self._paired(predicate)
                except (TemplateError, FileError) as error:
                    return refused(str(error))

    def _not(self, predicate: Not) -> Verdict:
        verdict = self.verdict(predicate.member)
        if verdict.undecided:
            return verdict
        if verdict.state == "fails":
            return holds(verdict.notes)
        return judged([Finding(message="a condition that must not hold is true")], verdict.notes)

    def _any(self, predicate: AnyOf) -> Verdict:
        findings = [Finding(message="none of the alternatives holds")]
        notes: tuple[str, ...] = ()
        for member in predicate.members:
            verdict = self.verdict(member)
            notes = unique(notes + verdict.notes)
            if verdict.state != "fails":
                return replace(verdict, notes=notes)
            findings.extend(verdict.findings)
        return judged(findings, notes)

    def _all(self, predicate: AllOf) -> Verdict:
        deferred = [member for member in predicate.members if has_checklist(member)]
        verdicts = [self.verdict(member) for member in predicate.members if not has_checklist(member)]
        notes = unique(tuple(note for verdict in verdicts for note in verdict.notes))
        refusal = next((verdict for verdict in verdicts if verdict.undecided), None)
        if any(verdict.state == "fails" for verdict in verdicts):
            if refusal is not None:
                notes += (f"a member could not be evaluated: {refusal.message}",)
            if deferred:
                notes += (LLM_NOT_EVALUATED,)
            return judged([finding for verdict in verdicts for finding in verdict.findings], notes)
        if refusal is not None:
            return replace(refusal, notes=notes)
        return self._deferred(deferred, notes)

    def _deferred(self, members: list[Predicate], notes: tuple[str, ...]) -> Verdict:
        findings: list[Finding] = []
        usage: LlmUsage | None = None
        for member in members:
            verdict = self.verdict(member)
            notes = unique(notes + verdict.notes)
            usage = total_usage((usage, verdict.usage))
            if verdict.undecided:
                return replace(verdict, notes=notes, usage=usage)
            findings.extend(verdict.findings)
        return replace(judged(findings, notes), usage=usage)

    def _text(self, match: TextMatch) -> Verdict:
        answer = self._evidence.answers[text_search(self._verifier, match, self._scoped)]
        findings = self._forbidden(match, answer) if match.forbidden else self._lacking(match, answer)
        notes = self._notes(answer)
        unread = tuple(message for _, message in answer.unreadable)
        if findings or not unread or answer.matched:
            return judged(findings, notes + unread[:MAX_NOTES])
        return refused(unread[0], notes=notes)

    def _forbidden(self, match: TextMatch, answer: Answer) -> list[Finding]:
        if not answer.hits:
            return []
        message = f"forbidden pattern `{match.pattern}` matched"
        return [Finding(file=hit.file, line=hit.line, message=message, match=hit.match or None) for hit in answer.hits]

    def _lacking(self, match: TextMatch, answer: Answer) -> list[Finding]:
        missing = f"pattern `{match.pattern}` not found"
        if match.where == "any-file":
            if answer.matched or answer.unreadable:
                return []
            return [Finding(message=f"{missing} in any of {answer.examined} file(s)")]
        where = " in the added lines" if match.where == "diff-added" else ""
        return [Finding(file=file, message=missing + where) for file in answer.missing]

    def _notes(self, answer: Answer) -> tuple[str, ...]:
        if not answer.skipped:
            return ()
        limit = size_text(self._evidence.settings.max_file_bytes)
        reasons = {"binary": "binary file", "large": f"larger than {limit}"}
        notes = [f"skipped {file}: {reasons[reason]}" for file, reason in answer.skipped[:MAX_NOTES]]
        if len(answer.skipped) > MAX_NOTES:
            notes.append(f"skipped {len(answer.skipped) - MAX_NOTES} more binary or large file(s)")
        return tuple(notes)

    def _count(self, count: FileCount) -> Verdict:
        selection = count_selection(count)
        number = self._evidence.count(selection)
        matching = f"{number} file(s) match {count.files.text}"
        if count.minimum is not None and number < count.minimum:
            return judged([Finding(message=f"{matching}, expected at least {count.minimum}")])
        if count.maximum is not None and number > count.maximum:
            files = first_list(self._evidence.files(selection, LISTED), number)
            return judged([Finding(message=f"{matching}, expected at most {count.maximum}: {files}")])
        return holds()

    def _exists(self, predicate: FileExists) -> Verdict:
        if not predicate.templated:
            path = predicate.path.replace("\\", "/")
            return judged(list(self._existence(predicate, path, None)))
        findings = [
            finding
            for file in self._files
            for finding in self._existence(predicate, expand(predicate.path, file, file), file)
        ]
        return judged(findings)

    def _existence(self, predicate: FileExists, path: str, file: str | None) -> Iterator[Finding]:
        if self._evidence.tree.exists(path) != predicate.exists:
            state = "does not exist" if predicate.exists else "exists"
            yield Finding(file=file, message=f"{path} {state}")

    def _paired(self, paired: Paired) -> Verdict:
        findings = []
        for file in self._files:
            rel = self._capture(paired, file)
            if rel is None:
                continue
            derived = expand(paired.derived, file, rel)
            if paired.must_change and not self._was_changed(derived):
                findings.append(Finding(file=file, message=f"expected {derived} to be changed too"))
            elif not paired.must_change and not self._evidence.tree.exists(derived):
                findings.append(Finding(file=file, message=f"expected {derived} to exist"))
        return judged(findings)

    def _capture(self, paired: Paired, file: str) -> str | None:
        if paired.glob is None:
            return capture_rel(paired.for_each, file)
        return file if paired.glob.matches(file) else None

    def _was_changed(self, path: str) -> bool:
        changes = self._evidence.changes
        return self._evidence.tree.lists(path) if changes.everything else changes.has_changed(path)
