"""config.toml as a checked value; every problem of it, not the first (spec/airulez-project.md 1.2, 1.3)."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from typing import Final, TypeVar

from pytest_reqfile.errors import FormatError, Problem
from pytest_reqfile.outcome import Location
from pytest_reqfile.project.overlay import TOP_LEVEL_KEYS, Overlaid
from pytest_reqfile.project.tables import loose_fields, read_hooks, read_lock_settings, read_role, read_source
from pytest_reqfile.project.values import (
    DEFAULT_PROFILE,
    Builtins,
    Config,
    Declared,
    HookGroup,
    LockSettings,
    Profile,
    Role,
    Source,
    SourceTable,
)
from pytest_reqfile.syntax.fields import Fields, Problems
from pytest_reqfile.syntax.nodes import Entry, Node

Named = TypeVar("Named", Role, Source)

BUILTIN: Final = "builtin:"
FORMAT_VERSION: Final = "5.0"
_TABLES: Final = (
    "verifiers_settings",
    "role_manifest",
    "permissions",
    "claude",
    "llm",
    "header",
    "governance",
    "signing",
)
_ENTRY_LISTS: Final = ("mcp_servers",)
_VERSIONS: Final = {"2": "install ai-rulez 4 first, then", "3": "install ai-rulez 4 first, then", "4": "run"}


@dataclass(frozen=True, slots=True, kw_only=True)
class CheckedConfig:
    """A configuration and the warnings about it."""

    config: Config
    notes: tuple[Problem, ...]


def check_config(overlaid: Overlaid) -> CheckedConfig:
    """The configuration that ``overlaid`` declares.

    Raises ``FormatError`` with every problem, in file and line order.
    """
    reader = _Reader(overlaid)
    config = reader.read()
    if reader.found:
        raise FormatError(reader.found)
    return CheckedConfig(config=config, notes=(*overlaid.notes, *_unknown_keys(overlaid.tables)))


class _Reader:
    """Reads each part with the collector of the file that part stands in."""

    def __init__(self, overlaid: Overlaid) -> None:
        self.tables = overlaid.tables
        self.entries = overlaid.entries
        self.local = overlaid.local
        self.path = overlaid.path
        self._problems = {file: Problems(file) for file in (overlaid.path, overlaid.local) if file is not None}

    @property
    def found(self) -> tuple[Problem, ...]:
        return tuple(problem for collector in self._problems.values() for problem in collector.found)

    def read(self) -> Config:
        self._check_head()
        self._check_kinds()
        profiles = self._profiles()
        return Config(
            path=self.path,
            name=self._text("name"),
            tables=self.tables,
            default=self._text("default") or DEFAULT_PROFILE,
            profiles=profiles,
            roles=self._roles(),
            includes=self._sources("includes"),
            installed_skills=self._sources("installed_skills"),
            skill_sources=self._sources("skill_sources"),
            hooks=self._hooks(),
            verifiers=self._verifiers(),
            builtins=replace(self._builtins(), scoped=_scoped(profiles)),
            lock=self._lock(),
            bundle_exclude=self._top("bundle_exclude").optional_strings("bundle_exclude"),
            local=self.local,
        )

    def problems_of(self, declared: Declared) -> Problems:
        return self._problems[declared.path]

    def _top(self, key: str) -> Fields:
        """Getters over the top-level ``key`` alone, which report into the file it stands in."""
        declared = self.tables.get(key)
        problems = self.problems_of(declared) if declared else self._problems[self.path]
        entries: tuple[Entry, ...] = ()
        if declared:
            entries = (Entry(key=key, line=declared.node.line, column=declared.node.column, value=declared.node),)
        return loose_fields(Node(kind="mapping", value=entries, line=1, column=1), "config.toml", problems)

    def _text(self, key: str) -> str:
        declared = self.tables.get(key)
        if declared is None or not isinstance(declared.node.value, str):
            return ""
        return declared.node.value

    def _check_head(self) -> None:
        self._top("name").string("name")
        self._top("default").optional_string("default")
        self._check_version()
        source = self.tables.get("source")
        if source is not None:
            message = (
                f"`source = {_quoted(source.node)}` is a layout that is not read: only the content of this folder is, "
                "remove the key or move the content here"
            )
            self.problems_of(source).add(source.node.line, message)

    def _check_version(self) -> None:
        declared = self.tables.get("version")
        if declared is None:
            self._problems[self.path].add(1, f'config.toml needs version = "{FORMAT_VERSION}"')
            return
        version, line = declared.node.value, declared.node.line
        problems = self.problems_of(declared)
        if not isinstance(version, str):
            problems.add(line, f'`version` must be the string "{FORMAT_VERSION}", found {declared.node.describe()}')
        elif version != FORMAT_VERSION:
            advice = _VERSIONS.get(version.partition(".")[0])
            way_out = f": {advice} `ai-rulez migrate v5`" if advice else ""
            problems.add(line, f'unsupported version "{version}", expected "{FORMAT_VERSION}"{way_out}')

    def _check_kinds(self) -> None:
        """Types of what others read, so that they get a table or tables (a wrong type fails the load)."""
        for key in _TABLES:
            self._top(key).optional_mapping(key)
        for key in _ENTRY_LISTS:
            self._tables_of(key)
        presets = self.tables.get("presets")
        if presets is not None:
            for node in self._top("presets").optional_list("presets"):
                if node.kind not in {"string", "mapping"}:
                    message = f"`presets` must hold names and tables, found {node.describe()}"
                    self.problems_of(presets).add(node.line, message)

    def _tables_of(self, key: str) -> tuple[Declared, ...]:
        """The entries of an array of tables; entries that are none are problems."""
        self._top(key).optional_list(key)
        good: list[Declared] = []
        for declared in self.entries.get(key, ()):
            if loose_fields(declared.node, f"an entry of [[{key}]]", self.problems_of(declared)).usable:
                good.append(declared)
        return tuple(good)

    def _verifiers(self) -> tuple[Declared, ...]:
        return self._tables_of("verifiers")

    def _profiles(self) -> tuple[Profile, ...]:
        declared = self.tables.get("profiles")
        node = self._top("profiles").optional_mapping("profiles")
        if declared is None or node is None:
            return ()
        fields = loose_fields(node, "[profiles]", self.problems_of(declared))
        found: list[Profile] = []
        for entry in node.entries:
            if "," in entry.key:
                fields.refuse(entry.key, f"a profile name may not contain a comma, found `{entry.key}`")
            domains = fields.optional_strings(entry.key)
            location = Location(path=declared.path, line=entry.line)
            found.append(Profile(name=entry.key, domains=domains, location=location))
        return tuple(found)

    def _roles(self) -> tuple[Role, ...]:
        roles = [read_role(declared, self.problems_of(declared)) for declared in self._tables_of("roles")]
        return self._named([role for role in roles if role is not None], "role")

    def _sources(self, table: SourceTable) -> tuple[Source, ...]:
        found = [read_source(table, declared, self.problems_of(declared)) for declared in self._tables_of(table)]
        return self._named([source for source in found if source is not None], f"{table} entry")

    def _named(self, found: Iterable[Named], what: str) -> tuple[Named, ...]:
        """``found`` by name; a name that is taken is a problem."""
        first: dict[str, Named] = {}
        for one in found:
            taken = first.setdefault(one.name, one)
            if taken is not one:
                message = f"duplicate {what} `{one.name}` (already declared in {taken.declared.location})"
                self.problems_of(one.declared).add(one.declared.node.line, message)
        return tuple(first.values())

    def _hooks(self) -> tuple[HookGroup, ...]:
        entries = self._tables_of("hooks")
        return read_hooks(entries, self.problems_of(entries[0])) if entries else ()

    def _builtins(self) -> Builtins:
        declared = self.tables.get("builtins")
        if declared is None:
            return Builtins()
        if isinstance(declared.node.value, bool):
            return Builtins(all=declared.node.value)
        if declared.node.kind != "list":
            kind = declared.node.describe()
            self.problems_of(declared).add(
                declared.node.line, f"`builtins` must be true, false or a list, found {kind}"
            )
            return Builtins()
        names = [str(node.value) for node in declared.node.items if node.kind == "string"]
        return Builtins(
            packs=tuple(name for name in names if not name.startswith("!")),
            excluded=tuple(name[1:] for name in names if name.startswith("!")),
        )

    def _lock(self) -> LockSettings:
        declared = self.tables.get("lock")
        node = self._top("lock").optional_mapping("lock")
        return read_lock_settings(node, self.problems_of(declared)) if declared and node else LockSettings()


def _scoped(profiles: Iterable[Profile]) -> tuple[str, ...]:
    domains = (domain for profile in profiles for domain in profile.domains)
    return tuple(dict.fromkeys(d.removeprefix(BUILTIN) for d in domains if d.startswith(BUILTIN)))


def _quoted(node: Node) -> str:
    return f'"{node.value}"' if node.kind == "string" else node.describe()


def _unknown_keys(tables: Mapping[str, Declared]) -> tuple[Problem, ...]:
    """Warnings: ai-rulez drops such a key in silence, so that a misspelt ``[[verifier]]`` would check nothing."""
    found: list[Problem] = []
    for key, declared in tables.items():
        if key not in TOP_LEVEL_KEYS:
            from difflib import get_close_matches

            close = get_close_matches(key, TOP_LEVEL_KEYS, n=1)
            hint = f", did you mean `{close[0]}`?" if close else ""
            message = f"unknown key `{key}` is ignored{hint}"
            found.append(Problem(path=declared.path, line=declared.node.line, message=message))
    return tuple(found)
