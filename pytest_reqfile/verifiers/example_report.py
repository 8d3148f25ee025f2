"""The report of ``verifiers test`` (spec/verifiers.md 8)."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass

from pytest_reqfile.verifiers.examples import ExampleResult
from pytest_reqfile.verifiers.results import INVALID
from pytest_reqfile.verifiers.values import InvalidDeclaration, SpecVerifier
from pytest_reqfile.verifiers.words import sanitized


@dataclass(frozen=True, slots=True, kw_only=True)
class ExampleReport:
    """Results in declaration order, verifiers without examples, and declarations that cannot be used."""

    results: tuple[ExampleResult, ...]
    untested: tuple[SpecVerifier, ...]
    problems: tuple[InvalidDeclaration, ...]

    @property
    def passed(self) -> int:
        return sum(result.ok for result in self.results)

    @property
    def skipped(self) -> tuple[ExampleResult, ...]:
        """Those that were not run, which JSON counts among the passed ones: spec/verifiers.md 8 calls them ok."""
        return tuple(result for result in self.results if result.got == "skipped")

    @property
    def ok(self) -> bool:
        return self.passed == len(self.results) and not self.problems

    @property
    def exit_code(self) -> int:
        """0 where every example matches and nothing is invalid, else 2."""
        return 0 if self.ok else 2


def render_text(report: ExampleReport) -> str:
    """A line per example and problem, the count, and what has no examples."""
    lines = [_line(result) for result in report.results]
    lines += [f"FAIL {INVALID} {sanitized(p.name)}: {sanitized(p.message)}" for p in report.problems]
    left = len(report.skipped)
    passed = f"{report.passed - left} of {len(report.results)} examples passed"
    lines.append(f"{passed}, {left} not run" if left else passed)
    if report.untested:
        lines.append(f"no examples: {', '.join(verifier.id for verifier in report.untested)}")
    return "\n".join(lines) + "\n"


def render_json(report: ExampleReport) -> str:
    """The same as a document; its arrays are always there."""
    document = {
        "schema_version": 1,
        "ok": report.ok,
        "passed": report.passed,
        "total": len(report.results),
        "results": [_result(result) for result in report.results],
        "untested": [verifier.id for verifier in report.untested],
        "problems": _problems(report.problems),
    }
    return json.dumps(document, indent=2, ensure_ascii=False) + "\n"


def _line(result: ExampleResult) -> str:
    name = f"{result.verifier.id}: {sanitized(result.example.name)}"
    if result.got == "skipped":
        return f"skip {name} ({sanitized(result.message)})"
    if result.ok:
        return f"ok   {name}"
    message = f": {sanitized(result.message)}" if result.message else ""
    return f"FAIL {name} (expected {result.example.expect}, got {result.got}{message})"


def _result(result: ExampleResult) -> dict[str, object]:
    found: dict[str, object] = {
        "verifier": result.verifier.id,
        "example": sanitized(result.example.name),
        "want": result.example.expect,
        "got": result.got,
        "ok": result.ok,
    }
    return found | ({"message": sanitized(result.message)} if result.message else {})


def _problems(problems: Sequence[InvalidDeclaration]) -> list[dict[str, str]]:
    return [
        {
            "code": INVALID,
            **({"id": sanitized(problem.id)} if problem.id else {}),
            "file": sanitized(problem.source),
            "message": sanitized(problem.message),
        }
        for problem in problems
    ]
