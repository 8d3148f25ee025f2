"""All verifiers of a project: of config.toml, of verifier files, of imports (seed 000; spec/verifiers.md 2.1, 11.1)."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from typing import Final

from pytest_reqfile.errors import FormatError, Problem
from pytest_reqfile.outcome import Location
from pytest_reqfile.project.overlay import TOP_LEVEL_KEYS
from pytest_reqfile.project.values import Config, DeclarationFile, Declared, Item, Origin, Project
from pytest_reqfile.syntax.globs import GlobError, verifier_glob
from pytest_reqfile.verifiers.flat_format import (
    FIELDS_OF_TYPE,
    FLAT_FIELDS,
    DeclarationError,
    read_flat,
    read_severity,
    set_fields,
)
from pytest_reqfile.verifiers.predicates import has_command
from pytest_reqfile.verifiers.settings import read_settings
from pytest_reqfile.verifiers.shape import Shape, Table, check_table, integer, string, strings
from pytest_reqfile.verifiers.spec_format import (
    DECLARATION_FILE,
    FILE_ENTRY,
    SPEC_FIELDS,
    SpecError,
    SpecPlace,
    named_targets,
    read_spec,
)
from pytest_reqfile.verifiers.values import (
    CONFIG_SOURCE,
    Declarations,
    FlatVerifier,
    InvalidDeclaration,
    Settings,
    SpecVerifier,
    TargetKind,
)
from pytest_reqfile.verifiers.words import go_quoted

SETTINGS_TABLE: Final = "verifiers_settings"
_NAME: Final = re.compile(r"[A-Za-z0-9._-]+")
# The body of `require` is checked with the spec, per run; here only what config.toml itself must get right.
_CONFIG_ENTRY: Final[Shape] = {
    **{key: check for key, check in FILE_ENTRY.items() if key != "id"},
    "name": string,
    "type": string,
    "path": string,
    "glob": string,
    "pattern": string,
    "min": integer,
    "max": integer,
    "key": string,
    "equals": string,
    "profile": string,
    "exclude": strings,
    "require": lambda _node, _key, _path: iter(()),
    "examples": lambda _node, _key, _path: iter(()),
}


def load_declarations(project: Project, pinned_includes: frozenset[str] = frozenset()) -> Declarations:
    """Everything ``project`` declares.

    ``pinned_includes`` are the includes that ai-rulez.lock pins; only those of them that are trusted as well may bring
    commands. Raises FormatError with every problem of ``[[verifiers]]`` and ``[verifiers_settings]`` in config.toml;
    what is wrong anywhere else is an ``InvalidDeclaration``.
    """
    config = project.config
    settings = _settings(config)
    entries = _read_config(config)
    collector = _Collector(project, settings, pinned_includes)
    for entry in entries:
        if isinstance(entry, FlatVerifier):
            collector.add_flat(entry)
    for entry in entries:
        if isinstance(entry, Declared):
            collector.add_inline(entry)
    for file in project.declarations:
        collector.add_file(file)
    return Declarations(
        flat=tuple(entry for entry in entries if isinstance(entry, FlatVerifier)),
        specs=tuple(collector.specs),
        invalid=(*collector.invalid, *_misspelt(config), *_not_looked_at(project)),
        settings=settings,
    )


def _settings(config: Config) -> Settings:
    declared = config.tables.get(SETTINGS_TABLE)
    if declared is None:
        return Settings()
    return read_settings(declared.node, declared.path, {source.name for source in config.includes})


def _read_config(config: Config) -> tuple[FlatVerifier | Declared, ...]:
    """Flat verifiers, read, and inline specs, of which only the shape is known to be right."""
    problems: list[Problem] = []
    found: list[FlatVerifier | Declared] = []
    names: set[str] = set()
    profiles = {profile.name for profile in config.profiles}
    for index, entry in enumerate(config.verifiers):
        shape = tuple(check_table(entry.node, _CONFIG_ENTRY, f"verifiers[{index}]", entry.path))
        if shape:
            problems.extend(shape)
            continue
        table = Table(entry.node)
        try:
            _check_name(table, index, names)
            found.append(_read_entry(table, index, entry, profiles))
        except DeclarationError as error:
            problems.append(Problem(message=str(error), path=entry.path, line=table.line(error.key)))
    if problems:
        raise FormatError(problems)
    return tuple(found)


def _check_name(table: Table, index: int, names: set[str]) -> None:
    name = table.text("name")
    if not _NAME.fullmatch(name):
        raise DeclarationError(
            f"invalid verifier name {go_quoted(name)} at verifiers[{index}].name (use letters, digits, '.', '_', '-')",
            "name",
        )
    if name in names:
        raise DeclarationError(f"duplicate verifier name {go_quoted(name)}", "name")
    names.add(name)


def _read_entry(table: Table, index: int, entry: Declared, profiles: set[str]) -> FlatVerifier | Declared:
    if not table.text("type"):
        _check_inline(table, index)
        return entry
    _check_type(table, index)
    return read_flat(table, index, entry.location, profiles)


def _check_type(table: Table, index: int) -> None:
    kind = table.text("type")
    others = set_fields(table, SPEC_FIELDS)
    if others:
        message = f"verifier verifiers[{index}] sets {', '.join(others)}, which does not apply to type {kind}"
        raise DeclarationError(message, others[0])
    if kind not in FIELDS_OF_TYPE:
        hint = (
            "a program is run by the spec form: leave `type` out and use [verifiers.require.command]"
            if kind == "command"
            else f"known types: {', '.join(FIELDS_OF_TYPE)}"
        )
        raise DeclarationError(f"unknown verifier type {go_quoted(kind)} at verifiers[{index}].type ({hint})", "type")


def _check_inline(table: Table, index: int) -> None:
    place = f"verifier verifiers[{index}]"
    read_severity(table, index, "warning")
    others = set_fields(table, tuple(field for field in FLAT_FIELDS if field != "exclude"))
    if others:
        message = f"{place} sets {', '.join(others)}, which does not apply without a type"
        raise DeclarationError(message, others[0])
    if len(named_targets(table)) != 1:
        raise DeclarationError(f"{place} needs a type, or exactly one of rule, skill, agent or command")
    if not table.is_set("require"):
        raise DeclarationError(f"{place} needs a require predicate")
    globs = [("when_changed", text) for text in table.texts("when_changed")]
    globs += [("exclude", text) for text in table.texts("exclude")]
    for number, (key, text) in enumerate(globs):
        try:
            verifier_glob(text)
        except GlobError as error:
            raise DeclarationError(f"invalid {place} glob #{number} {go_quoted(text)}: {error}", key) from None


class _Collector:
    """Specs and invalid declarations in discovery order; an id belongs to the first usable declaration of it."""

    def __init__(self, project: Project, settings: Settings, pinned: frozenset[str]) -> None:
        self.specs: list[SpecVerifier] = []
        self.invalid: list[InvalidDeclaration] = []
        self._project = project
        self._settings = settings
        self._pinned = pinned
        self._sources: dict[str, str] = {}
        self._hint = _missing_hint(project)

    def add_flat(self, flat: FlatVerifier) -> None:
        self._sources[flat.name] = CONFIG_SOURCE

    def add_inline(self, entry: Declared) -> None:
        place = SpecPlace(path=entry.path, source=CONFIG_SOURCE, id_key="name")
        shape = {key: check for key, check in FILE_ENTRY.items() if key != "id"} | {"name": string, "type": string}
        problems = tuple(check_table(entry.node, shape, "[[verifiers]]", entry.path))
        table = Table(entry.node)
        if problems:
            first = problems[0]
            self._refuse(table, place, f"invalid TOML: {first.message}", first.line or table.line())
            return
        self._add(table, place, lambda _spec: None)

    def add_file(self, file: DeclarationFile) -> None:
        path = file.origin.shown(file.path)
        if file.node is None:
            problem = file.problems[0]
            self._refuse_file(file, problem.message, Location(path=path, line=problem.line or 1))
            return
        problems = tuple(check_table(file.node, DECLARATION_FILE, "a verifiers file", path))
        if problems:
            first = problems[0]
            self._refuse_file(file, f"invalid TOML: {first.message}", Location(path=path, line=first.line or 1))
            return
        place = SpecPlace(path=path, source=file.source)
        for table in Table(file.node).tables("verifiers"):
            self._add(table, place, lambda spec: self._refuse_untrusted(spec, file.origin))

    def _add(self, table: Table, place: SpecPlace, check: Callable[[SpecVerifier], None]) -> None:
        try:
            spec = read_spec(table, place, self._find, self._hint)
            check(spec)
            earlier = self._sources.get(spec.id)
            if earlier is not None:
                raise SpecError(f"duplicate verifier id (already declared in {earlier})", table.line(place.id_key))
        except SpecError as error:
            self._refuse(table, place, str(error), error.line)
            return
        self._sources[spec.id] = place.source
        self.specs.append(spec)

    def _find(self, kind: TargetKind, name: str) -> Item | None:
        return self._project.find(kind, name)

    def _refuse_untrusted(self, spec: SpecVerifier, origin: Origin) -> None:
        """Commands of includes need trust and a pin; those of skills never run (seed 000 "Imported verifiers")."""
        if origin.kind == "project" or not has_command(spec.require):
            return
        line = spec.declared.line
        if origin.kind == "skill":
            raise SpecError(
                f'uses the command predicate, which a verifier shipped by installed skill "{origin.name}" may never '
                "use (trust_exec_from covers includes only)",
                line,
            )
        if origin.name not in self._settings.trust_exec_from:
            raise SpecError(
                f'uses the command predicate, which a verifier imported from include "{origin.name}" may not: list the '
                "include in [verifiers_settings] trust_exec_from (it must also be pinned in ai-rulez.lock)",
                line,
            )
        if any(source.name == origin.name and source.local_override for source in self._project.config.includes):
            raise SpecError(
                f'include "{origin.name}" is read from its local_override, which ai-rulez.lock does not pin, so it may '
                "not use the command predicate",
                line,
            )
        if origin.name not in self._pinned:
            raise SpecError(
                f'include "{origin.name}" is trusted to run commands but is not pinned in ai-rulez.lock: '
                "run `reqfile lock`",
                line,
            )

    def _refuse(self, table: Table, place: SpecPlace, message: str, line: int) -> None:
        identifier = table.text(place.id_key) or None
        declared = Location(path=place.path, line=line)
        invalid = InvalidDeclaration(id=identifier, message=message, source=place.source, declared=declared)
        self.invalid.append(invalid)

    def _refuse_file(self, file: DeclarationFile, message: str, declared: Location) -> None:
        self.invalid.append(InvalidDeclaration(id=None, message=message, source=file.source, declared=declared))


def _missing_hint(project: Project) -> str:
    """Where a missing target may be that this machine cannot look into."""
    unseen = [f"{entry.source.table.removesuffix('s')} `{entry.source.name}`" for entry in project.unavailable]
    if project.config.builtins.in_use:
        unseen.append("the builtin packs of ai-rulez")
    return f"; not looked into: {', '.join(unseen)}" if unseen else ""


def _misspelt(config: Config) -> Iterator[InvalidDeclaration]:
    """Keys of config.toml that would be dropped in silence, as ai-rulez does, and with them what they check."""
    for key in (key for key in config.tables if key not in TOP_LEVEL_KEYS):
        from difflib import get_close_matches  # only where there is something to compare

        meant = get_close_matches(key.lower(), ("verifiers", SETTINGS_TABLE), n=1, cutoff=0.8)
        if meant:
            message = f"unknown key `{key}`, did you mean `{meant[0]}`?"
            declared = config.tables[key].location
            yield InvalidDeclaration(id=None, message=message, source=CONFIG_SOURCE, declared=declared)


def _not_looked_at(project: Project) -> Iterator[InvalidDeclaration]:
    """Imports whose verifiers are not on this machine, and content that could not be read: never silently nothing."""
    for missing in project.unavailable:
        source = missing.source
        if source.table == "skill_sources" or (source.table == "includes" and source.kinds is not None):
            continue  # served skills bring no verifiers, and a filtered include brings none (seed 000)
        kind = "include" if source.table == "includes" else "skill"
        yield InvalidDeclaration(
            id=None,
            message=f"cannot look for its verifiers: {missing.reason}",
            source=f"{kind}:{source.name}",
            declared=source.location,
        )
    for problem in project.problems:
        path = problem.path or project.config.path
        declared = Location(path=path, line=problem.line or 1)
        yield InvalidDeclaration(id=None, message=problem.message, source=path, declared=declared)
