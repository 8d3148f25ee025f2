"""Rust's globset syntax as an RE2 pattern: its parser restated, corners included (spec/reqfile.md 2.4)."""

from __future__ import annotations

from typing import Final

from pytest_reqfile.syntax.re2_library import quote

# RE2 refuses deeper nesting of groups.
MAX_GROUPS: Final = 200

_RECURSIVE_PREFIX: Final = "(?:/?|.*/)"
_RECURSIVE_SUFFIX: Final = "/.*"
_RECURSIVE_MIDDLE: Final = "(?:/|/.*/)"
_STAR: Final = "[^/]*"
_ANY: Final = "[^/]"


class GlobSyntaxError(ValueError):
    """The reason in globset's words."""


def globset_regex(text: str) -> str:
    """The pattern a whole path must match."""
    return _Parser(text).parse()


class _Parser:
    """Tokens are pattern pieces; ``_branches`` are those of the open groups, the innermost last."""

    def __init__(self, text: str) -> None:
        self._text = text
        self._next = 0
        self._branches: list[list[str]] = [[]]
        self._groups: list[int] = []

    def parse(self) -> str:
        steps = {
            "?": lambda: self._branches[-1].append(_ANY),
            "*": self._star,
            "[": self._class,
            "{": self._open_group,
            "}": self._close_group,
            ",": self._comma,
            "\\": self._escape,
        }
        while self._next < len(self._text):
            character = self._text[self._next]
            self._next += 1
            step = steps.get(character)
            step() if step else self._branches[-1].append(quote(character))
        if self._groups:
            raise GlobSyntaxError("unclosed alternate group; missing '}' (maybe escape '{' with '[{]'?)")
        tokens = self._branches[0]
        return ".*" if tokens == [_RECURSIVE_PREFIX] else "".join(tokens)

    def _peek(self) -> str:
        return self._text[self._next : self._next + 1]

    def _star(self) -> None:
        before = self._text[self._next - 2 : self._next - 1] if self._next > 1 else ""
        tokens = self._branches[-1]
        if self._peek() != "*":
            tokens.append(_STAR)
            return
        self._next += 1
        after = self._peek()
        if not tokens:
            self._leading_double_star(after)
        elif before != "/" and not (self._groups and before in (",", "{")):
            tokens.append(_STAR)
        elif after == "" or (self._groups and after in (",", "}")):
            self._replace_separator(_RECURSIVE_SUFFIX)
        elif after == "/":
            self._next += 1
            self._replace_separator(_RECURSIVE_MIDDLE)
        else:
            tokens.append(_STAR)

    def _leading_double_star(self, after: str) -> None:
        if after not in ("", "/"):
            self._branches[-1].append(_STAR)
            return
        self._next += 1
        self._branches[-1].append(_RECURSIVE_PREFIX)

    def _replace_separator(self, token: str) -> None:
        """``**`` swallows the ``/`` before it; after another ``**`` at the start or end it adds nothing."""
        last = self._branches[-1].pop()
        self._branches[-1].append(last if last in (_RECURSIVE_PREFIX, _RECURSIVE_SUFFIX) else token)

    def _open_group(self) -> None:
        if len(self._groups) == MAX_GROUPS:
            raise GlobSyntaxError(f"alternate groups nested deeper than {MAX_GROUPS}")
        self._groups.append(len(self._branches))
        self._branches.append([])

    def _comma(self) -> None:
        if self._groups:
            self._branches.append([])
        else:
            self._branches[-1].append(",")

    def _close_group(self) -> None:
        if not self._groups:
            raise GlobSyntaxError("unopened alternate group; missing '{' (maybe escape '}' with '[}]'?)")
        start = self._groups.pop()
        # globset drops empty alternatives: `a{,b}` is `ab` alone.
        parts = [part for branch in self._branches[start:] if (part := "".join(branch))]
        del self._branches[start:]
        self._branches[-1].append(f"(?:{'|'.join(parts)})" if parts else "")

    def _escape(self) -> None:
        if not self._peek():
            raise GlobSyntaxError("dangling '\\'")
        self._branches[-1].append(quote(self._peek()))
        self._next += 1

    def _class(self) -> None:
        negated = self._text.startswith(("!", "^"), self._next)
        self._next += negated
        end = self._text.find("]", self._next + 1)
        ranges = _class_ranges(self._text[self._next : end if end > 0 else None])
        if end < 0:
            raise GlobSyntaxError("unclosed character class; missing ']'")
        self._next = end + 1
        body = "".join(_quoted_range(low, high) for low, high in ranges)
        self._branches[-1].append(f"[{'^' * negated}{body}]")


def _class_ranges(body: str) -> list[tuple[str, str]]:
    """The ranges in ``[body]``; a ``-`` first or last is itself, and ``a-c-e`` widens to ``a-e`` as in globset."""
    ranges: list[tuple[str, str]] = []
    in_range = False
    for character in body:
        if in_range:
            low = ranges[-1][0]
            if character < low:
                raise GlobSyntaxError(f"invalid range; '{low}' > '{character}'")
            ranges[-1] = (low, character)
            in_range = False
        elif character == "-" and ranges:
            in_range = True
        else:
            ranges.append((character, character))
    return [*ranges, ("-", "-")] if in_range else ranges


def _quoted_range(low: str, high: str) -> str:
    return quote(low) if low == high else f"{quote(low)}-{quote(high)}"
