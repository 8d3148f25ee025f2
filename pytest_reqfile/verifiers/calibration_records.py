"""Calibration records as files, and whether one still speaks of a verifier as it is (spec/verifiers.md 6.1, 6.4)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Final

from pytest_reqfile.errors import FileError, FormatError, ReqfileError
from pytest_reqfile.project.values import Place
from pytest_reqfile.syntax.fields import Fields, Problems
from pytest_reqfile.syntax.gojson import indented
from pytest_reqfile.syntax.json import read_json
from pytest_reqfile.verifiers.calibration import (
    SCHEMA_VERSION,
    Confusion,
    Record,
    bar_misses,
    confusion,
    effective_model,
)
from pytest_reqfile.verifiers.calibration_digests import examples_digest, spec_digest
from pytest_reqfile.verifiers.spec import Gate
from pytest_reqfile.verifiers.values import Example, SpecVerifier
from pytest_reqfile.workspace.files import write_atomic
from pytest_reqfile.workspace.walk import Walk

FOLDER: Final = "verifiers/calibration"
MAX_BYTES: Final = 4 * 1024 * 1024
DEFAULT_MODEL: Final = "the default model"


def record_path(place: Place, verifier: str) -> str:
    """Where the record of a verifier is, as a project path."""
    return f"{place.folder}/{FOLDER}/{verifier}.json"


def write_record(place: Place, record: Record) -> None:
    """Put the record into the project. Raises ``FileError``, also for a link on the way."""
    path = record_path(place, record.verifier)
    walk = Walk(place.root)
    folder = path.rpartition("/")[0]
    if walk.kind(folder) not in {None, "folder"} or walk.kind(path) not in {None, "file"}:
        raise FileError(f"cannot write {path}: a symbolic link or no regular file is in its place")
    write_atomic(place.root / path, render_record(record).encode("utf-8", "surrogateescape"), parents=True)


def render_record(record: Record) -> str:
    """The bytes of a record's file, as ai-rulez writes them."""
    return indented(record_document(record))


def record_document(record: Record) -> dict[str, object]:
    """The record in its order of keys; what is empty is left out."""
    counts = record.counts
    return {
        "schema_version": SCHEMA_VERSION,
        "verifier": record.verifier,
        "spec_digest": record.spec_digest,
        "examples_digest": record.examples_digest,
        "prompt_version": record.prompt_version,
        "model": record.model,
        "date": record.date,
        "n_items": record.n_items,
        "positives": record.positives,
        **({"errors": counts.errors} if counts.errors else {}),
        "tp": counts.tp,
        "fp": counts.fp,
        "fn": counts.fn,
        "tn": counts.tn,
        "precision": _number(counts.precision),
        "precision_ci": [_number(end) for end in counts.precision_interval],
        "recall": _number(counts.recall),
        "recall_ci": [_number(end) for end in counts.recall_interval],
        "f1": _number(counts.f1),
        "status": record.status,
        **({"misses": list(record.misses)} if record.misses else {}),
        "cases": dict(sorted(record.cases)),
    }


def _number(value: float) -> float | int:
    """Go writes a whole number without a fraction."""
    return int(value) if value == int(value) else value


def read_record(place: Place, verifier: str) -> Record | None:
    """The record of a verifier; None where there is none. Raises ``FileError`` or ``FormatError``."""
    path = record_path(place, verifier)
    walk = Walk(place.root)
    if walk.kind(path) is None:
        return None
    try:
        text = walk.read(path, MAX_BYTES).decode("utf-8")
    except UnicodeDecodeError:
        raise FileError(f"{path}: not valid UTF-8") from None
    node = read_json(text, path)
    problems = Problems(path)
    keys = [entry.key for entry in node.entries] if node.kind == "mapping" else []
    fields = Fields(node, "the record", keys, problems)
    version = fields.integer("schema_version")
    if not len(problems) and version != SCHEMA_VERSION:
        raise FileError(f"{path} has schema_version {version}; this build reads {SCHEMA_VERSION}")
    record = _record(fields)
    problems.raise_if_any()
    counts = record.counts
    if min(counts.tp, counts.fp, counts.fn, counts.tn, counts.errors) < 0 or counts.total != record.n_items:
        raise FileError(f"{path}: its figures do not add up: tp, fp, fn, tn and errors must make up n_items")
    return record


def _record(fields: Fields) -> Record:
    counts = Confusion(
        tp=fields.integer("tp"),
        fp=fields.integer("fp"),
        fn=fields.integer("fn"),
        tn=fields.integer("tn"),
        errors=fields.integer("errors", 0),
    )
    return Record(
        verifier=fields.string("verifier"),
        spec_digest=fields.string("spec_digest"),
        examples_digest=fields.string("examples_digest"),
        prompt_version=fields.string("prompt_version"),
        model=fields.string("model"),
        date=fields.string("date"),
        n_items=fields.integer("n_items"),
        positives=fields.integer("positives"),
        counts=counts,
        misses=fields.optional_strings("misses"),
        status="pass" if fields.string("status") == "pass" else "fail",
        cases=_cases(fields),
    )


def _cases(fields: Fields) -> tuple[tuple[str, str], ...]:
    node = fields.optional_mapping("cases")
    return tuple((entry.key, str(entry.value.value)) for entry in node.entries) if node is not None else ()


def open_gate(place: Place, prompt_version: str, run_model: str) -> Gate:
    """For ``--gate-llm``: whether the record of a verifier lets its failure fail the run, and the note about it."""
    found: dict[str, tuple[bool, str]] = {}

    def gate(verifier: SpecVerifier) -> tuple[bool, str]:
        if verifier.id not in found:
            found[verifier.id] = _judge(place, verifier, prompt_version, run_model)
        return found[verifier.id]

    return gate


def _judge(place: Place, verifier: SpecVerifier, prompt_version: str, run_model: str) -> tuple[bool, str]:
    try:
        record = read_record(place, verifier.id)
    except ReqfileError as error:
        return False, f"its calibration record cannot be read: {_words(error)}"
    if record is None:
        return False, f"not calibrated: run `reqfile verifiers calibrate {verifier.id}` and commit the record"
    reason = staleness(record, verifier, prompt_version, effective_model(verifier, run_model))
    return (False, reason) if reason else (True, gate_note(record))


def _words(error: ReqfileError) -> str:
    return "; ".join(map(str, error.problems)) if isinstance(error, FormatError) else str(error)


def staleness(record: Record, verifier: SpecVerifier, prompt_version: str, model: str) -> str:
    """Why the record does not speak of this verifier at this model; empty where it does. The first reason counts."""
    # What somebody wrote into the file does not count where its own figures say otherwise.
    misses = record.misses or bar_misses(record.n_items, record.positives, record.counts)
    if record.status != "pass" or misses:
        return f"its calibration did not meet the bar: {'; '.join(misses) or 'unknown reason'}"
    changed: Mapping[str, bool] = {
        "the checklist or llm settings changed": record.spec_digest != spec_digest(verifier, record.prompt_version),
        "the examples changed": record.examples_digest != examples_digest(verifier.examples),
        "the verifier prompt changed": record.prompt_version != prompt_version,
    }
    for what, differs in changed.items():
        if differs:
            return f"{what} since it was calibrated ({record.date})"
    if record.model != model:
        return f"calibrated for model {record.model or DEFAULT_MODEL}, running with {model or DEFAULT_MODEL}"
    return "" if _is_of(record, verifier.examples) else "its figures are not those of its examples: calibrate it again"


def _is_of(record: Record, examples: Sequence[Example]) -> bool:
    """Whether the figures follow from the labels and what the record says was answered, example by example.

    Where two examples share a name, only their number and labels can be held against it.
    """
    positives = sum(example.expect == "fail" for example in examples)
    if (record.n_items, record.positives) != (len(examples), positives):
        return False
    answers = dict(record.cases)
    if set(answers) != {example.name for example in examples}:
        return False
    if len(answers) < len(examples):
        return record.counts.tp + record.counts.fn <= positives
    return record.counts == confusion((example.expect, answers[example.name]) for example in examples)


def gate_note(record: Record) -> str:
    """What a gating verifier's note says of its record."""
    counts = record.counts
    low, high = counts.precision_interval
    return (
        f"gated: calibrated on {record.n_items} examples ({record.date}), precision {counts.precision:.2f} "
        f"(95% interval {low:.2f}-{high:.2f}), recall {counts.recall:.2f}, model {record.model or DEFAULT_MODEL}"
    )
