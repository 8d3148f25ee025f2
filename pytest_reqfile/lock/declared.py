"""What config.toml declares, as the JSON that ai-rulez pins: its structs, in their order (spec/lock.md 2.5, 3.5)."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final

from pytest_reqfile.project.values import Config
from pytest_reqfile.syntax.gojson import go_json, list_text, object_text
from pytest_reqfile.syntax.nodes import Node, plain


@dataclass(frozen=True, slots=True, kw_only=True)
class Member:
    """One field of a struct. ``always`` is its JSON where it is absent (else it is left out then).

    ``pointer`` keeps a value that is written but empty. ``many`` says that it is a list of ``struct``.
    """

    key: str
    always: str | None = None
    pointer: bool = False
    struct: Struct | None = None
    many: bool = False


Struct = tuple[Member, ...]


def _plain(names: str) -> tuple[Member, ...]:
    """Members that are left out when empty; ``name!`` is always there, ``name*`` may be empty."""
    return tuple(
        Member(key=name.rstrip("!*"), always='""' if name.endswith("!") else None, pointer=name.endswith("*"))
        for name in names.split()
    )


_ACTION: Final[Struct] = _plain("type command script args timeout async if status_message")
_HOOK: Final[Struct] = (*_plain("event! matcher"), Member(key="hooks", struct=_ACTION, many=True))
_SELECTOR: Final[Struct] = _plain("include exclude")
_ROLE: Final[Struct] = (
    *_plain("name! description extends domains"),
    *(Member(key=key, struct=_SELECTOR) for key in ("skills", "rules", "agents", "commands", "checks")),
    *_plain("skill_mode delivery"),
    Member(key="match", struct=_plain("groups")),
    *_plain("pin"),
)
_CONTENT: Final[Struct] = _plain("regex! in files")
_LEAF_PREDICATES: Final[Struct] = (
    Member(key="regex", struct=_CONTENT),
    Member(key="forbid", struct=_CONTENT),
    Member(key="file_exists", struct=_plain("path! exists*")),
    Member(key="paired", struct=_plain("for_each! requires_changed requires_exists")),
    Member(key="glob_count", struct=_plain("files! exclude min* max*")),
    Member(key="command", struct=(Member(key="argv", always="null"), *_plain("pass_files timeout_s expect_exit"))),
    Member(key="llm", struct=(Member(key="checklist", always="null"), *_plain("model max_diff_bytes"))),
)
_NESTED: Final = {"all": True, "any": True, "not": False}
_EXAMPLE: Final[Struct] = _plain("name! files changed expect!")
_FLAT: Final[Struct] = (
    *_plain("name! description type severity path glob exclude pattern min* max* key equals* profile"),
    *_plain("rule skill agent command anchor message fix when_changed"),
)
_SERVER: Final[Struct] = _plain("name! description command args env transport url headers enabled* profiles package")
_VERIFIERS_SETTINGS: Final[Struct] = _plain(
    "max_timeout_s max_file_bytes require_examples warn_dead trust_exec_from command_env"
)
_PERMISSIONS: Final[Struct] = _plain("allow ask deny")
_MANAGED: Final[Struct] = _plain("env skill_overrides")
_EMPTY: Final = "{}"
_INLINE: Final[Struct] = (*_FLAT, *_plain("require examples"))
_SETTINGS: Final = (
    ("permissions", _PERMISSIONS, ("permissions",)),
    ("claude-managed", _MANAGED, ("claude", "settings", "managed")),
    ("verifiers-settings", _VERIFIERS_SETTINGS, ("verifiers_settings",)),
)


def hook_json(node: Node) -> str:
    """One ``[[hooks]]`` group."""
    return _struct(node, _HOOK)


def role_json(node: Node) -> str:
    """One ``[[roles]]`` entry."""
    return _struct(node, _ROLE)


def inline_verifier_json(node: Node) -> str:
    """One ``[[verifiers]]`` entry of config.toml."""
    members = _members(node, _FLAT)
    require, examples = node.get("require"), node.get("examples")
    if require is not None:
        members.append(("require", _require(require)))
    if examples is not None and examples.kind == "list" and examples.items:
        members.append(("examples", list_text([_struct(item, _EXAMPLE) for item in examples.items])))
    return object_text(members)


def table_json(node: Node) -> str:
    """One table of a verifier file: whatever it says, keys sorted."""
    return go_json(plain(node))


def settings_json(config: Config) -> Iterator[tuple[str, str]]:
    """``settings`` items by id: of the tables that are there and say anything."""
    permissions = _table(config, "permissions")
    if permissions is not None and (text := _struct(permissions, _PERMISSIONS)) != _EMPTY:
        yield "permissions", text
    managed = _table(config, "claude", "settings", "managed")
    if managed is not None and (text := _struct(managed, _MANAGED)) != _EMPTY:
        yield "claude-managed", text
    servers = config.tables.get("mcp_servers")
    if servers is not None and servers.node.items:
        yield "mcp-servers", list_text([_struct(node, _SERVER) for node in _by_name(servers.node.items)])
    settings = _table(config, "verifiers_settings")
    if settings is not None:
        yield "verifiers-settings", _struct(settings, _VERIFIERS_SETTINGS)


def unknown_keys(config: Config) -> Iterator[tuple[str, str]]:
    """Keys that stand in a pinned table and in no digest, each with what has it (spec/lock.md 2.5)."""
    structs: list[tuple[str, Node, Struct]] = [
        *((f"hook {group.id}", group.declared.node, _HOOK) for group in config.hooks),
        *((f"role {role.name}", role.declared.node, _ROLE) for role in config.roles),
        *((f"verifier {_name_of(one.node)}", one.node, _INLINE) for one in config.verifiers),
    ]
    for name, struct, path in _SETTINGS:
        table = _table(config, *path)
        if table is not None:
            structs.append((f"settings {name}", table, struct))
    servers = config.tables.get("mcp_servers")
    for node in servers.node.items if servers is not None else ():
        structs.append((f"settings mcp-servers, server {_name_of(node)}", node, _SERVER))
    for label, node, struct in structs:
        yield from ((label, key) for key in dict.fromkeys(_unknown(node, struct)))


def _name_of(node: Node) -> str:
    name = node.get("name") if node.kind == "mapping" else None
    return str(name.value) if name is not None else ""


def _unknown(node: Node, struct: Struct) -> Iterator[str]:
    members = {member.key: member for member in struct}
    for entry in node.entries if node.kind == "mapping" else ():
        member = members.get(entry.key)
        if member is None:
            yield entry.key
        elif member.struct is not None:
            for value in entry.value.items if member.many else (entry.value,):
                yield from _unknown(value, member.struct)


def _by_name(nodes: tuple[Node, ...]) -> list[Node]:
    def name(node: Node) -> bytes:
        found = node.get("name")
        return str(found.value).encode() if found is not None else b""

    return sorted(nodes, key=name)


def _table(config: Config, key: str, *path: str) -> Node | None:
    declared = config.tables.get(key)
    node = declared.node if declared is not None else None
    for part in path:
        node = node.get(part) if node is not None and node.kind == "mapping" else None
    return node if node is not None and node.kind == "mapping" else None


def _require(node: Node) -> str:
    if node.kind != "mapping":
        return go_json(plain(node))
    members = _members(node, _LEAF_PREDICATES)
    for key, many in _NESTED.items():
        value = node.get(key)
        if value is None or (many and (value.kind != "list" or not value.items)):
            continue
        members.append((key, list_text([_require(item) for item in value.items]) if many else _require(value)))
    return object_text(members)


def _struct(node: Node, struct: Struct) -> str:
    return object_text(_members(node, struct)) if node.kind == "mapping" else go_json(plain(node))


def _members(node: Node, struct: Struct) -> list[tuple[str, str]]:
    members: list[tuple[str, str]] = []
    for member in struct:
        value = node.get(member.key)
        if value is not None and (_has_content(value) or member.pointer or member.always or _is_struct(value, member)):
            members.append((member.key, _value(value, member)))
        elif member.always is not None:
            members.append((member.key, member.always))
    return members


def _value(value: Node, member: Member) -> str:
    if member.struct is None:
        return go_json(plain(value))
    if member.many and value.kind == "list":
        return list_text([_struct(item, member.struct) for item in value.items])
    return _struct(value, member.struct)


def _is_struct(value: Node, member: Member) -> bool:
    """A table that is there is written even when it is empty: Go keeps it by a pointer."""
    return member.struct is not None and not member.many and value.kind == "mapping"


def _has_content(value: Node) -> bool:
    """Whether Go's ``omitempty`` keeps the value."""
    return bool(value.value)
