"""The report of ``verifiers calibrate`` (spec/verifiers.md 6.5)."""

from __future__ import annotations

from collections.abc import Sequence

from pytest_reqfile.syntax.gojson import indented
from pytest_reqfile.verifiers.calibration import Record
from pytest_reqfile.verifiers.calibration_records import DEFAULT_MODEL, FOLDER, record_document
from pytest_reqfile.verifiers.costs import LlmUsage
from pytest_reqfile.verifiers.examples import ExampleResult
from pytest_reqfile.verifiers.words import sanitized

NOTHING = "No llm verifier to calibrate."


def render_records(records: Sequence[Record], usage: LlmUsage | None, folder: str, *, written: bool) -> str:
    """A paragraph per record, what it used, and where the records are; ``folder`` is the configuration's."""
    if not records:
        return f"{NOTHING}\n"
    lines = [line for record in records for line in _record_lines(record)]
    if usage is not None:
        lines.append(f"model calls: {usage.calls} ({usage.cached} cached), about ${usage.cost_usd:.4f}")
    if written:
        lines.append(f"Records written to {folder}/{FOLDER}/ (commit them).")
    return "\n".join(lines) + "\n"


def _record_lines(record: Record) -> list[str]:
    counts = record.counts
    low, high = counts.precision_interval
    least, most = counts.recall_interval
    model = sanitized(record.model) or DEFAULT_MODEL
    return [
        f"{record.verifier}: {record.status.upper()} on {record.n_items} examples with {model} ({record.date})",
        f"  precision {counts.precision:.2f} (95% interval {low:.2f}-{high:.2f}), "
        f"recall {counts.recall:.2f} ({least:.2f}-{most:.2f}), "
        f"tp {counts.tp} fp {counts.fp} fn {counts.fn} tn {counts.tn}",
        *(f"  - {miss}" for miss in record.misses),
    ]


def render_estimates(results: Sequence[ExampleResult]) -> str:
    """A line per example, and one for each file that would be sent."""
    if not results:
        return f"{NOTHING}\n"
    lines = []
    for one in results:
        lines.append(f"{one.verifier.id}: {sanitized(one.example.name)}: {sanitized(one.message)}")
        lines += [f"  {sanitized(note)}" for note in one.notes]
    return "\n".join(lines) + "\n"


def records_json(records: Sequence[Record], usage: dict[str, object] | None) -> str:
    """The records as their files have them, and the ``llm`` object of reports."""
    document: dict[str, object] = {"schema_version": 1, "records": [record_document(record) for record in records]}
    return indented(document | ({"llm": usage} if usage is not None else {}))


def estimates_json(results: Sequence[ExampleResult]) -> str:
    """What would be sent, example by example; there are no records then."""
    rows = [
        {
            "verifier": one.verifier.id,
            "example": sanitized(one.example.name),
            "message": sanitized(one.message),
            **({"notes": [sanitized(note) for note in one.notes]} if one.notes else {}),
        }
        for one in results
    ]
    return indented({"schema_version": 1, "records": None, "estimates": rows})
