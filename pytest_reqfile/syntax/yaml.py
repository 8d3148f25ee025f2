"""YAML as the Reqfile formats read it: YAML 1.2, no aliases, no duplicate keys, one document (spec/reqfile.md 1.0)."""

from __future__ import annotations

from collections.abc import Callable

from pytest_reqfile.syntax.events import CORE_TAG, Event, EventReader
from pytest_reqfile.syntax.nodes import Node
from pytest_reqfile.syntax.scalars import Reading, core_scalar, tagged_scalar


def read_yaml(text: str, path: str, *, pure: bool | None = None) -> Node:
    """The one document of ``text``; an empty text is null at line 1 (spec/reqfile.md 1.0).

    ``pure`` chooses PyYAML's Python parser; by default it is used where libyaml is missing. Raises ``FormatError``
    with every duplicate key, alias, bad key and bad tag up to the first syntax error.
    """
    from yaml import __with_libyaml__

    return _ReqfileReader(text, path, pure=not __with_libyaml__ if pure is None else pure).read()


def top_level_keys(text: str) -> tuple[frozenset[str], bool]:
    """The keys of the first document's mapping as any YAML parser finds them, and whether its end was reached.

    For text that ``read_yaml`` refuses: aliases, repeated keys and further documents hide nothing here.
    """
    import yaml

    loader = yaml.CSafeLoader if yaml.__with_libyaml__ else yaml.SafeLoader
    keys: set[str] = set()
    depth, nodes = 0, 0
    try:
        for event in yaml.parse(text.removeprefix("\ufeff"), Loader=loader):
            if depth == 0 and isinstance(event, yaml.NodeEvent) and not isinstance(event, yaml.MappingStartEvent):
                return frozenset(), True
            if depth == 1 and isinstance(event, yaml.NodeEvent):
                nodes += 1
                if nodes % 2 and isinstance(event, yaml.ScalarEvent):
                    keys.add(event.value)
            if isinstance(event, yaml.CollectionStartEvent):
                depth += 1
            elif isinstance(event, yaml.CollectionEndEvent):
                depth -= 1
                if depth == 0:
                    return frozenset(keys), True
    except yaml.YAMLError:
        return frozenset(keys), False
    return frozenset(keys), True


class _ReqfileReader(EventReader):
    def reading(self, event: Event) -> Reading | None:
        if event.style:
            return "string", event.value
        if event.tag is not None and event.tag.startswith(CORE_TAG):
            return tagged_scalar(event.tag.removeprefix(CORE_TAG), event.value)
        return core_scalar(event.value)

    def key_text(self, reading: Reading) -> str | None:
        kind, value = reading
        if kind == "boolean":
            return "true" if value else "false"
        return str(value) if kind in ("string", "integer") else None

    def alias(self, event: Event) -> Node:
        line, column = event.start_mark.line + 1, event.start_mark.column + 1
        self.add(line, "YAML aliases are not supported")
        return Node(kind="null", value=None, line=line, column=column)

    def after_document(self, following: Callable[[], Event]) -> None:
        event = following()
        if type(event) is self.document_start:
            self.add(event.start_mark.line + 1, "expected a single YAML document")
