"""What a model proposes: read strictly, and turned into a declaration (seed 000 "Suggesting verifiers"; spec 7)."""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping
from dataclasses import dataclass
from typing import Final

from pytest_reqfile.syntax.nodes import Node
from pytest_reqfile.verifiers.replies import UnusableReplyError, exactly, reply_object
from pytest_reqfile.verifiers.values import Target
from pytest_reqfile.verifiers.words import sanitized
from pytest_reqfile.workspace.paths import normalised

PREDICATES: Final = ("forbid", "regex", "file_exists", "paired", "glob_count")
"""What may be proposed: nothing that runs a program or asks a model."""
MAX_EXAMPLE_BYTES: Final = 4000
UNSET: Final = -1
PASSING: Final = "satisfies the check"
FAILING: Final = "violates the check"
_SHORT: Final = 200
_LONG: Final = 300
_LONGEST_ID: Final = 80
_TEXTS: Final = (
    *("id", "predicate", "description", "severity", "message", "fix", "regex", "in", "files", "path"),
    *("for_each", "requires_changed", "requires_exists"),
    *("pass_path", "pass_content", "fail_path", "fail_content", "rationale"),
)
_LISTS: Final = ("when_changed", "exclude")
_NUMBERS: Final = ("min", "max")
_FLAGS: Final = ("exists",)
FIELDS: Final[Mapping[str, str]] = {
    **dict.fromkeys(("id", "predicate", "description", "severity", "message", "fix"), "string"),
    **dict.fromkeys(_LISTS, "list"),
    **dict.fromkeys(("regex", "in", "files", "path"), "string"),
    **dict.fromkeys(_FLAGS, "boolean"),
    **dict.fromkeys(("for_each", "requires_changed", "requires_exists"), "string"),
    **dict.fromkeys(_NUMBERS, "integer"),
    **dict.fromkeys(("pass_path", "pass_content", "fail_path", "fail_content", "rationale"), "string"),
}
"""Every field of a proposal, all of them required, with the kind of its value."""
_NOT_OF_AN_ID: Final = re.compile(r"[^a-z0-9._-]+")

Toml = dict[str, object]


@dataclass(frozen=True, slots=True, kw_only=True)
class Proposal:
    """One candidate as the model gave it. ``minimum`` and ``maximum`` are -1 where it sets none."""

    texts: Mapping[str, str]
    when_changed: tuple[str, ...]
    exclude: tuple[str, ...]
    exists: bool
    minimum: int
    maximum: int

    @property
    def predicate(self) -> str:
        return self.texts["predicate"]

    @property
    def rationale(self) -> str:
        """On one line, at most 300 characters."""
        return shortened(self.texts["rationale"], _LONG)


@dataclass(frozen=True, slots=True, kw_only=True)
class Proposals:
    """A reply: candidates in order, or why there are none."""

    proposals: tuple[Proposal, ...]
    skipped_reason: str


def read_proposals(reply: str) -> Proposals:
    """The candidates of a reply. Raises UnusableReplyError for anything missing, additional, or of another kind."""
    fields = reply_object(reply, ("proposals", "skipped_reason"))
    _refuse_kind(fields["proposals"], "list", "`proposals` in the reply")
    _refuse_kind(fields["skipped_reason"], "string", "`skipped_reason` in the reply")
    return Proposals(
        proposals=tuple(_proposal(node, f"proposals[{n}]") for n, node in enumerate(fields["proposals"].items)),
        skipped_reason=str(fields["skipped_reason"].value),
    )


def is_usable(reply: str) -> bool:
    """Whether ``read_proposals`` takes it."""
    try:
        read_proposals(reply)
    except UnusableReplyError:
        return False
    return True


def _proposal(node: Node, place: str) -> Proposal:
    fields = exactly(node, tuple(FIELDS), place)
    for key, kind in FIELDS.items():
        _refuse_kind(fields[key], kind, f"`{key}` in {place}")
    for key in _LISTS:
        for item in fields[key].items:
            _refuse_kind(item, "string", f"an item of `{key}` in {place}")
    return Proposal(
        texts={key: str(fields[key].value) for key in _TEXTS},
        when_changed=tuple(str(item.value) for item in fields["when_changed"].items),
        exclude=tuple(str(item.value) for item in fields["exclude"].items),
        exists=bool(fields["exists"].value),
        minimum=int(str(fields["min"].value)),
        maximum=int(str(fields["max"].value)),
    )


def _refuse_kind(node: Node, kind: str, what: str) -> None:
    if node.kind != kind:
        raise UnusableReplyError(f"{what} must be of type {kind}, found {node.describe()}")


def new_id(proposal: Proposal, target: Target, taken: Collection[str]) -> str:
    """An id for the declaration: what the model wants as far as an id may be that, and free."""
    wanted = _NOT_OF_AN_ID.sub("-", proposal.texts["id"].lower()).strip("-")[:_LONGEST_ID].rstrip("-")
    wanted = wanted or f"{_NOT_OF_AN_ID.sub('-', target.id.lower()).strip('-')}-check"
    if wanted not in taken:
        return wanted
    number = 2
    while f"{wanted}-{number}" in taken:
        number += 1
    return f"{wanted}-{number}"


def shortened(text: str, limit: int) -> str:
    """On one line, runs of whitespace as one space, cut at ``limit`` characters; nothing unprintable."""
    line = sanitized(" ".join(text.split()))
    return line if len(line) <= limit else line[:limit].rstrip() + "..."


def declaration(proposal: Proposal, identifier: str, target: Target) -> Toml:
    """The ``[[verifiers]]`` table of a candidate; ``error`` is lowered: nobody has reviewed it yet."""
    texts = proposal.texts
    severity = "warning" if texts["severity"] in {"", "error"} else texts["severity"]
    table: Toml = {"id": identifier, target.kind: target.id, "severity": severity}
    prose = (("description", _SHORT), ("message", _LONG), ("fix", _LONG))
    table |= {key: text for key, limit in prose if (text := shortened(texts[key], limit))}
    table |= _set(when_changed=list(proposal.when_changed), exclude=list(proposal.exclude))
    table["require"] = {proposal.predicate: _predicate(proposal)}
    examples = _examples(proposal)
    return table | ({"examples": examples} if examples else {})


def _predicate(proposal: Proposal) -> Toml:
    texts = proposal.texts
    match proposal.predicate:
        case "forbid" | "regex":
            return {"regex": texts["regex"]} | _set(**{"in": texts["in"]}, files=texts["files"])
        case "file_exists":
            return {"path": texts["path"]} | ({} if proposal.exists else {"exists": False})
        case "paired":
            pair = _set(requires_changed=texts["requires_changed"], requires_exists=texts["requires_exists"])
            return {"for_each": texts["for_each"]} | pair
        case "glob_count":
            bounds = {"min": proposal.minimum, "max": proposal.maximum}
            return {"files": texts["files"]} | {key: value for key, value in bounds.items() if value != UNSET}
    raise ValueError(proposal.predicate)


def _examples(proposal: Proposal) -> list[Toml]:
    """Those of its two examples that can be written as files."""
    found: list[Toml] = []
    for name, expect in ((PASSING, "pass"), (FAILING, "fail")):
        path, content = proposal.texts[f"{expect}_path"], proposal.texts[f"{expect}_content"]
        clean = normalised(path.replace("\\", "/"))
        if clean and "\0" not in clean and len(content.encode("utf-8", "surrogatepass")) <= MAX_EXAMPLE_BYTES:
            found.append({"name": name, "files": {clean: content}, "changed": [clean], "expect": expect})
    return found


def _set(**values: object) -> Toml:
    """Those that are not empty."""
    return {key: value for key, value in values.items() if value}
