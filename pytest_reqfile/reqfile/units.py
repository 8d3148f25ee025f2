"""Code units: what the ast-grep rules of a decision check select (spec reqfile.md 4.1)."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final

from pytest_reqfile.errors import Problem, ReqfileError
from pytest_reqfile.reqfile.decision import Decision, UnitRule

if TYPE_CHECKING:
    from ast_grep_py import SgNode, SgRoot

UNIT_LIMIT: Final = 60_000
"""Characters of a unit and its enclosing function that are sent; larger ones are errors, never cut (spec 4.4)."""
_ENCLOSING_KINDS: Final = frozenset(
    {
        *("function_item", "function_declaration", "function_definition", "function_expression"),
        *("generator_function_declaration", "method_definition", "method_declaration", "arrow_function"),
    }
)
_CAUSE: Final = re.compile(r"\n    (?:\d+: )?(?=\S)")
_REFUSALS: Final = frozenset({Exception, OverflowError, RuntimeError, TypeError, ValueError})


class NoSelectorError(ReqfileError):
    """ast-grep is not installed, so nothing can be selected or judged; the text names the extra."""


class RuleError(ReqfileError):
    """ast-grep refuses a rule; the text is its chain of causes."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Unit:
    """A piece of code: ``start`` and ``end`` count characters of its file, ``line`` is 1-based.

    ``enclosing`` is the text of the function around it, where its check asks for that and there is one.
    """

    path: str
    language: str
    line: int
    start: int
    end: int
    source: str
    enclosing: str | None = None

    @property
    def size(self) -> int:
        """The characters that a request about it carries."""
        return len(self.source) + len(self.enclosing or "")


class ParsedFile:
    """A file's text as syntax trees, each language parsed at most once whatever the number of rules."""

    def __init__(self, path: str, text: str) -> None:
        self.path = path
        self._text = text
        self._parsed: dict[str, SgRoot] = {}

    def units(self, decision: Decision, rules: Iterable[UnitRule]) -> tuple[Unit, ...]:
        """What ``rules`` of a decision select, in the order of the file; a range that two of them match counts once."""
        found: dict[tuple[int, int], Unit] = {}
        for rule in rules:
            for node in self._root(rule.language).find_all(rule.matcher):  # type: ignore[call-overload]
                place = node.range()
                key = (place.start.index, place.end.index)
                if key not in found:
                    found[key] = Unit(
                        path=self.path,
                        language=rule.language,
                        line=place.start.line + 1,
                        start=key[0],
                        end=key[1],
                        source=node.text(),
                        enclosing=_enclosing(node) if decision.enclosing else None,
                    )
        return tuple(sorted(found.values(), key=lambda unit: unit.start))

    def _root(self, language: str) -> SgNode:
        if language not in self._parsed:
            self._parsed[language] = _sg_root()(self._text, language)
        return self._parsed[language].root()


def rules_for(decision: Decision, relative: str, language: str | None) -> tuple[UnitRule, ...]:
    """The rules that apply to a file of a language, by its path relative to the Reqfile's folder."""
    return tuple(rule for rule in decision.units if rule.language == language and rule.takes(relative))


def rule_problems(decision: Decision, path: str) -> tuple[Problem, ...]:
    """What ast-grep refuses in the rules, found before anything is searched. Raises NoSelectorError without it."""
    return tuple(
        Problem(path=path, line=rule.line, message=f"invalid ast-grep rule: {refusal}")
        for rule, refusal in _refusals(decision.units)
    )


def _refusals(rules: Sequence[UnitRule]) -> Iterator[tuple[UnitRule, str]]:
    root_type = _sg_root()
    for rule in rules:
        try:
            _compile(root_type, rule)
        except RuleError as error:
            yield rule, str(error)


def _compile(root_type: type[SgRoot], rule: UnitRule) -> None:
    """ast-grep reads a rule when it is first searched for, in an empty text as well."""
    matcher: Any = rule.matcher
    try:
        root_type("", rule.language).root().find_all(matcher)
    except Exception as error:
        if type(error) in _REFUSALS:  # the binding raises no class of its own
            raise RuleError(_causes(str(error))) from error
        raise


def _causes(text: str) -> str:
    """anyhow's report as one line: its causes joined by ``: ``, without a stack."""
    heading, _, causes = text.partition("Stack backtrace:")[0].partition("Caused by:")
    parts = _CAUSE.split(causes.rstrip()) if causes else [heading]
    return ": ".join(" ".join(part.split()) for part in parts if part.strip())


def _enclosing(node: SgNode) -> str | None:
    """The nearest ancestor; asking each node for its parent would walk down from the root again and again."""
    return next((ancestor.text() for ancestor in node.ancestors() if ancestor.kind() in _ENCLOSING_KINDS), None)


def _sg_root() -> type[SgRoot]:
    try:
        from ast_grep_py import SgRoot as Root
    except ImportError as error:
        raise NoSelectorError(
            "decision checks need ast-grep, which is not installed: pip install 'pytest-reqfile[decision]'"
        ) from error
    return Root
