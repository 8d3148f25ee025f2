"""The YAML block in front of a Markdown file and the lines behind it (spec/lock.md 3.2; airulez-project.md 2.4)."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Final

from pytest_reqfile.errors import FormatError, Problem
from pytest_reqfile.syntax.nodes import Node
from pytest_reqfile.syntax.yaml import read_yaml

_BOM: Final = "\ufeff"
_BLANKS: Final = " \t\r"
# A scalar that is no string is plain, stands on one line and holds no comma or bracket (a time may hold blanks).
_PLAIN: Final = re.compile(r"[^\s,\[\]{}]+(?:[ \t]+[^\s#,\[\]{}][^\s,\[\]{}]*)*")


@dataclass(frozen=True, slots=True, kw_only=True)
class Frontmatter:
    """``node`` is the mapping of the block with lines of the file; ``block`` its YAML, LF-terminated, without CR."""

    block: str
    node: Node

    def source_text(self, key: str) -> str:
        """The scalar at ``key`` as it is written (``1.10`` stays ``1.10``), trimmed; empty where there is none."""
        value = self.node.get(key)
        if value is None or value.kind in {"list", "mapping"}:
            return ""
        if isinstance(value.value, str):
            return value.value.strip()
        line = self.block.split("\n")[value.line - 2]
        written = _PLAIN.match(line, value.column - 1)
        return written[0] if written and value.kind != "null" else ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Document:
    """A Markdown file. ``text`` is the whole file, undecodable bytes as lone surrogates; ``body`` what follows the
    frontmatter, from line ``body_line`` of the file on.

    ``problems`` says what is wrong with the file. A malformed frontmatter is none (None), but no part of the body; a
    file that cannot be read is ``unread`` and empty.
    """

    text: str
    body: str
    body_line: int
    frontmatter: Frontmatter | None = None
    problems: tuple[Problem, ...] = ()
    unread: bool = False

    @property
    def owner(self) -> str:
        """The frontmatter's ``owner`` as written, trimmed; empty where absent (spec/lock.md 3.2)."""
        return self.frontmatter.source_text("owner") if self.frontmatter else ""

    @property
    def version(self) -> str:
        """The frontmatter's ``version`` as written, trimmed; empty where absent (spec/lock.md 3.2)."""
        return self.frontmatter.source_text("version") if self.frontmatter else ""

    def line_of(self, anchor: str) -> int | None:
        """The file line of the first body line whose trimmed text is ``anchor`` trimmed (spec/verifiers.md 2.3)."""
        wanted = anchor.strip()
        for line, text in enumerate(self.body.split("\n"), start=self.body_line):
            if text.strip() == wanted:
                return line
        return None


@dataclass(frozen=True, slots=True, kw_only=True)
class Split:
    """A text cut at its fences: ``block`` is None without an opening fence, ``closed`` tells of the second one."""

    block: str | None
    closed: bool
    body: str
    body_line: int


def split_frontmatter(text: str) -> Split:
    """Cut ``text`` as the lock does (spec/lock.md 3.2): a fence is ``---`` and blanks, and not indented.

    One empty line behind the closing fence belongs to neither part. An unclosed block is body, too.
    """
    lines = text.removeprefix(_BOM).split("\n")
    if len(lines) < 2 or not _is_fence(lines[0]):
        return Split(block=None, closed=False, body=text, body_line=1)
    end = next((number for number in range(1, len(lines)) if _is_fence(lines[number])), None)
    if end is None:
        return Split(block="", closed=False, body=text, body_line=1)
    block = "".join(f"{line.rstrip(chr(13))}\n" for line in lines[1:end])
    start = end + 1
    if start < len(lines) - 1 and not lines[start].rstrip("\r"):
        start += 1
    return Split(block=block, closed=True, body="\n".join(lines[start:]), body_line=start + 1)


def read_document(text: str, path: str) -> Document:
    """The document in ``text``; a frontmatter that is unclosed, no YAML or no mapping is a problem of it."""
    split = split_frontmatter(text)
    if split.block is None:
        return Document(text=text, body=split.body, body_line=1)
    if not split.closed:
        problem = Problem(path=path, line=1, message="the frontmatter is never closed: expected a second line `---`")
        return Document(text=text, body=text, body_line=1, problems=(problem,))
    frontmatter, problems = _read_block(split.block, path)
    return Document(text=text, body=split.body, body_line=split.body_line, frontmatter=frontmatter, problems=problems)


def _is_fence(line: str) -> bool:
    return line.rstrip(_BLANKS) == "---"


def _read_block(block: str, path: str) -> tuple[Frontmatter | None, tuple[Problem, ...]]:
    """The block's mapping; its lines are those of the file because the fence above it is one empty line."""
    try:
        node = read_yaml(f"\n{block}", path)
    except FormatError as error:
        return None, tuple(_of_frontmatter(problem) for problem in error.problems)
    if node.kind == "null":
        return None, ()
    if node.kind != "mapping":
        message = f"the frontmatter must be a mapping, found {node.describe()}"
        return None, (Problem(path=path, line=node.line, message=message),)
    return Frontmatter(block=block, node=node), ()


def _of_frontmatter(problem: Problem) -> Problem:
    return Problem(path=problem.path, line=problem.line, message=f"the frontmatter cannot be read: {problem.message}")
