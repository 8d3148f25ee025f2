"""Sources that ask for versions, and the tags of a remote, as values."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from pytest_reqfile.lock.tags import Tag
from pytest_reqfile.project.values import Declared, Source
from pytest_reqfile.syntax.nodes import Node

URL = "https://example.invalid/acme/rules"
PLACE = Declared(node=Node(kind="mapping", value=(), line=1, column=1), path=".ai-rulez/config.toml")


def range_source(version: str = "^3.4", name: str = "core", **changes: Any) -> Source:
    """An include with a version constraint."""
    source = Source(table="includes", name=name, source=URL, declared=PLACE, is_git=True, version=version)
    return replace(source, **changes)


def commit(number: int | str) -> str:
    """A commit id: the number in hex, or the first digits filled up."""
    return f"{number:040x}" if isinstance(number, int) else number.ljust(40, "0")


def tags(text: str) -> tuple[Tag, ...]:
    """Tags by name, each with a commit of its own (its place in ``text``, from 1); sorted as they are listed."""
    found = [Tag(name=name, commit=commit(number)) for number, name in enumerate(text.split(), 1)]
    return tuple(sorted(found, key=lambda tag: tag.name.encode()))
