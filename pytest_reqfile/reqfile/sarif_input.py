"""SARIF output of a command → findings, read field by field so that nothing malformed hides a result (spec 3.4)."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from dataclasses import dataclass
from typing import Final, Literal

from pytest_reqfile.outcome import Finding
from pytest_reqfile.reqfile.values import Thresholds

_KINDS: Final = frozenset({"fail", "pass", "open", "informational", "notApplicable", "review"})
_SUPPRESSION_KINDS: Final = frozenset({"inSource", "external"})
_SUPPRESSION_STATUSES: Final = frozenset({"accepted", "underReview", "rejected"})
_READ: Final = frozenset(
    (
        *(
            "runs",
            "results",
            "message",
            "text",
            "ruleId",
            "kind",
            "suppressions",
            "status",
            "properties",
            "probability",
        ),
        *("locations", "physicalLocation", "artifactLocation", "uri", "region", "startLine"),
    )
)
_HALF_CHARACTER: Final = re.compile("[\ud800-\udfff]")


class SarifError(ValueError):
    """The output is not SARIF as this format is read; the text says where and what was found."""


class ProbabilityError(SarifError):
    """A result whose probability is none; reported in its own words (spec 3.4)."""


@dataclass(frozen=True, slots=True, kw_only=True)
class SarifResult:
    """One result: its text, its place as written, and what decides whether it counts."""

    text: str
    rule: str | None = None
    uri: str | None = None
    line: int | None = None
    kind: str = "fail"
    suppressed: bool = False
    probability: float | None = None


def read_sarif(output: bytes, *, plain: bool = False) -> tuple[SarifResult, ...]:
    """Every result of every run, ignored ones included. Raises SarifError for anything malformed.

    ``plain`` leaves kinds, suppressions and probabilities unread: every result is a failure (edition 0.1, spec 10).
    """
    try:
        document = json.loads(output.decode("utf-8-sig"), object_pairs_hook=_object, parse_constant=_constant)
    except RecursionError:
        raise SarifError("nested too deeply") from None
    except ValueError as error:
        raise SarifError(str(error)) from error
    log = _mapping(document, "the log")
    runs = _list(log.get("runs"), "runs", required=True)
    return tuple(
        _result(result, f"runs[{r}].results[{i}]", plain)
        for r, run in enumerate(runs)
        for i, result in enumerate(_list(_mapping(run, f"runs[{r}]").get("results", []), f"runs[{r}].results"))
    )


def sarif_findings(
    results: tuple[SarifResult, ...], thresholds: Thresholds, fix_hint: str, place: Callable[[str], str]
) -> tuple[Finding, ...]:
    """The results that count, as findings; ``place`` turns a URI into a repository path.

    Counting: not suppressed, and of kind ``fail`` or carrying a probability, which the thresholds then judge.
    """
    findings = (_finding(result, thresholds, fix_hint, place) for result in results if not result.suppressed)
    return tuple(finding for finding in findings if finding is not None)


def _finding(result: SarifResult, thresholds: Thresholds, fix_hint: str, place: Callable[[str], str]) -> Finding | None:
    if result.probability is None:
        verdict: Literal["violation", "uncertain", "pass"] = "violation" if result.kind == "fail" else "pass"
    else:
        verdict = thresholds.verdict(result.probability)
    if verdict == "pass":
        return None
    file = place(result.uri) if result.uri else None
    return Finding(
        message=_message(result),
        kind=verdict,
        file=file,
        line=result.line if file else None,
        fix_hint=fix_hint,
        rule=result.rule,
        probability=result.probability,
    )


def _message(result: SarifResult) -> str:
    text = result.text if result.text.strip() else "(no message)"  # seed 004 OUTPUT: every violation has one
    return text if not result.rule or result.rule in text else f"{text} ({result.rule})"


def _result(value: object, at: str, plain: bool) -> SarifResult:
    result = _mapping(value, at)
    message = _mapping(result.get("message"), f"{at}.message")
    text = _string(message.get("text"), f"{at}.message.text")
    uri, line = _place(_list(result.get("locations", []), f"{at}.locations"), f"{at}.locations")
    rule = result.get("ruleId")
    return SarifResult(
        text=text,
        rule=None if rule is None else _string(rule, f"{at}.ruleId"),
        uri=uri,
        line=line,
        kind="fail" if plain else _result_kind(result, at),
        suppressed=not plain and _suppressed(result, f"{at}.suppressions"),
        probability=None if plain else _probability(result, at),
    )


def _result_kind(result: dict[str, object], at: str) -> str:
    kind = result.get("kind", "fail")
    if not isinstance(kind, str) or kind not in _KINDS:
        raise SarifError(f"{at}.kind must be one of {', '.join(sorted(_KINDS))}, found {kind!r}")
    return kind


def _place(locations: list[object], at: str) -> tuple[str | None, int | None]:
    found: tuple[str | None, int | None] | None = None
    for index, value in enumerate(locations):
        physical = _mapping(value, f"{at}[{index}]").get("physicalLocation")
        if physical is not None:
            here = _physical(_mapping(physical, f"{at}[{index}].physicalLocation"), f"{at}[{index}].physicalLocation")
            found = found or here
    return found or (None, None)


def _physical(physical: dict[str, object], at: str) -> tuple[str | None, int | None]:
    uri: str | None = None
    if physical.get("artifactLocation") is not None:
        artifact = _mapping(physical["artifactLocation"], f"{at}.artifactLocation")
        uri = _string(artifact.get("uri"), f"{at}.artifactLocation.uri")
    line: int | None = None
    if physical.get("region") is not None:
        start = _mapping(physical["region"], f"{at}.region").get("startLine")
        if start is not None and (type(start) is not int or start < 0):
            raise SarifError(f"{at}.region.startLine must be a line number, found {start!r}")
        line = start if isinstance(start, int) and start > 0 else None
    return uri, line


def _suppressed(result: dict[str, object], at: str) -> bool:
    suppressed = False
    for index, value in enumerate(_list(result.get("suppressions", []), at)):
        suppression = _mapping(value, f"{at}[{index}]")
        kind, status = suppression.get("kind"), suppression.get("status", "accepted")
        if not isinstance(kind, str) or kind not in _SUPPRESSION_KINDS:
            raise SarifError(f"{at}[{index}].kind must be inSource or external, found {kind!r}")
        if not isinstance(status, str) or status not in _SUPPRESSION_STATUSES:
            raise SarifError(f"{at}[{index}].status must be accepted, underReview or rejected, found {status!r}")
        suppressed = suppressed or status == "accepted"
    return suppressed


def _probability(result: dict[str, object], at: str) -> float | None:
    if "properties" not in result:
        return None
    probability = _mapping(result["properties"], f"{at}.properties").get("probability")
    if probability is None:
        return None
    if isinstance(probability, bool) or not isinstance(probability, int | float):
        raise SarifError(f"{at}.properties.probability must be a number, found {_kind(probability)}")
    if not 0 <= probability <= 1:
        shown = str(probability).removesuffix(".0")
        raise ProbabilityError(f"a SARIF result has probability {shown}, outside 0 to 1")
    return float(probability)


def _object(pairs: list[tuple[str, object]]) -> dict[str, object]:
    found: dict[str, object] = {}
    for key, value in pairs:
        if key in found and key in _READ:
            raise SarifError(f"duplicate field `{key}`")
        found[key] = value
    return found


def _constant(text: str) -> object:
    raise SarifError(f"{text} is not a JSON number")


def _mapping(value: object, at: str) -> dict[str, object]:
    if not isinstance(value, dict):
        raise SarifError(f"{at} must be an object, found {_kind(value)}")
    return value


def _list(value: object, at: str, *, required: bool = False) -> list[object]:
    if not isinstance(value, list):
        missing = "missing" if required and value is None else _kind(value)
        raise SarifError(f"{at} must be an array, found {missing}")
    return value


def _string(value: object, at: str) -> str:
    if not isinstance(value, str):
        raise SarifError(f"{at} must be a string, found {_kind(value)}")
    if _HALF_CHARACTER.search(value):  # an escape such as \\ud800 alone: no text, and no report could hold it
        raise SarifError(f"{at} has half of a surrogate pair")
    return value


def _kind(value: object) -> str:
    names = {type(None): "null", bool: "a boolean", str: "a string", list: "an array", dict: "an object"}
    return names.get(type(value), "a number")
