"""What a model answered: decoded strictly, and believed only with a quote (seed 000 "Structured, strictly decoded").

A model's fail is a claim. It counts if the line it quotes is one that the change adds (spec/verifiers.md 5.4).
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Final, Literal

from pytest_reqfile.errors import FormatError, ReqfileError
from pytest_reqfile.outcome import Finding
from pytest_reqfile.syntax.credentials import masked
from pytest_reqfile.syntax.json import read_json
from pytest_reqfile.syntax.nodes import Node
from pytest_reqfile.verifiers.hunks import Hunk, SentLine
from pytest_reqfile.verifiers.masking import excerpt
from pytest_reqfile.verifiers.words import sanitized

ItemVerdict = Literal["pass", "fail", "not_applicable"]
VERDICTS: Final[tuple[ItemVerdict, ...]] = ("pass", "fail", "not_applicable")
MAX_REPLY_BYTES: Final = 256 * 1024
MIN_FRAGMENT: Final = 10
MIN_SIGNIFICANT: Final = 3
_ITEM_SHOWN: Final = 80
_REASON_SHOWN: Final = 200
_WHY_SHOWN: Final = 120
_FIELDS: Final = ("item", "verdict", "file", "quote", "reason")
_FENCE: Final = re.compile(r"```(?:json)?[ \t]*\n(.*)\n[ \t]*```", re.DOTALL)


class UnusableReplyError(ReqfileError):
    """The reply is not what was asked for; the text says why, in one line."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Entry:
    """One verdict about one item (1-based); ``file``, ``quote`` and ``reason`` belong to a fail."""

    item: int
    verdict: ItemVerdict
    file: str
    quote: str
    reason: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Judgement:
    """What is left of a reply: ``dropped`` fails quoted no added line; ``judged`` are the items with a verdict."""

    findings: tuple[Finding, ...]
    dropped: int
    judged: frozenset[int]


def is_usable(text: str, items: int) -> bool:
    """Whether ``decode`` takes the reply, and every item has a verdict in it."""
    try:
        return not unjudged(decode(text, items), items)
    except UnusableReplyError:
        return False


def unjudged(entries: Iterable[Entry], items: int) -> tuple[int, ...]:
    """The items of a checklist of so many that a reply says nothing about: nobody has looked at them."""
    judged = {entry.item for entry in entries}
    return tuple(item for item in range(1, items + 1) if item not in judged)


def decode(text: str, items: int) -> tuple[Entry, ...]:
    """The verdicts in a reply to a checklist of so many items. Raises UnusableReplyError for anything else."""
    results = reply_object(text, ("results",))["results"]
    if results.kind != "list":
        raise UnusableReplyError(f"`results` must be a list, found {results.describe()}")
    return tuple(_entry(node, f"results[{number}]", items) for number, node in enumerate(results.items))


def reply_object(text: str, keys: Sequence[str]) -> dict[str, Node]:
    """The one JSON object that a reply is, with exactly ``keys``; one fence around it is taken off.

    Raises UnusableReplyError.
    """
    if len(text.encode("utf-8", "surrogatepass")) > MAX_REPLY_BYTES:
        raise UnusableReplyError(f"it is larger than {MAX_REPLY_BYTES // 1024} KiB")
    bare = text.strip()
    fence = _FENCE.fullmatch(bare)
    try:
        node = read_json(fence[1] if fence else bare, "reply")
    except FormatError as error:
        raise UnusableReplyError(_shown(error.problems[0].message)) from error
    return exactly(node, keys, "the reply")


def exactly(node: Node, keys: Sequence[str], what: str) -> dict[str, Node]:
    """The fields of an object that has these and no other. Raises UnusableReplyError."""
    if node.kind != "mapping":
        raise UnusableReplyError(f"{what} must be one JSON object, found {node.describe()}")
    fields = {entry.key: entry.value for entry in node.entries}
    for key in fields:
        if key not in keys:
            raise UnusableReplyError(f"unknown field `{_shown(key)}` in {what}")
    for key in keys:
        if key not in fields:
            raise UnusableReplyError(f"{what} has no field `{key}`")
        if fields[key].kind == "null":
            raise UnusableReplyError(f"`{key}` in {what} is null")
    return fields


def _entry(node: Node, what: str, items: int) -> Entry:
    fields = exactly(node, _FIELDS, what)
    item = fields["item"].value
    if fields["item"].kind != "integer" or not isinstance(item, int) or not 1 <= item <= items:
        found = f"{item}" if fields["item"].kind == "integer" else fields["item"].describe()
        raise UnusableReplyError(f"`item` in {what} must be 1 to {items}, found {_shown(found)}")
    texts = {key: _text(fields[key], key, what) for key in _FIELDS[1:]}
    return Entry(
        item=item,
        verdict=_verdict(texts["verdict"], what),
        file=texts["file"],
        quote=texts["quote"],
        reason=texts["reason"],
    )


def _text(node: Node, key: str, what: str) -> str:
    if not isinstance(node.value, str):
        raise UnusableReplyError(f"`{key}` in {what} must be a string, found {node.describe()}")
    return node.value


def _verdict(found: str, what: str) -> ItemVerdict:
    for known in VERDICTS:
        if found == known:
            return known
    raise UnusableReplyError(f"`verdict` in {what} must be one of {', '.join(VERDICTS)}, found `{_shown(found)}`")


def _shown(text: str) -> str:
    """Words of a model on one line, not too many, with nothing in them that should not be seen."""
    line = sanitized(masked(text))
    return line if len(line) <= _WHY_SHOWN else f"{line[:_WHY_SHOWN]}..."


def judge(entries: Iterable[Entry], checklist: Sequence[str], hunks: Sequence[Hunk]) -> Judgement:
    """What the verdicts come to for the hunks of their call; findings are in the order of files, then of verdicts."""
    found: dict[tuple[int, str, int], Finding] = {}
    dropped = 0
    judged: set[int] = set()
    for entry in entries:
        judged.add(entry.item)
        if entry.verdict != "fail":
            continue
        line = _quoted_line(entry, hunks)
        if line is None:
            dropped += 1
        else:
            found.setdefault((entry.item, entry.file, line), _finding(entry, line, checklist))
    findings = sorted(found.values(), key=lambda finding: finding.file or "")
    return Judgement(findings=tuple(findings), dropped=dropped, judged=frozenset(judged))


def _finding(entry: Entry, line: int, checklist: Sequence[str]) -> Finding:
    item = _brief(checklist[entry.item - 1], _ITEM_SHOWN)
    reason = _brief(entry.reason, _REASON_SHOWN) or "no reason given"
    return Finding(
        file=entry.file,
        line=line,
        message=f"checklist item {entry.item} ({item}): {reason}",
        match=excerpt(_collapsed(entry.quote)),
    )


def _brief(text: str, length: int) -> str:
    """Masked before it is cut, so that no half of a credential is left; a hidden character is shown as an escape."""
    line = sanitized(masked(_collapsed(text)))
    return line if len(line) <= length else f"{line[:length]}..."


def _quoted_line(entry: Entry, hunks: Sequence[Hunk]) -> int | None:
    """The number of the first added line of the named file that the quote is, or is a part of."""
    quote = _collapsed(entry.quote)
    if not quote:
        return None
    return next((line.number for line in _added(entry.file, hunks) if _quotes(quote, _collapsed(line.text))), None)


def _added(file: str, hunks: Sequence[Hunk]) -> Iterator[SentLine]:
    return (line for hunk in hunks if hunk.file == file for line in hunk.lines if line.added)


def _quotes(quote: str, line: str) -> bool:
    if quote == line:
        return sum(char.isalnum() for char in quote) >= MIN_SIGNIFICANT
    return len(quote) >= MIN_FRAGMENT and any(_cuts_no_word(line, start, len(quote)) for start in _places(quote, line))


def _places(quote: str, line: str) -> Iterator[int]:
    start = line.find(quote)
    while start >= 0:
        yield start
        start = line.find(quote, start + 1)


def _cuts_no_word(line: str, start: int, length: int) -> bool:
    end = start + length
    at_start = start == 0 or not (_is_word(line[start - 1]) and _is_word(line[start]))
    at_end = end == len(line) or not (_is_word(line[end - 1]) and _is_word(line[end]))
    return at_start and at_end


def _is_word(char: str) -> bool:
    return char.isalnum() or char == "_"


def _collapsed(text: str) -> str:
    """Runs of white space as one space each, none at the ends."""
    return " ".join(text.split())
