"""What a labeled example is expected to be: example.yaml, or the folder's name (spec reqfile.md 1.4)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final, Literal

from pytest_reqfile.errors import FormatError, Problem
from pytest_reqfile.syntax.fields import Fields, Problems
from pytest_reqfile.syntax.yaml import read_yaml
from pytest_reqfile.workspace.case_repository import text_of
from pytest_reqfile.workspace.paths import normalised
from pytest_reqfile.workspace.walk import Walk

Expected = Literal["violation", "ok"]
Known = Literal["miss", "false_alarm"]
Split = Literal["tune", "holdout"]

FILES_FOLDER: Final = "files"
LABEL_KEYS: Final = ("expected", "findings", "rationale", "origin", "known", "split")
_PREFIXES: Final[dict[str, Expected]] = {"violation-": "violation", "ok-": "ok"}
_KNOWN: Final[dict[Expected, Known]] = {"violation": "miss", "ok": "false_alarm"}


@dataclass(frozen=True, slots=True, kw_only=True)
class Label:
    """What checks should say of an example.

    ``findings`` are the files of a violation that must be flagged, ``known`` the failure that is accepted; an example
    that is ``held_out`` was not looked at while the checks were tuned.
    """

    expected: Expected
    findings: tuple[str, ...] = ()
    rationale: str | None = None
    origin: str | None = None
    known: Known | None = None
    split: Split = "tune"


def label_of_folder(path: str) -> Label:
    """The label in the name of an example's folder. Raises FormatError for a name without one."""
    name = path.rpartition("/")[2]
    for prefix, expected in _PREFIXES.items():
        if name.startswith(prefix):
            return Label(expected=expected)
    message = (
        "an example folder must be named violation-… or ok-…, or hold example.yaml "
        "(`expected: violation` or `expected: ok`) and its case in files/"
    )
    raise FormatError([Problem(path=path, message=message)])


def read_label(walk: Walk, folder: str, path: str) -> Label:
    """The label in an example.yaml. Raises FormatError with every problem of the example, FileError if unreadable."""
    problems = Problems(path)
    fields = Fields(read_yaml(text_of(walk, path), path), "example.yaml", LABEL_KEYS, problems)
    unknown = "unknown `expected: {x}`; expected `violation` or `ok`"
    expected: Expected = fields.choice("expected", ("violation", "ok"), None, unknown)
    label = Label(
        expected=expected,
        findings=_read_findings(fields, expected, walk, f"{folder}/{FILES_FOLDER}"),
        rationale=fields.optional_string("rationale"),
        origin=fields.optional_string("origin"),
        known=_read_known(fields, expected),
        split=fields.choice("split", ("tune", "holdout"), "tune", "unknown `split: {x}`; expected `tune` or `holdout`"),
    )
    if walk.kind(f"{folder}/{FILES_FOLDER}") != "folder":
        missing = Problem(path=folder, message="an example holds its case in files/, the only part its checks see")
        raise FormatError([*problems.found, missing])
    problems.raise_if_any()
    return label


def _read_findings(fields: Fields, expected: Expected, walk: Walk, files: str) -> tuple[str, ...]:
    findings = fields.optional_strings("findings")
    if findings and expected == "ok" and "expected" in fields:
        fields.refuse("findings", "`findings` name where a violation is flagged; an `ok` example has none")
        return ()
    for finding in findings:
        if normalised(finding) != finding or walk.kind(f"{files}/{finding}") != "file":
            fields.refuse("findings", f"expected finding {finding} is not a file of files/")
    return findings


def _read_known(fields: Fields, expected: Expected) -> Known | None:
    text = fields.optional_string("known")
    if not text or fields.failed:
        return None
    if text != _KNOWN[expected]:
        fields.refuse(
            "known",
            f"`known: {text}` does not fit `expected: {expected}`; a violation can be a known `miss`, "
            "an ok example a known `false_alarm`",
        )
        return None
    return _KNOWN[expected]
