"""What config.toml asks of approvals: ``[governance]`` (spec/lock.md 9)."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import timedelta
from typing import Final, Literal

from pytest_reqfile.errors import UsageError
from pytest_reqfile.lock.ages import read_age
from pytest_reqfile.lock.records import Pinned
from pytest_reqfile.project.tables import loose_fields
from pytest_reqfile.project.values import Config
from pytest_reqfile.syntax.fields import Fields, Problems

Assurance = Literal["", "asserted", "review-linked", "signed"]

RANKS: Final[dict[str, int]] = {"asserted": 1, "review-linked": 2, "signed": 3}
"""How sure an approval is; any other word is 0."""
_GROUPS: Final = ("remote", "local", "all")
_KIND: Final = "kind:"
_MCP: Final = "mcp_server"
_LARGEST: Final = 100


@dataclass(frozen=True, slots=True, kw_only=True)
class Policy:
    """``require`` holds ``remote``, ``local``, ``all`` and ``kind:<k>``; ``exempt`` globs of ``kind:domain/id``.

    ``approvers`` is empty where everybody may approve. ``approvers_from`` says where more approvers are listed, which
    cannot be looked up offline.
    """

    require: tuple[str, ...] = ()
    exempt: tuple[str, ...] = ()
    min_approvers: int = 1
    approvers: tuple[str, ...] = ()
    approvers_from: str = ""
    min_assurance: Assurance = ""
    forbid_self_approval: bool = False
    max_age: timedelta | None = None
    enforce: bool = False

    def requires(self, one: Pinned) -> bool:
        """Whether something needs an approval."""
        if any(_glob_matches(glob, one.ref) for glob in self.exempt):
            return False
        is_local = not one.table and one.kind != "role-output"
        groups = {"all": True, "remote": one.is_remote, "local": is_local}
        return any(
            groups.get(word, False) or (word.startswith(_KIND) and _is_of(word.removeprefix(_KIND), one))
            for word in self.require
        )


def _is_of(kind: str, one: Pinned) -> bool:
    if kind == _MCP:
        return (one.kind, one.id) == ("settings", "mcp-servers")
    return kind in one.kinds


def read_policy(config: Config) -> Policy:
    """The policy of a project; one that asks for nothing where there is no table. Raises ``FormatError``."""
    declared = config.tables.get("governance")
    if declared is None:
        return Policy()
    problems = Problems(declared.path)
    fields = loose_fields(declared.node, "[governance]", problems)
    levels: tuple[Assurance, ...] = ("asserted", "review-linked", "signed")
    message = f"unknown min_assurance `{{x}}` (expected one of: {', '.join(levels)})"
    policy = Policy(
        require=_required(fields),
        exempt=fields.optional_strings("exempt"),
        min_approvers=_count(fields),
        approvers=fields.optional_strings("approvers"),
        approvers_from=", ".join(fields.string_or_strings("approvers_from")),
        min_assurance=fields.choice("min_assurance", levels, "asserted", message) if "min_assurance" in fields else "",
        forbid_self_approval=fields.boolean("forbid_self_approval", False),
        max_age=optional_age(fields, "max_age"),
        enforce=fields.boolean("enforce", False),
    )
    problems.raise_if_any()
    return policy


def _required(fields: Fields) -> tuple[str, ...]:
    words = fields.string_or_strings("require_approval")
    for word in words:
        if word not in _GROUPS and (not word.startswith(_KIND) or word == _KIND):
            expected = ", ".join((*_GROUPS, "kind:<kind>"))
            fields.refuse("require_approval", f"unknown `{word}` in require_approval (expected one of: {expected})")
    return words


def _count(fields: Fields) -> int:
    count = fields.integer("min_approvers", 1)
    if not 1 <= count <= _LARGEST:
        fields.refuse("min_approvers", f"min_approvers must be 1 to {_LARGEST}, found {count}")
    return count


def optional_age(fields: Fields, key: str) -> timedelta | None:
    """An age such as ``90d``; none where the key is absent. What is no age is a problem."""
    try:
        return read_age(fields.optional_string(key) or "", key)
    except UsageError as error:
        fields.refuse(key, str(error))
        return None


def _glob_matches(glob: str, text: str) -> bool:
    """``*`` for any characters and ``?`` for one, in as many steps as glob and text are long."""
    star, mark, place, at = -1, 0, 0, 0
    while at < len(text):
        if place < len(glob) and glob[place] != "*" and glob[place] in {"?", text[at]}:
            place, at = place + 1, at + 1
        elif place < len(glob) and glob[place] == "*":
            star, mark, place = place, at, place + 1
        elif star >= 0:
            mark += 1
            place, at = star + 1, mark
        else:
            return False
    return not glob[place:].strip("*")
