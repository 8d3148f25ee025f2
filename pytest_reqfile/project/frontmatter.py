"""The YAML block in front of a Markdown file, and the lines behind it (spec/lock.md 3.2; spec/airulez-project.md 2.4)."""

from __future__ import annotations

from dataclasses import dataclass

from pytest_reqfile.syntax.nodes import Node


@dataclass(frozen=True, slots=True, kw_only=True)
class Frontmatter:
    """``node`` is the mapping of the block with lines of the file; ``block`` its YAML, LF-terminated, without CR."""

    block: str
    node: Node


@dataclass(frozen=True, slots=True, kw_only=True)
class Document:
    """A Markdown file. ``body`` starts at ``body_line`` of the file; ``text`` is the whole file as it is.

    ``owner`` and ``version`` are those keys of the frontmatter as source text, trimmed; empty where absent.
    ``malformed`` says what is wrong with the frontmatter, at ``malformed_line``; it then counts as none.
    """

    text: str
    body: str
    body_line: int
    frontmatter: Frontmatter | None
    owner: str = ""
    version: str = ""
    malformed: str | None = None
    malformed_line: int = 1

    def line_of(self, anchor: str) -> int | None:
        """The file line of the first body line whose trimmed text is ``anchor`` trimmed (spec/verifiers.md 2.3)."""
        raise NotImplementedError
