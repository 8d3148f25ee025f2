"""Reading a mission or brief: liberal in where a key sits, strict in what it means (spec oracle.md 3)."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import Final

from pytest_reqfile.errors import FormatError, Problem
from pytest_reqfile.oracle.digests import sha256_digest
from pytest_reqfile.oracle.entries import ORACLE_FORM_KEYS, Entries
from pytest_reqfile.oracle.mission import Criterion, Guard, Mission, OracleCommand
from pytest_reqfile.syntax.fields import Fields, Problems
from pytest_reqfile.syntax.json import read_json
from pytest_reqfile.syntax.nodes import Node, plain

_ORACLE: Final = (
    "/verificationOracle",
    "/delegation/verificationOracle",
    "/intent/verificationOracle",
    "/spec/verificationOracle",
)
_GUARDS: Final = ("/mustNotRegress", "/delegation/mustNotRegress", "/intent/mustNotRegress")
_CRITERIA: Final = (
    "/acceptanceCriteria",
    "/acceptance/criteria",
    "/intent/acceptanceCriteria",
    "/delegation/acceptanceCriteria",
)
_RETURN_BUDGET: Final = "/delegation/return_budget_tokens"
_TOKENS: Final = "/intent/limits/tokens"
_OBJECTS: Final = ("/delegation", "/intent", "/intent/limits", "/acceptance", "/spec")
_BINDING: Final = ("/head", "/base", "/lineage", "/metadata/lineage", "/review")


def read_mission(data: bytes, path: str) -> Mission:
    """The mission in ``data``; what is wrong with it is in its ``problems``, never raised.

    A text that is no JSON (duplicate keys included) has no criteria; otherwise all that could be read is kept, so that
    each criterion can be reported as blocked.
    """
    digest = sha256_digest(data)
    try:
        root = read_json(data.decode("utf-8"), path)
    except UnicodeDecodeError:
        return Mission(path=path, digest=digest, problems=(Problem(path=path, line=1, message="not valid UTF-8"),))
    except FormatError as error:
        return Mission(path=path, digest=digest, problems=error.problems)
    return _Reader(path, digest, root).mission()


class _Reader:
    def __init__(self, path: str, digest: str, root: Node) -> None:
        self._digest = digest
        self._root = root
        self._problems = Problems(path)
        self._entries = Entries(self._problems)

    def mission(self) -> Mission:
        if self._root.kind != "mapping":
            self._problems.add(self._root.line, f"a mission must be an object, found {self._root.describe()}")
        for pointer in _OBJECTS:
            self._refuse_other_than_object(pointer)
        oracle = self._one(_ORACLE)
        mission = Mission(
            path=self._problems.path,
            digest=self._digest,
            commands=self._commands(oracle),
            guards=self._guards(oracle),
            criteria=self._criteria(),
            return_budget=self._limit(_RETURN_BUDGET),
            token_limit=self._limit(_TOKENS),
            binding=self._binding(),
        )
        return _with_problems(mission, self._problems)

    def _refuse_other_than_object(self, pointer: str) -> None:
        """What holds keys we look for must be an object, or a limit or a criterion would go unseen."""
        node = self._at(pointer)
        if node is not None and node.kind != "mapping":
            name = pointer[1:].replace("/", ".")
            self._problems.add(node.line, f"`{name}` must be an object, found {node.describe()}")

    def _one(self, pointers: tuple[str, ...], *more: Node | None) -> Node | None:
        """The value at the first pointer that has one; a different value at another is a contradiction."""
        found = [(pointer, node) for pointer in pointers if (node := self._at(pointer)) is not None]
        found += [("the oracle's own", node) for node in more if node is not None]
        for pointer, node in found[1:]:
            if plain(node) != plain(found[0][1]):
                self._problems.add(node.line, f"{pointer} contradicts {found[0][0]} at line {found[0][1].line}")
        return found[0][1] if found else None

    def _at(self, pointer: str) -> Node | None:
        node: Node | None = self._root
        for key in pointer.split("/")[1:]:
            if node is None or node.kind != "mapping":
                return None
            node = node.get(key)
        return None if node is None or node.kind == "null" else node

    def _commands(self, oracle: Node | None) -> tuple[OracleCommand, ...]:
        if oracle is None:
            return ()
        default: Node | None = None
        nodes: tuple[Node, ...] = (oracle,)
        if oracle.kind == "list":
            nodes = oracle.items
        elif oracle.kind == "mapping" and oracle.get("command") is None:
            fields = Fields(oracle, "verificationOracle", ORACLE_FORM_KEYS, self._problems)
            nodes = fields.optional_list("commands") if fields.kind_of("commands") != "null" else ()
            default = fields.node("expectedExitCode")
        return tuple(self._entries.command(node, number, default) for number, node in enumerate(nodes, 1))

    def _guards(self, oracle: Node | None) -> tuple[Guard, ...]:
        inner = oracle.get("mustNotRegress") if oracle is not None and oracle.kind == "mapping" else None
        node = self._one(_GUARDS, inner if inner is not None and inner.kind != "null" else None)
        if node is None:
            return ()
        nodes = node.items if node.kind == "list" else (node,)
        guards = tuple(self._entries.guard(item, number) for number, item in enumerate(nodes, 1))
        self._refuse_repeated("guard", [(guard.id, guard.location.line) for guard in guards if guard.kind != "prose"])
        return guards

    def _criteria(self) -> tuple[Criterion, ...]:
        node = self._one(_CRITERIA)
        if node is None:
            return ()
        if node.kind != "list":
            self._problems.add(node.line, f"`acceptanceCriteria` must be a list, found {node.describe()}")
            return ()
        read = (self._entries.criterion(item) for item in node.items)
        criteria = tuple(criterion for criterion in read if criterion is not None)
        self._refuse_repeated("criterion", [(criterion.id, criterion.location.line) for criterion in criteria])
        return criteria

    def _refuse_repeated(self, what: str, ids: list[tuple[str, int]]) -> None:
        first: dict[str, int] = {}
        for identifier, line in ids:
            if first.setdefault(identifier, line) != line or ids.count((identifier, line)) > 1:
                self._problems.add(line, f"duplicate {what} id `{identifier}` (first used at line {first[identifier]})")

    def _limit(self, pointer: str) -> int | None:
        node = self._at(pointer)
        if node is None:
            return None
        value = node.value
        if isinstance(value, int) and not isinstance(value, bool) and value >= 1:
            return value
        found = value if node.kind == "integer" else node.describe()
        self._problems.add(
            node.line, f"`{pointer[1:].replace('/', '.')}` must be an integer of at least 1, found {found}"
        )
        return None

    def _binding(self) -> dict[str, object]:
        def found() -> Iterator[tuple[str, object]]:
            for pointer in _BINDING:
                node = self._at(pointer)
                if node is not None:
                    yield pointer.rpartition("/")[2], plain(node)

        self._one(("/lineage", "/metadata/lineage"))
        return dict(reversed(tuple(found())))


def _with_problems(mission: Mission, problems: Problems) -> Mission:
    return replace(mission, problems=problems.found)
