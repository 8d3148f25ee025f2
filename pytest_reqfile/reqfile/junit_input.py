"""JUnit output of a command → findings named after their tests (spec reqfile.md 3.5)."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass
from typing import Final
from xml.etree import ElementTree

from pytest_reqfile.outcome import Finding

_FAILURES: Final = frozenset({"failure", "error"})
_LINE: Final = re.compile("0*[1-9][0-9]{0,8}")


class JUnitError(ValueError):
    """The output is not a JUnit report; the text says why."""


@dataclass(frozen=True, slots=True, kw_only=True)
class FailedCase:
    """A test case holding a ``failure`` or ``error``; ``name`` is ``classname::name`` where it has a class name."""

    name: str
    message: str | None
    file: str | None
    line: int | None


@dataclass(frozen=True, slots=True, kw_only=True)
class JUnitReport:
    """How many cases a report holds, and those that failed."""

    cases: int
    failed: tuple[FailedCase, ...]


def read_junit(output: bytes) -> JUnitReport:
    """The report in ``output``. Raises JUnitError when it is not one, is cut off, lists no test, or belies itself."""
    try:
        # expat 2.4.1 and newer refuse entity bombs, and it never fetches; the caller bounds the size (libraries.md)
        root = ElementTree.fromstring(output)  # noqa: S314
    except (ElementTree.ParseError, ValueError, LookupError) as error:  # the last two: an encoding it cannot read
        raise JUnitError(f"output is not valid JUnit XML: {error}") from error
    if not any(element.tag in {"testsuites", "testsuite"} for element in root.iter()):
        raise JUnitError("output is not a JUnit report: no <testsuites> or <testsuite>")
    cases = tuple(root.iter("testcase"))
    if not cases:
        raise JUnitError("the JUnit report lists no test")
    failed = tuple(failed for failed in map(_failed, cases) if failed is not None)
    if not failed and any(map(_tells_of_failures, root.iter())):
        raise JUnitError("the JUnit report tells of failures or errors but lists no failed test")
    return JUnitReport(cases=len(cases), failed=failed)


def _tells_of_failures(element: ElementTree.Element) -> bool:
    """Whether a suite counts failures or errors, or has one of its own: a file that could not be loaded, say.

    The format's findings are those of cases alone (spec 3.5); where there are none this is no report of a pass.
    """
    if element.tag not in {"testsuites", "testsuite"}:
        return False
    counts = (element.get("failures", "0").strip(), element.get("errors", "0").strip())
    return any(count.strip("0") for count in counts) or any(child.tag in _FAILURES for child in element)


def junit_findings(report: JUnitReport, fix_hint: str, place: Callable[[str], str]) -> tuple[Finding, ...]:
    """One violation per failed case; ``place`` turns the ``file`` attribute into a repository path."""
    return tuple(_finding(case, fix_hint, place) for case in report.failed)


def _finding(case: FailedCase, fix_hint: str, place: Callable[[str], str]) -> Finding:
    reason = f"failed: {case.message}" if case.message else "failed"
    file = place(case.file) if case.file else None
    line = case.line if file else None
    return Finding(message=f"test {case.name} {reason}", file=file, line=line, fix_hint=fix_hint)


def _failed(case: ElementTree.Element) -> FailedCase | None:
    for child in case:
        if child.tag in _FAILURES:
            name, class_name = case.get("name", ""), case.get("classname", "")
            return FailedCase(
                name=f"{class_name}::{name}" if class_name else name,
                message=_first_line(child.get("message", "")),
                file=case.get("file"),
                line=_line_number(case.get("line", "")),
            )
    return None


def _first_line(message: str) -> str | None:
    return message.strip().split("\n", 1)[0].strip() or None


def _line_number(text: str) -> int | None:
    return int(text) if _LINE.fullmatch(text) else None
