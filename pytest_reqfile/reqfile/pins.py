"""Use blocks in the text of a Reqfile: adding them, moving their pins, every other byte kept (spec reqfile.md 7.3 f.).

The text is edited by lines, then read again: an edit that says anything else than it should is refused.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from pytest_reqfile.errors import FormatError, Problem
from pytest_reqfile.reqfile.format import FORMAT_VERSION, parse_reqfile
from pytest_reqfile.reqfile.values import Kind
from pytest_reqfile.syntax.nodes import Node, plain
from pytest_reqfile.syntax.scalars import core_scalar
from pytest_reqfile.syntax.yaml import read_yaml

NEW_REQFILE: Final = f"reqfile: {FORMAT_VERSION}\n"
_INDENT: Final = "  "
_LINE: Final = re.compile(r"[^\r\n]*(?:\r\n|\r|\n)|[^\r\n]+")  # lines as YAML counts them
_SAFE_PLAIN: Final = re.compile(r"[A-Za-z0-9._/@-]+")
_PIN: Final = re.compile(
    r"""\buse["']?\s*:\s*["']?([A-Za-z0-9._-]+/[A-Za-z0-9._-]+)@([0-9a-fA-F]{40})(?![0-9A-Za-z])"""
)
_QUOTED: Final = re.compile(r"""(?:(?<=[\s\[{,:])|^)(?:"(?:[^"\\]|\\.)*"|'(?:[^']|'')*')""")
_COMMENT: Final = re.compile(r"(?:(?<=\s)|^)#")


@dataclass(frozen=True, slots=True, kw_only=True)
class UseLine:
    """A use block on one line: ``use`` as it is to stand in the Reqfile, ``tag`` the comment that names its pin."""

    id: str
    use: str
    tag: str | None = None

    def __str__(self) -> str:
        comment = f"  # {self.tag}" if self.tag else ""
        return f"- {{ id: {_scalar(self.id)}, use: {_scalar(self.use)} }}{comment}"


@dataclass(frozen=True, slots=True, kw_only=True)
class Pin:
    """A ``use: owner/repo@commit`` in a text; ``line`` is 1-based, ``tag`` the first word of the line's comment."""

    line: int
    repo: str
    commit: str
    tag: str | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Move:
    """A pin and where it goes: the commit that ``tag`` points to."""

    pin: Pin
    commit: str
    tag: str


def sections_text(sections: Mapping[Kind, Sequence[UseLine]]) -> str:
    """The sections as they stand in a new Reqfile, a blank line between them."""
    return "\n".join(_section(kind, lines, _INDENT, "\n") for kind, lines in sections.items())


def insert_use_lines(text: str, path: str, sections: Mapping[Kind, Sequence[UseLine]]) -> str:
    """``text`` with the lines at the end of their sections; a section that is missing is appended.

    Raises FormatError when the result would not be the same Reqfile with these use blocks more, as with a section
    written as ``[…]``.
    """
    text = _ended(text or NEW_REQFILE)
    before = read_yaml(text, path)
    for kind, lines in sections.items():
        text = _insert(text, read_yaml(text, path), kind, lines)
    wanted = _values(before)
    for kind, lines in sections.items():
        present = wanted.get(kind, [])
        assert isinstance(present, list)
        wanted[kind] = [*present, *({"id": line.id, "use": line.use} for line in lines)]
    _refuse_other_meaning(text, path, wanted)
    return text


def find_pins(text: str) -> tuple[Pin, ...]:
    """Every pin on a line of ``text``, in flow and in block style; folders and tags are none."""
    return tuple(
        Pin(line=number, repo=found[1], commit=found[2].lower(), tag=_tag_of(line))
        for number, line in enumerate(_LINE.findall(text), start=1)
        for found in _PIN.finditer(line)
    )


def move_pins(text: str, path: str, moves: Sequence[Move]) -> str:
    """``text`` with pins moved, each with its tag as the line's comment; all pins of one commit move together.

    Raises FormatError when the result would say anything else.
    """
    lines = _LINE.findall(text)
    for move in moves:
        lines[move.pin.line - 1] = _moved(lines[move.pin.line - 1], move)
    new_uses = {f"{m.pin.repo}@{m.pin.commit}": f"{m.pin.repo}@{m.commit}" for m in moves}
    before = _values(read_yaml(text, path))
    _refuse_other_meaning("".join(lines), path, {key: _with_uses(value, new_uses) for key, value in before.items()})
    return "".join(lines)


def _section(kind: Kind, lines: Sequence[UseLine], indent: str, newline: str) -> str:
    return "".join(f"{line}{newline}" for line in (f"{kind}:", *(f"{indent}{line}" for line in lines)))


def _newline_of(text: str) -> str:
    return "\r\n" if _LINE.findall(text)[0].endswith("\r\n") else "\n"


def _ended(text: str) -> str:
    """``text`` with its last line ended: another can only follow then, even if it is the end of a block scalar."""
    return text if text.endswith(("\n", "\r")) else text + _newline_of(text)


def _insert(text: str, root: Node, kind: Kind, added: Sequence[UseLine]) -> str:
    lines = _LINE.findall(text)
    newline = _newline_of(text)
    section = root.get(kind)
    if section is None:
        blank = newline if lines[-1].strip() else ""
        return "".join((*lines, blank, _section(kind, added, _INDENT, newline)))
    start = next(entry.line for entry in root.entries if entry.key == kind)
    end = min((entry.line - 1 for entry in root.entries if entry.line > start), default=len(lines))
    indent = lines[section.line - 1][: section.column - 1]
    while end > section.line and _leads_on(lines[end - 1], indent):
        end -= 1
    lines[end:end] = [f"{indent}{line}{newline}" for line in added]
    return "".join(lines)


def _leads_on(line: str, indent: str) -> bool:
    """Whether a line after a section's last item belongs to what follows: blank, or a comment no deeper than items."""
    content = line.lstrip()
    return not content or (content.startswith("#") and len(line) - len(content) <= len(indent))


def _moved(line: str, move: Move) -> str:
    content = line.rstrip("\r\n")
    ending = line[len(content) :]
    at = _comment_at(content)
    content = (content if at is None else content[:at]).rstrip()
    pinned = re.compile(f"{re.escape(move.pin.repo)}@{move.pin.commit}", re.IGNORECASE)
    return f"{pinned.sub(f'{move.pin.repo}@{move.commit}', content)}  # {move.tag}{ending}"


def _tag_of(line: str) -> str | None:
    at = _comment_at(line)
    words = line[at + 1 :].split() if at is not None else ()
    return words[0] if words else None


def _comment_at(line: str) -> int | None:
    """Where the comment of a line starts: a ``#`` after white space, outside of quotes."""
    found = _COMMENT.search(_QUOTED.sub(lambda quoted: "x" * len(quoted[0]), line))
    return found.start() if found else None


def _scalar(text: str) -> str:
    """``text`` as a string inside ``{ }``, quoted where it would be read as anything else."""
    is_plain = _SAFE_PLAIN.fullmatch(text) and not text.startswith(("-", "@")) and isinstance(core_scalar(text)[1], str)
    return text if is_plain else json.dumps(text, ensure_ascii=False)


def _values(root: Node) -> dict[str, object]:
    values = plain(root)
    assert isinstance(values, dict)
    return values


def _with_uses(section: object, new_uses: Mapping[str, str]) -> object:
    """A section with the uses of its blocks replaced."""
    if not isinstance(section, list):
        return section
    return [
        {**block, "use": new_uses.get(_lower_commit(str(block["use"])), block["use"])} if "use" in block else block
        for block in section
    ]


def _lower_commit(use: str) -> str:
    repo, _, commit = use.partition("@")
    return f"{repo}@{commit.lower()}"


def _refuse_other_meaning(text: str, path: str, wanted: dict[str, object]) -> None:
    parse_reqfile(text, path)
    if _values(read_yaml(text, path)) != wanted:
        raise FormatError([Problem(path=path, line=1, message="the file would say something else")])
