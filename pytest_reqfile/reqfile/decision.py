"""decision.yaml: which code units are asked about, and what (seed 004 DECISION_CHECK; spec reqfile.md 1.3)."""

from __future__ import annotations

from dataclasses import dataclass
from hashlib import sha256
from typing import Final

from pytest_reqfile.reqfile.checks import read_glob, read_thresholds
from pytest_reqfile.reqfile.languages import canonical_language
from pytest_reqfile.reqfile.numbers import shortest
from pytest_reqfile.reqfile.values import Thresholds
from pytest_reqfile.syntax.fields import Fields, Problems
from pytest_reqfile.syntax.globs import Glob
from pytest_reqfile.syntax.nodes import Node, plain
from pytest_reqfile.syntax.yaml import read_yaml

DECISION_NAME: Final = "decision.yaml"
DECISION_KEYS: Final = ("units", "context", "question", "violation_when", "ok_when", "fix_hint", "thresholds")
UNIT_KEYS: Final = ("language", "rule", "constraints", "utils", "files", "ignores")
_RULE_KEYS: Final = ("rule", "constraints", "utils")
_FINGERPRINT_LENGTH: Final = 16


@dataclass(frozen=True, slots=True, kw_only=True)
class UnitRule:
    """One entry of ``units``: code that an ast-grep rule of one language matches, in some files.

    ``matcher`` holds ``rule``, ``constraints`` and ``utils`` as ast-grep takes them, builtin values all.
    """

    line: int
    language: str
    matcher: dict[str, object]
    files: tuple[Glob, ...] = ()
    ignores: tuple[Glob, ...] = ()

    def takes(self, path: str) -> bool:
        """Whether units come from ``path``, relative to the Reqfile's folder."""
        if self.files and not any(glob.matches(path) for glob in self.files):
            return False
        return not any(glob.matches(path) for glob in self.ignores)


@dataclass(frozen=True, slots=True, kw_only=True)
class Decision:
    """What a decision check asks, and where the line between violation and pass is."""

    units: tuple[UnitRule, ...]
    enclosing: bool
    question: str
    violation_when: str
    ok_when: str
    fix_hint: str
    thresholds: Thresholds

    @property
    def fingerprint(self) -> str:
        """What makes two judgements of one unit comparable (spec 8.6)."""
        above, below = shortest(self.thresholds.violation_above), shortest(self.thresholds.pass_below)
        return fingerprint("\n".join((self.question, self.violation_when, self.ok_when, above, below)))


def fingerprint(text: str) -> str:
    """The first 16 hex digits of the SHA-256 of a text."""
    return sha256(text.encode()).hexdigest()[:_FINGERPRINT_LENGTH]


def parse_decision(text: str, path: str) -> Decision:
    """The decision in ``text``. Raises FormatError with every problem, those of its rules excepted (``units``)."""
    problems = Problems(path)
    fields = Fields(read_yaml(text, path), DECISION_NAME, DECISION_KEYS, problems)
    units = _read_units(fields, problems)
    context: str | None = fields.choice(
        "context", ("enclosing",), "enclosing", "unknown context `{x}`; expected `enclosing`"
    )
    decision = Decision(
        units=units,
        enclosing="context" in fields and context == "enclosing",
        question=fields.string("question"),
        violation_when=fields.string("violation_when"),
        ok_when=fields.string("ok_when"),
        fix_hint=fields.string("fix_hint"),
        thresholds=read_thresholds(fields, problems, required=True),
    )
    fields.required("thresholds")
    problems.raise_if_any()
    return decision


def _read_units(fields: Fields, problems: Problems) -> tuple[UnitRule, ...]:
    before = len(problems)
    nodes = fields.list("units")
    if not nodes and fields.usable and len(problems) == before:
        fields.refuse("units", "`units` must list at least one ast-grep rule")
    return tuple(unit for node in nodes if (unit := _read_unit(node, problems)) is not None)


def _read_unit(node: Node, problems: Problems) -> UnitRule | None:
    fields = Fields(node, "a unit", UNIT_KEYS, problems)
    if not fields.usable:
        return None
    files = _read_globs(fields, "files", problems)
    ignores = _read_globs(fields, "ignores", problems)
    language = _read_language(fields, problems)
    given = {key: plain(value) for key in _RULE_KEYS if (value := fields.node(key)) is not None}
    if "rule" not in given:
        problems.add(node.line, "invalid ast-grep rule: missing field `rule`")
    if fields.failed or language is None:
        return None
    return UnitRule(line=node.line, language=language, matcher=given, files=files, ignores=ignores)


def _read_language(fields: Fields, problems: Problems) -> str | None:
    node = fields.node("language")
    if node is None:
        problems.add(fields.mapping_line, "invalid ast-grep rule: missing field `language`")
        return None
    language = canonical_language(node.value) if isinstance(node.value, str) else None
    if language is None:
        shown = node.value if isinstance(node.value, str) else node.describe()
        problems.add(fields.mapping_line, f"invalid ast-grep rule: `{shown}` is not a language that ast-grep knows")
    return language


def _read_globs(fields: Fields, key: str, problems: Problems) -> tuple[Glob, ...]:
    read = (read_glob(text, key, fields.line(key), problems) for text in fields.string_or_strings(key))
    return tuple(glob for glob in read if glob is not None)
