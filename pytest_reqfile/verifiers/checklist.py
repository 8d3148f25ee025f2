"""The ``llm`` predicate: hunks go out, verified verdicts come back (seed 000 "LLM checklist verifiers"; spec 5)."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Final

from pytest_reqfile.errors import FileError
from pytest_reqfile.outcome import Finding
from pytest_reqfile.syntax.credentials import masked
from pytest_reqfile.verifiers.chat import STOPPING, ChatError, Client
from pytest_reqfile.verifiers.costs import LlmUsage, total_usage, usage_of
from pytest_reqfile.verifiers.evidence import Evidence
from pytest_reqfile.verifiers.hunks import MAX_LINE_BYTES, Hunk, fault_of_prose, packed, sendable
from pytest_reqfile.verifiers.predicate_eval import EvaluateChecklist
from pytest_reqfile.verifiers.predicates import Checklist
from pytest_reqfile.verifiers.prompts import checklist_request, one_line
from pytest_reqfile.verifiers.replies import UnusableReplyError, decode, judge, unjudged
from pytest_reqfile.verifiers.results import LLM_SKIPPED
from pytest_reqfile.verifiers.values import SpecVerifier
from pytest_reqfile.verifiers.verdicts import Verdict, holds, judged, refused, unique
from pytest_reqfile.verifiers.words import size_text
from pytest_reqfile.workspace.bulk import BulkReader

ALL_WITHHELD: Final = "every changed hunk was withheld (a secret or hidden characters), so nothing was sent"
ALL_UNREADABLE: Final = "every changed file was binary or too large to read, so nothing was sent"
Call = tuple[Hunk, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Shown:
    """What of the scoped files may be sent, in order; ``withheld`` says that some hunk may not be."""

    hunks: tuple[Hunk, ...]
    notes: tuple[str, ...]
    withheld: bool
    unreadable: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class Asked:
    """What one call came to: its verdicts, or why it was ``skipped``. ``stops`` says that asking on makes no sense."""

    findings: tuple[Finding, ...] = ()
    notes: tuple[str, ...] = ()
    judged: frozenset[int] = frozenset()
    usage: LlmUsage | None = None
    skipped: str = ""
    stops: bool = False


def ask_model(client: Client, max_cost_usd: float) -> EvaluateChecklist:
    """Checklists are judged by a model; ``max_cost_usd`` is the run's cap, which reports name."""

    def evaluate(verifier: SpecVerifier, checklist: Checklist, files: tuple[str, ...], evidence: Evidence) -> Verdict:
        del verifier

        def ask(shown: Shown) -> Verdict:
            calls = packed(shown.hunks, checklist.max_diff_bytes)
            verdict = _combined(checklist, len(calls), _asked(client, checklist, calls))
            usage = replace(verdict.usage, max_cost_usd=max_cost_usd) if verdict.usage is not None else None
            return replace(verdict, notes=unique(shown.notes + verdict.notes), usage=usage)

        return over_hunks(checklist, files, evidence, ask)

    return evaluate


def over_hunks(
    checklist: Checklist, files: tuple[str, ...], evidence: Evidence, judge_shown: Callable[[Shown], Verdict]
) -> Verdict:
    """The verdict of ``judge_shown`` where something may be sent; skipped where all of it is withheld or unreadable.

    Skipped as well where the question itself must not be sent. It holds where nothing was added: there is nothing to
    judge.
    """
    if fault := _fault_of_question(checklist):
        return skipped(f"{fault}, so nothing was sent")
    try:
        shown = _shown(files, evidence)
    except FileError as error:
        return refused(str(error))
    if shown.hunks:
        return judge_shown(shown)
    if shown.withheld:
        return skipped(ALL_WITHHELD, shown.notes)
    return skipped(ALL_UNREADABLE, shown.notes) if shown.unreadable else holds(shown.notes)


def _fault_of_question(checklist: Checklist) -> str:
    """Why the checklist may not leave the machine: it comes out of the repository, as the lines do."""
    parts = {f"checklist item {number}": one_line(item) for number, item in enumerate(checklist.checklist, start=1)}
    for what, text in {**parts, "the model's name": checklist.model}.items():
        if (fault := fault_of_prose(text)) is not None:
            return f"{what} {fault}"
    return ""


def skipped(message: str, notes: tuple[str, ...] = ()) -> Verdict:
    """AR9H4: visible, never a pass."""
    return Verdict(state="skipped", message=message, code=LLM_SKIPPED, notes=notes)


def _shown(files: tuple[str, ...], evidence: Evidence) -> Shown:
    """Raises FileError for a file that cannot be read: nobody knows what it holds."""
    limit = evidence.settings.max_file_bytes
    reader = BulkReader(evidence.tree.root, limit)
    hunks: list[Hunk] = []
    notes: list[str] = []
    withheld = unreadable = False
    for file in files:
        content, is_larger = reader.read(file)
        if b"\0" in content or is_larger:
            reason = "binary file" if b"\0" in content else f"larger than {size_text(limit)}"
            notes.append(f"skipped {file}: {reason}")
            unreadable = True
            continue
        found = sendable(file, content, evidence.changes_added(file))
        hunks.extend(found.hunks)
        notes.extend(found.notes)
        withheld = withheld or bool(found.notes)
        if found.cut:
            notes.append(f"cut {file}: {found.cut} added line(s) are longer than {MAX_LINE_BYTES} bytes")
    return Shown(hunks=tuple(hunks), notes=tuple(notes), withheld=withheld, unreadable=unreadable)


def _asked(client: Client, checklist: Checklist, calls: Sequence[Call]) -> list[Asked]:
    """The calls that were made, up to the one that ended it."""
    asked: list[Asked] = []
    for hunks in calls:
        asked.append(_ask_one(client, checklist, hunks))
        if asked[-1].stops:
            break
    return asked


def _ask_one(client: Client, checklist: Checklist, hunks: Call) -> Asked:
    try:
        reply = client.ask(checklist_request(checklist, hunks))
    except ChatError as error:
        lost = LlmUsage(cost_usd=error.cost_usd) if error.cost_usd else None
        return Asked(skipped=failed_call(error), stops=error.kind in STOPPING, usage=lost)
    usage = usage_of(reply)
    try:
        entries = decode(reply.text, len(checklist.checklist))
    except UnusableReplyError as error:
        return Asked(skipped=f"the model's reply was unusable: {error}", usage=usage)
    found = judge(entries, checklist.checklist, hunks)
    if not found.findings and (missing := unjudged(entries, len(checklist.checklist))):
        return Asked(skipped=f"the model gave no verdict on checklist item {missing[0]}", usage=usage)
    notes: tuple[str, ...] = ()
    if found.dropped:
        notes = (f"{found.dropped} model verdict(s) were dropped: the quoted line was not found on an added line",)
    return Asked(findings=found.findings, notes=notes, judged=found.judged, usage=usage)


def failed_call(error: ChatError) -> str:
    """Why a call has no reply; a cap speaks for itself."""
    return str(error) if error.kind in ("cost", "budget") else f"model call failed: {masked(str(error))}"


def _combined(checklist: Checklist, calls: int, asked: Sequence[Asked]) -> Verdict:
    """What all calls of one checklist come to: any finding fails, else any call that was skipped skips (spec 5.5)."""
    usage = total_usage(one.usage for one in asked)
    notes = unique(tuple(note for one in asked for note in one.notes))
    reasons = [one.skipped for one in asked if one.skipped]
    missing = len(reasons) + calls - len(asked)
    findings = [finding for one in asked for finding in one.findings]
    if not missing:
        unjudged = len(checklist.checklist) - len(frozenset[int]().union(*(one.judged for one in asked)))
        if unjudged:
            notes += (f"{unjudged} checklist item(s) got no verdict from the model",)
    if not findings and missing:
        message = f"{missing} of {calls} call(s) were not evaluated: {reasons[-1]}"
        return replace(skipped(message, notes), usage=usage)
    if missing:
        notes += (f"{missing} of {calls} call(s) were skipped: {reasons[-1]}",)
    return replace(judged(findings, notes), usage=usage)
