"""Evaluating flat verifiers over the project folder (seed 000 "Fields"; spec/verifiers.md 1.7)."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Final

from pytest_reqfile.errors import FileError, ReqfileError
from pytest_reqfile.outcome import Finding
from pytest_reqfile.verifiers.evidence import Evidence
from pytest_reqfile.verifiers.results import Result, flat_result
from pytest_reqfile.verifiers.scan import Answer, Search
from pytest_reqfile.verifiers.selection import Selection
from pytest_reqfile.verifiers.unseen import incomplete, unseen_by
from pytest_reqfile.verifiers.values import (
    ContentCheck,
    CountCheck,
    CustomCheck,
    FlatVerifier,
    KeyCheck,
    PathCheck,
    SyncCheck,
)
from pytest_reqfile.verifiers.words import LISTED, capped_list, first_list, go_quoted, size_text
from pytest_reqfile.workspace.bulk import BulkReader
from pytest_reqfile.workspace.probe import resolved_path

FORBID_ENOUGH: Final = LISTED + 1
Drift = Callable[[str], tuple[str, ...]]
"""What differs from a fresh render of a profile, as ``kind: path``. Raises SyncError where that cannot be said."""
CustomPredicate = Callable[[FlatVerifier, Evidence], Result]
"""How an embedding program evaluates a type of its own; make the result with ``results.flat_result``."""


class SyncError(ReqfileError):
    """Whether generated files are in sync with their sources cannot be said; the text says why."""


def flat_selection(check: CountCheck | ContentCheck) -> Selection:
    """The files a glob-based check looks at."""
    return Selection(source="walk", include=(check.glob,), exclude=check.exclude)


def flat_search(check: ContentCheck) -> Search:
    """The question a content check asks."""
    if check.forbidden:
        return Search(
            selection=flat_selection(check),
            pattern=check.pattern,
            locate=True,
            raw=True,
            enough=FORBID_ENOUGH,
            per_file=FORBID_ENOUGH,
        )
    return Search(selection=flat_selection(check), pattern=check.pattern, locate=False, raw=True)


def evaluate_flat(
    verifier: FlatVerifier, evidence: Evidence, drift: Drift, custom: Mapping[str, CustomPredicate]
) -> Result:
    """The result of one flat verifier; what cannot be evaluated is an error, never a pass.

    ``custom`` has the predicates of types that are not ours.
    """
    check = verifier.check
    try:
        if isinstance(check, CustomCheck):
            return _custom(verifier, check, evidence, custom)
        if isinstance(check, PathCheck):
            return _path(verifier, check, evidence)
        if isinstance(check, KeyCheck):
            return _key(verifier, check, evidence)
        if isinstance(check, SyncCheck):
            return _sync(verifier, check, drift)
        unseen = unseen_by(flat_selection(check), evidence.tree.walk.unreadable)
        if unseen:
            return flat_result(verifier, "fail", incomplete(unseen))
        if isinstance(check, CountCheck):
            return _count(verifier, check, evidence)
        answer = evidence.answers[flat_search(check)]
    except (FileError, SyncError) as error:
        return flat_result(verifier, "error", str(error))
    return (_forbid if check.forbidden else _regex)(verifier, check, answer, evidence)


def _custom(
    verifier: FlatVerifier, check: CustomCheck, evidence: Evidence, custom: Mapping[str, CustomPredicate]
) -> Result:
    predicate = custom.get(check.type)
    if predicate is None:
        return flat_result(verifier, "error", f"unknown verifier type {go_quoted(check.type)}")
    return predicate(verifier, evidence)


def _path(verifier: FlatVerifier, check: PathCheck, evidence: Evidence) -> Result:
    path = check.path.replace("\\", "/")
    if evidence.tree.exists(path) == check.present:
        return flat_result(verifier, "pass")
    if check.present:
        message, finding = f"{check.path} does not exist", "file does not exist"
    else:
        message, finding = f"{check.path} exists", "file exists but must not"
    return flat_result(verifier, "fail", message, findings=(Finding(file=check.path, message=finding),))


def _count(verifier: FlatVerifier, check: CountCheck, evidence: Evidence) -> Result:
    selection = flat_selection(check)
    count = evidence.count(selection)
    matching = f"{count} file(s) match {check.glob.text}"
    if check.minimum is not None and count < check.minimum:
        return flat_result(verifier, "fail", f"{matching}, expected at least {check.minimum}")
    if check.maximum is None or count <= check.maximum:
        return flat_result(verifier, "pass", f"{count} file(s)", files=count)
    files = evidence.files(selection, LISTED)
    reason = f"matches {check.glob.text} but more files match than allowed"
    return flat_result(
        verifier,
        "fail",
        f"{matching}, expected at most {check.maximum}: {first_list(files, count)}",
        findings=tuple(Finding(file=file, message=reason) for file in files),
    )


def _regex(verifier: FlatVerifier, check: ContentCheck, answer: Answer, evidence: Evidence) -> Result:
    if not answer.examined:
        return flat_result(verifier, "fail", f"no files match {check.glob.text}")
    if answer.missing_count:
        missing = f"pattern {go_quoted(check.pattern)} not found"
        return flat_result(
            verifier,
            "fail",
            f"{missing} in {first_list(answer.missing, answer.missing_count)}",
            findings=tuple(Finding(file=file, message=missing) for file in answer.missing[:LISTED]),
            notes=_unread(answer),
        )
    return _unless_incomplete(verifier, answer, evidence)


def _forbid(verifier: FlatVerifier, check: ContentCheck, answer: Answer, evidence: Evidence) -> Result:
    if not answer.hits:
        return _unless_incomplete(verifier, answer, evidence)
    pattern = f"forbidden pattern {go_quoted(check.pattern)}"
    places = capped_list([f"{hit.file}:{hit.line}" for hit in answer.hits])
    skipped = len(answer.skipped)
    limit = size_text(evidence.settings.max_file_bytes)
    partly = f"; {skipped} file(s) were not fully checked (binary or over {limit})" if skipped else ""
    return flat_result(
        verifier,
        "fail",
        f"{pattern} at {places}{partly}",
        findings=tuple(
            Finding(file=hit.file, line=hit.line, message=pattern, match=hit.match or None)
            for hit in answer.hits[:LISTED]
        ),
        notes=_unread(answer),
    )


def _unless_incomplete(verifier: FlatVerifier, answer: Answer, evidence: Evidence) -> Result:
    """A pass, unless a file could not be read or not be read whole: then nothing is known of it."""
    if answer.unreadable:
        first, *others = (message for _, message in answer.unreadable)
        return flat_result(verifier, "error", first, notes=tuple(others[:LISTED]))
    if answer.skipped:
        count = len(answer.skipped)
        files = [file for file, _ in answer.skipped[:LISTED]]
        limit = size_text(evidence.settings.max_file_bytes)
        message = f"{count} file(s) could not be fully checked (binary or over {limit}): {first_list(files, count)}"
        return flat_result(verifier, "error", message)
    return flat_result(verifier, "pass", f"{answer.checked} file(s)", files=answer.checked)


def _unread(answer: Answer) -> tuple[str, ...]:
    return tuple(message for _, message in answer.unreadable[:LISTED])


def _key(verifier: FlatVerifier, check: KeyCheck, evidence: Evidence) -> Result:
    from pytest_reqfile.verifiers.documents import compare

    limit = evidence.settings.max_file_bytes
    path = resolved_path(evidence.tree.root, check.path.replace("\\", "/"))
    if path is None:
        return flat_result(verifier, "fail", f"{check.path} does not exist")
    data, more = BulkReader(evidence.tree.root, limit).read(path)
    if more:
        return flat_result(verifier, "error", f"{check.path} is over {size_text(limit)} and cannot be parsed")
    wrong = compare(check, data)
    if wrong is None:
        return flat_result(verifier, "pass")
    return flat_result(verifier, "fail", wrong, findings=(Finding(file=check.path, message="key check failed"),))


def _sync(verifier: FlatVerifier, check: SyncCheck, drift: Drift) -> Result:
    items = drift(check.profile)
    if not items:
        return flat_result(verifier, "pass")
    reason = "generated file differs from its sources"
    return flat_result(
        verifier,
        "fail",
        f"generated files differ from their sources: {first_list(items)} (run `ai-rulez generate`)",
        findings=tuple(Finding(file=item.partition(": ")[2] or item, message=reason) for item in items[:LISTED]),
    )
