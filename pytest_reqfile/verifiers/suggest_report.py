"""The report of ``verifiers suggest`` (spec/verifiers.md 7)."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from pytest_reqfile.syntax.gojson import indented
from pytest_reqfile.verifiers.proposals import shortened
from pytest_reqfile.verifiers.suggest import Suggested
from pytest_reqfile.verifiers.suggestions import Replay, Suggestion
from pytest_reqfile.verifiers.values import Target
from pytest_reqfile.verifiers.words import go_quoted, sanitized

PROPOSED_NOTHING: Final = "the model proposed nothing"
REASON_SHOWN: Final = 300


def header(target: Target) -> str:
    """The first line of the report."""
    path = f" ({sanitized(target.path)})" if target.path else ""
    return f"Verifier suggestions for {target.kind} {go_quoted(target.id)}{path}"


def render_text(suggested: Suggested, usage: str, ending: str) -> str:
    """The report: usable candidates as TOML, rejected ones with the reason; ``ending`` says what was written."""
    lines = [header(suggested.target), ""]
    for number, one in enumerate(suggested.usable, start=1):
        lines += [*_usable_lines(one, number), ""]
    rejected = [one for one in suggested.suggestions if not one.usable]
    if rejected:
        lines.append("Rejected:")
        lines += [f"  {one.id}: {sanitized(one.rejected)}" for one in rejected]
        lines.append("")
    if not suggested.suggestions:
        lines.append(f"No verifier proposed: {shortened(suggested.skipped_reason, REASON_SHOWN) or PROPOSED_NOTHING}")
    lines += [f"note: {sanitized(note)}" for note in suggested.notes]
    lines += [line for line in (usage, ending) if line]
    return "\n".join(lines) + "\n"


def _usable_lines(one: Suggestion, number: int) -> Iterator[str]:
    yield f"# {number}. {one.id}"
    if one.rationale:
        yield f"# {one.rationale}"
    files = f" ({', '.join(map(sanitized, one.hit_files))})" if one.hit_files else ""
    yield f"# findings in the repository today: {one.hits}{files}; examples: {one.examples}"
    if one.replay is not None:
        yield f"# replay: {_replay_words(one.replay)}"
    yield one.toml.rstrip("\n")


def _replay_words(replay: Replay) -> str:
    named = f" ({'; '.join(replay.flagged_commits)})" if replay.flagged_commits else ""
    errors = f"; {replay.errors} could not be evaluated" if replay.errors else ""
    return f"would have flagged {replay.flagged} of {replay.diffs} merged diff(s){named}{errors}"


def render_json(suggested: Suggested, usage: dict[str, object] | None) -> str:
    """The same as a document; ``usage`` is the ``llm`` object of reports."""
    document: dict[str, object] = {
        "schema_version": 1,
        "target": target_json(suggested.target),
        "proposals": [_json(one) for one in suggested.suggestions],
    }
    if suggested.skipped_reason:
        document["skipped_reason"] = shortened(suggested.skipped_reason, REASON_SHOWN)
    if suggested.notes:
        document["notes"] = [sanitized(note) for note in suggested.notes]
    return indented(document | ({"llm": usage} if usage is not None else {}))


def estimate_json(target: Target, estimate: str) -> str:
    """An estimate as a document: there are no proposals then."""
    return indented({"schema_version": 1, "target": target_json(target), "proposals": None, "estimate": estimate})


def target_json(target: Target) -> dict[str, object]:
    """As reports name it."""
    return {"kind": target.kind, "id": target.id, **({"path": sanitized(target.path)} if target.path else {})}


def _json(one: Suggestion) -> dict[str, object]:
    optional = {
        "rationale": one.rationale,
        "rejected": sanitized(one.rejected),
        "hits": one.hits,
        "hit_files": [sanitized(file) for file in one.hit_files],
        "replay": _replay_json(one.replay) if one.replay is not None else None,
        "examples": one.examples,
        "toml": one.toml,
    }
    kept = {key: value for key, value in optional.items() if value or key in {"hits", "examples"}}
    return {"id": one.id, **kept}


def _replay_json(replay: Replay) -> dict[str, object]:
    found: dict[str, object] = {"diffs": replay.diffs, "flagged": replay.flagged}
    if replay.flagged_commits:
        found["flagged_commits"] = list(replay.flagged_commits)
    return found | ({"errors": replay.errors} if replay.errors else {})
