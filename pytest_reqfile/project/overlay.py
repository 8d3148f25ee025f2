"""``config.local.toml`` merged into config.toml, document by document, before anything is typed (spec 1.4)."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Final

from pytest_reqfile.errors import Problem
from pytest_reqfile.project.values import Declared
from pytest_reqfile.syntax.fields import Problems
from pytest_reqfile.syntax.nodes import Entry, Node

# fmt: off
NAMED_LISTS: Final = (
    "mcp_servers", "plugins", "includes", "installed_skills", "marketplaces", "scopes", "verifiers", "roles",
)
TABLES: Final = ("profiles", "header", "defaults", "mcp", "plugin", "marketplace", "rules")
TOP_LEVEL_KEYS: Final = (
    "schema", "version", "name", "description", "presets", "default", "profiles", "gitignore", "compact",
    "agents_md", "bundle_exclude", "codex_skills_dir", "includes", "installed_skills", "mcp_servers", "header",
    "builtins", "plugins", "marketplaces", "scopes", "mcp", "defaults", "rules", "lint", "verifiers",
    "verifiers_settings", "usage", "skills", "domains", "skill_sources", "roles", "role_manifest", "lock",
    "governance", "catalog", "signing", "publish", "ard", "llm", "telemetry", "review", "improve", "search",
    "plugin", "marketplace", "placement", "claude", "codex", "hooks", "guard", "permissions", "okf", "llms_txt",
    "source",
)
# fmt: on


@dataclass(frozen=True, slots=True, kw_only=True)
class Overlaid:
    """The top level of a configuration, each value with its file; ``entries`` are the items of every list.

    ``local`` is the path of the local file if one was merged in; ``notes`` are warnings about it.
    """

    path: str
    tables: Mapping[str, Declared]
    entries: Mapping[str, tuple[Declared, ...]]
    local: str | None = None
    notes: tuple[Problem, ...] = ()


def shared_only(root: Node, path: str) -> Overlaid:
    """A configuration without a local file."""
    tables = {entry.key: Declared(node=entry.value, path=path) for entry in root.entries}
    return Overlaid(path=path, tables=tables, entries={key: _items(table) for key, table in tables.items()})


def overlay(shared: Overlaid, local: Node, path: str) -> Overlaid:
    """``shared`` with the local document at ``path`` merged in. Raises ``FormatError`` with all its problems."""
    merger = _Merger(shared, path)
    for entry in local.entries:
        merger.merge(entry)
    merger.problems.raise_if_any()
    return Overlaid(
        path=shared.path, tables=merger.tables, entries=merger.entries, local=path, notes=tuple(merger.notes)
    )


def _items(declared: Declared) -> tuple[Declared, ...]:
    if declared.node.kind != "list":
        return ()
    return tuple(Declared(node=node, path=declared.path) for node in declared.node.items)


class _Merger:
    """Each rule of spec 1.4 is one method; values are named in messages, never shown."""

    def __init__(self, shared: Overlaid, path: str) -> None:
        self.path = path
        self.tables = dict(shared.tables)
        self.entries = dict(shared.entries)
        self.problems = Problems(path)
        self.notes: list[Problem] = []

    def merge(self, entry: Entry) -> None:
        key, value = entry.key, entry.value
        shared = self.tables.get(key)
        if key not in TOP_LEVEL_KEYS:
            self.problems.add(entry.line, f"unknown key `{key}` in a local configuration")
        elif key == "version":
            self._same_version(shared, value)
        elif key in NAMED_LISTS:
            self._named_list(key, value)
        elif key == "presets":
            self._presets(value)
        elif key in TABLES and value.kind != "mapping":
            self.problems.add(value.line, f"`{key}` must be a table, found {value.describe()}")
        else:
            self._put(key, self._merged(shared, value) if shared else self._own(value))

    def _own(self, value: Node) -> Declared:
        return Declared(node=value, path=self.path)

    def _put(self, key: str, declared: Declared) -> None:
        self.tables[key] = declared
        self.entries[key] = _items(declared)

    def _merged(self, shared: Declared, value: Node) -> Declared:
        return Declared(node=_merge(shared.node, value), path=self.path, overrides=shared.location)

    def _same_version(self, shared: Declared | None, value: Node) -> None:
        if value.kind != "string" or shared is None or shared.node.value != value.value:
            self.problems.add(value.line, "`version` must equal that of the shared configuration")

    def _named_list(self, key: str, value: Node) -> None:
        if value.kind != "list":
            self.problems.add(value.line, f"`{key}` must be a list of tables, found {value.describe()}")
            return
        entries = list(self.entries.get(key, ()))
        seen: set[str] = set()
        for node in value.items:
            name = self._name(key, node)
            if name in seen:
                self.problems.add(node.line, f"`{key}` has two entries `{name}`")
            elif name is not None:
                seen.add(name)
                self._named_entry(key, name, node, entries)
        shared = self.tables.get(key)
        base = shared or self._own(value)
        nodes = tuple(entry.node for entry in entries)
        self.tables[key] = Declared(
            node=Node(kind="list", value=nodes, line=base.node.line, column=base.node.column), path=base.path
        )
        self.entries[key] = tuple(entries)

    def _named_entry(self, key: str, name: str, node: Node, entries: list[Declared]) -> None:
        found = [number for number, entry in enumerate(entries) if _identity(key, entry.node) == name]
        removed = node.get("remove")
        if len(found) > 1:
            self.problems.add(node.line, f"`{name}` names two entries of the shared `{key}`")
        elif removed is not None and removed.value is True:
            if found:
                del entries[found[0]]
            else:
                self._note(node.line, f"there is no `{name}` in `{key}` to remove")
        elif found and key == "verifiers":
            # The seed: a local entry replaces the shared one. Keys that are left of it would say what nobody wrote.
            shared = entries[found[0]]
            entries[found[0]] = Declared(node=node, path=self.path, overrides=shared.location)
        elif found:
            entries[found[0]] = self._merged(entries[found[0]], node)
        else:
            entries.append(self._own(node))

    def _name(self, key: str, node: Node) -> str | None:
        if node.kind != "mapping":
            self.problems.add(node.line, f"an entry of `{key}` must be a table, found {node.describe()}")
            return None
        name = _identity(key, node)
        if not name:
            self.problems.add(node.line, f"an entry of `{key}` needs a `name`")
        return name or None

    def _presets(self, value: Node) -> None:
        if value.kind != "list":
            self.problems.add(value.line, f"`presets` must be a list, found {value.describe()}")
            return
        shared = self.tables.get("presets")
        kept = list(shared.node.items) if shared and shared.node.kind == "list" else []
        for node in value.items:
            if node.kind == "mapping" and node.get("remove") is not None:
                self.problems.add(node.line, 'a preset is dropped by `"!name"`, not by `remove`')
                continue
            name = _preset_name(node)
            if name.startswith("!"):
                if name[1:] not in map(_preset_name, kept):
                    self._note(node.line, f"there is no preset `{name[1:]}` to drop")
                kept = [preset for preset in kept if _preset_name(preset) != name[1:]]
            else:
                _add_preset(kept, node, name)
        merged = Node(kind="list", value=tuple(kept), line=value.line, column=value.column)
        self._put("presets", Declared(node=merged, path=self.path, overrides=shared.location if shared else None))

    def _note(self, line: int, message: str) -> None:
        self.notes.append(Problem(path=self.path, line=line, message=message))


def _add_preset(kept: list[Node], node: Node, name: str) -> None:
    """A name or table once, at its first position; a table wins over a bare name, two tables merge."""
    for number, preset in enumerate(kept):
        if name and _preset_name(preset) == name:
            if node.kind == "mapping":
                kept[number] = _merge(preset, node)
            return
    kept.append(node)


def _preset_name(node: Node) -> str:
    named = node.get("name") if node.kind == "mapping" else node
    return named.value if named is not None and isinstance(named.value, str) else ""


def _identity(key: str, node: Node) -> str:
    """What an entry is matched by: its ``name``, of a scope else its ``path``."""
    if node.kind != "mapping":
        return ""
    for field in ("name", "path") if key == "scopes" else ("name",):
        value = node.get(field)
        if value is not None and isinstance(value.value, str) and value.value:
            return value.value
    return ""


def _merge(shared: Node, local: Node) -> Node:
    """Two tables key by key, anything else replaced; what stays of ``shared`` gets the place of ``local``."""
    if shared.kind != "mapping" or local.kind != "mapping":
        return local
    return Node(kind="mapping", value=tuple(_merged_entries(shared, local)), line=local.line, column=local.column)


def _merged_entries(shared: Node, local: Node) -> Iterator[Entry]:
    mine = {entry.key: entry for entry in local.entries}
    for entry in shared.entries:
        other = mine.pop(entry.key, None)
        if other is None:
            value = _moved(entry.value, local)
            yield Entry(key=entry.key, line=local.line, column=local.column, value=value)
        else:
            yield Entry(key=other.key, line=other.line, column=other.column, value=_merge(entry.value, other.value))
    yield from mine.values()


def _moved(node: Node, place: Node) -> Node:
    value = node.value
    if node.kind == "list":
        value = tuple(_moved(item, place) for item in node.items)
    elif node.kind == "mapping":
        value = tuple(
            Entry(key=entry.key, line=place.line, column=place.column, value=_moved(entry.value, place))
            for entry in node.entries
        )
    return Node(kind=node.kind, value=value, line=place.line, column=place.column)
