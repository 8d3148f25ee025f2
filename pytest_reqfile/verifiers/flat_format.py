"""``[[verifiers]]`` entries of config.toml with a ``type``, validated (seed 000 "Fields"; spec/verifiers.md 1.3)."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping
from typing import Final

from pytest_reqfile.outcome import Location, Severity
from pytest_reqfile.syntax.globs import Glob, GlobError, verifier_glob
from pytest_reqfile.syntax.patterns import PatternError, compile_pattern
from pytest_reqfile.verifiers.keypath import KeyPathError, parse_key
from pytest_reqfile.verifiers.shape import Table
from pytest_reqfile.verifiers.values import (
    SEVERITIES,
    ContentCheck,
    CountCheck,
    FlatCheck,
    FlatVerifier,
    KeyCheck,
    PathCheck,
    SyncCheck,
)
from pytest_reqfile.verifiers.words import go_quoted
from pytest_reqfile.workspace.paths import normalised

FLAT_FIELDS: Final = ("path", "glob", "exclude", "pattern", "min", "max", "key", "equals", "profile")
FIELDS_OF_TYPE: Final[Mapping[str, tuple[str, ...]]] = {
    "file_exists": ("path",),
    "file_absent": ("path",),
    "glob_count": ("glob", "exclude", "min", "max"),
    "regex": ("glob", "exclude", "pattern"),
    "forbid": ("glob", "exclude", "pattern"),
    "key_equals": ("path", "key", "equals"),
    "generated_in_sync": ("profile",),
}
KEY_FILES: Final = (".json", ".yaml", ".yml", ".toml")


class DeclarationError(ValueError):
    """What is wrong with one declaration, and at which of its keys."""

    def __init__(self, message: str, key: str | None = None) -> None:
        super().__init__(message)
        self.key = key


def read_flat(table: Table, index: int, declared: Location, profiles: Collection[str]) -> FlatVerifier:
    """The flat verifier that entry ``index`` (0-based) declares. Raises DeclarationError for the first thing wrong."""
    entry = _Entry(table, index)
    return FlatVerifier(
        name=table.text("name"),
        description=table.text("description"),
        severity=read_severity(table, index, "error"),
        check=entry.check(profiles),
        declared=declared,
    )


def read_severity(table: Table, index: int, default: Severity) -> Severity:
    """The entry's severity. Raises DeclarationError for an unknown one."""
    text = table.text("severity") or default
    for known in SEVERITIES:
        if text == known:
            return known
    raise DeclarationError(
        f"invalid verifier severity {go_quoted(text)} at verifiers[{index}].severity (use error, warning or info)",
        "severity",
    )


def set_fields(table: Table, fields: tuple[str, ...]) -> tuple[str, ...]:
    """Those of ``fields`` that the table sets; ``equals``, ``min`` and ``max`` also where they are empty or 0."""
    return tuple(
        field for field in fields if table.is_set(field) or (field in ("equals", "min", "max") and field in table)
    )


class _Entry:
    def __init__(self, table: Table, index: int) -> None:
        self.table = table
        self.place = f"verifiers[{index}]"
        self.type = table.text("type")

    def check(self, profiles: Collection[str]) -> FlatCheck:
        self._refuse_other_fields()
        read: Mapping[str, Callable[[], FlatCheck]] = {
            "file_exists": lambda: PathCheck(path=self._path(), present=True),
            "file_absent": lambda: PathCheck(path=self._path(), present=False),
            "glob_count": self._count,
            "regex": lambda: self._content(forbidden=False),
            "forbid": lambda: self._content(forbidden=True),
            "key_equals": self._key,
            "generated_in_sync": lambda: self._sync(profiles),
        }
        return read[self.type]()

    def _refuse_other_fields(self) -> None:
        allowed = FIELDS_OF_TYPE[self.type]
        others = set_fields(self.table, tuple(field for field in FLAT_FIELDS if field not in allowed))
        if others:
            uses = ", ".join(allowed)
            raise DeclarationError(
                f"verifier {self.place} sets {', '.join(others)}, which does not apply to type {self.type} "
                f"(type {self.type} uses: {uses})",
                others[0],
            )

    def _required(self, key: str) -> str:
        if not self.table.is_set(key):
            raise DeclarationError(f"verifier type {self.type} needs {self.place}.{key}")
        return self.table.text(key)

    def _path(self) -> str:
        path = self._required("path")
        if normalised(path.replace("\\", "/")) is None:
            raise DeclarationError(
                f"verifier {self.place}.path {go_quoted(path)} must be relative and inside the project", "path"
            )
        return path

    def _glob(self) -> Glob:
        return self._as_glob(self._required("glob"), "glob", "glob")

    def _exclude(self) -> tuple[Glob, ...]:
        texts = self.table.texts("exclude")
        return tuple(self._as_glob(text, "exclude", f"exclude[{number}]") for number, text in enumerate(texts))

    def _as_glob(self, text: str, key: str, label: str) -> Glob:
        try:
            return verifier_glob(text)
        except GlobError as error:
            message = f"invalid verifier {self.place}.{label} {go_quoted(text)}: {error}"
            raise DeclarationError(message, key) from None

    def _count(self) -> CountCheck:
        glob = self._glob()
        minimum, maximum = self.table.number("min"), self.table.number("max")
        if minimum is None and maximum is None:
            raise DeclarationError(f"verifier type glob_count needs a min or max at {self.place}")
        if minimum is not None and maximum is not None and minimum > maximum:
            raise DeclarationError(f"verifier {self.place}.min ({minimum}) is greater than max ({maximum})", "min")
        if min(minimum or 0, maximum or 0) < 0:
            raise DeclarationError(f"verifier {self.place}.min and max must not be negative")
        return CountCheck(glob=glob, exclude=self._exclude(), minimum=minimum, maximum=maximum)

    def _content(self, *, forbidden: bool) -> ContentCheck:
        glob = self._glob()
        pattern = self._required("pattern")
        try:
            compile_pattern(pattern)
        except PatternError as error:
            raise DeclarationError(f"invalid verifier {self.place}.pattern: {error}", "pattern") from None
        return ContentCheck(forbidden=forbidden, glob=glob, pattern=pattern, exclude=self._exclude())

    def _key(self) -> KeyCheck:
        path = self._path()
        key = self._required("key")
        if "equals" not in self.table:
            raise DeclarationError(f"verifier type {self.type} needs {self.place}.equals")
        if not path.lower().endswith(KEY_FILES):
            raise DeclarationError(
                f"verifier {self.place}.path {go_quoted(path)} has an unsupported format for key_equals "
                "(use .json, .yaml, .yml or .toml)",
                "path",
            )
        try:
            segments = parse_key(key)
        except KeyPathError as error:
            raise DeclarationError(f"invalid verifier {self.place}.key: {error}", "key") from None
        return KeyCheck(path=path, key=key, segments=segments, equals=self.table.text("equals"))

    def _sync(self, profiles: Collection[str]) -> SyncCheck:
        profile = self.table.text("profile")
        for part in profile.split(",") if profile else ():
            if part.strip() != "default" and part.strip() not in profiles:
                raise DeclarationError(
                    f"verifier {self.place}.profile {go_quoted(profile)} is not a defined profile", "profile"
                )
        return SyncCheck(profile=profile)
