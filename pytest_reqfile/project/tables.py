"""The typed tables of config.toml: sources, roles, hooks, ``[lock]`` (spec/airulez-project.md 1.3)."""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import Final, get_args

from pytest_reqfile.project.values import (
    AgeSource,
    ContentKind,
    Declared,
    HookGroup,
    LockScope,
    LockSettings,
    MergeStrategy,
    Role,
    Selector,
    Source,
    SourceTable,
)
from pytest_reqfile.syntax.credentials import without_user
from pytest_reqfile.syntax.fields import Fields, Problems, Wording
from pytest_reqfile.syntax.nodes import Node

TOML_WORDING: Final = Wording(not_a_mapping="{what} must be a table, found {kind}")
SELECTOR_KEYS: Final[dict[str, ContentKind]] = {
    "skills": "skill",
    "rules": "rule",
    "agents": "agent",
    "commands": "command",
    "checks": "check",
}
KIND_NAMES: Final = ("rules", "context", "skills", "agents", "commands", "checks")

_ROLE_NAME: Final = re.compile(r"[a-z0-9_-]+")
_GIT_SCHEMES: Final = (
    "http://",
    "https://",
    "file://",
    "ssh://",
    "git://",
    "git+ssh://",
    "git+https://",
    "git+http://",
)
_UNSAFE_SCHEMES: Final = ("http://", "git://", "git+http://")
_SCP: Final = re.compile(r"[^:/\\]*@[^:/\\]*:")


def loose_fields(node: Node, what: str, problems: Problems) -> Fields:
    """Getters over a table of config.toml, in which unknown keys are not an error (spec/airulez-project.md 1.2)."""
    keys = [entry.key for entry in node.entries] if node.kind == "mapping" else []
    return Fields(node, what, keys, problems, wording=TOML_WORDING)


def is_git_source(source: str) -> bool:
    """Whether ``source`` names a git repository, by scheme or as ``user@host:path`` (spec/lock.md 3.4)."""
    return source.lower().startswith(_GIT_SCHEMES) or _SCP.match(source) is not None


def read_source(table: SourceTable, declared: Declared, problems: Problems) -> Source | None:
    """One entry of a table of sources; None where it cannot be used, which is then a problem."""
    fields = loose_fields(declared.node, f"an entry of [[{table}]]", problems)
    name = fields.string("name")
    if name:
        fields.relabel(f"{table} entry {name}")
    key = "url" if table == "skill_sources" and "url" in fields else "source"
    source = _text(fields, key)
    override = fields.optional_string("local_override")
    if fields.usable and not source and override is None:
        fields.refuse(None, f"{fields.what} needs a `source`")
    if source.lower().startswith(_UNSAFE_SCHEMES):
        shown = without_user(source)
        fields.refuse(key, f"{fields.what}: `{shown}` is not fetched over an unprotected connection: use https or ssh")
    found = Source(
        table=table,
        name=name,
        source=source,
        declared=declared,
        is_git=is_git_source(source),
        path=_text(fields, "path"),
        ref=_text(fields, "ref"),
        version=_text(fields, "version"),
        tag_prefix=_text(fields, "tag_prefix"),
        include_prerelease=fields.boolean("include_prerelease", False),
        min_release_age=_text(fields, "min_release_age"),
        format=_text(fields, "format"),
        local_override=override,
        kinds=_kinds(fields) if table == "includes" else None,
        merge_strategy=_merge_strategy(fields) if table == "includes" else "local-override",
        profiles=fields.optional_strings("profiles"),
    )
    return None if fields.failed else found


def _text(fields: Fields, key: str) -> str:
    """An optional string, which may be empty."""
    node = fields.node(key)
    if node is not None and node.value == "":
        return ""
    return fields.optional_string(key) or ""


def _kinds(fields: Fields) -> tuple[str, ...] | None:
    """The ``include`` filter; an empty list filters nothing, as if it were absent."""
    kinds = fields.optional_strings("include")
    for kind in kinds:
        if kind and kind not in KIND_NAMES:
            expected = ", ".join(KIND_NAMES)
            fields.refuse("include", f"{fields.what}: unknown kind `{kind}` in `include` (expected one of: {expected})")
    return kinds or None


def _merge_strategy(fields: Fields) -> MergeStrategy:
    choices: tuple[MergeStrategy, ...] = get_args(MergeStrategy)
    message = f"{fields.what}: unknown merge_strategy `{{x}}` (expected one of: {', '.join(choices)})"
    return fields.choice("merge_strategy", choices, "local-override", message)


def read_role(declared: Declared, problems: Problems) -> Role | None:
    """One ``[[roles]]`` entry; its ``extends`` and domains are resolved when it is selected."""
    fields = loose_fields(declared.node, "an entry of [[roles]]", problems)
    name = fields.string("name")
    if name:
        fields.relabel(f"role {name}")
        if not _ROLE_NAME.fullmatch(name):
            fields.refuse("name", f"invalid role name `{name}`: use lowercase letters, digits, '_' and '-'")
    role = Role(
        name=name,
        declared=declared,
        domains=fields.optional_strings("domains"),
        selectors={
            kind: _selector(node, f"{key} of {fields.what}", problems)
            for key, kind in SELECTOR_KEYS.items()
            if (node := fields.optional_mapping(key)) is not None
        },
        extends=_text(fields, "extends") or None,
        pin=fields.boolean("pin", False),
    )
    return None if fields.failed else role


def _selector(node: Node, what: str, problems: Problems) -> Selector:
    fields = loose_fields(node, what, problems)
    return Selector(include=fields.optional_strings("include"), exclude=fields.optional_strings("exclude"))


def read_hooks(entries: Iterable[Declared], problems: Problems) -> tuple[HookGroup, ...]:
    """``[[hooks]]`` in order, each with its ordinal among the groups of its event and matcher (spec/lock.md 3.5)."""
    counts: dict[str, int] = {}
    groups: list[HookGroup] = []
    for declared in entries:
        fields = loose_fields(declared.node, "an entry of [[hooks]]", problems)
        event, matcher = fields.string("event"), _text(fields, "matcher")
        actions = [loose_fields(node, f"an action of hook {event}", problems) for node in fields.optional_list("hooks")]
        scripts = tuple(script for action in actions if (script := _text(action, "script")))
        if fields.failed:
            continue
        base = f"{event}:{matcher or '*'}"
        number = counts[base] = counts.get(base, -1) + 1
        groups.append(
            HookGroup(id=f"{base}:{number}", event=event, matcher=matcher, scripts=scripts, declared=declared)
        )
    return tuple(groups)


def read_lock_settings(node: Node, problems: Problems) -> LockSettings:
    """``[lock]`` (spec/lock.md 5.1)."""
    fields = loose_fields(node, "[lock]", problems)
    scopes: tuple[LockScope, ...] = get_args(LockScope)
    ages: tuple[AgeSource, ...] = get_args(AgeSource)
    return LockSettings(
        enforce=fields.boolean("enforce", False) if "enforce" in fields else None,
        include_outputs=fields.boolean("include_outputs", True),
        scope=fields.choice("scope", scopes, "all", 'invalid lock scope "{x}": expected all or skills'),
        min_release_age=_text(fields, "min_release_age"),
        min_release_age_source=fields.choice(
            "min_release_age_source",
            ages,
            "auto",
            f'invalid min_release_age_source "{{x}}" (expected one of: {", ".join(ages)})',
        ),
        verify_tags=fields.boolean("verify_tags", False),
    )
