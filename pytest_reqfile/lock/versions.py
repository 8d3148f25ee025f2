"""Semantic versions, and npm's ranges of them (seed 001 "Version constraints"; spec/lock.md 6.5)."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from typing import Final, Literal

from pytest_reqfile.errors import ReqfileError

_NUMBER: Final = r"(?:0|[1-9][0-9]*+)"
_IDENTIFIER: Final = rf"(?:[0-9]*+[A-Za-z-][0-9A-Za-z-]*+|{_NUMBER})"
_PRERELEASE: Final = rf"(?:-(?P<pre>{_IDENTIFIER}(?:\.{_IDENTIFIER})*+))?"
_BUILD: Final = r"(?:\+(?P<build>[0-9A-Za-z-]+(?:\.[0-9A-Za-z-]+)*+))?"
_VERSION: Final = re.compile(
    rf"(?P<major>{_NUMBER})\.(?P<minor>{_NUMBER})\.(?P<patch>{_NUMBER}){_PRERELEASE}{_BUILD}", re.ASCII
)
_WILD: Final = "[xX*]"
_PARTIAL: Final = re.compile(
    rf"=?v?(?P<major>{_NUMBER}|{_WILD})(?:\.(?P<minor>{_NUMBER}|{_WILD})(?:\.(?:(?P<patch>{_NUMBER}){_PRERELEASE}"
    rf"|{_WILD}))?)?{_BUILD}",
    re.ASCII,
)
_OPERATOR: Final = re.compile(r"~>|>=|<=|[\^~><=]|")
_SPACED_OPERATOR: Final = re.compile(r"(~>|>=|<=|[\^~><=])[ \t\r\n\f\v]+")
_HYPHEN: Final = re.compile(r"[ \t\r\n\f\v]+-[ \t\r\n\f\v]+")
_SPACE: Final = " \t\r\n\f\v"
_LARGEST: Final = 2**64 - 1
_LARGEST_IN_CONSTRAINT: Final = 2**62
_LOWEST: Final = ("0",)
"""The lowest prerelease: an exclusive bound with it keeps out that version's prereleases, too."""

Operator = Literal["=", "<", "<=", ">", ">="]
Precedence = tuple[int, int, int, bool, tuple[tuple[int, int, str], ...]]


class ConstraintError(ReqfileError):
    """A version constraint that cannot be read; the text is ``version constraint "c" is invalid: reason``."""


class _SyntaxError(Exception):
    """Why a part of a constraint cannot be read."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Version:
    """``MAJOR.MINOR.PATCH[-PRERELEASE][+BUILD]``; two that differ in build metadata alone have one precedence."""

    major: int
    minor: int
    patch: int
    prerelease: tuple[str, ...] = ()
    build: str = ""
    precedence: Precedence = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        ranked = tuple(map(_ranked, self.prerelease))
        object.__setattr__(self, "precedence", (self.major, self.minor, self.patch, not ranked, ranked))

    @classmethod
    def parse(cls, text: str) -> Version | None:
        """A plain version, which has all three numbers and no ``v``; None where ``text`` is none."""
        found = _VERSION.fullmatch(text)
        if found is None:
            return None
        numbers = [_number(found[part]) for part in ("major", "minor", "patch")]
        if max(numbers) > _LARGEST:
            return None
        pre, build = found["pre"], found["build"]
        return cls(
            major=numbers[0],
            minor=numbers[1],
            patch=numbers[2],
            prerelease=tuple(pre.split(".")) if pre else (),
            build=build or "",
        )

    @property
    def triple(self) -> tuple[int, int, int]:
        return self.major, self.minor, self.patch

    def __str__(self) -> str:
        pre = f"-{'.'.join(self.prerelease)}" if self.prerelease else ""
        return f"{self.major}.{self.minor}.{self.patch}{pre}{f'+{self.build}' if self.build else ''}"


@dataclass(frozen=True, slots=True, kw_only=True)
class Comparator:
    """One bound."""

    operator: Operator
    version: Version

    def holds(self, version: Version) -> bool:
        one, other = version.precedence, self.version.precedence
        match self.operator:
            case "=":
                return one == other
            case "<":
                return one < other
            case "<=":
                return one <= other
            case ">":
                return one > other
            case ">=":
                return one >= other

    def __str__(self) -> str:
        return f"{'' if self.operator == '=' else self.operator}{self.version}"


@dataclass(frozen=True, slots=True, kw_only=True)
class Constraint:
    """A range: a version is in it if it meets every bound of one of the ``sets``."""

    text: str
    sets: tuple[tuple[Comparator, ...], ...]

    @classmethod
    def parse(cls, text: str) -> Constraint:
        """Raises ``ConstraintError`` for anything that is no range."""
        try:
            return cls(text=text, sets=tuple(_bounds(part.strip(_SPACE)) for part in text.split("||")))
        except _SyntaxError as error:
            raise ConstraintError(f'version constraint "{text}" is invalid: {error}') from error

    def allows(self, version: Version, include_prerelease: bool = False) -> bool:
        """Whether the version is in the range.

        A prerelease only if it is asked for, or a bound of the same set names one of the same three numbers.
        """
        return any(_meets(bounds, version, include_prerelease) for bounds in self.sets)

    def __str__(self) -> str:
        """The plain bounds that the text stands for."""
        return " || ".join(" ".join(map(str, bounds)) for bounds in self.sets)


def _meets(bounds: tuple[Comparator, ...], version: Version, include_prerelease: bool) -> bool:
    if not all(bound.holds(version) for bound in bounds):
        return False
    if not version.prerelease or include_prerelease:
        return True
    return any(bound.version.prerelease and bound.version.triple == version.triple for bound in bounds)


def _number(text: str) -> int:
    """The number, or one that is larger than any: Python refuses to read thousands of digits."""
    return int(text) if len(text) <= len(str(_LARGEST)) else _LARGEST + 1


def _ranked(identifier: str) -> tuple[int, int, str]:
    """Numbers before names, by value; numbers beyond 64 bits are one."""
    if identifier.isdecimal():
        return 0, min(_number(identifier), _LARGEST), ""
    return 1, 0, identifier


@dataclass(frozen=True, slots=True, kw_only=True)
class _Partial:
    """A version of which parts may be missing, from the right: ``1.x`` and ``1`` are the same."""

    major: int | None
    minor: int | None
    patch: int | None
    prerelease: tuple[str, ...]

    @property
    def floor(self) -> Version:
        """The first version that it means."""
        return Version(major=self.major or 0, minor=self.minor or 0, patch=self.patch or 0, prerelease=self.prerelease)

    @property
    def end(self) -> Comparator:
        """Below the first version that it does not mean any more; not of a full one or of ``*``."""
        assert self.major is not None
        return _below(self.major + 1) if self.minor is None else _below(self.major, self.minor + 1)


def _below(major: int, minor: int = 0, patch: int = 0) -> Comparator:
    return Comparator(operator="<", version=Version(major=major, minor=minor, patch=patch, prerelease=_LOWEST))


def _at_least(partial: _Partial) -> Comparator:
    return Comparator(operator=">=", version=partial.floor)


def _bounds(text: str) -> tuple[Comparator, ...]:
    if not text:
        raise _SyntaxError("a range is empty")
    ends = _HYPHEN.split(text)
    if len(ends) == 2:
        return _between(_partial(ends[0]), _partial(ends[1]))
    words = _SPACED_OPERATOR.sub(r"\1", text).split()
    return tuple(bound for word in words for bound in _comparator(word))


def _between(first: _Partial, last: _Partial) -> tuple[Comparator, ...]:
    if last.major is None:
        return (_at_least(first),)
    upper = last.end if last.patch is None else Comparator(operator="<=", version=last.floor)
    return _at_least(first), upper


def _comparator(word: str) -> tuple[Comparator, ...]:
    found = _OPERATOR.match(word)
    operator = found[0] if found is not None else ""
    partial = _partial(word[len(operator) :])
    if partial.major is None:
        if operator in {"<", ">"}:
            raise _SyntaxError(f'"{word}" allows nothing')
        return (_at_least(partial),)
    match operator:
        case "^":
            return _at_least(partial), _below_next_major(partial)
        case "~" | "~>":
            return _at_least(partial), _below_next_minor(partial)
        case "" | "=":
            full = partial.patch is not None
            return (Comparator(operator="=", version=partial.floor),) if full else (_at_least(partial), partial.end)
        case _:
            return (_one_sided(operator, partial),)


def _below_next_major(partial: _Partial) -> Comparator:
    """``^``: the left-most part that is not zero stays."""
    major, minor, patch = partial.major or 0, partial.minor, partial.patch
    if major > 0 or minor is None:
        return _below(major + 1)
    if minor > 0 or patch is None:
        return _below(0, minor + 1)
    return _below(0, 0, patch + 1)


def _below_next_minor(partial: _Partial) -> Comparator:
    """``~``: only the patch number moves, or whatever is not written."""
    return partial.end


def _one_sided(operator: str, partial: _Partial) -> Comparator:
    """``<``, ``<=``, ``>``, ``>=``, which of a partial version mean all that it stands for."""
    full = partial.patch is not None
    match operator:
        case ">=":
            return _at_least(partial)
        case ">" if not full:
            return Comparator(operator=">=", version=_released(partial.end.version))
        case "<=" if not full:
            return partial.end
        case "<" if not full:
            return _below(*partial.floor.triple)
        case "<":
            return Comparator(operator="<", version=partial.floor)
        case "<=":
            return Comparator(operator="<=", version=partial.floor)
        case _:
            return Comparator(operator=">", version=partial.floor)


def _released(version: Version) -> Version:
    return Version(major=version.major, minor=version.minor, patch=version.patch)


def _partial(text: str) -> _Partial:
    found = _PARTIAL.fullmatch(text)
    if found is None:
        raise _SyntaxError(f'"{text}" is no version' if text else "a version is missing")
    major, minor, patch = (_part(found[part]) for part in ("major", "minor", "patch"))
    if (major is None and (minor is not None or patch is not None)) or (minor is None and patch is not None):
        raise _SyntaxError(f'"{text}" has a number after a wildcard')
    pre = found["pre"]
    return _Partial(major=major, minor=minor, patch=patch, prerelease=tuple(pre.split(".")) if pre else ())


def _part(text: str | None) -> int | None:
    if text is None or text in "xX*":
        return None
    number = _number(text)
    if number > _LARGEST_IN_CONSTRAINT:
        raise _SyntaxError(f"{text[:24]} is too large a number")
    return number
