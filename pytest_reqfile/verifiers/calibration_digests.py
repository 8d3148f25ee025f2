"""What a calibration was measured with, as digests: an edit of any of it makes the record stale (spec 6.3)."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence

from pytest_reqfile.syntax.globs import Glob
from pytest_reqfile.syntax.gojson import go_json, go_string, list_text, object_text
from pytest_reqfile.verifiers.predicates import (
    DEFAULT_DIFF_BYTES,
    DEFAULT_TIMEOUT,
    AllOf,
    AnyOf,
    Checklist,
    Command,
    FileCount,
    FileExists,
    Leaf,
    Not,
    Paired,
    Predicate,
    TextMatch,
)
from pytest_reqfile.verifiers.values import Example, SpecVerifier
from pytest_reqfile.workspace.paths import byte_order

Members = list[tuple[str, str]]
"""Keys of an object with their JSON, in the order they are written."""


def spec_digest(verifier: SpecVerifier, prompt_version: str) -> str:
    """Of everything that decides what the verifier looks at and asks; not of its id, message, severity, fix, target.

    What is written as its default and what is left out are the same here.
    """
    members = [
        ("schema", go_string("verifier-spec/2")),
        ("require", _tree(verifier.require)),
        ("when_changed", _globs(verifier.when_changed) or "null"),
        ("exclude", _globs(verifier.exclude) or "null"),
        ("prompt", go_string(prompt_version)),
    ]
    return _digest(object_text(members))


def examples_digest(examples: Sequence[Example]) -> str:
    """Of the labeled examples, whatever their order."""
    if not examples:
        return _digest("null")
    return _digest(list_text([_example(one) for one in sorted(examples, key=lambda one: byte_order(one.name))]))


def _digest(text: str) -> str:
    return f"sha256:{hashlib.sha256(text.encode('utf-8', 'surrogateescape')).hexdigest()}"


def _example(example: Example) -> str:
    members: Members = [("name", go_string(example.name))]
    if example.files:
        members.append(("files", go_json(dict(example.files))))
    if example.changed:
        members.append(("changed", go_json(example.changed)))
    members.append(("expect", go_string(example.expect)))
    return object_text(members)


def _tree(predicate: Predicate) -> str:
    if isinstance(predicate, AllOf | AnyOf):
        return object_text([(predicate.kind, list_text([_tree(member) for member in predicate.members]))])
    if isinstance(predicate, Not):
        return object_text([("not", _tree(predicate.member))])
    return object_text([(predicate.kind, object_text(_leaf(predicate)))])


def _leaf(leaf: Leaf) -> Members:
    match leaf:
        case TextMatch():
            return _text_match(leaf)
        case FileExists():
            return [("path", go_string(leaf.path)), *_unless(leaf.exists, True, "exists")]
        case Paired():
            key = "requires_changed" if leaf.must_change else "requires_exists"
            return [("for_each", go_string(leaf.for_each)), (key, go_string(leaf.derived))]
        case FileCount():
            return _file_count(leaf)
        case Command():
            return _command(leaf)
        case Checklist():
            return _checklist(leaf)


def _text_match(leaf: TextMatch) -> Members:
    files: Members = [("files", go_string(leaf.files.text))] if leaf.files is not None else []
    return [("regex", go_string(leaf.pattern)), *_unless(leaf.where, "same-file", "in"), *files]


def _file_count(leaf: FileCount) -> Members:
    exclude = _globs(leaf.exclude)
    return [
        ("files", go_string(leaf.files.text)),
        *([("exclude", exclude)] if exclude else []),
        *_unless(leaf.minimum, None, "min"),
        *_unless(leaf.maximum, None, "max"),
    ]


def _command(leaf: Command) -> Members:
    return [
        ("argv", go_json(leaf.argv)),
        *_unless(leaf.pass_files, "", "pass_files"),
        *_unless(leaf.timeout_s, DEFAULT_TIMEOUT, "timeout_s"),
        *_unless(leaf.expect_exit, 0, "expect_exit"),
    ]


def _checklist(leaf: Checklist) -> Members:
    return [
        ("checklist", go_json(leaf.checklist)),
        *_unless(leaf.model, "", "model"),
        *_unless(leaf.max_diff_bytes, DEFAULT_DIFF_BYTES, "max_diff_bytes"),
    ]


def _unless(value: object, default: object, key: str) -> Members:
    return [] if value == default else [(key, go_json(value))]


def _globs(globs: Sequence[Glob]) -> str:
    """A list of patterns as it is written; empty text where there is none."""
    return go_json([glob.text for glob in globs]) if globs else ""
