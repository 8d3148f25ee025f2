"""Unrestricted entries of ``allowed-tools``: AR007 (spec/airulez-project.md 7)."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final

from pytest_reqfile.project.frontmatter import read_document
from pytest_reqfile.syntax.nodes import Node

_KEYS: Final = ("allowed-tools", "allowed_tools", "allowedTools")
_MARKDOWN: Final = (".md", ".markdown", ".mdc", ".mdx")
_BROAD: Final = re.compile(r"\*|bash(?:\(\s*(?:\*|:\*|\*:\*)?\s*\))?", re.IGNORECASE)
_ENTRY: Final = re.compile(r"(?:[^\s,()]|\([^()]*\))+")


def broad_tools(path: str, data: bytes, allowed: tuple[str, ...]) -> Iterator[tuple[int, str]]:
    """Where the front matter of a Markdown file allows a tool everything, and the message."""
    if not path.lower().endswith(_MARKDOWN) or not any(key.encode() in data for key in _KEYS):
        return
    front = read_document(data.decode(errors="replace"), path).frontmatter
    if front is None:
        return
    for key in _KEYS:
        node = front.node.get(key)
        for line, tool in _entries(node) if node is not None else ():
            if _BROAD.fullmatch(tool) and tool not in allowed:
                yield _offset(data, line), f"unrestricted tool in {key}: {tool}"


def _entries(node: Node) -> Iterator[tuple[int, str]]:
    """A list of tools, or one text with them separated by commas or blanks."""
    for one in node.items if node.kind == "list" else (node,):
        if isinstance(one.value, str):
            yield from ((one.line, found[0]) for found in _ENTRY.finditer(one.value))


def _offset(data: bytes, line: int) -> int:
    place = 0
    for _ in range(line - 1):
        place = data.find(b"\n", place) + 1
    return place
